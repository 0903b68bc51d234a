"""Auto-recovery on BookKeeper's own workers: no difference, the known bugs of the releases, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from fencepost.checks.conformance.bookkeeper.replication import ReplicationAdapter
from fencepost.checks.conformance.bookkeeper.target import REPLICATION, start_replication
from fencepost.checks.conformance.running.campaign import campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import unexplained
from tests.checks.conformance.real import tools
from tests.properties.searching import searched, unexpected

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("real bookkeeper")]

ENTRY = PROTOCOLS["replication"]
ZOMBIE: dict[str, Value] = {"workers": 2, "expiries": 1, "crashes": 2}
OVERTAKEN = "crash(b0); audit; take(0); expire(0); take(1); "

TWICE = OVERTAKEN + (
    "find_bad(1); choose(w1, b0, b2); crash(b1); restart(b0); find_bad(0); choose(w0, b1, b2); copy(w0, e0); copy(w1, e0); "
    "replace(w0); replace(w1)"
)
"""target_is_a_member: a worker whose session is gone, and its successor, replace each one bookie by the same third one."""

LOCK_GONE = OVERTAKEN + "find_bad(0); choose(w0, b0, b2); copy(w0, e0); replace(w0); find_whole(0); mark_replicated(0)"
"""deletes_lock_of_successor, and task_deleted_without_lock: the zombie ends the task of its successor, and deletes its lock."""

NO_NEWS = "crash(b0); audit; take(0); restart(b0); audit; find_whole(0); crash(b0); audit; mark_replicated(0)"
"""listed_replica_is_no_news: the bookie goes again after the check, is marked again, and the task is deleted all the same."""

MARKED_AGAIN = (
    "crash(b0); audit; take(0); find_bad(0); choose(w0, b0, b2); copy(w0, e0); replace(w0); find_whole(0); crash(b1); "
    "audit; mark_replicated(0)"
)
"""Another bookie goes after the check, and the task has another version when the worker ends it."""


COPIED_BY_COMMAND = "recover(1, b0); choose(recover0, b0, b2); copy(recover0, e0); lock_surplus(b2); look(b2); collect(b2)"
"""collector_trusts_the_lock: the collector of b2 deletes what the command recover has copied there."""

REFUSED = (
    "crash(b1); audit; take(0); find_bad(0); choose(w0, b1, b2); expire(0); copy(w0, e0); shut_down(0); lock_surplus(b2); "
    "look(b2); collect(b2); take(0); find_bad(0); choose(w0, b1, b2); fail(w0)"
)
"""collected_is_refused: a bookie has deleted the copy of an attempt that did not end, and refuses the next."""

GAP = "crash(b0); audit; take(0); restart(b0); lose_entry(b0, e1); find_whole(0); mark_replicated(0)"
"""checker_reads_ends_only: the worker ends the task of a ledger that lacks an entry between its first and last one."""

REFILLED = "lose_disk(b0); rot(b1, e0); replace_disk(b0); refill(b0, b1, e0)"
"""refill_ignores_digest: the only copy that is left has gone bad, and the bookie that comes back takes it."""


@pytest.fixture(scope="module", params=REPLICATION.releases)
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def adapter(release: str) -> Iterator[ReplicationAdapter]:
    tools()
    with start_replication(Asked(release)) as adapter:
        yield adapter


def follow(adapter: ReplicationAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    known = [name for name in ENTRY.held if name not in bugs]
    kernel = Kernel(ENTRY.build({**ZOMBIE, **parameters}, [*known, *bugs]))
    return Pair(kernel, adapter).follow([label.strip() for label in script.split(";")])


def test_runs_agree(release: str, adapter: ReplicationAdapter) -> None:
    protocols = [REPLICATION.model(ENTRY, release, each) for each in REPLICATION.instances]
    runs, weights = len(protocols), REPLICATION.weights
    result = campaign(protocols, adapter, runs=runs, steps=40, seed=5, weights=weights, stop_after=1, shrink=False)
    assert result.agrees, unexplained(result)
    assert result.agreeing == runs


REPLACED = "crash(b0); audit; take(0); find_bad(0); choose(w0, b0, b3); copy(w0, e0); replace(w0)"


def test_a_handle_hears_of_new_bookies_where_its_client_asks(release: str, adapter: ReplicationAdapter) -> None:
    """handle_keeps_its_ensemble: of a closed ledger nobody asks before Pulsar 5.0.1, which ships 4.18.2."""
    kernel = Kernel(REPLICATION.model(ENTRY, release, {"bookies": 4, "crashes": 2, "handle": True}))
    outcome = Pair(kernel, adapter).follow([label.strip() for label in REPLACED.split(";")])
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen
    assert outcome.seen.values["ensemble"] == ["b3", "b1"]
    assert outcome.seen.values["handle"] == (["b3", "b1"] if release == "4.18.2" else ["b0", "b1"])


def test_a_zombie_and_its_successor_name_one_bookie_twice(adapter: ReplicationAdapter) -> None:
    outcome = follow(adapter, TWICE)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen
    assert outcome.seen.values["ensemble"] == ["b2", "b2"]
    assert unexpected(searched(ENTRY, ZOMBIE, ["target_is_a_member"], ["members_are_distinct"])) == {"members_are_distinct": 15}


NAMED_TWICE = (
    "recover(1, b1); crash(b0); audit; choose(recover0, b1, b2); take(0); copy(recover0, e0); find_bad(0); choose(w0, b0, b2); "
    "restart(b0); replace(recover0); copy(w0, e0); replace(w0); find_whole(0); crash(b2); audit; mark_replicated(0); take(0); "
    "find_bad(0); choose(w0, b2, b0)"
)


def test_a_bookie_that_is_named_twice_is_replaced_at_each_place(adapter: ReplicationAdapter) -> None:
    outcome = follow(adapter, NAMED_TWICE, workers=1, expiries=0, commands=1, ack_quorum=1, entries=1)
    assert (outcome.verdict, outcome.known) == ("differs", "a bookie that is named twice is replaced twice"), outcome


READS_UNDER_WAY = (
    "recover(1, b0); crash(b1); audit; take(0); find_bad(0); choose(recover0, b0, b2); copy(recover0, e0); "
    "choose(w0, b1, b2); crash(b0); replace(recover0); "
)


def test_reads_under_way_are_of_those_that_were_named(adapter: ReplicationAdapter) -> None:
    """The worker asked for the entry when its bookie was chosen; that another one is named since does not help."""
    outcomes = [
        follow(adapter, READS_UNDER_WAY + more, workers=1, expiries=0, commands=1, collects=True)
        for more in ("copy(w0, e0)", "restart(b0); copy(w0, e0)")
    ]
    assert [outcome.verdict for outcome in outcomes] == ["differs", "agrees"], outcomes


COMES_BACK = (
    "lose_disk(b0); audit; take(0); find_bad(0); choose(w0, b0, b2); copy(w0, e2); copy(w0, e1); crash(b2); audit; fail(w0); "
    "restart(b2); find_bad_again(0); audit; give_up(0); lock_surplus(b2); look(b2); collect(b2); take(0); find_bad(0); "
    "choose(w0, b0, b2); copy(w0, e2)"
)


def test_copies_come_back_with_their_ledger(adapter: ReplicationAdapter) -> None:
    """The places of a collected ledger's entries are there until the next checkpoint."""
    lost: dict[str, Value] = {"workers": 1, "expiries": 0, "entries": 3, "collects": True, "losses": 1, "crashes": 1}
    outcome = follow(adapter, COMES_BACK, **lost)
    assert (outcome.verdict, outcome.known) == ("differs", "copies come back with their ledger"), outcome
    assert [d.what for d in outcome.differences] == ["stored[b2]"]


