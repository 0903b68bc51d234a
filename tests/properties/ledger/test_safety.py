"""The ledger: pinned counts of small instances, and every bug caught, by which property and in how many steps."""

from __future__ import annotations

import re

import pytest

from fencepost.checks.engines.results.verdicts import ExitStatus, exit_status
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.bookkeeper.ledger import BUGS, COVERED
from fencepost.model.kernel import Kernel
from fencepost.model.language import And, Implies, ModelError, Not, Or
from fencepost.model.releases import BOOKKEEPER
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from fencepost.properties.vocabulary import Suite
from tests.properties.searching import controls, counts, searched, unexpected

LEDGER = PROTOCOLS["ledger"]

COUNTS = {
    "two entries": (735344, 5413486, 30),
    "two recoveries": (91030, 621434, 27),
    "change of ensemble": (229673, 1268753, 32),
    "striping": (338524, 1892885, 33),
    "striping, ack quorum of one": (224268, 1148208, 29),
    "crash and rot": (1736068, 9546776, 36),
    "lost disk": (17996, 85526, 19),
    "lost disk, data integrity": (20480, 107645, 19),
    "ack quorum of one": (1827, 7079, 16),
    "without readers": (392619, 2713344, 29),
}

CONTROLS: dict[str, dict[str, int]] = {
    "two entries": {"reads_stay": 16, "lac_is_confirmed": 14},
    "two recoveries": {},
    "change of ensemble": {"reads_stay": 15, "lac_is_confirmed": 13},
    "striping": {"reads_stay": 16, "lac_is_confirmed": 14},
    "striping, ack quorum of one": {"lac_is_confirmed": 14},
    "crash and rot": {"reads_stay": 15, "lac_is_confirmed": 13},
    "lost disk": {},
    "lost disk, data integrity": {},
    "ack quorum of one": {"open_ledgers_close_whatever_is_lost": 3},
    "without readers": {"lac_is_confirmed": 14},
}

EXPLAINED = {
    name: {"piggybacked_lac", "published_fragments", "published_ensemble"}
    for name in ("lost disk", "lost disk, data integrity", "ack quorum of one")
}
"""What never changes because the instance is small, or the protocol fixed: `check` does not print it."""

CAUGHT = {
    "recovery_reads_do_not_fence": ({"no_such_entry_stays_true"}, 7),
    "fence_not_durable": ({"fence_is_kept"}, 3),
    "recovery_starts_below_last_ensemble": (
        {"recoveries_can_publish", "answers_are_of_the_write_set", "replacements_are_needed"},
        14,
    ),
    "recovery_ensemble_starts_early": ({"confirmed_entries_are_stored", "closed_entries_are_stored"}, 17),
    "confirms_while_changing": ({"confirmed_entries_are_stored"}, 8),
    "no_such_entry_though_stored": ({"no_such_entry_stays_true"}, 7),
    "cookie_deleted_after_wipe": ({"fence_is_kept"}, 3),
    "fence_forgotten_on_delete": ({"fence_is_kept"}, 7),
    "explicit_lac_lost": ({"lac_never_goes_back"}, 8),
    "ignores_fence": ({"fenced_bookies_take_no_adds"}, 4),
    "no_fence_on_unknown_ledger": ({"no_such_entry_stays_true"}, 7),
    "one_no_such_entry_suffices": ({"no_truncation"}, 12),
    "no_such_entry_threshold_too_low": ({"no_truncation"}, 12),
    "unknown_counts_as_no_such_entry": ({"no_such_entry_stays_true"}, 7),
    "closes_at_lac": ({"no_truncation"}, 11),
    "closes_before_recovery_add": ({"recovery_goes_forward"}, 7),
    "writer_closes_blindly": ({"recoveries_agree", "closed_is_final"}, 12),
    "recovery_closes_blindly": ({"no_divergence", "closed_is_final"}, 11),
    "recovery_publishes_at_once": ({"version_counts_updates", "ensembles_fixed_in_recovery"}, 7),
    "reads_follow_current_ensemble": ({"answers_are_of_the_write_set"}, 11),
    "lac_search_starts_at_zero": (
        {"nothing_is_invented", "closed_entries_are_readable", "closed_entries_are_stored"},
        5,
    ),
    "confirms_with_gaps": ({"confirmed_without_gaps"}, 7),
    "change_not_committed": ({"confirmed_entries_are_stored"}, 8),
    "change_ignores_version": ({"status_never_goes_back"}, 4),
    "replaced_acks_kept": ({"confirmed_entries_are_stored"}, 9),
    "limbo_answers_no_such_entry": ({"no_such_entry_stays_true"}, 8),
    "limbo_not_fenced": ({"limbo_is_fenced"}, 1),
    "digest_unchecked": ({"payloads_agree"}, 9),
    "idle_checkpoint_skips_index": ({"fence_is_kept"}, 4),
    "idle_flush_skips_headers": ({"fence_is_kept"}, 7),
    "denies_before_fence_is_journaled": ({"fence_is_kept"}, 3),
    "master_key_with_entries_only": ({"fence_is_kept"}, 3),
    "fence_checked_apart": ({"fenced_bookies_take_no_adds"}, 5),
    "key_record_after_entry": ({"confirmed_entries_are_stored"}, 7),
    "one_directory_marks_for_all": ({"fence_is_kept"}, 3),
    "failed_save_forgotten": ({"confirmed_entries_are_stored"}, 9),
    "last_entry_of_the_write_cache": ({"lac_never_goes_back"}, 14),
    "confirms_while_unsetting": ({"confirmed_entries_are_stored"}, 13),
    "captured_ensemble": ({"confirmed_entries_are_stored"}, 16),
    "deleted_fence_in_memory": ({"fence_is_kept"}, 5),
    "length_of_the_last_entry": ({"ends_and_lengths_agree"}, 13),
    "length_not_raised": ({"ends_and_lengths_agree"}, 14),
    "length_after_refusal": ({"only_another_end_fails_the_writer"}, 8),
    "recovery_not_marked": ({"closed_entries_are_stored"}, 12),
    "fencing_waits_for_one": (set(), None),
    "fencing_waits_for_none": (set(), None),
}

