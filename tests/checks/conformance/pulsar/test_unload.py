"""Unloads on the NamespaceService of Pulsar's brokers: no difference without a name, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fencepost.checks.conformance.policy.code import pulsar_broker
from fencepost.checks.conformance.pulsar.brokers_target import UNLOAD, start_unload
from fencepost.checks.conformance.pulsar.unload import UnloadAdapter
from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import KNOWN_OF_LOCKS, shown, unexplained
from tests.checks.conformance.real import each_release, tools

pytestmark = pytest.mark.xdist_group("real brokers")

ENTRY = PROTOCOLS["unload"]
USUAL, *NEWER = UNLOAD.releases


@pytest.fixture(scope="module")
def adapter() -> Iterator[UnloadAdapter]:
    tools()
    with start_unload(Asked(USUAL)) as adapter:
        yield adapter


def held(adapter: UnloadAdapter, *, runs: int, release: str = USUAL) -> Result:
    instances = [UNLOAD.model(ENTRY, release, each) for each in UNLOAD.instances]
    return campaign(instances, adapter, runs=runs, steps=40, seed=1, weights=UNLOAD.weights, stop_after=1, shrink=False)


def follow(adapter: UnloadAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    """Takes these steps; of the bundle there is one."""
    pair = Pair(Kernel(ENTRY.build(parameters, bugs)), adapter)
    return pair.follow([step.strip().replace("*", "u0") for step in script.split(";")])


# --- no difference without a name


@pytest.mark.deep
def test_runs_differ_only_where_it_is_known(adapter: UnloadAdapter) -> None:
    result = held(adapter, runs=len(UNLOAD.instances))
    assert result.agrees, unexplained(result)
    assert set(result.known) <= KNOWN_OF_LOCKS
    assert result.agreeing > 4


@pytest.mark.deep
@pytest.mark.parametrize("release", UNLOAD.releases)
def test_many_runs_differ_only_where_it_is_known(release: str) -> None:
    tools()
    with start_unload(Asked(release)) as adapter:
        result = held(adapter, runs=210, release=release)
    assert result.agrees, unexplained(result)
    assert set(result.known) <= KNOWN_OF_LOCKS
    assert {"close_topic", "fail_to_close", "time_out_closing", "find_other", "release"} <= result.coverage.names().keys()


@pytest.mark.parametrize("release", UNLOAD.releases)
def test_the_jars_are_pinned(release: str) -> None:
    assert pulsar_broker(release).pinned


# --- runs that a person can follow

OWNS = "try_to_own(b0, *); create(b0, *)"
BUNDLE_STATES = f"{OWNS}; open_topic(b0, *)"
UNLOADS = f"{BUNDLE_STATES}; start_unload(b0, *)"
ALONE = f"{OWNS}; start_unload(b0, *); lone_release_unheard(b0, *, 0); reconnect(b0)"
LATE = f"{UNLOADS}; time_out_closing(b0, *); release(b0, *)"


def test_an_unload_waits_for_the_topics(adapter: UnloadAdapter) -> None:
    waits = follow(adapter, UNLOADS)
    assert (waits.verdict, shown(waits, "requests")["b0"]) == ("agrees", ["close"])
    closed = follow(adapter, f"{UNLOADS}; close_topic(b0, *)")
    assert (closed.verdict, shown(closed, "requests")["b0"]) == ("agrees", ["release"])


def test_the_next_unload_does_not_wait_for_a_topic_that_was_late(adapter: UnloadAdapter) -> None:
    again = follow(adapter, f"{LATE}; hear_of_deletion(b0, *); {OWNS}; start_unload(b0, *)", unloads=2, timeouts=1)
    assert again.verdict == "agrees", again
    assert (shown(again, "topic_open")["b0"], shown(again, "requests")["b0"]) == (True, ["release", "close"])


LOST = f"{BUNDLE_STATES}; expire(b0); try_to_own(b1, *); create(b1, *); learn_of_expiry(b0); reestablish(b0); find_other(b0, *)"
UNLOADED_AND_LOST = (
    f"{UNLOADS}; expire(b0); try_to_own(b1, *); create(b1, *); learn_of_expiry(b0); reestablish(b0); find_other(b0, *);"
    f"start_unload(b1, *); release(b1, *); hear_of_deletion(b0, *); {OWNS}; close_topic(b0, *)"
)


def test_the_unload_of_what_was_lost_releases_what_was_acquired_meanwhile(adapter: UnloadAdapter) -> None:
    stale = follow(adapter, UNLOADED_AND_LOST, "stale_unload", unloads=2, expiries=1)
    assert stale.verdict == "agrees", stale
    assert (shown(stale, "state")["b0"], shown(stale, "requests")["b0"]) == ("Releasing", ["release"])


@each_release(UNLOAD.releases)
def test_a_topic_that_does_not_close_is_forgotten_or_kept(release: str) -> None:
    """By releases: 4.2.4 and 5.0.1 forget only what is fenced, and a topic that could not be closed is not."""
    tools()
    with start_unload(Asked(release)) as adapter:
        failed = follow(adapter, f"{UNLOADS}; fail_to_close(b0, *)", failures=1)
        assert failed.verdict == "agrees", failed
        assert shown(failed, "topic_kept")["b0"] == (release in ("4.2.4", "5.0.1"))
        alone = follow(adapter, ALONE, "lone_release_fails", disconnects=1)
        assert (alone.verdict, shown(alone, "state")["b0"]) == ("agrees", "Releasing"), alone


def test_what_is_lost_is_unloaded_by_itself(adapter: UnloadAdapter) -> None:
    lost = follow(adapter, LOST, expiries=1)
    assert (lost.verdict, shown(lost, "requests")["b0"]) == ("agrees", ["close"])


OVERTAKEN = "expire(b0); learn_of_expiry(b0); {other}reestablish(b0); {released}start_unload(b0, *); {heard}release(b0, *)"
EVENT_WAITS = f"{OWNS}; {OVERTAKEN.format(other='', released='', heard='')}; {OWNS}; disconnect(b0, 1); lose(b0); resume(b0)"
LOOKS_BEHIND_ITS_RELEASE = (
    f"{BUNDLE_STATES}; "
    + OVERTAKEN.format(
        other="try_to_own(b1, *); create(b1, *); ",
        released="start_unload(b1, *); ",
        heard="release(b1, *); hear_of_deletion(b0, *); close_topic(b0, *); ",
    )
    + "; recreate_behind_release(b0, *)"
)


@pytest.mark.parametrize(
    ("name", "script", "parameters"),
    [
        ("one event at a time", EVENT_WAITS, {"disconnects": 1, "expiries": 1}),
        ("several deletions", LOOKS_BEHIND_ITS_RELEASE, {"unloads": 2, "expiries": 1}),
    ],
)
def test_what_a_released_lock_still_does_has_a_name(
    adapter: UnloadAdapter, name: str, script: str, parameters: dict[str, Value]
) -> None:
    """Its read is out yet: the next session event waits for that, and a deletion heard before is looked into afterwards."""
    outcome = follow(adapter, script, "recreated_behind_release", **parameters)
    assert (outcome.verdict, outcome.known) == ("differs", name), outcome


# --- bugs in the model are noticed

NOTICED: dict[str, tuple[str, dict[str, Value]]] = {
    "unload_not_exclusive": (f"{UNLOADS}; start_unload(b0, *)", {"unloads": 2}),
    "released_before_close": (UNLOADS, {}),
    "active_after_failed_close": (f"{UNLOADS}; fail_to_close(b0, *)", {"failures": 1}),
    "active_after_failed_release": (f"{OWNS}; start_unload(b0, *); release_unheard(b0, *)", {"disconnects": 1}),
    "release_skipped_on_failure": (f"{UNLOADS}; fail_to_close(b0, *)", {"failures": 1}),
}
"""Runs that the code follows until the bug shows."""

BUGS = {"deletion_sent_again", "lone_release_fails", "stale_unload", "recreated_behind_release", "found_lock_unattended"}
"""Bugs that the releases have, too."""

NOT_TOLD_APART = {
    "close_waits_for_unload": "that a topic asks who owns it as it closes is the topic's matter",
}


def test_each_bug_is_noticed_or_has_a_reason_why_not() -> None:
    assert {*NOTICED, *BUGS, *NOT_TOLD_APART} == set(ENTRY.bugs)
    assert len(NOTICED) + len(BUGS) + len(NOT_TOLD_APART) == len(ENTRY.bugs)


@pytest.mark.parametrize("bug", NOTICED)
def test_a_bug_in_the_model_is_noticed(adapter: UnloadAdapter, bug: str) -> None:
    script, parameters = NOTICED[bug]
    outcome = follow(adapter, script, bug, **parameters)
    assert outcome.verdict in ("differs", "departs"), outcome
    assert not outcome.explained
    assert outcome.last.partition("(")[0] in (script.rpartition("; ")[2].partition("(")[0], "start_release")
