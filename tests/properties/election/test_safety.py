"""The election of a leader: pinned counts of small instances, negative controls, and every bug caught."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.model.language import And, Implies, ModelError, Not, all_of
from fencepost.model.pulsar.election import RELEASES
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.marking import first_at_once
from tests.properties.searching import (
    controls,
    counts,
    firm,
    proved,
    searched,
    unexpected,
)

ELECTION = PROTOCOLS["election"]

COUNTS = {
    "cut off": (19322, 89076, 14),
    "all faults": (75481, 435440, 21),
    "crash, up to 4.0.8": (460, 1232, 14),
    "all faults, up to 4.0.8": (127053, 722332, 25),
    "shutdown on session loss": (10782, 54306, 19),
    "closing": (16376, 67140, 16),
    "lookups": (21066, 102918, 16),
    "fixed": (71481, 415942, 20),
}

CONTROLS = {
    "cut off": {"leaders_are_one_or_zombies": 7},
    "all faults": {"leaders_are_one_or_zombies": 7},
    "crash, up to 4.0.8": {
        "leader_holds_the_node": 11,
        "leaders_are_one_or_zombies": 12,
        "leaders_up_to_date_are_one": 14,
        "leader_is_alone": 14,
    },
    "all faults, up to 4.0.8": {
        "leader_holds_the_node": 11,
        "leaders_are_one_or_zombies": 9,
        "leaders_up_to_date_are_one": 14,
        "leader_is_alone": 14,
    },
    "shutdown on session loss": {"leaders_are_one_or_zombies": 10},
    "closing": {"leaders_are_one_or_zombies": 7},
    "lookups": {"leaders_are_one_or_zombies": 10},
    "fixed": {"leaders_are_one_or_zombies": 7},
}

CAUGHT = {
    "same_value": ({"node_of_another_is_kept"}, 4),
    "elected_follows": ({"holder_leads"}, 4),
    "reconnection_ignored": ({"followers_know_the_holder"}, 6),
    "reestablishment_ignored": ({"leader_holds_the_node"}, 5),
    "redirects_without_authority": ({"choice_is_binding"}, 6),
    "followers_do_not_cache": ({"elections_go_forward", "followers_know_the_holder"}, 3),
    "leader_value_expires": ({"followers_know_the_holder"}, 4),
    "asks_during_election": ({"electing_brokers_do_not_choose"}, 2),
    "creates_blindly": (
        {
            "elections_go_forward",
            "leader_holds_the_node",
            "leaders_are_one_or_zombies",
            "leaders_up_to_date_are_one",
            "node_is_taken_when_free",
        },
        4,
    ),
    "closed_goes_on": ({"who_closes_does_not_come_to_lead"}, 9),
    "closed_elects_again": ({"elections_go_forward"}, 3),
    "failure_not_retried": ({"processes_go_on"}, 8),
    "deletion_sent_again": ({"closing_leader_deletes_its_own"}, 8),
    "event_lost": ({"leader_holds_the_node"}, 5),
}

MANY: dict[str, Value] = {"brokers": 5, "disconnects": 3, "expiries": 3, "crashes": 3, "closes": 3, "lookups": True}


@pytest.mark.long
@pytest.mark.parametrize("leads", ["confirmed", "created"])
@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_induction_proves_what_exhaustion_cannot_reach(fixed: bool, leads: str) -> None:
    """Whatever is not a negative control, for all runs of an instance far too large to be searched."""
    parameters = MANY | {"fixed": fixed, "leads": leads}
    assert proved(ELECTION, parameters) == firm(ELECTION, parameters)


@pytest.mark.parametrize("brokers", first_at_once([1, 2]))
@pytest.mark.parametrize("store", ["zk", "etcd"])
def test_induction_proves_an_election_of_brokers_that_are_cut_off_and_shut_down(brokers: int, store: str) -> None:
    parameters: dict[str, Value] = {"brokers": brokers, "disconnects": 1, "closes": 1, "metadata_store": store}
    assert proved(ELECTION, parameters) == firm(ELECTION, parameters)
    assert ("closing_leader_deletes_its_own" in firm(ELECTION, parameters)) == (brokers > 1 and store == "zk")


def test_an_endless_election_is_a_lasso() -> None:
    """pulsar#10522 as its reporters saw it: the brokers elect each other away forever."""
    violations = unexpected(searched(ELECTION, ELECTION.shown_by["same_value"], ["same_value"], ["election_ends"]))
    assert violations == {"election_ends": 8}