DEEP_BUGS = ("recovery_starts_below_last_ensemble",)
"""Bugs of the deep run only."""

LOSES_AN_ENTRY = {
    "recovery_reads_do_not_fence": 13,
    "fence_not_durable": 15,
    "confirms_while_changing": 13,
    "no_such_entry_though_stored": 13,
    "cookie_deleted_after_wipe": 14,
    "ignores_fence": 13,
    "no_fence_on_unknown_ledger": 13,
    "unknown_counts_as_no_such_entry": 13,
    "confirms_with_gaps": 12,
    "reads_follow_current_ensemble": 19,
    "change_not_committed": 13,
    "replaced_acks_kept": 14,
    "limbo_answers_no_such_entry": 12,
    "limbo_not_fenced": 12,
    "idle_checkpoint_skips_index": 14,
    "idle_flush_skips_headers": 17,
    "denies_before_fence_is_journaled": 13,
    "master_key_with_entries_only": 13,
    "fence_checked_apart": 13,
    "key_record_after_entry": 13,
    "one_directory_marks_for_all": 13,
    "failed_save_forgotten": 15,
    "confirms_while_unsetting": 22,
    "captured_ensemble": 21,
    "recovery_not_marked": 14,
}
"""The shortest way to an acknowledged entry beyond the end of the ledger, where something sharper is violated before."""


def test_what_is_only_a_weakening_is_caught_by_nothing() -> None:
    assert {name for name, (by, _) in CAUGHT.items() if not by} == set(COVERED)


@pytest.mark.parametrize("name", LEDGER.bugs)
def test_the_history_of_a_bug_is_consistent(name: str) -> None:
    bug = LEDGER.bugs[name]
    assert bug.evidence
    assert set(re.findall(r"#\d+", BUGS[name])) <= set(bug.upstream)
    assert set(bug.present) <= set(BOOKKEEPER)
    assert bool(bug.since) == bool(bug.costs)
    assert not bug.present or bug.since
    assert LEDGER.can_have(name, bug.shown_by)
    assert set(bug.only or ()) <= {p.name for p in LEDGER.parameters}
    for parameter, values in bug.only.items():
        assert LEDGER.shown_by[name].get(parameter, values[0]) in values


@pytest.mark.long
@pytest.mark.parametrize("bug", LOSES_AN_ENTRY)
def test_a_bug_loses_an_acknowledged_entry(bug: str) -> None:
    violations = unexpected(searched(LEDGER, LEDGER.shown_by[bug], [bug], ["no_truncation"]))
    assert violations == {"no_truncation": LOSES_AN_ENTRY[bug]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("bugs", "steps"),
    [
        (["fencing_waits_for_one"], None),
        (["fencing_waits_for_none"], None),
        (["fencing_waits_for_one", "recovery_reads_do_not_fence"], 12),
        (["fencing_waits_for_none", "recovery_reads_do_not_fence"], 11),
    ],
)
def test_which_protections_are_redundant(bugs: list[str], steps: int | None) -> None:
    """Fencing by reads makes up for a fencing phase cut short; not the other way."""
    for parameters in ({"entries": 1, "recoverers": 2}, {"bookies": 3, "ensemble": 2, "write_quorum": 2, "changes": 1}):
        violations = unexpected(searched(LEDGER, parameters, bugs, ["no_truncation"]))
        if "recoverers" in parameters:
            assert violations == ({} if steps is None else {"no_truncation": steps})
        elif steps is None:
            assert violations == {}


