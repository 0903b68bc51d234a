"""Bugs in the ledger protocol are noticed on BookKeeper's client and bookies, or are those of the release."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fencepost.checks.conformance.bookkeeper.ledger import LedgerAdapter
from fencepost.checks.conformance.bookkeeper.target import LEDGER
from fencepost.checks.conformance.running.pair import Outcome
from fencepost.model.bookkeeper.ledger import BUGS
from fencepost.properties.registry import Value
from tests.checks.conformance.bookkeeper.ledgers import ENTRY, follow, held, running

pytestmark = pytest.mark.xdist_group("real bookkeeper")


@pytest.fixture(scope="module")
def adapter() -> Iterator[LedgerAdapter]:
    with running() as adapter:
        yield adapter


SPARE: dict[str, Value] = {"bookies": 4, "changes": 1}
ELSEWHERE: dict[str, dict[str, Value]] = {
    "confirms_while_changing": SPARE | {"entries": 1},
    "replaced_acks_kept": SPARE | {"entries": 2},
}
"""Instances in which the code can come to where the bug shows; in those of the registry only the model can."""

CHANGE_IN_RECOVERY = (
    "recover(r0); send(e0); add(b0, e0); send(e1); add(b0, e1); read_lac(r0, b0); read_found(r0, b0); recovery_add(r0, b0);"
    "recovery_add(r0, b1); read_found(r0, b0); replace_in_recovery(r0, b1, b2); recovery_add(r0, b0);"
    "recovery_add(r0, b2); close_recovered(r0)"
)

CHANGE_BEFORE_RECOVERY = (
    "send(e0); send(e1); add(b0, e0); add(b1, e0); ack(b0, e0); ack(b1, e0); confirm(e0); replace(b0, b2); publish_change;"
    "recover(r0); read_lac(r0, b2); start_reading(r0)"
)
CONFIRMED_ON_ALL = "send(e0); add(b0, e0); add(b2, e0); add(b1, e0); ack(b2, e0); ack(b0, e0); "

BY_SCRIPT: dict[str, tuple[str, dict[str, Value]]] = {
    "fence_not_durable": (
        "send(e0); add(b2, e0); recover(r0); fence_unheard(r0, b2); crash(b2); restart(b2)",
        {"entries": 1, "crashes": 1},
    ),
    "explicit_lac_lost": (
        CONFIRMED_ON_ALL + "send_explicit_lac(b1); crash(b1); restart(b1)",
        dict(ENTRY.shown_by["explicit_lac_lost"]),
    ),
    "recovery_ensemble_starts_early": (
        CHANGE_IN_RECOVERY,
        {"bookies": 3, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2, "changes": 1},
    ),
    "recovery_starts_below_last_ensemble": (
        CHANGE_BEFORE_RECOVERY,
        dict(ENTRY.shown_by["recovery_starts_below_last_ensemble"]),
    ),
}
"""Bugs for which a random run takes long: a run that shows each."""

STEPS_BESIDES = {"denies_before_fence_is_journaled": "journal_fence"}
"""What released bookies do in a step of its own, which the harness does not take: it answers when the fence is journaled."""

FENCED_AND_KNOWN = "send(e0); add(b0, e0); recover(r0); fence_unheard(r0, b0); "
CHECKPOINTED = FENCED_AND_KNOWN + "idle_checkpoint(b0); crash(b0); restart(b0)"
COLLECTED = FENCED_AND_KNOWN + "close; delete; collect(b0); crash(b0); restart(b0)"
UNTOUCHED = FENCED_AND_KNOWN + "crash(b0); restart(b0)"
UNSET = (
    "send(e0); send(e1); send(e2); send(e3); replace(b1, b2); publish_change; recover(r0); add(b0, e0); read_lac(r0, b0); "
    "read_lac(r0, b2); start_reading(r0); read_found(r0, b0); recovery_add(r0, b0); recovery_add_complete(r0); ack(b0, e0); "
    "add(b1, e1); ack(b1, e1); unset(e0); read_no_such_entry(r0, b2); confirm(e0); confirm(e1); close_recovered(r0); "
    "unset(e2); unset(e3); resend"
)
CAPTURED = (
    "send(e0); take_ensemble(e1); replace(b1, b2); publish_change; resend; add(b0, e0); ack(b0, e0); add(b2, e0); ack(b2, e0);"
    "recover(r0); confirm(e0); send(e1); add(b0, e1); read_lac(r0, b0); start_reading(r0); ack(b0, e1); add(b1, e1);"
    "ack(b1, e1); read_no_such_entry(r0, b2); close_recovered(r0); confirm(e1)"
)

LENGTH_OF_ANOTHER = (
    "send(e0); add(b0, e0); add(b1, e0); ack(b0, e0); ack(b1, e0); confirm(e0); recover(r0); send(e1); add(b0, e1);"
    "read_lac(r0, b0); start_reading(r0); read_no_such_entry(r0, b1); close_recovered(r0); find_closed"
)
LENGTH_BEHIND = (
    "send(e0); add(b0, e0); ack(b0, e0); add(b1, e0); ack(b1, e0); confirm(e0); send(e1); replace(b1, b2);"
    "publish_change; recover(r0); read_lac(r0, b0); start_reading(r0); read_no_such_entry(r0, b0); close_recovered(r0);"
    "find_closed"
)

OF_THE_RELEASE: dict[str, tuple[str, dict[str, Value], str]] = {
    "master_key_with_entries_only": (
        "recover(r0); fence_unheard(r0, b2); crash(b2); restart(b2)",
        {"entries": 1, "crashes": 1},
        "L12",
    ),
    "length_of_the_last_entry": (
        LENGTH_OF_ANOTHER,
        dict(ENTRY.shown_by["length_of_the_last_entry"]),
        "L13",
    ),
    "length_not_raised": (
        LENGTH_BEHIND,
        dict(ENTRY.shown_by["length_not_raised"]),
        "L13",
    ),
}
"""What the release does as the model with the bug does it."""

OF_ANOTHER_STORAGE = {"idle_flush_skips_headers"}

CONFIRMED_ON_PAIR = "send(e0); add(b0, e0); add(b1, e0); ack(b0, e0); ack(b1, e0); confirm(e0); "
UNSAVED = CONFIRMED_ON_PAIR + "fail_to_save(b1); pass_over(b1); crash(b1); restart(b1)"
CACHED = (
    CONFIRMED_ON_PAIR + "send(e1); add(b0, e1); empty_cache(b0); recover(r0); read_lac(r0, b1); start_reading(r0); "
    "read_found(r0, b1); recovery_add(r0, b0)"
)
CHECKED_APART = (
    "send(e0); recover(r0); check_fence(b0, e0); read_lac(r0, b0); start_reading(r0); read_no_such_entry(r0, b0); "
    "close_recovered(r0); check_fence(b1, e0); add(b0, e0); add(b1, e0); ack(b0, e0); ack(b1, e0); confirm(e0)"
)
KEY_LAST = CONFIRMED_ON_PAIR + "crash(b1); restart(b1)"
RACES = {"fence_checked_apart": CHECKED_APART, "key_record_after_entry": KEY_LAST}
"""Bugs that take two threads in one bookie at once, and a run that loses a confirmed entry by each."""

BY_STEPS_OF_ITS_OWN = {
    "idle_checkpoint_skips_index",
    "deleted_fence_in_memory",
    "captured_ensemble",
    "confirms_while_unsetting",
    "length_after_refusal",
    "cookie_deleted_after_wipe",
    "failed_save_forgotten",
    "last_entry_of_the_write_cache",
    *RACES,
}
"""What the release does, too, where the model without the bug has no such run; each has a test below."""

ELSEWHERE_TOLD = {*BY_SCRIPT, *STEPS_BESIDES, *OF_THE_RELEASE, *OF_ANOTHER_STORAGE, *BY_STEPS_OF_ITS_OWN}


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug not in ELSEWHERE_TOLD])
def test_a_bug_in_the_model_is_noticed(adapter: LedgerAdapter, bug: str) -> None:
    result = held(adapter, bug, runs=80, **ELSEWHERE.get(bug, dict(ENTRY.shown_by[bug])))
    assert not result.agrees


@pytest.mark.parametrize("bug", BY_SCRIPT)
def test_a_rare_bug_in_the_model_is_noticed(adapter: LedgerAdapter, bug: str) -> None:
    script, parameters = BY_SCRIPT[bug]
    assert follow(adapter, script, **parameters).verdict == "agrees"
    outcome = follow(adapter, script, bug, **parameters)
    assert outcome.verdict == "differs"
    assert not outcome.explained


@pytest.mark.parametrize(("bug", "step"), STEPS_BESIDES.items())
def test_what_the_harness_has_no_step_for(adapter: LedgerAdapter, bug: str, step: str) -> None:
    """The bug is one more step of the model, and the harness takes no such step: then no run can tell of it."""
    shown = ENTRY.shown_by[bug]
    without = {action.name for action in ENTRY.build(shown).actions}
    assert {action.name for action in ENTRY.build(shown, [bug]).actions} - without == {step}
    assert step not in adapter.covered
    assert step not in adapter.eager


@pytest.mark.parametrize("bug", OF_THE_RELEASE)
def test_the_release_does_as_the_bug_says(adapter: LedgerAdapter, bug: str) -> None:
    script, parameters, known = OF_THE_RELEASE[bug]
    outcome = follow(adapter, script, **parameters)
    assert outcome.verdict in ("differs", "departs")
    assert outcome.known == known
    assert follow(adapter, script, bug, **parameters).verdict == "agrees"


@pytest.mark.parametrize(
    ("bug", "script"), [("idle_checkpoint_skips_index", CHECKPOINTED), ("deleted_fence_in_memory", COLLECTED)]
)
def test_a_fence_that_the_bookie_knew_of_is_lost(adapter: LedgerAdapter, bug: str, script: str) -> None:
    """By the checkpoint, or with the deletion: without either, and otherwise in the same way, the fence is there."""
    parameters = dict(ENTRY.shown_by[bug])
    assert [fenced(follow(adapter, run, bug, **parameters)) for run in (script, UNTOUCHED)] == [False, True]


def fenced(outcome: Outcome) -> bool:
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    return bool(outcome.seen.values["bookies"]["b0"]["fenced"])


def test_a_writer_whose_change_is_refused_subtracts_its_pending_adds(adapter: LedgerAdapter) -> None:
    """Recovery closes the ledger at the writer's own end, with the right length; the writer's close fails all the same."""
    script = (
        "send(e0); replace(b1, b2); recover(r0); read_lac(r0, b0); start_reading(r0); read_no_such_entry(r0, b0); "
        "close_recovered(r0); find_closed_by_change"
    )
    outcome = follow(adapter, script, "length_after_refusal", **ENTRY.shown_by["length_after_refusal"])
    assert outcome.verdict == "agrees"
    assert outcome.seen
    assert outcome.seen.values["clients"]["writer"]["closed"] == "Bad ledger metadata version"
    assert outcome.seen.values["metadata"]["length"] == 0


@pytest.mark.parametrize(
    ("bug", "script", "besides"),
    [("captured_ensemble", CAPTURED, ["length_of_the_last_entry"]), ("confirms_while_unsetting", UNSET, [])],
)
def test_an_entry_is_confirmed_by_who_has_left_and_is_lost(
    adapter: LedgerAdapter, bug: str, script: str, besides: list[str]
) -> None:
    """In the first run the recovery heard of the entry that it does not keep: the release closes with a length of two."""
    outcome = follow(adapter, script, bug, *besides, **dict(ENTRY.shown_by[bug]))
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["metadata"]["last"] == 0
    assert outcome.seen.values["clients"]["writer"]["confirmed"] == [0, 1]


def test_a_fence_that_is_replayed_is_lost_by_the_second_kill() -> None:
    """On sorted storage, if a checkpoint has saved the entry before the fence: the boot then writes nothing."""
    script = "send(e0); add(b2, e0); recover(r0); fence_unheard(r0, b2); crash(b2); restart(b2); crash(b2); restart(b2)"
    instance: dict[str, Value] = {"entries": 1, "crashes": 2, "storage": "sorted"}
    with running(storage="sorted") as other:
        outcomes = [follow(other, script, *bugs, **instance) for bugs in ((), ("idle_flush_skips_headers",))]
    assert [outcome.verdict for outcome in outcomes] == ["agrees", "agrees"], outcomes
    assert [o.seen.values["bookies"]["b2"]["fenced"] for o in outcomes if o.seen] == [True, False]


def test_an_entry_whose_flush_has_failed_is_lost(adapter: LedgerAdapter) -> None:
    """With the bug alone: a mark that stays leaves the entry in the journal."""
    parameters = dict(ENTRY.shown_by["failed_save_forgotten"])
    outcomes = [
        follow(adapter, script, "failed_save_forgotten", **parameters)
        for script in (UNSAVED, UNSAVED.replace("pass_over(b1); ", ""))
    ]
    assert [outcome.verdict for outcome in outcomes] == ["agrees", "agrees"], outcomes
    assert [o.seen.values["bookies"]["b1"]["stored"] for o in outcomes if o.seen] == [[], [0]]


@pytest.mark.parametrize(
    "release", [LEDGER.releases[0], *(pytest.param(r, marks=pytest.mark.deep) for r in LEDGER.releases[1:])]
)
def test_a_bookie_answers_with_the_last_entry_of_its_write_cache(release: str) -> None:
    """It has entry 1, whose last add confirmed is 0, and says -1 once entry 0 is written back; the next checkpoint mends it."""
    parameters = dict(ENTRY.shown_by["last_entry_of_the_write_cache"])
    with running(release) as adapter:
        outcomes = [
            follow(adapter, script, "last_entry_of_the_write_cache", **parameters)
            for script in (CACHED, CACHED + "; empty_cache(b0)", CACHED.replace("empty_cache(b0); ", ""))
        ]
    assert [outcome.verdict for outcome in outcomes] == ["agrees"] * 3, outcomes
    assert [o.seen.values["bookies"]["b0"]["lac"] for o in outcomes if o.seen] == [-1, 0, 0]


def test_a_bookie_whose_disk_is_lost_starts_if_its_cookie_is_deleted(adapter: LedgerAdapter) -> None:
    """LegacyCookieValidation of the release decides."""
    script = "send(e0); add(b0, e0); recover(r0); fence_unheard(r0, b0); lose_disk(b0)"
    outcomes = [follow(adapter, script, *bugs, entries=1, losses=1) for bugs in ((), ("cookie_deleted_after_wipe",))]
    assert [outcome.verdict for outcome in outcomes] == ["agrees", "agrees"], outcomes
    seen = [outcome.seen.values["bookies"]["b0"] for outcome in outcomes if outcome.seen]
    assert [state["up"] for state in seen] == [False, True]
    assert (seen[1]["fenced"], seen[1]["stored"]) == (False, [])


@pytest.mark.parametrize("bug", RACES)
def test_two_threads_in_a_bookie_at_once_lose_a_confirmed_entry(adapter: LedgerAdapter, bug: str) -> None:
    """4.17.3 has both bugs; in 4.18.0 the second request waits for the first."""
    parameters = dict(ENTRY.shown_by[bug])
    outcome = follow(adapter, RACES[bug], bug, **parameters)
    assert (outcome.verdict, "under way" in outcome.why) == ("departs", True), outcome
    with running("4.17.3") as older:
        outcome = follow(older, RACES[bug], bug, **parameters)
    assert outcome.verdict == "agrees", outcome
