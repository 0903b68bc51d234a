"""A topic on Pulsar's own classes: no difference without a name, every action taken, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.checks.conformance.topic.adapter import TopicAdapter
from fencepost.checks.conformance.topic.target import TOPIC, pulsar_topic, start
from fencepost.model.kernel import Kernel
from fencepost.model.pulsar.topic.protocol import RELEASES
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import unexplained
from tests.checks.conformance.real import tools

pytestmark = pytest.mark.xdist_group("real topic")

ENTRY = PROTOCOLS["topic"]
USUAL = TOPIC.releases[0]
KNOWN = {deviation.name for deviation in TopicAdapter.deviations}
ALONE: dict[str, Value] = {"brokers": 1, "openings": 1, "connections": 1, "ledgers": 3}


@pytest.fixture(scope="module")
def adapter() -> Iterator[TopicAdapter]:
    tools()
    with start(Asked(USUAL)) as adapter:
        yield adapter


def held(adapter: TopicAdapter, *, runs: int, release: str = USUAL, seed: int = 1) -> Result:
    instances = [TOPIC.model(ENTRY, release, each) for each in TOPIC.instances]
    return campaign(instances, adapter, runs=runs, steps=40, seed=seed, weights=TOPIC.weights, stop_after=1, shrink=False)


def follow(adapter: TopicAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    """Takes these steps of an instance with these bugs."""
    pair = Pair(Kernel(ENTRY.build({**ALONE, **parameters}, bugs)), adapter)
    return pair.follow([step.strip() for step in script.split(";")])


# --- no difference without a name


@pytest.mark.later
def test_runs_differ_only_where_it_is_known(adapter: TopicAdapter) -> None:
    result = held(adapter, runs=20 * len(TOPIC.instances))
    assert result.agrees, unexplained(result)
    assert set(result.known) <= KNOWN
    assert result.agreeing > 10 * len(TOPIC.instances)


@pytest.mark.deep
@pytest.mark.parametrize("release", TOPIC.releases)
def test_many_runs_differ_only_where_it_is_known(release: str) -> None:
    tools()
    with start(Asked(release)) as adapter:
        result = held(adapter, runs=10_000, release=release, seed=2)
    assert result.agrees, unexplained(result)
    assert set(result.known) <= KNOWN
    actions = {action.name for each in TOPIC.instances for action in TOPIC.model(ENTRY, release, each).actions}
    assert result.coverage.names().keys() == actions


def test_the_actions_of_the_instances_are_covered_in_every_release() -> None:
    for release in TOPIC.releases:
        for parameters in TOPIC.instances:
            names = {action.name for action in TOPIC.model(ENTRY, release, parameters).actions}
            assert names <= {*TopicAdapter.covered, *TopicAdapter.eager}, (release, parameters)


@pytest.mark.parametrize("release", TOPIC.releases)
def test_the_jars_are_pinned(release: str) -> None:
    assert pulsar_topic(release).pinned


@pytest.mark.later
def test_runs_of_5_0_1_differ_only_where_it_is_known() -> None:
    """Its handles are closed as adds fail or time out; the model of the milestone before it does not expect that."""
    tools()
    with start(Asked("5.0.1")) as newest:
        result = held(newest, runs=3 * len(TOPIC.instances), release="5.0.1")
        assert result.agrees, unexplained(result)
        assert set(result.known) <= KNOWN
        script = f"{OPENS}; publish(b0, m0); add(b0, l0, s0); time_out_add(b0, l0, 0)"
        assert follow(newest, script, add_failures=1, dedup=False, **RELEASES["5.0.1"]).verdict == "agrees"
        assert follow(newest, script, add_failures=1, dedup=False, **RELEASES["5.0.0-M1"]).verdict == "differs"
        rolls = f"{OPENS}; publish(b0, m0); add(b0, l0, s0); recover_elsewhere(l0, 1); roll_over(b0, l0)"
        assert follow(newest, rolls, "resends_recovered", recoveries=1, dedup=False, **RELEASES["5.0.1"]).verdict == "agrees"
        assert (
            follow(newest, rolls, "resends_recovered", recoveries=1, dedup=False, **RELEASES["5.0.0-M1"]).verdict == "differs"
        )


# --- runs that a person can follow

OPENS = "open(b0); create_ledger(b0, l0); list_first(b0, l0); connect(b0)"
ONE_STORED = f"{OPENS}; publish(b0, m0); add(b0, l0, s0); confirm(b0, l0, s0)"
ROLLS = f"{ONE_STORED}; roll_over(b0, l0); create_ledger(b0, l1)"
FAILS = f"{ROLLS}; publish(b0, m1); add_waits(b0); publish(b0, m2); list_fails(b0, l1, 0)"
TERMINATES = f"{ROLLS}; terminate(b0, l0); list_end(b0, l0)"


@pytest.mark.later
def test_a_rollover_opens_a_terminated_managed_ledger_again(adapter: TopicAdapter) -> None:
    """Seen on 4.2.4 after pulsar#25858 and #26680; the model without the bug deletes the new ledger instead."""
    mistaken = follow(adapter, f"{TERMINATES}; list_new(b0, l1)", "terminated_reopened", terminations=1, dedup=False)
    assert mistaken.verdict == "agrees", mistaken
    assert mistaken.seen is not None
    assert mistaken.seen.values["brokers"]["b0"]["state"] == "LedgerOpened"
    sound = follow(adapter, f"{ROLLS}; terminate(b0, l0); drop_new(b0, l1)", terminations=1, dedup=False)
    assert sound.verdict == "departs"


