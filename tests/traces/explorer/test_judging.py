"""What each property says at each step of a trace."""

from __future__ import annotations

import numpy as np
import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.walks.walks import walk_path
from fencepost.model.language import Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry
from fencepost.traces.explorer.judging import Judge
from fencepost.traces.trace import Loop, Trace, trace_of
from fencepost.traces.wording.reasons import why_false
from tests.marking import first_at_once
from tests.traces.explorer.recorded import lamp, lost_entry, run


def words(labels: list[str], loop: Loop | None = None) -> dict[str, list[str]]:
    suite = lamp()
    courses = Judge(suite).courses(run(suite.protocol, labels, loop=loop))
    return {course.property.name: list(course.words) for course in courses}


@pytest.mark.long
def test_the_toy(trace: Trace, broken: Protocol, protocols: dict[str, Entry]) -> None:
    one_holder, taken_by_one, all_turns = Judge(protocols["lock"].suite(broken)).courses(trace)
    assert one_holder.words == ("holds", "holds", "holds", "holds", "violated")
    ((place, why),) = one_holder.reasons
    assert (place, why.conjuncts) == (4, 1)
    assert [(reason.conjunct, reason.values) for reason in why.reasons] == [
        ("not (c0 in holders and c1 in holders)", ("holders {c0, c1}",))
    ]
    assert taken_by_one.words == ("none", "holds", "holds", "holds", "violated")
    assert [place for place, _ in taken_by_one.reasons] == [4]
    assert all_turns.words == ("unreached", "unreached", "unreached", "unreached", "reached")
    assert all_turns.reasons == ()


def test_what_is_owed() -> None:
    by_property = words(["switch_on", "switch_off", "switch_on"])
    assert by_property["goes_off"] == ["settled", "owed", "settled", "owed"]
    assert by_property["goes_on"] == ["owed", "settled", "owed", "settled"]


def test_what_never_comes() -> None:
    stops = words(["switch_on", "blow"], Loop(2))
    assert stops["goes_off"] == ["settled", "owed", "settled"]
    assert stops["goes_on"] == ["owed", "settled", "violated"]
    circles = words(["forget", "forget"], Loop(1))
    assert circles["goes_on"] == ["violated"] * 3


def test_what_comes_around_again_is_only_owed() -> None:
    by_property = words(["forget", "switch_on", "switch_off", "forget"], Loop(1))
    assert by_property["goes_on"] == ["owed", "owed", "settled", "owed", "owed"]
    assert "violated" not in by_property["goes_off"]


def test_where_a_run_may_end() -> None:
    assert words(["blow"])["over"] == ["holds", "holds"]
    assert words(["switch_on", "blow"])["over"] == ["holds", "holds", "violated"]
    assert words(["switch_on", "switch_off"])["over"] == ["holds", "holds", "holds"]


def test_reasons_come_with_each_change_of_what_is_false() -> None:
    suite = lamp()
    trace = run(suite.protocol, ["switch_on", "switch_off", "switch_on", "switch_off", "forget"])
    seldom, forgotten = Judge(suite).courses(trace)[:2]
    assert seldom.words == ("holds", "holds", "holds", "violated", "violated", "holds")
    assert [(place, [reason.conjunct for reason in why.reasons]) for place, why in seldom.reasons] == [(3, ["count <= 1"])]
    assert forgotten.words[-2:] == ("holds", "violated")


@pytest.mark.long
@pytest.mark.parametrize(("name", "bug"), first_at_once([("election", "same_value"), ("ownership", "both_contenders_lose")]))
def test_the_kernel_and_the_terms_agree(name: str, bug: str) -> None:
    """Some verdicts of each kind along a random walk, against the formulas with the states put in for their variables."""
    entry = PROTOCOLS[name]
    suite = entry.suite(entry.build(entry.shown_by[bug], [bug]))
    kernel = Kernel(suite.protocol)
    path = walk_path(kernel, seed=2, walk=1, steps=30, strategy="uniform")
    trace = trace_of(kernel, [np.array(s, dtype=np.uint64) for s in path.states], path.actions)
    seen = set()
    for course in Judge(suite).courses(trace):
        prop, first = course.property, course.property.kind == "step"
        if prop.kind in ("always", "step"):
            violated = [place for place, word in enumerate(course.words) if word == "violated"]
            for place in sorted({*range(first, len(trace.states), 6), *violated[:3]}):
                why = why_false(suite.protocol, prop.formula, *trace.states[place - first : place + 1])
                assert (course.words[place] == "violated") == bool(why.reasons), (prop.name, place)
                seen.add((prop.kind, course.words[place]))
    assert seen == {(kind, word) for kind in ("always", "step") for word in ("holds", "violated")}


def test_the_lost_entry() -> None:
    lost = lost_entry()
    courses = {course.property.name: course for course in Judge(lost.suite).courses(lost.trace)}
    assert courses["no_truncation"].words == ("holds",) * 13 + ("violated",)
    others = {name: course.words.index("violated") for name, course in courses.items() if "violated" in course.words}
    assert others == {"no_such_entry_stays_true": 8, "nothing_confirmed_beyond_recovery": 12, "no_truncation": 13}
