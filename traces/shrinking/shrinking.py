"""Shrinking: a run that shows the same with fewer steps and, of as many steps, with fewer changes of actor.

Steps are left out by delta debugging (Zeller and Hildebrandt's, of complements only) until none can be; then a breadth-first
search from the initial states, in bounded memory, looks for a run that is shorter still. Where that does not get far enough,
and for a lasso, all short ways on are searched from each state of the run, for one that comes sooner to a later state of it:
where the whole of a protocol is too large, the surroundings of a run's states are not. A run may change on the way, what it
violates does not: every candidate is taken through the kernel, step by step, and must violate that very property.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fencepost.model.counts import count_of
from fencepost.model.kernel.search.results import Find, Progress, Result
from fencepost.properties.vocabulary import Suite
from fencepost.traces.shrinking.runs import Aim, Packed, Run, Trial
from fencepost.traces.trace import Trace, trace_of


def with_shortcuts(aim: Aim, run: Run, memory: int, should_stop: Callable[[], bool]) -> Run:
    """The run with each way between two of its states, and from one to what it is to show, as short as a search finds it.

    Each search, from one state of the run, takes at most that many bytes. Of a lasso the stem may enter the loop elsewhere, and
    the loop may be cut short; what is left must show the same.
    """
    place = 0
    while place < len(run.actions) and not should_stop():
        left = len(run.actions) - place - 1  # what is longer is no shortcut
        result = aim.search(left, memory, start=run.states[place], should_stop=should_stop)
        tried = (aim.tried(run.states[:1], (), actions, loop) for actions, loop in _ways_on(run, place, result))
        shorter = next((r for r in tried if r is not None and len(r.actions) < len(run.actions)), None)
        if shorter is None:
            place += 1
        else:
            run = shorter
    return run


def _ways_on(run: Run, place: int, result: Result) -> Iterator[tuple[tuple[int, ...], int | None]]:
    """The actions of shorter runs, the shortest first, and after how many of them a lasso begins, by the ways that were found
    from one place of a run."""
    for find in result.violations:
        if place + find.depth < len(run.actions):
            yield (*run.actions[:place], *result.path(find, 1).actions), None
    ways = _ways(run, result)
    around = run.loop is not None and run.loop < len(run.actions)
    goals = [goal for goal, state in enumerate(run.states[:-1] if around else run.states) if state in ways]
    joined = [(goal, *_joined(run, place, goal, ways[run.states[goal]].depth)) for goal in goals]
    for goal, after, loop in sorted(joined, key=lambda row: ways[run.states[row[0]]].depth + len(row[1])):
        way = ways[run.states[goal]]
        if place + way.depth + len(after) < len(run.actions):
            yield (*run.actions[:place], *result.path(way, 1).actions, *after), loop


def _joined(run: Run, place: int, goal: int, depth: int) -> tuple[tuple[int, ...], int | None]:
    """How a run goes on that has come in so many steps from its state at one place to that at another, and after how many of
    all its actions a lasso then begins."""
    actions, start = run.actions, run.loop
    if start is None:
        return actions[goal:], None
    if goal <= place:  # back along the run
        return (), goal
    if place < start < goal:  # into the loop, in the middle of it
        return (*actions[goal:], *actions[start:goal]), place + depth
    return actions[goal:], start if place >= start else place + depth + start - goal


def _ways(run: Run, result: Result) -> dict[Packed, Find]:
    """The states of the run that a search has met, with how far they are from its start."""
    depths = zip(run.states, result.depths(run.states), strict=True)
    return {state: Find("state", 0, depth, state) for state, depth in depths if depth > 0}


PAIRED = 64
"""Steps of a run of which any two together are tried: there and back again, a flag that is raised and lowered."""

MEMORY = 64 << 20
"""Bytes that the search for a shorter run may take: a few million states, a second or two."""

NEARBY = 4 << 20
"""Bytes that a search from one state of the run may take."""


@dataclass(frozen=True)
class Shrunk:
    """A shrunk trace, and how far it is known to be the shortest.

    ``steps`` and ``changes`` are the steps and the changes of actor that it had before. ``searched`` is the length up to which
    all runs were searched without a find, None for a lasso, of which only the ways between its states were; ``stopped`` is
    whether it was interrupted.
    Prints as one line.
    """

    trace: Trace
    steps: int
    changes: int
    changes_left: int
    searched: int | None
    stopped: bool

    def __str__(self) -> str:
        last = len(self.trace.steps)
        before = f"{count_of(self.steps, 'step')}, {count_of(self.changes, 'change')} of actor"
        text = f"{before}; shrunk to {last} and {self.changes_left}"
        if self.stopped:
            return f"{text}; interrupted, so perhaps not the shortest"
        if self.searched is None:
            return f"{text}; no step can be left out, and no way around any that was searched is shorter"
        if self.searched >= last - 1:
            return f"{text}; no run is shorter"
        return f"{text}; no step can be left out, and no run of up to {count_of(self.searched, 'step')} will do"


def shrink(
    trace: Trace,
    suite: Suite,
    *,
    memory: int = MEMORY,
    progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Shrunk:
    """Shrinks a trace that replays on the suite's protocol, and violates (or reaches) one of its properties.

    ``memory`` is in bytes. What was found until ``should_stop`` is kept. The same trace is shrunk to the same on any machine.
    Raises ValueError for a trace without a property, or whose steps do not lead to what it says.
    """
    if trace.violated is None:
        raise ValueError("the trace names no property, so there is nothing that shrinking would keep")
    prop = suite.named(trace.violated)
    aim = Aim.within_slice(suite, prop)
    run = aim.started(trace)
    run = fewest_steps(aim, run, should_stop)
    searched = None
    if run.loop is None:
        run, searched = _shorter(aim, run, memory, progress, should_stop)
    if searched is None or searched < len(run.actions) - 1:
        run = fewest_steps(aim, with_shortcuts(aim, run, min(memory, NEARBY), should_stop), should_stop)
    run = fewest_changes(aim, run, should_stop)
    shrunk = trace_of(
        aim.kernel,
        [aim.unpacked(state) for state in run.states],
        run.actions,
        violated=prop.name,
        found_by=trace.found_by,
        seed=trace.seed,
        loop=aim.loop(run),
    )
    actors = {action.label: action.actor for action in suite.protocol.actions}
    changes, left = _turns(actors[step.action] for step in trace.steps), _changes(aim, run)
    steps = len(trace.steps)
    if len(run.actions) < steps:
        shrunk = replace(shrunk, found_by=f"{trace.found_by or 'a trace'}, shrunk from {count_of(steps, 'step')}")
    return Shrunk(shrunk, steps, changes, left, searched, should_stop())


def fewest_steps(aim: Trial, run: Run, should_stop: Callable[[], bool]) -> Run:
    """The run without any step, and if it is short any two steps, that can be left out."""
    while not should_stop():
        run = _without_stretches(aim, run, should_stop)
        pairs = itertools.combinations(range(len(run.actions)), 2) if len(run.actions) <= PAIRED else ()
        tried = (_without(aim, run, pair) for pair in itertools.takewhile(lambda _: not should_stop(), pairs))
        shorter = next((r for r in tried if r is not None), None)
        if shorter is None:
            break
        run = shorter
    return run


def _without_stretches(aim: Trial, run: Run, should_stop: Callable[[], bool]) -> Run:
    """The run without the stretches that can be left out: ever smaller ones, from the end, down to single steps."""
    size = max(1, len(run.actions) // 2)
    while not should_stop():
        before, end = len(run.actions), len(run.actions)
        while end > 0 and not should_stop():
            start = max(0, end - size)
            run = _without(aim, run, range(start, end)) or run
            end = min(start, len(run.actions))
        if size == 1 and len(run.actions) == before:
            break
        size = max(1, size // 2)
    return run


def _without(aim: Trial, run: Run, left_out: Sequence[int]) -> Run | None:
    """What is left of a run without the steps at these places, in order; None if that does not show the same."""
    start = left_out[0]
    rest = [action for place, action in enumerate(run.actions[start:], start) if place not in left_out]
    loop = None if run.loop is None else run.loop - sum(place < run.loop for place in left_out)
    return aim.tried(run.states[: start + 1], run.actions[:start], rest, loop)


def _shorter(
    aim: Aim, run: Run, memory: int, progress: Callable[[Progress], None] | None, should_stop: Callable[[], bool]
) -> tuple[Run, int]:
    """A shortest run, if a search finds it, otherwise the run itself; and the length up to which no run shows the same."""
    last = len(run.actions)
    if last == 0 or should_stop():
        return run, -1
    result = aim.search(last - 1, memory, progress=progress, should_stop=should_stop)
    find = min(result.violations, key=lambda find: find.depth, default=None)
    if find is not None and find.depth < last:
        path = result.path(find, 1)
        return Run(path.states, path.actions), find.depth - 1
    complete = result.outcome in ("exhausted", "violated", "deadlock")
    unseen = aim.prop.kind == "deadlock"  # on the last level
    return run, last - 1 if complete else min(result.depth - unseen, last - 1)


def fewest_changes(aim: Trial, run: Run, should_stop: Callable[[], bool]) -> Run:
    """The run with its steps moved so that those of one actor follow each other, as far as that shows the same."""
    best = run
    while not should_stop():
        tried = (aim.tried(best.states[:1], (), actions, best.loop) for actions in _moved(aim, best))
        better = next((r for r in tried if r is not None and cost(aim, r) < cost(aim, best)), None)
        if better is None:
            break
        best = better
    return best


def _moved(aim: Trial, run: Run) -> Iterator[tuple[int, ...]]:
    """The actions of a run, each time with one actor's stretch of them next to another stretch of the same actor, of a lasso
    within the stem or within the loop."""
    stem, around = run.actions[: run.loop], run.actions[len(run.actions) if run.loop is None else run.loop :]
    yield from ((*moved, *around) for moved in _gathered(aim, stem))
    yield from ((*stem, *moved) for moved in _gathered(aim, around))


def _gathered(aim: Trial, actions: Sequence[int]) -> Iterator[tuple[int, ...]]:
    stretches = [tuple(group) for _, group in itertools.groupby(actions, key=lambda action: aim.kernel.actions[action].actor)]
    for source, target in itertools.permutations(range(len(stretches)), 2):
        if _actor(aim, stretches[source]) == _actor(aim, stretches[target]):
            rest = [stretch for place, stretch in enumerate(stretches) if place != source]
            place = target - (target > source)
            rest.insert(place + (target < source), stretches[source])
            yield tuple(itertools.chain(*rest))


def _actor(aim: Trial, actions: Sequence[int]) -> str:
    return aim.kernel.actions[actions[0]].actor


def _changes(aim: Trial, run: Run) -> int:
    return _turns(aim.kernel.actions[action].actor for action in run.actions)


def _turns(actors: Iterable[str]) -> int:
    return sum(one != other for one, other in itertools.pairwise(actors))


def cost(aim: Trial, run: Run) -> tuple[int, int]:
    """What shrinking makes as small as it can: steps, and of as many steps changes of actor."""
    return len(run.actions), _changes(aim, run)