@pytest.mark.parametrize(("storage", "bug"), [("sorted", "idle_checkpoint_skips_index"), ("db", "idle_flush_skips_headers")])
def test_a_storage_does_not_have_the_bugs_of_another(storage: str, bug: str) -> None:
    parameters = {**LEDGER.shown_by[bug], "storage": storage}
    protocol = LEDGER.build(parameters, [bug])
    assert "fence_record" not in {variable.family for variable in protocol.variables}
    assert not unexpected(searched(LEDGER, parameters, [bug], ["fence_is_kept"]))


@pytest.mark.parametrize(("ack_quorum", "gone"), [(1, "proved"), (2, "violated")])
def test_one_lost_disk_loses_an_entry_only_with_an_ack_quorum_of_one(ack_quorum: int, gone: str) -> None:
    pair: dict[str, Value] = {"bookies": 2, "ensemble": 2, "write_quorum": 2, "entries": 1, "losses": 1, "data_integrity": True}
    protocol = LEDGER.build(pair | {"ack_quorum": ack_quorum})
    suite = Suite(protocol)

    @suite.sometimes
    def confirmed_and_gone() -> object:
        """A confirmed entry has no copy left."""
        copies = [protocol.state.stored[b].has(0) for b in protocol.universes["bookie"]]
        return And(protocol.state.confirmed.has(0), Not(Or(*copies)))

    (verdict,) = exhaust(Observed.of(suite, suite.properties), Budget()).verdicts
    assert verdict.verdict == gone


@pytest.mark.deep  # by default docs/findings/ledger/ shows how each control is violated
def test_recovery_may_take_over_what_was_never_published() -> None:
    """Too few copies of an entry of a closed ledger, in docs/findings: the shortest run, and what holds all the same."""
    parameters: dict[str, Value] = {"bookies": 3, "ensemble": 2, "write_quorum": 2, "recoverers": 2, "changes": 1}
    finite = [p.name for p in LEDGER.suite(LEDGER.build(parameters)).properties if p.kind != "leads_to"]
    findings = searched(LEDGER, parameters, only=finite)
    assert counts(findings)[:2] == (5733953, 40708840)
    assert exit_status(findings.verdicts) is ExitStatus.HOLDS
    assert controls(findings) == {"closed_entries_are_stored": 19, "reads_stay": 15, "lac_is_confirmed": 13}


@pytest.mark.deep
def test_one_change_of_ensemble_and_two_recoveries_on_four_bookies() -> None:
    findings = searched(LEDGER, {"bookies": 4, "entries": 1, "recoverers": 2, "changes": 1})
    assert counts(findings) == (1595170, 11863280, 31)
    assert exit_status(findings.verdicts) is ExitStatus.HOLDS


@pytest.mark.parametrize(("ensemble", "applies"), [(2, False), (3, True)])
def test_the_loop_confirms_too_early_only_above_the_write_quorum(ensemble: int, applies: bool) -> None:
    assert LEDGER.can_have("confirms_while_unsetting", {"ensemble": ensemble, "write_quorum": 2}) is applies


def test_a_late_failure_changes_the_ensemble_at_the_next_add() -> None:
    """Wherever that add goes: a bookie is replaced for which no pending add waits."""
    protocol = LEDGER.build({"bookies": 4, "write_quorum": 2, "ack_quorum": 1, "changes": 1, "recoverers": 0})
    s, n, entry = protocol.state, protocol.next, protocol.universes["entry"]
    writers = Ensembles(protocol, "writer", Striping(3, 2, 2))
    suite = Suite(protocol)

    @suite.step
    def replaced_for_a_pending_add() -> object:
        """A bookie leaves only if a pending add waits for it."""
        awaited = [And(s.lac < e, e <= s.sent, writers.leaves(protocol, e)) for e in entry]
        return Implies(n.changes != s.changes, Or(*awaited))

    (verdict,) = exhaust(Observed.of(suite, suite.properties), Budget()).verdicts
    assert (verdict.verdict, verdict.reach["steps"]) == ("violated", 6)


@pytest.mark.long
def test_an_add_that_took_its_ensemble_too_early_may_hang() -> None:
    """It waits for a bookie that is not of its write set any more, and that nothing replaces."""
    parameters = LEDGER.shown_by["captured_ensemble"] | {"crashes": 1, "recoverers": 0, "readers": 0}
    names = ["adds_end", "adds_are_confirmed"]
    assert not unexpected(searched(LEDGER, parameters, only=names))
    assert unexpected(searched(LEDGER, parameters, ["captured_ensemble"], names)) == {"adds_end": 14}


