"""One ledger, as its writer knows it: a stand-in for the protocol of BookKeeper, which refines it.

Entries are sent; the next one is confirmed while the ledger is open, or up to the end of a closed one; it is closed at an end
that has all that was confirmed and nothing that was not sent. Bookies, quorums, fences and recoveries are behind these moves.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, get_args

from fencepost.model.language import And, If, ModelError, Number, Or, Outcome, Protocol

State = Literal["absent", "open", "closed", "deleted"]
STATES: tuple[State, ...] = get_args(State)
WEAK = {
    "truncate": "the ledger is closed below what was confirmed",
    "confirm_late": "an entry is confirmed beyond the end of the closed ledger",
}
"""What a ledger may do besides with certain bugs of BookKeeper, by name: a weaker guard of a move."""


class Ledger:
    """A ledger of at most so many entries; ``sent``, ``confirmed`` and ``end`` count them.

    ``created`` says that it is there at the beginning, ``deletions`` that it may be deleted; ``allows`` names weak moves.
    """

    def __init__(
        self, p: Protocol, entries: int, *, created: bool = True, deletions: bool = False, allows: Collection[str] = ()
    ) -> None:
        for name in allows:
            if name not in WEAK:
                raise ModelError(f"{p.name}: a ledger has no weak move {name!r}; it has {', '.join(WEAK)}")
        status = self.status = p.choice("status", STATES, init="open" if created else "absent")
        sent = self.sent = p.number("sent", 0, entries)
        confirmed = self.confirmed = p.number("confirmed", 0, entries)
        end = self.end = p.number("end", 0, entries)
        in_time = True if "confirm_late" in allows else Or(status == "open", confirmed < end)
        self.may_confirm = And(status != "absent", in_time, confirmed < sent)
        """The formula: one entry more can be confirmed."""

        @p.move(by="creator", only_if=not created)
        def create() -> Outcome:
            """The ledger is created: its metadata are written."""
            return status == "absent", {status: "open"}

        @p.move(by="writer", n=range(1, entries + 1))
        def send(n: Number | int) -> Outcome:
            """The next ``n`` entries are sent to bookies; the writer does not know whether the ledger is closed already."""
            return And(status != "absent", sent + n <= entries), {sent: sent + n}

        @p.move(by="writer")
        def confirm() -> Outcome:
            """The next entry is confirmed to the writer: the ledger is open, or its end is at or after the entry."""
            return self.may_confirm, {confirmed: confirmed + 1}

        @p.move(by="closer", n=range(entries + 1))
        def close(n: Number | int) -> Outcome:
            """The ledger is closed with ``n`` entries, all that are confirmed and only what was sent, or is found closed so."""
            keeps = True if "truncate" in allows else confirmed <= n
            closes = And(status == "open", keeps, n <= sent)
            return Or(closes, And(status == "closed", end == n)), {status: "closed", end: n}

        @p.move(by="deleter", only_if=deletions)
        def delete() -> Outcome:
            """The metadata are removed. Bookies go on to take entries of a ledger that was open, and nothing limits it."""
            return status.among("open", "closed"), {status: "deleted", end: If(status == "open", entries, end)}

        self.create, self.send, self.confirm, self.close, self.delete = create, send, confirm, close, delete


def stand_in(entries: int = 2, *, created: bool = True, deletions: bool = False, allows: Collection[str] = ()) -> Protocol:
    """A ledger alone."""
    parameters = {"entries": entries, "created": created, "deletions": deletions, "allows": ",".join(sorted(allows))}
    p = Protocol("stand-in", doc=__doc__, parameters=parameters)
    Ledger(p, entries, created=created, deletions=deletions, allows=allows)
    return p
