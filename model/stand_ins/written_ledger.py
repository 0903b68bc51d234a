"""One ledger as auto-recovery knows it: a stand-in for the protocol of BookKeeper, which refines it.

It has the entries that are to be kept: those that were confirmed, and once it is closed all up to its end. How its writer and
its recoveries come to them is behind two moves.
"""

from __future__ import annotations

from fencepost.model.language import Not, Outcome, Protocol, Universe


class WrittenLedger:
    """A ledger of such entries; ``written`` are kept at the beginning, and it may be ``closed`` then."""

    def __init__(self, p: Protocol, entry: Universe, *, written: int = 0, closed: bool = False) -> None:
        self.entry = entry
        status = self.status = p.choice("status", ("open", "closed"), init="closed" if closed else "open")
        confirmed = self.confirmed = p.subset("confirmed", entry, init=entry.first(written))

        @p.move(by="writer", e=entry)
        def confirm(e: int) -> Outcome:
            """An entry is confirmed to the writer."""
            return (status == "open") & Not(confirmed.has(e)), {confirmed: confirmed.plus(e)}

        @p.move(by="closer", n=range(entry.size + 1))
        def end(n: int) -> Outcome:
            """The ledger is closed, by its writer or a recovery, with what is confirmed and with the first ``n`` entries."""
            return status == "open", {status: "closed", confirmed: confirmed | entry.where(lambda e: n > e)}

        self.confirm, self.end = confirm, end


def written_ledger(entries: int = 2) -> Protocol:
    """A ledger alone, to which nothing is written yet."""
    p = Protocol("written-ledger", doc=__doc__, parameters={"entries": entries})
    WrittenLedger(p, p.universe("entry", entries))
    return p