@pytest.mark.parametrize(("bug", "steps"), [("length_of_the_last_entry", 14), ("length_not_raised", 15)])
def test_another_length_fails_a_writer_that_agrees_on_the_end(bug: str, steps: int) -> None:
    violations = unexpected(searched(LEDGER, LEDGER.shown_by[bug], [bug], ["only_another_end_fails_the_writer"]))
    assert violations == {"only_another_end_fails_the_writer": steps}


@pytest.mark.parametrize(("prop", "steps"), [("limbo_lasts", 3), ("no_truncation", 14)])
def test_a_clean_stop_of_an_idle_bookie_ends_limbo(prop: str, steps: int) -> None:
    """The index of a bookie whose disk was replaced is not saved, as long as it stores nothing."""
    parameters: dict[str, Value] = {**LEDGER.shown_by["idle_checkpoint_skips_index"], "losses": 1, "data_integrity": True}
    assert unexpected(searched(LEDGER, parameters, ["idle_checkpoint_skips_index"], [prop])) == {prop: steps}
    assert not unexpected(searched(LEDGER, parameters, only=[prop]))


def test_a_failed_save_costs_nothing_without_the_bug() -> None:
    findings = searched(LEDGER, LEDGER.shown_by["failed_save_forgotten"])
    assert counts(findings) == (8368, 38858, 21)
    assert not unexpected(findings)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"storage": "rocks"}, "storage is db, sorted or interleaved, not 'rocks'"),
        ({"storage": "sorted", "data_integrity": True}, "sorted has no limbo"),
        ({"storage": "sorted", "failed_saves": 1}, "saves fail with storage db only"),
        ({"unclean_shutdowns": 1}, "unclean_shutdowns need data_integrity=yes"),
    ],
)
def test_storages_and_disks_that_do_not_exist_are_refused(parameters: dict[str, Value], reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        LEDGER.build(parameters)


@pytest.mark.parametrize("quorums", [(3, 3, 4), (2, 3, 3), (3, 2, 3), (3, 3, 0)])
def test_quorums_that_do_not_fit_are_refused(quorums: tuple[int, int, int]) -> None:
    ensemble, write_quorum, ack_quorum = quorums
    with pytest.raises(ModelError, match="does not hold"):
        LEDGER.build({"ensemble": ensemble, "write_quorum": write_quorum, "ack_quorum": ack_quorum})


@pytest.mark.parametrize(("bugs", "accepts"), [([], False), (["deleted_fence_in_memory"], True)], ids=["without", "with"])
def test_a_restart_before_a_deletion_loses_the_fence(bugs: list[str], accepts: bool) -> None:
    kernel = Kernel(LEDGER.build(LEDGER.shown_by["deleted_fence_in_memory"], bugs))
    index = {action.label: i for i, action in enumerate(kernel.actions)}
    (state,) = kernel.initial()
    fenced = ("send(e0)", "add(b0, e0)", "recover(r0)", "read_lac(r0, b0)")
    for step in (*fenced, "crash(b0)", "restart(b0)", "close", "delete", "collect(b0)"):
        assert index[step] in kernel.enabled(state), step
        state = kernel.apply(state, index[step])
    assert (index["add(b0, e0)"] in kernel.enabled(state)) == accepts


def test_the_denial_of_one_empty_bookie_closes_a_ledger_below_what_three_have_stored() -> None:
    """bookkeeper#2612: with an ack quorum of 3 one denial is enough, and the bookie's is not true."""
    parameters: dict[str, Value] = {"entries": 1, "losses": 1, "ack_quorum": 3}
    protocol = LEDGER.build(parameters, ["cookie_deleted_after_wipe"])
    truncation = LEDGER.suite(protocol).named("no_truncation")
    kernel = Kernel(protocol, [truncation.formula])
    index = {action.label: i for i, action in enumerate(kernel.actions)}
    (state,) = kernel.initial()
    bookies = ("b0", "b1", "b2")
    stored = ("send(e0)", *(f"add({b}, e0)" for b in bookies), *(f"ack({b}, e0)" for b in bookies), "confirm(e0)")
    denied = ("recover(r0)", "read_lac(r0, b0)", "start_reading(r0)", "read_no_such_entry(r0, b0)", "close_recovered(r0)")
    for step in (*stored, "lose_disk(b0)", *denied):
        assert index[step] in kernel.enabled(state), step
        assert kernel.observe(state) == [0], step
        state = kernel.apply(state, index[step])
    assert kernel.observe(state) == []
