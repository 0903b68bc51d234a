"""That ownership refines its stand-in, and with which weak moves it does so with a bug."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.public_calls import explore
from fencepost.model.pulsar.ownership import RELEASES, ownership
from fencepost.model.stand_ins.ownership import WEAK
from fencepost.properties.locks.properties import Locks
from fencepost.properties.ownership import suite as ownership_suite
from fencepost.properties.ownership.refinement import NAME, allowed, ownership_refinement
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from fencepost.properties.vocabulary import Suite
from fencepost.traces.wording.text import show
from tests.marking import first_at_once

Parameters = Mapping[str, Value]

CUT_OFF: Parameters = {"disconnects": 1, "expiries": 1, "releases": 1}
ALL: Parameters = {**CUT_OFF, "crashes": 1}
MANY: Parameters = {"brokers": 3, "disconnects": 2, "expiries": 2, "crashes": 2, "releases": 2, "disables": 2}
OWNERSHIP = PROTOCOLS["ownership"].bugs
CHECKED = [name for name, bug in OWNERSHIP.items() if not bug.shown_by.get("migration") or bug.allows]


def refining(parameters: Parameters, weak: Collection[str] | None = None, bugs: Collection[str] = ()) -> Suite:
    suite = Suite(ownership(**dict(parameters), bugs=tuple(bugs)))
    ownership_refinement(suite, locks_of(suite), weak)
    return suite


def locks_of(suite: Suite) -> Locks:
    settings = suite.protocol.parameters
    return Locks(suite.protocol, bool(settings["releases"] or settings["disables"]))


@pytest.mark.parametrize(
    ("parameters", "states"),
    first_at_once(
        [
            (CUT_OFF, 18_168),
            ({**CUT_OFF, **RELEASES["5.0.1"]}, 23_106),
            ({"expiries": 1, "disables": 1, "releases": 1}, 9_116),
            ({"brokers": 3, "crashes": 1, "releases": 1}, 109_191),
            ({"bundles": 2, "expiries": 1, "releases": 1, "fixed": True}, 133_040),
            ({**ALL, "fixed": True}, 124_762),
            ({**ALL, "fixed": True, "metadata_store": "etcd"}, 173_597),
            ({**CUT_OFF, "metadata_store": "oxia"}, 22_919),
        ],
        2,
    ),
    ids=str,
)
def test_ownership_refines_its_stand_in(parameters: Parameters, states: int) -> None:
    first, *moves = explore(refining(parameters)).verdicts
    assert (first.property.name, first.verdict, first.reach["distinct"]) == (NAME, "exhausted", states)
    assert {"acquire", "lose", "release"} <= {v.property.name.removeprefix(f"{NAME}_") for v in moves}
    assert {v.note for v in moves} == {"reached"}


@pytest.mark.parametrize(
    "parameters",
    first_at_once([CUT_OFF, {**ALL, "fixed": True}, MANY, {**MANY, "fixed": True}, {**MANY, **RELEASES["5.0.1"]}]),
    ids=str,
)
def test_it_is_proved_by_the_lemmas_of_ownership(parameters: Parameters) -> None:
    suite = refining(parameters)
    suite.lemmas.extend(ownership_suite.ownership(suite.protocol).lemmas)
    (proved,) = (v for v in prove(suite).verdicts if v.property.name == NAME)
    assert proved.verdict == "proved"


def test_a_deletion_by_version_can_meet_the_node_of_the_next_owner() -> None:
    suite = refining(CUT_OFF, ())
    (refused,) = explore(suite, properties=[NAME]).verdicts
    assert (refused.verdict, refused.reach["steps"]) == ("violated", 9)
    assert " is no step of stand-in: there it is owner b" in show(refused.trace, suite.protocol, violated=refused.property)


def refines(bug: str, weak: Collection[str], **behaviour: Value) -> bool:
    (outcome,) = explore(refining({**OWNERSHIP[bug].shown_by, **behaviour}, weak, [bug]), properties=[NAME]).verdicts
    assert outcome.verdict in ("exhausted", "violated")
    return outcome.verdict == "exhausted"


@pytest.mark.parametrize("bug", first_at_once(["both_contenders_lose", "stale_unload", *CHECKED], 2))
def test_what_the_stand_in_allows_with_a_bug(bug: str) -> None:
    more = OWNERSHIP[bug].allows
    always = allowed(locks_of(Suite(ownership(**dict(OWNERSHIP[bug].shown_by), bugs=(bug,)))))
    if not OWNERSHIP[bug].refines:
        assert not refines(bug, WEAK)
        return
    assert refines(bug, {*always, *more})
    assert not more or not refines(bug, always)


def test_since_5_0_1_a_broker_that_misses_a_migration_is_the_same_to_a_topic() -> None:
    assert refines("start_missed", OWNERSHIP["start_missed"].allows, **RELEASES["5.0.1"])
    assert not refines("start_missed", [name for name in WEAK if name != "left_behind"], **RELEASES["5.0.1"])
