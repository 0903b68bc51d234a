"""Words about a ledger that its properties and lemmas share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def next_entry(s: Any, r: int) -> Any:
    """The entry after a recovery's last add confirmed: the one that it reads or stores again, or the one after the end."""
    return s.recovery_lac[r] + 1


def gone(s: Any, bookies: Iterable[int], settings: Mapping[str, Any]) -> list[Any]:
    """Of each bookie that it does not start again, because its disk is lost."""
    return [s.gone[b] for b in bookies] if settings["losses"] and not settings["data_integrity"] else []


def losses(s: Any) -> Any:
    """How often a bookie has come back with less than it had: with an empty disk, or without a journal after a kill."""
    return s.losses + s.unclean_shutdowns


def most_losses(settings: Mapping[str, Any]) -> int:
    """How often that may happen in an instance."""
    return int(settings["losses"] + settings["unclean_shutdowns"])
