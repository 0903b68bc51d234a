"""Words about a ledger that its properties and lemmas share."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.language import Condition, Number, Parameters
from fencepost.properties.ledger.variables import LedgerVariables


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
