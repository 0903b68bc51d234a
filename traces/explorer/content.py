"""What the explorer's page shows, as JSON: each trace in words, with its changes and verdicts, and how two of them align."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from fencepost.properties.registry import written
from fencepost.properties.vocabulary import Suite
from fencepost.traces.comparing import Side, aligned
from fencepost.traces.drawings.lanes import lanes, messages, owners, stored
from fencepost.traces.explorer.guide import Guide
from fencepost.traces.explorer.holding import Held, named
from fencepost.traces.explorer.judging import Course, Judge
from fencepost.traces.trace import Loop, Trace
from fencepost.traces.wording.reasons import Why
from fencepost.traces.wording.text import Below


@dataclass(frozen=True)
class Recording:
    """A trace that replays, with the properties of its instance and the name under which the page lists it. ``below`` has runs
    of a part by the step, from 1 on, that each of them explains."""

    name: str
    trace: Trace
    suite: Suite
    below: Mapping[int, Below] = field(default_factory=dict)

    @property
    def side(self) -> Side:
        return Side(self.trace, self.suite.protocol)


LARGEST = 8_000_000
"""Characters that the models of a page may have: beyond it the page has its traces alone."""


def content(
    recordings: Sequence[Recording],
    progress: Callable[[str], None] = lambda text: None,
    largest: int = LARGEST,
    guide: Guide | None = None,
) -> dict[str, object]:
    """The traces, the models that they are of and, for every two of the same protocol, which steps of them stand side by side.

    The models have at most ``largest`` characters together; the trace of one that is left out has None for its number.
    ``progress`` hears what is done next; a page to play with begins with a ``guide``.
    """
    traces, judge = [], cache(Judge)
    for number, recording in enumerate(recordings, start=1):
        progress(f"judging trace {number} of {len(recordings)}")
        traces.append(_trace_content(recording, judge(recording.suite).courses(recording.trace)))
    suites = list(dict.fromkeys(recording.suite for recording in recordings))
    models, places, room = list[dict[str, object]](), dict[Suite, int](), largest
    for number, suite in enumerate(suites, start=1):
        progress(f"compiling model {number} of {len(suites)}")
        model = Held(suite).content
        size = len(json.dumps(model))
        if size <= room:
            room -= size
            places[suite] = len(models)
            models.append(model)
    for trace, recording in zip(traces, recordings, strict=True):
        trace["model"] = places.get(recording.suite)
    pairs = []
    for (one, first), (other, second) in itertools.combinations(enumerate(recordings), 2):
        if first.trace.protocol == second.trace.protocol:
            progress(f"comparing traces {one + 1} and {other + 1} of {len(recordings)}")
            pairs.append({"first": one, "second": other, "rows": aligned(first.side, second.side)})
    return {"traces": traces, "pairs": pairs, "models": models, "guide": guide and guide.content}


class _Words:
    """Texts by number: of values there are few, and they recur in every state."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def all(self) -> list[str]:
        return list(self._numbers)


def _trace_content(recording: Recording, courses: Sequence[Course]) -> dict[str, object]:
    trace, protocol = recording.trace, recording.suite.protocol
    steps = messages(trace, protocol)
    arrows = dict.fromkeys(message.arrows for message in steps)
    drawn = {some: place for place, some in enumerate(arrows)}
    lane = {name: number for number, name in enumerate(lanes(steps, protocol))}
    shared = stored(protocol)
    taken = {message.action.label: message for message in steps}
    number = {label: place for place, label in enumerate(taken)}
    word = _Words()
    shown = [[word(v.domain.show(raw)) for v, raw in zip(protocol.variables, state, strict=True)] for state in trace.states]
    return {
        "name": recording.name,
        "protocol": trace.protocol,
        "parameters": [[name, written(value)] for name, value in trace.parameters.items()],
        "bugs": list(trace.bugs),
        "violated": trace.violated,
        "found": trace.found_by + (f", seed {trace.seed}" if trace.seed is not None else ""),
        "lanes": list(lane),
        "actions": [
            {
                "label": label,
                "by": lane[message.actor],
                "fault": message.action.fault,
                "doc": message.action.meaning,
                "place": str(message.action.location),
                "mirrors": message.action.in_the_code,
            }
            for label, message in taken.items()
        ],
        "variables": [
            {"name": v.name, "family": v.family, "of": [lane[name] for name in owners(v, shared) if name in lane]}
            for v in protocol.variables
        ],
        "words": word.all,
        "start": [str(raw) for raw in trace.initial],
        "initial": shown[0],
        "steps": [
            [
                number[step.action],
                [[place, new] for place, (old, new) in enumerate(zip(*pair, strict=True)) if old != new],
                drawn[message.arrows],
            ]
            for step, message, pair in zip(trace.steps, steps, itertools.pairwise(shown), strict=True)
        ],
        "arrows": [[[lane[one.sender], lane[one.receiver], one.under_way] for one in some] for some in arrows],
        "loop": _loop(trace.loop),
        "below": {step: _below(run) for step, run in recording.below.items()},
        "properties": [_course(course) for course in _first(courses, trace.violated)],
    }


def _below(run: Below) -> dict[str, object]:
    """A run of a part: what it is, and each of its steps with what it changes."""
    steps = []
    for message, (before, after) in zip(messages(run.trace, run.protocol), itertools.pairwise(run.trace.states), strict=True):
        rows = zip(run.protocol.variables, before, after, strict=True)
        changes = [(v.name, v.domain.show(old), v.domain.show(new)) for v, old, new in rows if old != new]
        action = message.action
        steps.append({"by": message.actor, "label": action.label, "fault": action.fault, "changes": changes})
    return {"title": run.title, "steps": steps}


def _loop(loop: Loop | None) -> dict[str, object] | None:
    return None if loop is None else {"start": loop.start, "starved": loop.starved, "unobliged": loop.unobliged}


def _first(courses: Sequence[Course], violated: str | None) -> list[Course]:
    """What the trace is about first, then what else is violated on it, then the others, each in the order of the suite."""
    return sorted(courses, key=lambda course: (course.property.name != violated, "violated" not in course.words))


def _course(course: Course) -> dict[str, object]:
    reasons: dict[Why, int] = {}
    for _, why in course.reasons:
        reasons.setdefault(why, len(reasons))
    starts = [place for place in range(len(course.words)) if place == 0 or course.words[place] != course.words[place - 1]]
    return {
        **named(course.property),
        "spans": [[place, course.words[place]] for place in starts],
        "reasons": [[place, reasons[why]] for place, why in course.reasons],
        "why": [
            {"conditions": why.conjuncts, "false": [[reason.conjunct, reason.values] for reason in why.reasons]}
            for why in reasons
        ],
    }