FILLS = f"{OPENS}; publish(b0, m0); add(b0, l0, s0)"
TAKEN_OVER = f"{FILLS}; confirm(b0, l0, s0); hear_close(b0, l0); create_ledger(b0, l1); list_new(b0, l1)"
TRIMS = "open(b1); recover_last(b1, l1, 1); create_ledger(b1, l2); list_first(b1, l2); trim(b0, l0); confirm(b0, l1, s0)"


@pytest.mark.later
def test_an_entry_that_fills_its_ledger_in_a_fenced_managed_ledger_waits_for_its_close(adapter: TopicAdapter) -> None:
    """OpAddEntry.run looks at closeWhenDone, and not at the state; the managed ledger met BadVersion as it trimmed."""
    sizes: dict[str, Value] = {"messages": 3, "brokers": 2, "openings": 2, "capacity": 1, "trims": 1, "dedup": False}
    script = f"{TAKEN_OVER}; publish(b0, m1); add(b0, l1, s0); publish(b0, m2); add_waits(b0); {TRIMS}"
    waiting = follow(adapter, script, "fenced_context_kept", **sizes)
    assert waiting.verdict == "agrees", waiting
    assert waiting.seen is not None
    assert waiting.seen.values["brokers"]["b0"]["filled"]
    closed = follow(adapter, f"{script}; hear_close(b0, l1)", "fenced_context_kept", **sizes)
    assert closed.verdict == "agrees", closed


@pytest.mark.later
def test_a_cursor_whose_ledger_cannot_be_read_loses_its_properties(adapter: TopicAdapter) -> None:
    """What was acknowledged before the snapshot is stored again, with deduplication."""
    lost = f"{ONE_STORED}; take_snapshot(b0, l0); lose_connection(b0); crash(b0); open(b0); recover_last(b0, l0, 1)"
    again = f"{lost}; create_ledger(b0, l1); list_first_unreadable(b0, l1)"
    run = follow(adapter, again, "properties_dropped", snapshots=1, crashes=1, failures=1, openings=2)
    assert run.verdict == "agrees", run
    assert run.seen is not None
    assert run.seen.values["brokers"]["b0"]["persisted"] == 0


@pytest.mark.later
def test_a_flushed_position_is_refused_when_the_ledger_that_the_cursor_moved_to_is_dropped(adapter: TopicAdapter) -> None:
    """ManagedCursorImpl.flush clears isDirty before asyncMarkDelete refuses: it waits for the next acknowledgement."""
    sizes: dict[str, Value] = {"messages": 2, "capacity": 1, "ledgers": 4, "rolls": 1, "trims": 1, "subscription": True}
    moved = f"{FILLS}; confirm(b0, l0, s0); consume(b0, l0, s0); hear_close(b0, l0); create_ledger(b0, l1); list_new(b0, l1)"
    dropped = f"{moved}; publish(b0, m1); add(b0, l1, s0); fail_add(b0, l1)"
    run = follow(adapter, f"{dropped}; persist_position(b0)", dedup=False, add_failures=1, **sizes)
    assert (run.verdict, run.known) == ("differs", "flush_refused"), run


@pytest.mark.later
def test_what_passed_the_fence_is_stored_before_what_failed(adapter: TopicAdapter) -> None:
    """The first of the two holes through which deduplication loses a message, in 4.2.4."""
    late = f"{FAILS}; add_waits(b0)"
    mistaken = follow(adapter, late, "reopened_before_fence", messages=3, failures=1)
    assert mistaken.verdict == "agrees", mistaken
    assert mistaken.seen is not None
    assert mistaken.seen.values["brokers"]["b0"]["topic"] == "fenced"
    sound = follow(adapter, FAILS, messages=3, failures=1)
    assert (sound.verdict, [each.what for each in sound.differences]) == ("differs", ["state[b0]"])