@pytest.mark.parametrize("close", first_at_once(["unconditional", "by_version"]))
def test_a_remembered_version_does_not_help_a_leader_that_closes(close: str) -> None:
    """A new node has the version of the old one: a deletion that names it meets the successor's node all the same."""
    parameters: dict[str, Value] = {"brokers": 3, "expiries": 1, "closes": 1, "close": close, "leads": "confirmed"}
    assert controls(searched(ELECTION, parameters))["leader_is_alone"] == 19


@pytest.mark.parametrize(
    ("faults", "counted"),
    [
        ({"brokers": 2, "crashes": 1}, (280, 746, 12)),
        ({"brokers": 2, "disconnects": 1, "expiries": 1, "crashes": 1}, (20818, 104138, 19)),
        ({"brokers": 3, "expiries": 1, "closes": 1}, (16376, 67140, 16)),
    ],
    ids=["crash", "all but closing", "closing"],
)
def test_two_leaders_stay_only_up_to_4_0_8(faults: Mapping[str, Value], counted: tuple[int, int, int]) -> None:
    """pulsar#26000: who leads as its creation is answered hears of a deletion that was meant for an earlier node."""
    findings = searched(ELECTION, {**faults, **RELEASES["4.2.4"]})
    assert counts(findings) == counted
    assert unexpected(findings) == {}
    assert set(controls(findings)) == {"leaders_are_one_or_zombies"}


@pytest.mark.parametrize(
    ("release", "bugs", "faults", "reads"),
    [
        ("4.0.8", (), "crashes", "the holder"),
        ("4.0.8", ("same_value",), "crashes", "the holder"),
        ("4.0.8", ("event_lost",), "expiries", "nobody"),
        ("4.2.4", ("event_lost",), "expiries", "itself"),
    ],
)
def test_up_to_4_0_8_the_second_of_two_leaders_does_not_read_that_it_leads(
    release: str, bugs: Sequence[str], faults: str, reads: str
) -> None:
    """Internal topics of the extensible load manager belong to the leader that LeaderElectionImpl.getLeaderValue answers.

    Up to 4.0.8 that is what the cache has of the node, since 4.2.4 what the broker's own election has found. (4.2.4 does not
    have ``event_lost``.)
    """
    parameters: dict[str, Value] = {"brokers": 2, faults: 1, **RELEASES[release]}
    (verdict,) = searched(ELECTION, parameters, bugs, only=["leader_is_alone"]).verdicts
    assert verdict.trace is not None
    variables = ELECTION.build(parameters, bugs).variables
    end = {v.name: v.domain.show(raw) for v, raw in zip(variables, verdict.trace.states[-1], strict=True)}
    holder = end["leader_holder"]
    (second,) = {"b0", "b1"} - {holder}
    assert {end["role[b0]"], end["role[b1]"]} == {"leading"}
    assert end[f"cached[{holder}]"] == holder
    assert end[f"cached[{second}]"] == {"the holder": holder, "itself": second}.get(reads, reads)


def test_since_4_2_4_a_broker_that_elects_chooses_by_the_last_leader() -> None:
    """It waits for its election only while it knows of no leader; then it chooses, if that one is not active any more."""
    parameters: dict[str, Value] = {"brokers": 2, "lookups": True, "disconnects": 1, "crashes": 1}
    p = ELECTION.build(parameters)
    suite = ELECTION.suite(p)
    s, n = p.state, p.next

    @suite.step
    def only_settled_brokers_choose() -> Any:
        """As up to 4.0.8 it is meant to be."""
        chosen = And(Not(s.authoritative), n.authoritative)
        return all_of(Implies(And(chosen, s.asked == b), s.stage[b] == "settled") for b in p.universes["broker"])

    findings = exhaust(Observed.of(suite, [suite.named("only_settled_brokers_choose")]), Budget(workers=2))
    assert unexpected(findings) == {"only_settled_brokers_choose": 6}


def test_a_deletion_that_names_the_creation_mends_the_election() -> None:
    parameters: dict[str, Value] = {"brokers": 3, "expiries": 1, "closes": 1, "fixed": True}
    findings = searched(ELECTION, parameters)
    assert unexpected(findings) == {}
    assert set(controls(findings)) == {"leaders_are_one_or_zombies"}


@pytest.mark.parametrize("wrong", [{"on_session_loss": "panic"}, {"close": "never"}, {"leads": "soon"}])
def test_a_policy_that_does_not_exist_is_refused(wrong: dict[str, Value]) -> None:
    with pytest.raises(ModelError, match=next(iter(wrong))):
        ELECTION.build(wrong)
