"""Is there a run of the model that explains a log? Breadth-first over the states that are possible after each event.

All that may have happened is kept: after each event the set of states in which the model can be, with any number of unobserved
steps before and after it. A log is explained if some state is left after its last event; any of them gives a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.checks.conformance.logs.events import Event, Events
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search.paths import Origins, Reach, TooManyError, holding
from fencepost.traces.trace import Trace, trace_of

LIMIT = 20_000_000
"""States that are possible at once, at most."""


@dataclass(frozen=True)
class Explanation:
    """What came of a log: ``explained`` of its ``events`` are explained by the ``run``, which is the model's; so many of its
    steps are in no event (``unobserved_steps``).

    ``possible`` are the states in which the model can be after those; ``after`` those to which the next event would lead, had
    it shown something else (none if no step fits). ``widest`` is how many states were possible at once at most. ``stopped``
    says why the search did not go on, if that was not for want of a state.
    """

    events: Events
    explained: int
    run: Trace
    unobserved_steps: int
    possible: Words
    after: Words | None
    widest: int
    stopped: str = ""

    @property
    def whole(self) -> bool:
        """Whether all of the log is explained."""
        return self.explained == len(self.events.events)

    @property
    def next(self) -> Event | None:
        """The first event that is not explained."""
        return None if self.whole else self.events.events[self.explained]


@dataclass(frozen=True)
class _Passed:
    """What an event led to, without the states: where they came from, and the places of those that fit what was seen."""

    origins: Origins
    fits: npt.NDArray[np.int64]


def explain(
    kernel: Kernel,
    events: Events,
    *,
    limit: int = LIMIT,
    progress: Callable[[int, int], None] = lambda done, states: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Explanation:
    """Looks for a run of the kernel's protocol that explains all events, or the most that one can from the first on.

    ``progress`` hears after each event how many are done and how many states are possible. Ctrl-C and a set that outgrows the
    ``limit`` end the search with what was found until then.
    """
    reach = Reach(kernel, limit, should_stop)
    silent = reach.allowing(events.unobserved)
    initial = possible = kernel.initial()
    passed: list[_Passed] = []
    after: Words | None = None
    explained, widest, stopped = 0, 0, ""

    def wander(states: Words) -> Words:
        """Takes on as possible what unobserved steps lead to from the states."""
        reached = reach.onward(states, reach.allowing(()), silent, stay=True)
        passed.append(_Passed(reached.origins, np.arange(len(reached.states))))
        return reached.states

    try:
        possible = wander(initial)
        for event in events.events:
            stay = event.steps is None or event.perhaps_none
            reached = reach.onward(possible, reach.allowing(event.steps or ()), silent, stay=stay)
            widest = max(widest, len(reached.states))
            fits = holding(reached.states, _wanted(kernel, event))
            if not len(fits):
                after = reached.states if len(reached.states) else None
                break
            passed.append(_Passed(reached.origins, fits))
            # what was seen then need not be so any more when the next event comes
            possible = wander(reached.states[fits]) if len(fits) < len(reached.states) else reached.states
            explained += 1
            progress(explained, len(possible))
    except TooManyError as error:
        stopped = str(error)
    except KeyboardInterrupt:
        stopped = "interrupted"
    run, silent_steps = _run(kernel, initial, passed)
    return Explanation(events, explained, run, silent_steps, possible, after, widest, stopped)


def _wanted(kernel: Kernel, event: Event) -> list[tuple[int, int, int]]:
    fields = list(kernel.packing.fields.values())
    return [(f.word, f.mask << f.shift, (raw - f.low) << f.shift) for f, raw in ((fields[at], raw) for at, raw in event.seen)]


def _run(kernel: Kernel, initial: Words, passed: Sequence[_Passed]) -> tuple[Trace, int]:
    """A run through all that was passed, to the state that was met first, and how many of its steps no event tells of."""
    actions: list[int] = []
    place = silent = 0
    for each in reversed(passed):
        place, root = int(each.fits[place]), False
        while not root:
            root = place < each.origins.roots
            place, action = each.origins.of(place)
            actions += [] if action is None else [action]
            silent += not root
    states = [initial[place]]
    for action in reversed(actions):
        states.append(kernel.apply(states[-1], action))
    return trace_of(kernel, states, actions[::-1], found_by="a log"), silent


def values(kernel: Kernel, states: Words) -> dict[str, tuple[str, ...]]:
    """What each variable may be in some of the states, as traces show it, by rising raw value."""
    by_name = {}
    for variable, field in zip(kernel.packing.variables, kernel.packing.fields.values(), strict=True):
        raw = np.unique(states[:, field.word] >> np.uint64(field.shift) & np.uint64(field.mask))
        by_name[variable.name] = tuple(variable.domain.show(int(each) + field.low) for each in raw)
    return by_name
