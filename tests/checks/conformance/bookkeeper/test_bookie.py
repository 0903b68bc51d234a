"""The protocol of one bookie on BookieImpl: no difference, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from fencepost.checks.conformance.bookkeeper.bookie import BookieAdapter
from fencepost.checks.conformance.bookkeeper.target import BOOKIE, STORAGES, start_bookie
from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.model.bookkeeper.bookie_bugs import BUGS
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import unexplained
from tests.checks.conformance.real import tools

pytestmark = pytest.mark.xdist_group("real bookkeeper")

ENTRY = PROTOCOLS["bookie"]
USUAL = BOOKIE.releases[0]
BUDGETS = ("explicit_lacs", "reads", "full_caches", "failed_saves", "failed_index_saves", "kills", "power_losses", "stops")
CHECKED_APART = "check_fence(l0, e0); fence(l0); add(l0, e0); write_journal; sync_journal; acknowledge(l0, e0)"
KEY_LAST = "add(l0, e0); write_journal; sync_journal; acknowledge(l0, e0); kill; replay"
RACES = {"fence_checked_apart": CHECKED_APART, "key_record_after_entry": KEY_LAST}
"""Bugs that take two threads in one bookie at once, and a run of each."""


@pytest.fixture(scope="module")
def adapter() -> Iterator[BookieAdapter]:
    tools()
    with start_bookie(Asked(USUAL)) as adapter:
        yield adapter


def instances(release: str, storage: str) -> list[Protocol]:
    return [BOOKIE.model(ENTRY, release, each) for each in BOOKIE.instances_on(storage)]


def held(adapter: BookieAdapter, protocols: Sequence[Protocol], runs: int, without: Sequence[Protocol] = ()) -> Result:
    return campaign(
        protocols, adapter, runs=runs, steps=60, seed=1, weights=BOOKIE.weights, without=without, stop_after=1, shrink=False
    )


def follow(adapter: BookieAdapter, script: str, **parameters: Value) -> Outcome:
    protocol = BOOKIE.model(ENTRY, USUAL, parameters)
    return Pair(Kernel(protocol), adapter).follow([label.strip() for label in script.split(";")])


# --- no difference


def test_runs_agree(adapter: BookieAdapter) -> None:
    result = held(adapter, instances(USUAL, "db"), 8)
    assert result.agreeing == 8, unexplained(result)
    assert result.coverage.names()["replay"] > 8


@pytest.mark.parametrize("storage", ["sorted", pytest.param("interleaved", marks=pytest.mark.deep)])
def test_the_other_storages_agree(storage: str) -> None:
    tools()
    with start_bookie(Asked(USUAL, storage)) as adapter:
        result = held(adapter, instances(USUAL, storage), 3)
    assert result.agreeing == 3, unexplained(result)


@pytest.mark.deep
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("release", BOOKIE.releases)
def test_many_runs_agree_and_take_every_action(release: str, storage: str) -> None:
    tools()
    with start_bookie(Asked(release, storage)) as adapter:
        result = held(adapter, instances(release, storage), 1000)
    assert result.agrees, unexplained(result)
    assert not result.known
    everything = {action.name for each in result.instances for action in each.actions}
    assert everything - set(result.coverage.names()) == set()


KILLED = (
    "add(l0, e0); write_journal; sync_journal; acknowledge(l0, e0); fence(l0); write_journal; kill; replay; save(sync); serve"
)


def test_a_process_that_is_killed(adapter: BookieAdapter) -> None:
    """By SIGKILL; another process has its files, and serves what was written, as in one process."""
    outcomes = [follow(adapter, f"{KILLED}; refuse(l0, e1)", kills=1)]
    with start_bookie(Asked(USUAL, processes=True)) as other:
        first = other.session.pid
        outcomes.append(follow(other, f"{KILLED}; refuse(l0, e1)", kills=1))
        assert other.session.pid != first
    assert [outcome.verdict for outcome in outcomes] == ["agrees", "agrees"], outcomes
    assert outcomes[0].seen == outcomes[1].seen


@pytest.mark.deep
@pytest.mark.parametrize("storage", STORAGES)
def test_processes_that_are_killed(storage: str) -> None:
    tools()
    with start_bookie(Asked(USUAL, storage, processes=True)) as adapter:
        result = held(adapter, instances(USUAL, storage), 60)
    assert result.agrees, unexplained(result)


# --- bugs are noticed


def on_its_storage(bug: str) -> dict[str, Value]:
    return {"storage": "db", **ENTRY.shown_by[bug]}


def mistaken(bug: str, **parameters: Value) -> tuple[Protocol, Protocol]:
    """The model with a bug that the release does not have, or without one that it has; and the model of the release."""
    shown = on_its_storage(bug) | parameters
    right = BOOKIE.model(ENTRY, USUAL, shown)
    has = [name for name in right.active if name in ENTRY.held]
    other = [name for name in has if name != bug] if bug in has else [*has, bug]
    return BOOKIE.model(ENTRY, USUAL, shown, other), right


CHECKPOINTED = "write_journal; sync_journal; take_checkpoint; save(sync); save_mark(sync); kill; replay"
BY_SCRIPT = {"explicit_lac_not_indexed": f"add(l0, e0); set_explicit_lac(l0, 1); {CHECKPOINTED}"}
"""A bug for which a random run takes long: a run that shows it."""

NO_PAGE = "headers_without_pages_not_saved"
"""A bug that would be hidden if a look of the harness left a page of the ledger in memory."""

NOTICED = [
    pytest.param(bug, marks=[] if bug in ("fence_not_journaled", "master_key_with_entries_only") else [pytest.mark.deep])
    for bug in BUGS
    if bug not in {*RACES, *BY_SCRIPT, NO_PAGE}
]


@pytest.mark.parametrize("bug", NOTICED)
def test_a_bug_in_the_model_is_noticed(adapter: BookieAdapter, bug: str) -> None:
    wrong, right = mistaken(bug)
    if wrong.parameters["storage"] == "db":
        assert not held(adapter, [wrong], 200, [right]).agrees
        return
    with start_bookie(Asked(USUAL, str(wrong.parameters["storage"]))) as other:
        assert not held(other, [wrong], 200, [right]).agrees


@pytest.mark.parametrize("bug", BY_SCRIPT)
def test_a_rare_bug_in_the_model_is_noticed(adapter: BookieAdapter, bug: str) -> None:
    labels = BY_SCRIPT[bug].split("; ")
    wrong, right = mistaken(bug)
    assert Pair(Kernel(right), adapter).follow(labels).verdict == "agrees"
    outcome = Pair(Kernel(wrong), adapter).follow(labels)
    assert outcome.verdict == "differs", outcome


@pytest.mark.deep
def test_a_look_leaves_no_page_behind() -> None:
    """With a page in memory the header would be saved, and the fence with it."""
    tools()
    wrong, right = mistaken(NO_PAGE)
    labels = f"fence(l0); add(l1, e0); {CHECKPOINTED}".split("; ")
    with start_bookie(Asked(USUAL, "sorted")) as adapter:
        assert Pair(Kernel(right), adapter).follow(labels).verdict == "agrees"
        outcome = Pair(Kernel(wrong), adapter).follow(labels)
        assert [str(d) for d in outcome.differences] == ["fenced[l0]: model yes, code no"]


@pytest.mark.parametrize("bug", RACES)
def test_two_threads_in_the_bookie_at_once(adapter: BookieAdapter, bug: str) -> None:
    """4.17.3 has both bugs; in 4.18.0 the second request waits for the first."""
    labels = RACES[bug].split("; ")
    protocol = BOOKIE.model(ENTRY, USUAL, {"kills": 1}, (*BOOKIE.model(ENTRY, USUAL, {"kills": 1}).active, bug))
    outcome = Pair(Kernel(protocol), adapter).follow(labels)
    assert (outcome.verdict, "under way" in outcome.why) == ("departs", True), outcome
    with start_bookie(Asked("4.17.3")) as older:
        outcome = Pair(Kernel(protocol), older).follow(labels)
    assert outcome.verdict == "agrees", outcome


# --- runs that a person can follow

LOST_FENCE = "add(l0, e0); write_journal; sync_journal; take_checkpoint; save(sync); save_mark(sync); fence(l0); write_journal;"
IDLE = LOST_FENCE + "sync_journal; take_checkpoint; save(sync); save_mark(sync); kill; replay; save(sync); serve"


OUT_OF_ORDER = (
    "take_checkpoint; read_second_journal(sync); add(l0, e0); write_journal(j0); fill_cache(cache0); sync_journal(j0); "
    "save(sync); add(l1, e0); write_journal(j1); sync_journal(j1); read_second_journal(cache0); save(cache0); "
    "save_mark(cache0); acknowledge(l1, e0); kill; replay"
)


def test_two_journals_whose_checkpoints_are_out_of_order(adapter: BookieAdapter) -> None:
    """bookkeeper#4844: the second checkpoint is taken for saved, and the mark of the second journal passes an entry."""
    outcome = follow(adapter, OUT_OF_ORDER, ledgers=2, entries=1, journals=2, full_caches=1, kills=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert [ledger["stored"] for ledger in outcome.seen.values["ledgers"]] == [[0], []]


def test_the_add_after_a_fence_that_is_lost(adapter: BookieAdapter) -> None:
    outcome = follow(adapter, f"{IDLE}; add(l0, e1); write_journal; sync_journal; acknowledge(l0, e1)", kills=1)
    assert outcome.verdict == "agrees", outcome


ADDED = "add(l0, e0); write_journal; sync_journal; acknowledge(l0, e0); "
FAILED_SAVE = ADDED + "take_checkpoint; fail_to_save(sync); "
SAVED = "take_checkpoint; save(sync); save_mark(sync); "
BACK = "replay; save(sync); serve"


@pytest.mark.parametrize(
    ("script", "there"),
    [
        (FAILED_SAVE + "kill; " + BACK, True),
        (FAILED_SAVE + SAVED + "kill; " + BACK, False),
        (FAILED_SAVE + "stop; save(sync); end; " + BACK, False),
        (FAILED_SAVE + "add(l0, e1); write_journal; sync_journal; " + SAVED + "kill; " + BACK, False),
        (FAILED_SAVE + "add(l0, e1); write_journal; sync_journal; " + SAVED + SAVED + "kill; " + BACK, True),
    ],
    ids=["only a kill", "another checkpoint", "a clean stop", "another entry", "a third checkpoint"],
)
def test_an_entry_whose_flush_has_failed(adapter: BookieAdapter, script: str, there: bool) -> None:
    """What a failed flush leaves in the cache being flushed is saved by no checkpoint but the one after the next."""
    outcome = follow(adapter, script, kills=1, stops=1, failed_saves=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert (0 in outcome.seen.values["ledgers"][0]["stored"]) is there


FENCE_UNQUEUED = (
    "add(l0, e0); write_journal; sync_journal; take_checkpoint; save(sync); save_mark(sync); add(l0, e1); fence(l0); "
    "write_journal; sync_journal; answer_fencing_read(l0); take_checkpoint; fail_to_save_index(sync, l0); "
)


@pytest.mark.parametrize(("more", "fenced"), [("", True), (SAVED, False)], ids=["only a kill", "another checkpoint"])
def test_a_fence_whose_update_of_the_index_has_failed(adapter: BookieAdapter, more: str, fenced: bool) -> None:
    """index_update_forgotten: the next checkpoint does not write the fence, and moves the log mark past it."""
    outcome = follow(adapter, FENCE_UNQUEUED + more + "kill; " + BACK, kills=1, failed_index_saves=1, recovery=False)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["ledgers"][0]["fenced"] is fenced


def test_what_a_failed_flush_leaves_may_be_on_the_disk_already(adapter: BookieAdapter) -> None:
    """The save after the next finds it in the write cache, and so saves the index."""
    script = (
        "add(l0, e1); stop; save(sync); end; " + BACK + "; add(l0, e1); take_checkpoint; fail_to_save(sync); add(l0, e0); "
        "take_checkpoint; save(sync)"
    )
    outcome = follow(adapter, script, stops=1, failed_saves=1, recovery=False)
    assert outcome.verdict == "agrees", outcome


def test_an_entry_that_is_in_the_log_behind_a_saved_one(adapter: BookieAdapter) -> None:
    """The flush of e1 fails once the log has it, behind e0. No index names it: it is gone, and no read of e0 may bring it."""
    script = (
        "add(l0, e0); write_journal; kill; " + BACK + "; add(l0, e1); write_journal; take_checkpoint; fail_to_save(sync); "
        "sync_journal; acknowledge(l0, e1); stop; save(sync); end; replay"
    )
    outcome = follow(adapter, script, kills=1, stops=1, failed_saves=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["ledgers"][0]["stored"] == [0]


COLLECTED = ADDED + "stop; save(sync); end; " + BACK + "; collect(l0); "
AGAIN = "add(l0, e0); write_journal; sync_journal; acknowledge(l0, e0); "


@pytest.mark.parametrize(
    ("script", "there"),
    [
        (COLLECTED + AGAIN + SAVED, []),
        (COLLECTED + SAVED + AGAIN + SAVED, []),
        (COLLECTED + SAVED + AGAIN + "kill; " + BACK + "; " + SAVED, [0]),
    ],
    ids=["at once", "after an idle checkpoint", "after an idle checkpoint, and with another process"],
)
def test_copies_that_come_back(adapter: BookieAdapter, script: str, there: list[int]) -> None:
    """returned_entries_deleted: a checkpoint with nothing to write leaves the collected ledger in the write cache's list."""
    outcome = follow(adapter, script.rstrip("; "), entries=1, records=6, collections=1, stops=1, kills=1, recovery=False)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["ledgers"][0]["stored"] == there


LOGGED = "add(l0, e0); write_journal; sync_journal; acknowledge(l0, e0); "


@pytest.mark.parametrize(
    ("script", "logs"),
    [
        (LOGGED + SAVED + "rotate; compact(log0)", [["l0 e0"]]),
        (LOGGED + "take_checkpoint; save(sync); kill; " + BACK, [["l0 e0"], ["l0 e0"]]),
        (LOGGED + SAVED + "kill; " + BACK + "; collect(l0); collect_log(log0)", []),
        (LOGGED + "take_checkpoint; save(sync); kill; rebuild_index; " + BACK, [["l0 e0"], ["l0 e0"]]),
    ],
    ids=["compaction", "what is replayed is written again", "collection", "rebuild"],
)
def test_what_entry_logs_have(adapter: BookieAdapter, script: str, logs: list[list[str]]) -> None:
    events = {"rotations": 1, "collector_looks": 1, "compactions": 1, "rebuilds": 1, "collections": 1, "kills": 1}
    outcome = follow(adapter, script, entries=1, recovery=False, **events)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["logs"] == logs


def test_an_error_for_what_was_in_a_deleted_log(adapter: BookieAdapter) -> None:
    """The index names it until the next save."""
    script = "add(l0, e0); take_checkpoint; save(sync); kill; " + BACK + "; collect(l0); collect_log(log0); fence(l0)"
    outcome = follow(adapter, script, entries=1, rotations=1, collector_looks=1, collections=1, kills=1)
    assert (outcome.verdict, outcome.known) == ("differs", "an error for what was in a deleted log"), outcome


@pytest.mark.deep
def test_a_refused_boot() -> None:
    """The log mark goes back to a file that is deleted: 4.17.3 does not start again."""
    tools()
    script = (
        "add(l0, e0); fill_cache(cache0); write_journal; sync_journal;"
        "take_checkpoint; save(sync); save_mark(sync); save(cache0); save_mark(cache0)"
    )
    with start_bookie(Asked("4.17.3")) as adapter:
        protocol = BOOKIE.model(ENTRY, "4.17.3", {"full_caches": 1, "kills": 1})
        outcome = Pair(Kernel(protocol), adapter).follow([label.strip() for label in script.split(";")])
        assert outcome.verdict == "agrees", outcome
        assert outcome.seen is not None
        assert [journal["reaches"] for journal in outcome.seen.values["journals"]] == [False]
        adapter.session.ask({"do": "kill"})
        assert adapter.session.ask({"do": "replay"})["refused"] == "the bookie does not start"
