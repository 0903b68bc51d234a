"""The variables of ``ledger`` with their sorts, and words about them that its properties and lemmas share."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.bookkeeper.ledger.state import Recovery, Status, Writer
from fencepost.model.language import Choice, Condition, Family, Number, Parameters, Subset, Variables


class LedgerVariables(Variables):
    """The variables of an instance of ``ledger``; each has those that its parameters and bugs need."""

    status: Choice[Status]
    version: Number
    last: Number
    length: Number
    published_fragments: Number
    published_first: Family[Number]
    published_ensemble: Family[Choice[str] | Subset]
    up: Family[Condition]
    stored: Family[Subset]
    rotten: Family[Subset]
    bookie_lac: Family[Number]
    explicit_lac: Family[Number]
    fenced: Family[Condition]
    limbo: Family[Condition]
    writer: Choice[Writer]
    sent: Number
    lac: Number
    confirmed: Subset
    piggybacked_lac: Family[Number]
    sent_to: Family[Subset]
    taken_by_bookie: Family[Subset]
    acked: Family[Subset]
    writer_fragments: Number
    writer_first: Family[Number]
    writer_ensemble: Family[Choice[str] | Subset]
    phase: Family[Choice[Recovery]]
    recovery_lac: Family[Number]
    coverage: Family[Subset]
    no_such_entry: Family[Subset]
    recovery_acked: Family[Subset]
    found: Family[Subset]
    spoiled: Family[Condition]
    new_fragments: Family[Number]
    new_first: Family[Number]
    new_ensemble: Family[Choice[str] | Subset]
    for_recovery_fragments: Family[Number]
    for_recovery_first: Family[Number]
    for_recovery_ensemble: Family[Choice[str] | Subset]
    read_to: Family[Number]
    changes: Number
    crashes: Number
    losses: Number
    unclean_shutdowns: Number
    rots: Number
    explicit_lacs: Number
    deletions: Number
    failed_saves: Number
    gone: Family[Condition]
    checked: Family[Subset]
    cached: Family[Subset]
    last_lac: Family[Number]
    unset_to: Number
    calls_back: Condition
    recovery_length: Family[Number]


def next_entry(s: LedgerVariables, r: int) -> Number:
    """The entry after a recovery's last add confirmed: the one that it reads or stores again, or the one after the end."""
    return s.recovery_lac[r] + 1


def gone(s: LedgerVariables, bookies: Iterable[int], settings: Parameters) -> list[Condition]:
    """Of each bookie that it does not start again, because its disk is lost."""
    return [s.gone[b] for b in bookies] if settings["losses"] and not settings["data_integrity"] else []


def losses(s: LedgerVariables) -> Number:
    """How often a bookie has come back with less than it had: with an empty disk, or without a journal after a kill."""
    return s.losses + s.unclean_shutdowns


def most_losses(settings: Parameters) -> int:
    """How often that may happen in an instance."""
    return int(settings["losses"] + settings["unclean_shutdowns"])
