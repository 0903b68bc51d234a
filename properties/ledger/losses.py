"""Which entry of a ledger is lost: what odds count, entry by entry."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, Not, Protocol, any_of
from fencepost.properties.ledger.guarantees import LedgerWords


def entry_is_cut_off(p: Protocol, e: int) -> Any:
    """The formula: entry e is confirmed, and the ledger is closed before it."""
    return And(p.state.status == "closed", p.state.confirmed.has(e), p.state.last < e)


def entry_has_no_copy(p: Protocol, e: int) -> Any:
    """The formula: entry e is confirmed, and no bookie of its write set has a copy."""
    words = LedgerWords(p)
    return And(p.state.confirmed.has(e), Not(any_of(words.has_copy(b, e) for b in words.bookie)))
