"""The channel of service units on Pulsar's own: no difference without a name, bugs by name, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fencepost.checks.conformance.policy.code import pulsar_broker
from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.service_unit.channel import TRIES, ChannelAdapter
from fencepost.checks.conformance.service_unit.channel_deviations import WRITERS
from fencepost.checks.conformance.service_unit.target import CHANNEL, start
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError, Value
from tests.checks.conformance.differences import unexplained
from tests.checks.conformance.real import tools

pytestmark = pytest.mark.xdist_group("real pulsar")

ENTRY = PROTOCOLS["service_unit"]
USUAL = CHANNEL.releases[0]


@pytest.fixture(scope="module")
def adapter() -> Iterator[ChannelAdapter]:
    tools()
    with start(Asked(USUAL)) as adapter:
        yield adapter


def held(adapter: ChannelAdapter, *, runs: int, release: str = USUAL, seed: int = 1) -> Result:
    instances = [CHANNEL.model(ENTRY, release, each) for each in CHANNEL.instances]
    return campaign(instances, adapter, runs=runs, steps=40, seed=seed, weights=CHANNEL.weights, stop_after=1)


def follow(adapter: ChannelAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    """Takes these steps; * is the unit, of which there is one."""
    pair = Pair(Kernel(ENTRY.build({**parameters, **CHANNEL.settings}, bugs)), adapter)
    return pair.follow([step.strip().replace("*", "u0") for step in script.split(";")])


# --- no difference without a name


@pytest.mark.deep
def test_runs_differ_only_where_it_is_known(adapter: ChannelAdapter) -> None:
    result = held(adapter, runs=20)
    assert result.agrees, unexplained(result)
    assert result.agreeing > 14
    everyday = {"read", "assign", "unload", "transfer", "release"}
    assert everyday | {"crash", "expire", "disconnect", "shut_down", "split"} <= set(result.coverage.names())


@pytest.mark.deep
@pytest.mark.parametrize("release", CHANNEL.releases)
def test_many_runs_differ_only_where_it_is_known(release: str) -> None:
    tools()
    with start(Asked(release)) as code:
        result = held(code, runs=1_500, release=release)
    assert result.agrees, unexplained(result)
    taken = result.coverage.names()
    two_gone = {"free_orphan", "tombstone"}  # which take two brokers that are gone
    assert {name for name in code.covered if not taken[name]} <= two_gone


def test_writers_have_a_step() -> None:
    assert WRITERS.keys() <= ChannelAdapter.steps()


@pytest.mark.parametrize("release", CHANNEL.releases)
def test_the_jars_are_pinned(release: str) -> None:
    assert pulsar_broker(release).pinned


def test_what_the_harness_cannot_do_is_refused() -> None:
    with pytest.raises(RegistryError, match="with store=metadata only, not topic"):
        CHANNEL.model(ENTRY, USUAL, {"store": "topic"})


# --- bugs of releases, and bugs in the model

OWNS = "assign(b0, *, b0); read(b0, *); read(b0, *)"
FREED = "unload(b0, *, b0); read(b0, *); release(b0, *); read(b0, *); lead(b0)"
BURIED_LATE = f"{OWNS}; {FREED}; assign(b0, *, b0); tombstone_old(b0, *)"
OVERTAKEN = (
    f"{OWNS}; transfer(b0, *, b0, b1); read(b1, *); lead(b0); open_topics(b0, *); read(b0, *); override_overdue(b0, *, b1);"
    "read(b1, *); open_topics(b1, *)"
)
ATTACHED = (
    f"{OWNS}; open_topics(b0, *); transfer(b0, *, b0, b1); read(b0, *); detach_topics(b0, *); release(b0, *); read(b1, *);"
    "read(b1, *); unload(b1, *, b1); read(b1, *); release(b1, *); read(b0, *); assign(b0, *, b1); read(b1, *); read(b1, *);"
    "read(b0, *)"
)
BACK = (
    f"{OWNS}; open_topics(b0, *); transfer(b0, *, b0, b1); read(b0, *); detach_topics(b0, *); crash(b1); expire_dead(b1);"
    "lead(b0); schedule_clean_up(b0, b1); clean_up(b0, b1, *, b0); read(b0, *)"
)
IN_VAIN = (
    "assign(b0, *, b0); read(b1, *); read(b0, *); crash(b0); lead(b1); expire_dead(b0); schedule_clean_up(b1, b0);"
    "clean_up(b1, b0, *, b1)"
)
HURRIED = (
    f"{OWNS}; lead(b0); open_topics(b0, *); transfer(b0, *, b0, b1); shut_down(b0); read(b0, *); hand_over(b0, *, b1);"
    "read(b1, *); open_topics(b1, *)"
)
BEGUN = f"{OWNS}; split(b0, b0); read(b0, *); own_child(b0); read(b0, u1)"
SPLIT = f"{BEGUN}; change_layout(b0); delete_parent(b0); read(b0, *)"
HALVES: dict[str, Value] = {"units": 2, "splits": 1}
KEPT = (
    f"{BEGUN}; meet_conflict(b0); lead(b1); read(b1, *); override_overdue(b1, *, b1); read(b1, *); open_topics(b1, *);"
    "open_topics(b0, *); read(b0, *)"
)
BUGS: dict[str, tuple[str, dict[str, Value]]] = {
    "late_tombstones": (BURIED_LATE, {"burials": 1}),
    "missed_not_read": ("disconnect(b1, 0); assign(b0, *, b0); reconnect(b1)", {"disconnects": 1}),
    "close_overtaken": (OVERTAKEN, {}),
    "transfer_unseen": (ATTACHED, {"unloads": 2, "versions": 11}),
    "transfer_back_unfinished": (BACK, {"crashes": 1}),
    "override_not_repeated": (IN_VAIN, {"crashes": 1}),
    "assigned_while_leaving": ("lead(b1); shut_down(b0); assign(b0, *, b0)", {"shutdowns": 1}),
    "release_cut_short": (HURRIED, {"shutdowns": 1, "versions": 12}),
    "split_kept": (KEPT, {**HALVES, "conflicts": 1, "attempts": 1}),
    "split_forgotten": (f"{SPLIT}; assign(b1, *, b1)", HALVES),
}
"""Runs that the code of every release takes, and the model only with this bug."""


def test_the_bugs_of_4_2_4(adapter: ChannelAdapter) -> None:
    check_bugs(adapter)


@pytest.mark.deep
@pytest.mark.parametrize("release", CHANNEL.releases[1:])
def test_the_bugs_of_other_releases(release: str) -> None:
    tools()
    with start(Asked(release)) as adapter:
        check_bugs(adapter)


@pytest.mark.deep
@pytest.mark.parametrize("bug", BUGS)
def test_the_model_without_a_bug_is_not_the_release(adapter: ChannelAdapter, bug: str) -> None:
    script, parameters = BUGS[bug]
    sound = follow(adapter, script, *(BUGS.keys() - {bug}), **parameters)
    assert sound.verdict == "differs" or "is not enabled" in sound.why, str(sound)


def check_bugs(adapter: ChannelAdapter) -> None:
    ends = {}
    for bug, (script, parameters) in BUGS.items():
        ends[bug] = follow(adapter, script, *BUGS, **parameters)
        assert ends[bug].verdict == "agrees", (bug, str(ends[bug]))
        assert len(ends[bug].trace.steps) == script.count(";") + 1
    # what an operator would see: two brokers have the topics open; clients are attached where nobody serves them
    assert shown(ends["close_overtaken"], "topics") == {"b0": "detaching", "b1": "open"}
    assert shown(ends["release_cut_short"], "topics") == {"b0": "open", "b1": "open"}
    assert shown(ends["split_kept"], "topics") == {"b0": "open", "b1": "open"}
    assert shown(ends["transfer_unseen"], "topics") == {"b0": "attached", "b1": "closed"}
    assert shown(ends["transfer_back_unfinished"], "topics") == {"b0": "attached"}
    assert node(ends["late_tombstones"]) is None


def shown(outcome: Outcome, what: str) -> dict[str, object]:
    """What the code showed in the end of each broker that runs."""
    assert outcome.seen is not None
    return {b: state["units"]["u0"][what] for b, state in outcome.seen.values["brokers"].items() if state["lives"]}


def node(outcome: Outcome) -> object:
    """The record that is there in the end."""
    assert outcome.seen is not None
    return outcome.seen.values["nodes"]["u0"]


LATE_CLOSE = f"{OWNS}; open_topics(b0, *); unload(b0, *, b0); read(b0, *); time_out_closing(b0, *)"


def test_a_leader_that_shuts_down_cleans_up_after_nobody(adapter: ChannelAdapter) -> None:
    """What it has scheduled it calls off: a channel that is disabled takes every broker for healthy."""
    script = (
        "assign(b1, *, b0); crash(b0); expire_dead(b0); read(b1, *); lead(b1); schedule_clean_up(b1, b0); shut_down(b1); "
        "call_off_clean_up(b1, b0)"
    )
    outcome = follow(adapter, script, *BUGS, crashes=1, shutdowns=1)
    assert outcome.verdict == "agrees", outcome
    assert "Assigning" in str(node(outcome))


def test_a_release_goes_on_when_the_time_for_closing_topics_is_up(adapter: ChannelAdapter) -> None:
    outcome = follow(adapter, LATE_CLOSE, *BUGS, timeouts=1)
    assert outcome.verdict == "agrees"
    assert shown(outcome, "topics")["b0"] == "late"
    assert shown(outcome, "requests")["b0"] == ["put Free nobody b0 4"]


AGAIN = f"{LATE_CLOSE}; release(b0, *); read(b0, *); assign(b0, *, b0); read(b0, *); read(b0, *)"


@pytest.mark.parametrize(
    ("goes_on", "left"), [("unload(b0, *, b0); read(b0, *)", ("late", False)), ("open_topics(b0, *)", ("open", False))]
)
def test_the_map_does_not_have_topics_that_are_late(adapter: ChannelAdapter, goes_on: str, left: tuple[str, bool]) -> None:
    """A second release has nothing to wait for, and a client opens the topics again (cleanUnloadedTopicFromCache)."""
    outcome = follow(adapter, f"{AGAIN}; {goes_on}", *BUGS, timeouts=1, unloads=2, multi_phase=False)
    assert outcome.verdict == "agrees", str(outcome)
    assert (shown(outcome, "topics")["b0"], shown(outcome, "closing")["b0"]) == left


@pytest.mark.parametrize(
    ("goes_on", "left"), [("", "lingering"), ("; detach_topics(b0, *)", "attached"), ("; release(b0, *)", "lingering")]
)
def test_the_map_has_topics_that_take_too_long_to_close_halfway(adapter: ChannelAdapter, goes_on: str, left: str) -> None:
    script = f"{OWNS}; open_topics(b0, *); transfer(b0, *, b0, b1); read(b0, *); time_out_closing(b0, *){goes_on}"
    outcome = follow(adapter, script, *BUGS, timeouts=1)
    assert outcome.verdict == "agrees", str(outcome)
    assert (shown(outcome, "topics")["b0"], shown(outcome, "closing")["b0"]) == (left, False)


def test_topics_that_come_back_half_closed_refuse_their_clients(adapter: ChannelAdapter) -> None:
    """BrokerService.getTopic finds them in its map, and AbstractTopic.addProducer finds them fenced."""
    assert follow(adapter, BACK, *BUGS, crashes=1).verdict == "agrees"
    answer = adapter.session.ask({"do": "open", "of": "b0", "unit": "u0", "registered": ["b0"], "leader": "b0", "then": "b0"})
    assert "TopicFencedException: Topic is temporarily unavailable" in answer["refused"]


def test_a_unit_that_was_split_is_closed_with_the_topics_of_its_child(adapter: ChannelAdapter) -> None:
    """A broker that has not heard of the split assigns the unit again, and it is unloaded."""
    script = f"{SPLIT}; open_topics(b0, u1); assign(b1, *, b0); read(b0, *); read(b1, *); unload(b1, *, b0); read(b0, *)"
    outcome = follow(adapter, script, *BUGS, **HALVES)
    assert outcome.verdict == "agrees", str(outcome)
    assert outcome.seen is not None
    child = outcome.seen.values["brokers"]["b0"]["units"]["u1"]
    assert (child["topics"], child["closing"]) == ("closing", True)


CLOSED_TWICE = f"{OWNS}; open_topics(b0, *); transfer(b0, *, b0, b1); read(b0, *); expire(b0); learn_of_expiry(b0)"


@pytest.mark.parametrize(("first", "left"), [("detach_topics", ("attached", True)), ("close_topics", ("closed", False))])
def test_a_release_waits_for_its_own_closing_of_two(adapter: ChannelAdapter, first: str, left: tuple[str, bool]) -> None:
    """The topics are being closed halfway, for a transfer, as the broker loses its session and closes them entirely."""
    outcome = follow(adapter, f"{CLOSED_TWICE}; {first}(b0, *)", *BUGS, expiries=1)
    assert outcome.verdict == "agrees"
    assert (shown(outcome, "topics")["b0"], shown(outcome, "closing")["b0"]) == left
    assert shown(outcome, "requests")["b0"] == ["put Assigning b1 b0 4"]


ANEW = (
    f"{OWNS}; read(b2, *); {FREED}; tombstone_old(b0, *); read(b0, *); assign(b0, *, b1); read(b1, *); read(b1, *); read(b2, *)"
)
MOVED = f"{OWNS}; transfer(b0, *, b0, b1); read(b0, *); release(b0, *); read(b1, *); read(b1, *); read(b0, *)"
WAITS_AGAIN = (
    "assign(b0, *, b1); read(b1, *); read(b1, *); read(b0, *); transfer(b1, *, b1, b0); read(b0, *); wait_for_owner(b0, *)"
)
NOTICED: dict[str, tuple[str, dict[str, Value]]] = {
    "copies_compared_by_version": (ANEW, {"brokers": 3, "burials": 1}),
    "copy_kept": (f"{OWNS}; expire(b0); learn_of_expiry(b0)", {"expiries": 1}),
    "close_waits_for_lookup": (f"{OWNS}; open_topics(b0, *); transfer(b0, *, b0, b1); read(b0, *); wait_for_owner(b0, *)", {}),
    "existing_ignored": ("assign(b1, *, b0); crash(b0); restart(b0)", {"crashes": 1}),
    "owned_buried": (f"{OWNS}; lead(b0); tombstone_old(b0, *)", {"burials": 1}),
    "source_missed": (f"{MOVED}; lead(b1); crash(b0); expire_dead(b0); schedule_clean_up(b1, b0)", {"crashes": 1}),
    "session_event_unseen": ("expire(b0); learn_of_expiry(b0); reestablish(b0)", {"expiries": 1}),
    "deleted_lingers": (SPLIT, HALVES),
    "selected_late": (f"{OWNS}; assign_late(b0, *, b1)", {}),
    "handed_over_at_once": (f"{OWNS}; lead(b1); shut_down(b0); hand_over(b0, *, b1)", {"shutdowns": 1}),
    "newer_lookup_dropped": (f"{WAITS_AGAIN}; drop_newer_lookup(b0, *)", {}),
}
"""Runs that the code of 4.2.4 follows until the bug shows; 4.0.8 has ``existing_ignored``."""

NOT_TOLD_APART = {
    **dict.fromkeys(("gaps_accepted", "jumps_rejected", "tombstones_compacted"), "they are bugs over the topic"),
    **dict.fromkeys(("registration_lost", "registration_persists"), "the registry is the harness's"),
    "event_lost": "every session event is heard",
}

AT_ONCE = ("deleted_lingers", "handed_over_at_once", "copy_kept", "source_missed", "existing_ignored")


def test_each_bug_is_noticed_or_has_a_reason_why_not() -> None:
    assert {*BUGS, *NOTICED, *NOT_TOLD_APART} == set(ENTRY.bugs)
    assert len(BUGS) + len(NOTICED) + len(NOT_TOLD_APART) == len(ENTRY.bugs)


@pytest.mark.parametrize("bug", [each if each in AT_ONCE else pytest.param(each, marks=pytest.mark.deep) for each in NOTICED])
def test_a_bug_in_the_model_is_noticed(adapter: ChannelAdapter, bug: str) -> None:
    script, parameters = NOTICED[bug]
    assert follow(adapter, script, *BUGS, **parameters).verdict in ("agrees", "not covered")
    outcome = follow(adapter, script, *BUGS, bug, **parameters)
    assert outcome.verdict in ("differs", "departs")
    assert not outcome.explained
    assert len(outcome.trace.steps) == script.count(";") + 1


def test_a_split_is_tried_seven_times(adapter: ChannelAdapter) -> None:
    script = f"{BEGUN}; meet_conflict(b0)" + "; own_child(b0); meet_conflict(b0)" * (TRIES - 1)
    outcome = follow(adapter, script, *BUGS, **HALVES, conflicts=TRIES)
    assert outcome.verdict == "agrees"
    assert outcome.seen is not None
    assert outcome.seen.values["brokers"]["b0"]["split_stage"] == "none"


@pytest.mark.deep
def test_4_0_8_does_not_act_on_what_it_finds_assigned() -> None:
    tools()
    script, parameters = NOTICED["existing_ignored"]
    with start(Asked("4.0.8")) as adapter:
        assert follow(adapter, script, *BUGS, "existing_ignored", **parameters).verdict == "agrees"
        assert follow(adapter, script, *BUGS, **parameters).verdict == "differs"