@pytest.mark.parametrize(("script", "task"), [(LOCK_GONE, False), (NO_NEWS, False)], ids=["lock", "news"])
def test_a_task_ends_that_should_not(adapter: ReplicationAdapter, script: str, task: bool) -> None:
    outcome = follow(adapter, script)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen
    assert (outcome.seen.values["task"], outcome.seen.values["lock"]) == (task, "nobody")


def test_a_worker_that_is_shut_down_deletes_the_lock_of_its_successor(adapter: ReplicationAdapter) -> None:
    outcome = follow(adapter, OVERTAKEN + "shut_down(0)")
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen
    assert (outcome.seen.values["task"], outcome.seen.values["lock"]) == (True, "nobody")


@pytest.mark.parametrize(
    ("bug", "script", "parameters"),
    [
        ("collector_trusts_the_lock", COPIED_BY_COMMAND, {"commands": 1, "collects": True}),
        ("collected_is_refused", REFUSED, {"expiries": 1, "collects": True}),
        ("checker_reads_ends_only", GAP, {"entries": 3, "gaps": 1}),
        ("audit_not_repeated", "crash(b0); fail_audit", {"failed_audits": 1}),
        ("return_unseen", "crash(b0); audit; restart(b0); crash(b0)", {"crashes": 2}),
        ("refill_ignores_digest", REFILLED, {"losses": 1, "rots": 1, "integrity": True}),
    ],
)
def test_a_known_bug_is_needed_for_what_the_code_does(
    adapter: ReplicationAdapter, bug: str, script: str, parameters: Mapping[str, Value]
) -> None:
    labels = script.split("; ")
    small = {"workers": 1, "crashes": 1, **parameters}
    with_it, without = (Kernel(ENTRY.build(small, bugs)) for bugs in ([bug], []))
    outcome = Pair(with_it, adapter).follow(labels)
    assert outcome.verdict == "agrees", outcome
    assert not is_run(without, labels) or Pair(without, adapter).follow(labels).verdict == "differs"


def is_run(kernel: Kernel, labels: Sequence[str]) -> bool:
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    (state,) = kernel.initial()
    for label in labels:
        if numbers[label] not in kernel.enabled(state):
            return False
        state = kernel.apply(state, numbers[label])
    return True


@pytest.mark.parametrize(
    ("bug", "script"),
    [
        ("replaced_before_copy", "crash(b0); audit; take(0); find_bad(0); choose(w0, b0, b2); replace(w0)"),
        ("task_deleted_blindly", MARKED_AGAIN),
    ],
)
def test_a_bug_in_the_model_is_noticed(adapter: ReplicationAdapter, bug: str, script: str) -> None:
    outcome = follow(adapter, script, bug)
    assert outcome.verdict in ("differs", "departs"), outcome
