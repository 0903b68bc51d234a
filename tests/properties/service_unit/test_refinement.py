"""That ownership by the channel refines its stand-in, and with which weak moves it does so with a bug."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.public_calls import explore
from fencepost.model.pulsar.service_unit import service_unit
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance
from fencepost.properties.service_unit.refinement import BOTH, NAME, channel_refinement
from fencepost.properties.service_unit.variables import Units
from fencepost.properties.vocabulary import Suite
from tests.marking import first_at_once

CHANNEL = PROTOCOLS["service_unit"]
SEARCHED, PROVED = CHANNEL.instances("ci"), CHANNEL.sizes["standard"][-4]
SMALL = SEARCHED[9]
NEEDS = {name: bug.allows for name, bug in CHANNEL.bugs.items() if bug.allows}


@pytest.mark.parametrize("instance", first_at_once(sorted(SEARCHED, key=SMALL.__ne__)), ids=lambda instance: instance.name)
def test_the_channel_refines_the_stand_in_of_ownership(instance: Instance) -> None:
    suite = CHANNEL.suite(CHANNEL.build(dict(instance.parameters)))
    first, *moves = explore(suite, properties=[p.name for p in suite.properties if p.name.startswith(NAME)]).verdicts
    assert (first.property.name, first.verdict) == (NAME, "exhausted")
    assert {v.property.name.removeprefix(f"{NAME}_") for v in moves} >= {"create", "take"}
    assert {v.note for v in moves} == {"reached"}


@pytest.mark.deep
def test_it_is_proved_by_the_lemmas_of_the_channel() -> None:
    assert PROVED.by == "induction"
    proof = prove(CHANNEL.suite(CHANNEL.build(dict(PROVED.parameters))))
    assert [v.verdict for v in proof.verdicts if v.property.name == NAME] == ["proved"]


def refines(bug: str, weak: Collection[str]) -> bool:
    suite = Suite(service_unit(**dict(CHANNEL.bugs[bug].shown_by), bugs=(bug,)))
    channel_refinement(suite, Units(suite.protocol), weak)
    (outcome,) = explore(suite, properties=[NAME]).verdicts
    assert outcome.verdict in ("exhausted", "violated")
    return outcome.verdict == "exhausted"


@pytest.mark.parametrize("bug", first_at_once(sorted(NEEDS, key="release_cut_short".__ne__)))
def test_each_weak_move_that_a_bug_needs_is_needed(bug: str) -> None:
    assert refines(bug, NEEDS[bug])
    assert not any(refines(bug, {*NEEDS[bug]} - {weak}) for weak in NEEDS[bug])


@pytest.mark.long
@pytest.mark.parametrize("bug", [bug for bug in CHANNEL.bugs if bug not in NEEDS])
def test_other_bugs_need_no_more_than_their_faults_do(bug: str) -> None:
    shown = CHANNEL.bugs[bug].shown_by
    faults = shown.get("expiries") or shown.get("timeouts") or shown.get("conflicts")
    assert refines(bug, BOTH if faults else ())
