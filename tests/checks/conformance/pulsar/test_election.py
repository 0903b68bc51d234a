"""The election on Pulsar's LeaderElectionImpl: no difference without a name, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.checks.conformance.pulsar.election import ElectionAdapter
from fencepost.checks.conformance.pulsar.target import ELECTION, start
from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import unexplained
from tests.checks.conformance.real import each_release, tools

pytestmark = pytest.mark.xdist_group("real pulsar")

ENTRY = PROTOCOLS["election"]
OLDEST, *SINCE_26000 = ELECTION.releases
READS = ENTRY.releases[OLDEST]
BUGS = ENTRY.held
"""The known bugs that every one of these releases has, and the model of them, too."""


@pytest.fixture(scope="module")
def adapter() -> Iterator[ElectionAdapter]:
    tools()
    with start(Asked(OLDEST)) as adapter:
        yield adapter


def held(adapter: ElectionAdapter, *bugs: str, runs: int, seed: int = 1, **parameters: Value) -> Result:
    instances = [parameters] if parameters else ELECTION.instances
    protocols = [ENTRY.build({**READS, **each}, (*BUGS, *bugs)) for each in instances]
    without = [ENTRY.build({**READS, **each}, BUGS) for each in instances] if bugs else ()
    return campaign(protocols, adapter, runs=runs, steps=40, seed=seed, weights=ELECTION.weights, without=without, stop_after=1)


def follow(adapter: ElectionAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    kernel = Kernel(ENTRY.build({**READS, **parameters}, (*BUGS, *bugs)))
    return Pair(kernel, adapter).follow([label.strip() for label in script.split(";")])


# --- no difference without a name


def test_runs_differ_only_where_it_is_known(adapter: ElectionAdapter) -> None:
    result = held(adapter, runs=24)
    assert result.agrees, unexplained(result)
    assert result.agreeing > 4
    assert result.runs == 24


def test_runs_with_a_crash_agree(adapter: ElectionAdapter) -> None:
    result = held(adapter, runs=40, brokers=3, crashes=1)
    assert result.agrees, unexplained(result)
    assert not result.known
    assert result.agreeing > 30


CLOSED_AT_THE_START = (
    "expire(b0); learn_of_expiry(b0); start_closing(b0); fail(b0); reestablish(b0); find_none(b0); close_again(b0); propose(b0)"
)


def test_the_second_of_two_elections_follows_where_the_first_of_the_process_was_closed(adapter: ElectionAdapter) -> None:
    outcome = follow(adapter, f"{CLOSED_AT_THE_START}; withdraw(b0)", brokers=2, expiries=1, crashes=1, closes=1)
    assert outcome.verdict == "agrees"


@settings(max_examples=15)
@given(data=st.data())
def test_hypothesis_finds_no_other_difference(adapter: ElectionAdapter, data: st.DataObject) -> None:
    pair = Pair(KERNEL, adapter)

    def choose(state: object, actions: object, seen: object) -> object:
        return data.draw(st.sampled_from(actions), label="step") if actions else None  # type: ignore[arg-type]

    outcome = pair.choose(choose, 20, found_by="Hypothesis", seed=None)  # type: ignore[arg-type]
    assert outcome.explained, outcome


KERNEL = Kernel(ENTRY.build({**READS, "brokers": 2, "crashes": 1, "closes": 1}, BUGS))


# --- runs that a person can follow

LEADS = "find_none(b0); propose(b0); confirm(b0); find_other(b1)"
TWO_LEADERS = (
    "find_none(b0); propose(b0); crash(b0); restart(b0); find_former(b0); expire_former(b0); find_none(b1); propose(b1);"
    "retake(b0); propose(b0); hear_of_deletion(b0); confirm(b0); hear_of_deletion(b1); confirm(b1)"
)
EARLY_CREATION = (
    "find_none(b0); propose(b0); crash(b0); restart(b0); find_former(b0); expire_former(b0); find_none(b1); propose(b1);"
    "retake(b0); hear_of_deletion(b1); confirm(b1); propose(b0)"
)


def test_one_broker_leads_and_the_other_follows(adapter: ElectionAdapter) -> None:
    outcome = follow(adapter, LEADS, brokers=2)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    brokers = outcome.seen.values["brokers"]
    assert {b: state["role"] for b, state in brokers.items()} == {"b0": "Leading", "b1": "Following"}
    assert outcome.seen.values["node"] == {"holder": "b0", "version": 0, "former": False}


def test_two_leaders_in_the_real_code(adapter: ElectionAdapter) -> None:
    """What leader_is_alone is violated by happens in 4.0.8: a deletion by version takes the node of another."""
    outcome = follow(adapter, TWO_LEADERS, brokers=2, crashes=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    brokers = outcome.seen.values["brokers"]
    assert {b: state["role"] for b, state in brokers.items()} == {"b0": "Leading", "b1": "Leading"}
    assert outcome.seen.values["node"]["holder"] == "b0"


def test_a_new_session_begins_a_new_election(adapter: ElectionAdapter) -> None:
    script = LEADS + "; expire(b1); learn_of_expiry(b1)"
    outcome = follow(adapter, script, brokers=2, expiries=1)
    assert outcome.verdict == "agrees", outcome
    outcome = follow(adapter, script + "; reestablish(b1)", brokers=2, expiries=1)
    assert outcome.verdict == "agrees", outcome


@pytest.mark.parametrize("script", ["disconnect(b1, 0); reconnect(b1)", "disconnect(b1, 1); lose(b1); resume(b1)"])
def test_a_broker_that_was_cut_off_looks_at_the_node_again(adapter: ElectionAdapter, script: str) -> None:
    outcome = follow(adapter, f"{LEADS}; {script}; find_other(b1)", brokers=2, disconnects=1)
    assert outcome.verdict == "agrees", outcome


def test_a_creation_whose_answer_is_lost_is_sent_again(adapter: ElectionAdapter) -> None:
    outcome = follow(adapter, "find_none(b0); creation_unheard(b0)", brokers=2, disconnects=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["node"]["holder"] == "b0"
    assert outcome.seen.values["brokers"]["b0"]["requests"] == ["create"]


def test_who_has_deleted_its_node_knows_of_no_leader(adapter: ElectionAdapter) -> None:
    outcome = follow(adapter, f"{LEADS}; start_closing(b0); delete_at_close(b0)", brokers=2, closes=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["brokers"]["b0"]["cached"] == "nobody"


FAILS = "find_none(b0); propose(b0); crash(b0); restart(b0); find_former(b0); expire_former(b0)"


@pytest.mark.parametrize(
    ("name", "script", "parameters"),
    [
        ("cache hears of creations", EARLY_CREATION, {"crashes": 1}),
    ],
)
def test_what_is_known_has_a_name(adapter: ElectionAdapter, name: str, script: str, parameters: dict[str, Value]) -> None:
    outcome = follow(adapter, script, brokers=2, **parameters)
    assert (outcome.verdict, outcome.known) == ("differs", name)


CLOSED = "find_none(b1); propose(b1); {confirm}start_closing(b0); find_other(b0); crash(b1); expire_dead(b1);"
LEADS_CLOSED = CLOSED + "hear_of_deletion(b0); find_none(b0); propose(b0)"
SENT_AGAIN = (
    f"{LEADS}; start_closing(b0); deletion_at_close_unheard(b0); hear_of_deletion(b1); find_none(b1); propose(b1); confirm(b1);"
    "reconnect(b0); delete_at_close(b0)"
)
SHOWN: dict[str, tuple[str, dict[str, Value]]] = {
    "closed_goes_on": (LEADS_CLOSED.format(confirm="confirm(b1); "), {"crashes": 1, "closes": 1}),
    "closed_elects_again": (
        f"{LEADS}; start_closing(b1); expire(b1); learn_of_expiry(b1); reestablish(b1)",
        {"closes": 1, "expiries": 1},
    ),
    "deletion_sent_again": (SENT_AGAIN, {"closes": 1, "disconnects": 1}),
    "failure_not_retried": (f"{FAILS}; retake(b0); fail_to_start(b0)", {"crashes": 1}),
    "asks_during_election": ("ask(b0); choose(b0, b0)", {"lookups": True}),
}
"""Runs that the code of the release takes, and the model only with this known bug."""


@pytest.mark.parametrize("bug", SHOWN)
def test_a_known_bug_is_that_of_the_code(adapter: ElectionAdapter, bug: str) -> None:
    script, parameters = SHOWN[bug]
    outcome = follow(adapter, script, brokers=2, **parameters)
    assert outcome.verdict == "agrees", outcome
    sound = ENTRY.build({**READS, "brokers": 2, **parameters}, [other for other in BUGS if other != bug])
    without = Pair(Kernel(sound), adapter).follow([label.strip() for label in script.split(";")])
    assert without.verdict == "differs" or "is not enabled" in without.why, without


def test_brokers_that_propose_the_same_delete_each_others_nodes(adapter: ElectionAdapter) -> None:
    outcome = follow(adapter, "find_none(b1); propose(b1); find_former(b0); retake(b0)", "same_value", brokers=2)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["node"] == {}


@each_release(SINCE_26000)
def test_since_26000_a_lookup_waits_for_the_end_of_an_election(release: str) -> None:
    tools()
    with start(Asked(release)) as newer:
        outcome = follow(newer, "ask(b0); choose(b0, b0)", brokers=2, lookups=True)
        assert (outcome.verdict, outcome.why) == ("departs", "b0 waits until it knows who leads"), outcome
        follows = "ask(b1); redirect(b1, b0); choose(b0, b1); take(b1)"
        instance = ELECTION.model(ENTRY, release, {"brokers": 2, "lookups": True})
        led = Pair(Kernel(instance), newer).follow(["find_none(b0)", "propose(b0)", "find_other(b1)", *follows.split("; ")])
        assert led.verdict == "agrees", led


@each_release([release for release in SINCE_26000 if release in ENTRY.bugs["closed_goes_on"].present])
def test_a_broker_that_was_closed_comes_to_lead(release: str) -> None:
    """Closed while its read is out, it follows after all, and leads when the leader dies: nothing else has gone wrong."""
    tools()
    with start(Asked(release)) as newer:
        kernel = Kernel(ELECTION.model(ENTRY, release, {"brokers": 2, "crashes": 1, "closes": 1}))
        outcome = Pair(kernel, newer).follow([label.strip() for label in LEADS_CLOSED.format(confirm="").split(";")])
        assert outcome.verdict == "agrees", outcome
        assert outcome.seen is not None
        assert outcome.seen.values["brokers"]["b0"]["role"] == "Leading"


@each_release(SINCE_26000)
def test_since_26000_a_broker_leads_as_its_creation_is_answered(release: str) -> None:
    tools()
    with start(Asked(release)) as newer:
        outcome = follow(newer, LEADS, brokers=2)
        assert (outcome.verdict, outcome.known, outcome.last) == ("differs", "C1", "propose(b0)")
        instances = [ELECTION.model(ENTRY, release, each) for each in ELECTION.instances]
        result = campaign(instances, newer, runs=18, steps=40, seed=1, weights=ELECTION.weights, stop_after=1)
        assert result.agrees, unexplained(result)
        assert "C1" not in result.known


def test_a_request_that_fails_with_its_session_is_not_sent_again(adapter: ElectionAdapter) -> None:
    """Both sides wait for the next session event, or for five seconds if a deletion began the election."""
    outcome = follow(adapter, "expire(b0); learn_of_expiry(b0); fail(b0)", brokers=2, expiries=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["brokers"]["b0"]["requests"] == []
    assert outcome.seen.values["brokers"]["b0"]["link"] == "lost"


SECOND = (
    "find_none(b0); propose(b0); confirm(b0); expire(b0); learn_of_expiry(b0); reestablish(b0); find_none(b0);"
    "start_closing(b0); propose(b0); withdraw(b0)"
)


def test_the_second_election_of_a_session_follows_on_one_that_failed(adapter: ElectionAdapter) -> None:
    outcome = follow(adapter, SECOND, brokers=2, expiries=1, closes=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert "look" in outcome.seen.values["brokers"]["b0"]["requests"]


BACK = "find_none(b0); propose(b0); {confirm}expire(b0); learn_of_expiry(b0); reestablish(b0); find_none(b0); propose(b0);"
CLOSED_AS_IT_IS_BACK = BACK + "start_closing(b0); delete_at_close(b0); {confirm}find_none(b0); propose(b0)"


@pytest.mark.parametrize("release", [OLDEST, pytest.param("4.2.4", marks=pytest.mark.later)])
def test_a_leader_that_closes_in_a_new_session_elects_itself_behind_that(release: str) -> None:
    """Its node is deleted, and the second of the session's elections, which was to follow, creates it again."""
    tools()
    with start(Asked(release)) as adapter:
        kernel = Kernel(ELECTION.model(ENTRY, release, {"brokers": 2, "expiries": 1, "closes": 1}))
        script = CLOSED_AS_IT_IS_BACK.format(confirm="confirm(b0);" if release == OLDEST else "")
        outcome = Pair(kernel, adapter).follow([label.strip() for label in script.split(";")])
        assert outcome.verdict == "agrees", outcome
        assert outcome.seen is not None
        assert outcome.seen.values["node"]["holder"] == "b0"
        assert outcome.seen.values["brokers"]["b0"]["closing"]


# --- bugs in the model are noticed


@pytest.mark.parametrize("bug", ["creates_blindly", "followers_do_not_cache"])
def test_a_bug_in_the_model_is_noticed(adapter: ElectionAdapter, bug: str) -> None:
    result = held(adapter, bug, runs=60, **dict(ENTRY.shown_by[bug]))
    assert not result.agrees


def test_a_bug_about_new_sessions_is_noticed(adapter: ElectionAdapter) -> None:
    script = LEADS + "; expire(b1); learn_of_expiry(b1); reestablish(b1)"
    outcome = follow(adapter, script, "reestablishment_ignored", brokers=2, expiries=1)
    assert outcome.verdict == "differs"
    assert not outcome.explained
