"""The instances of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fencepost.properties.any_size import Case, General, Sizes, sizes_from
from fencepost.properties.registry import Instance, Value

_PAIR = {"bookies": 2, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2}
_PAIR_AND_SPARE = _PAIR | {"bookies": 3, "changes": 1}
_JOURNALLESS = _PAIR | {"ack_quorum": 1, "entries": 1, "unclean_shutdowns": 1, "data_integrity": True}
_FIVE = {"bookies": 6, "ensemble": 5, "write_quorum": 5, "ack_quorum": 3}
_TEN_ENTRIES = {"entries": 10, "recoverers": 2, "changes": 1}
_STRIPED = {"bookies": 3, "ensemble": 2, "write_quorum": 1, "ack_quorum": 1, "entries": 4, "changes": 1, "readers": 0}
_LATE_FAILURES = {"bookies": 4, "ensemble": 3, "write_quorum": 2, "ack_quorum": 1, "entries": 2, "changes": 1, "readers": 0}
_ONE_ENTRY: Mapping[str, Value] = {"entries": 1}

SIZES = {
    "ci": (
        Instance("two entries", {"entries": 2}),
        Instance("two recoveries", {"entries": 1, "recoverers": 2}),
        Instance("change of ensemble", _PAIR_AND_SPARE),
        Instance("striping", {"bookies": 4, "ensemble": 3, "write_quorum": 2, "entries": 2, "changes": 1}),
        Instance("striping, ack quorum of one", _LATE_FAILURES),
        Instance("crash and rot", _PAIR | {"entries": 2, "crashes": 1, "rots": 1, "explicit_lacs": 1, "deletions": 1}),
        Instance("lost disk", {"entries": 1, "losses": 1}),
        Instance("lost disk, data integrity", {"entries": 1, "losses": 1, "data_integrity": True}),
        Instance("ack quorum of one", _JOURNALLESS),
        Instance("without readers", {"entries": 2, "readers": 0}),
    ),
    "standard": (
        Instance("change and two recoveries", {"bookies": 4, "entries": 1, "recoverers": 2, "changes": 1}),
        Instance("two of everything", _PAIR_AND_SPARE | {"recoverers": 2}),
        Instance("three entries", {"entries": 3}, by="induction"),
        Instance("faults", _PAIR | {"crashes": 1, "losses": 1, "rots": 1, "explicit_lacs": 1, "deletions": 1}),
        Instance("faults, data integrity", _PAIR | {"crashes": 1, "losses": 1, "rots": 1, "data_integrity": True}),
        Instance("quorum of five", _FIVE | {"entries": 1, "changes": 1}),
        Instance("ten entries", _TEN_ENTRIES | {"bookies": 5}, by="induction"),
        Instance("ten entries, striped", _TEN_ENTRIES | {"bookies": 5, "ensemble": 4}, by="induction"),
        Instance("ten entries, quorum of five", _TEN_ENTRIES | _FIVE, by="induction"),
    ),
    "deep": (
        Instance("change and two entries", {"bookies": 4, "entries": 2, "changes": 1}),
        Instance("two entries, two recoveries", {"entries": 2, "recoverers": 2}),
        Instance("two changes", _PAIR_AND_SPARE | {"changes": 2, "recoverers": 2}),
        Instance("faults and two recoveries", {"crashes": 1, "losses": 2, "rots": 1, "deletions": 1, "recoverers": 2}),
    ),
}

SHOWN_BY: dict[str, Mapping[str, Value]] = {
    "recovery_reads_do_not_fence": _ONE_ENTRY,
    "fence_not_durable": {"entries": 1, "crashes": 1},
    "recovery_ensemble_starts_early": _PAIR_AND_SPARE,
    "confirms_while_changing": _PAIR_AND_SPARE | {"entries": 1},
    "no_such_entry_though_stored": _ONE_ENTRY,
    "cookie_deleted_after_wipe": {"entries": 1, "losses": 1},
    "fence_forgotten_on_delete": {"entries": 1, "deletions": 1},
    "explicit_lac_lost": {"entries": 1, "explicit_lacs": 1, "crashes": 1},
    "ignores_fence": _ONE_ENTRY,
    "no_fence_on_unknown_ledger": _ONE_ENTRY,
    "one_no_such_entry_suffices": _ONE_ENTRY,
    "no_such_entry_threshold_too_low": _ONE_ENTRY,
    "unknown_counts_as_no_such_entry": _ONE_ENTRY,
    "closes_at_lac": _ONE_ENTRY,
    "closes_before_recovery_add": _ONE_ENTRY,
    "writer_closes_blindly": _ONE_ENTRY,
    "recovery_closes_blindly": _PAIR | {"entries": 1, "recoverers": 2},
    "recovery_publishes_at_once": _PAIR_AND_SPARE,
    "reads_follow_current_ensemble": _PAIR_AND_SPARE | {"ack_quorum": 1},
    "lac_search_starts_at_zero": _ONE_ENTRY,
    "confirms_with_gaps": _PAIR,
    "change_not_committed": _PAIR_AND_SPARE | {"entries": 1},
    "change_ignores_version": _PAIR_AND_SPARE | {"entries": 1},
    "replaced_acks_kept": _PAIR_AND_SPARE | {"entries": 1},
    "limbo_answers_no_such_entry": _JOURNALLESS,
    "limbo_not_fenced": _JOURNALLESS,
    "digest_unchecked": {"entries": 1, "rots": 1},
    "idle_checkpoint_skips_index": _PAIR | {"entries": 1, "crashes": 1},
    "idle_flush_skips_headers": _PAIR | {"crashes": 2, "storage": "sorted"},
    "denies_before_fence_is_journaled": _PAIR | {"entries": 1, "crashes": 1},
    "master_key_with_entries_only": _PAIR | {"entries": 1, "crashes": 1},
    "fence_checked_apart": _PAIR | {"entries": 1},
    "key_record_after_entry": _PAIR | {"entries": 1, "crashes": 1},
    "one_directory_marks_for_all": _PAIR | {"entries": 1, "crashes": 1},
    "failed_save_forgotten": _PAIR | {"entries": 1, "crashes": 2, "failed_saves": 1},
    "last_entry_of_the_write_cache": _PAIR,
    "confirms_while_unsetting": _STRIPED,
    "captured_ensemble": _PAIR_AND_SPARE,
    "deleted_fence_in_memory": _PAIR | {"entries": 1, "crashes": 1, "deletions": 1},
    "recovery_starts_below_last_ensemble": _PAIR_AND_SPARE | {"changes": 2},
    "length_of_the_last_entry": _PAIR,
    "length_not_raised": _PAIR_AND_SPARE,
    "length_after_refusal": _PAIR_AND_SPARE | {"entries": 1},
    "fencing_waits_for_one": _ONE_ENTRY,
    "fencing_waits_for_none": _ONE_ENTRY,
    "recovery_not_marked": _PAIR_AND_SPARE | {"entries": 1},
}

MUTATED = (
    Instance("ack quorum of one", _JOURNALLESS),
    Instance("a crash", {"entries": 1, "crashes": 1}),
    Instance("change of ensemble, one entry", _PAIR_AND_SPARE | {"entries": 1}),
    Instance("two entries of a pair", _PAIR | {"entries": 2}),
    Instance("striping without readers", {"write_quorum": 2, "entries": 2, "readers": 0}),
    Instance("faults", _PAIR | {"entries": 1, "crashes": 1, "rots": 1, "explicit_lacs": 1, "deletions": 1}),
)


def _no_proof(parameters: Mapping[str, Any], names: Sequence[str]) -> str:
    """Why nothing is proved with these parameters and any number of those named; empty if it is."""
    what = " and ".join(names)
    uncounted = [name for name in ("losses", "unclean_shutdowns", "rots") if parameters.get(name)]
    if uncounted:
        return f"for any number of {what} there is no proof with {uncounted[0]}={parameters[uncounted[0]]}; leave it 0"
    ensemble, write_quorum = parameters.get("ensemble", 3), parameters.get("write_quorum", 3)
    if ensemble != write_quorum:
        return f"for any number of {what} there is no proof of striping; ensemble={ensemble}, write_quorum={write_quorum}"
    return ""


def _all_of(bookies: Any, ack_quorum: Any) -> dict[str, Any]:
    return {"bookies": bookies, **_ensemble(bookies, ack_quorum)}


def _some_of(bookies: Any, least: int, ack_quorum: Callable[[Any], Any]) -> dict[str, Any]:
    """An ensemble of some of the bookies: of any number that leaves one, or all but one."""
    ensemble = bookies - 1 if type(bookies) is int else bookies.part("ensemble", least, short=1)
    return {"bookies": bookies, **_ensemble(ensemble, ack_quorum(ensemble))}


def _ensemble(ensemble: Any, ack_quorum: Any) -> dict[str, Any]:
    return {"ensemble": ensemble, "write_quorum": ensemble, "ack_quorum": ack_quorum}


def _between(ensemble: Any) -> Any:
    """An ack quorum of more than one bookie, and not of all."""
    return ensemble - 1 if type(ensemble) is int else ensemble.part("ack_quorum", 2, short=1)


_BOOKIES = Sizes(
    (
        Case(3, lambda bookies: _all_of(bookies, _between(bookies))),
        Case(2, lambda bookies: _all_of(bookies, 1)),
        Case(1, lambda bookies: _all_of(bookies, bookies)),
    ),
    "the ensemble and the write quorum are all bookies, and the ack quorum is any number of them",
    alike=True,
)

_BOOKIES_TO_SPARE = Sizes(
    (
        Case(4, lambda bookies: _some_of(bookies, 3, _between)),
        Case(3, lambda bookies: _some_of(bookies, 2, lambda _: 1)),
        Case(3, lambda bookies: _some_of(bookies, 2, lambda ensemble: ensemble)),
        Case(2, lambda bookies: {"bookies": bookies, **_ensemble(1, 1)}),
    ),
    "the ensemble and the write quorum are any number of bookies but all, and the ack quorum is any number of these",
    alike=True,
)

_WITH_CHANGES = {"bookies": _BOOKIES_TO_SPARE, "recoverers": sizes_from("recoverers", 2, 1, 0, alike=True)}

GENERAL = General(
    {
        "entries": sizes_from("entries", 2, 1),
        "bookies": _BOOKIES,
        "recoverers": sizes_from("recoverers", 1, 0, alike=True),
    },
    (
        Instance("three bookies", {}, by="induction", any=("entries",)),
        Instance("change of ensemble", {"bookies": 4, "changes": 1}, by="induction", any=("entries",)),
    ),
    _no_proof,
    "striping, lost disks, unclean shutdowns and bad copies",
    otherwise=lambda parameters: _WITH_CHANGES if parameters.get("changes") else {},
)
