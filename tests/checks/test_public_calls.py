"""Checking, exploring and replaying from a program: the same verdicts as the command's, and errors that name the mistake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.checks.engines.results.findings import PropertyError
from fencepost.checks.public_calls import check, explore, replay
from fencepost.model.language import ModelError, Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError
from fencepost.properties.vocabulary import Suite
from fencepost.traces.files.itf import TraceFileError, write

ELECTION = PROTOCOLS["election"]
SHOWN = ELECTION.shown_by["elected_follows"]


def instances(*args: object, **chosen: object) -> list[tuple[str, dict[str, object]]]:
    """The names of the instances that are checked, and what is set in them."""
    results = check(*args, properties=["no_deadlock"], **chosen)  # type: ignore[arg-type]
    assert {v.property.name for one in results for v in one.verdicts} == {"no_deadlock"}
    return [(one.instance.name, dict(one.instance.parameters)) for one in results]


@pytest.mark.long
def test_what_is_checked_is_what_was_asked_for() -> None:
    ci = [(i.name, dict(i.parameters)) for i in ELECTION.sizes["ci"]]
    assert instances("election") == instances(ELECTION, size="ci") == ci
    assert instances("election", set={"brokers": 1}) == [("as set", {"brokers": 1})]
    assert instances("election", bugs=["elected_follows"]) == [("bug", dict(SHOWN))]
    more = {"closes": 1}
    assert instances("election", size="ci", set=more) == [(name, {**parameters, **more}) for name, parameters in ci]


@pytest.mark.long
def test_a_violation_comes_with_a_trace_that_replays(tmp_path: Path) -> None:
    (checked,) = check("election", bugs=["elected_follows"], properties=["holder_leads"])
    (verdict,) = checked.verdicts
    assert (verdict.verdict, verdict.failure) == ("violated", 12)
    file = tmp_path / "a.itf.json"
    write(verdict.trace, checked.protocol, file)
    assert replay(verdict.trace) == replay(file) == replay(str(file))
    assert replay(file).replays
    assert not replay(file, bugs=()).replays
    with pytest.raises(RegistryError, match="there is no protocol 'election'"):
        replay(verdict.trace, {})


def test_the_engine_and_the_time_can_be_chosen() -> None:
    (checked,) = check("election", set={"brokers": 2}, properties=["holder_leads"], by="induction")
    assert [v.verdict for v in checked.verdicts] == ["proved"]
    (checked,) = check("ledger", set={"entries": 1}, properties=["no_truncation"], by="walks", seconds=0)
    assert [v.verdict for v in checked.verdicts] == ["inconclusive"]


def test_mistakes_are_told() -> None:
    with pytest.raises(RegistryError, match=r"did you mean election\?"):
        check("electoin")
    with pytest.raises(RegistryError, match="has no size 'huge'"):
        check("election", size="huge")
    with pytest.raises(ModelError, match="absent"):
        check("election", bugs=["absent"])
    with pytest.raises(PropertyError, match="has no property 'absent'"):
        check("election", properties=["absent"])
    with pytest.raises(TraceFileError, match=r"absent\.itf\.json"):
        replay("absent.itf.json")


def test_every_state_is_visited_and_only_what_is_asked_for_is_judged() -> None:
    suite = ELECTION.suite(ELECTION.build({"brokers": 2}))
    result = explore(suite, properties=["holder_leads", "election_ends"])
    assert {v.property.name: v.verdict for v in result.verdicts} == {"holder_leads": "exhausted", "election_ends": "exhausted"}
    assert replace(result, seconds=0.0) == explore(suite, properties=["holder_leads", "election_ends"])
    assert {v.property.name for v in explore(suite).verdicts} == {p.name for p in suite.properties}
    with pytest.raises(KeyError, match="absent"):
        explore(suite, properties=["absent"])


@pytest.mark.long
def test_what_is_out_of_bounds_is_inconclusive() -> None:
    entry = PROTOCOLS["ledger"]
    suite = entry.suite(entry.build({"entries": 3, "recoverers": 2}))
    assert [v.verdict for v in explore(suite, properties=["no_truncation"], memory=1 << 22).verdicts] == ["inconclusive"]
    assert [v.verdict for v in explore(suite, properties=["no_truncation"], seconds=0).verdicts] == ["inconclusive"]
    not_begun = explore(suite, memory=1).verdicts
    assert {v.property.name for v in not_begun} == {p.name for p in suite.properties}
    assert {v.verdict for v in not_begun} == {"inconclusive"}


def test_a_variable_that_leaves_its_domain_is_refused() -> None:
    p = Protocol("counter", doc="A counter without a guard.")
    count = p.number("count", 0, 3)

    @p.step(by="one")
    def rise() -> object:
        """It rises."""
        return True, {count: count + 1}

    suite = Suite(p)

    @suite.always
    def small() -> object:
        """It is small."""
        return count <= 3

    with pytest.raises(ModelError, match="count"):
        explore(suite)
