"""A client that has had a handle of the ledger open since before its bookies were replaced."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.language import And, Condition, Outcome, any_of


def declare_readers(s: State) -> None:
    """The step by which an open handle hears of a new ensemble."""
    p = s.protocol

    @p.rule
    def handle_watches() -> Condition | bool:
        """The handle has registered for changes of the ledger's metadata: always if the ledger was open."""
        return True

    handle_watches.instead("handle_keeps_its_ensemble", lambda: s.opened)

    handle = s.handle
    if handle is None:
        return

    @p.step(by="reader", fair=True, mirrors="ReadOnlyLedgerHandle.onChanged, LedgerHandle.setLedgerMetadata")
    def hear_of_ensemble() -> Outcome:
        """The handle hears that the ensemble is another one, and reads from its members from now on."""
        differs = any_of(handle[i] != s.member[i] for i in s.place)
        return And(differs, handle_watches()), {handle[i]: s.member[i] for i in s.place}
