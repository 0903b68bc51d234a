"""The loop in which a writer whose change of ensemble is in force goes through its pending adds, and its bug upstream.

Mirrors LedgerHandle.ensembleChangeLoop and PendingAddOp.unsetSuccessAndSendWriteRequest. Adds may be confirmed again before the
loop begins, and an add that the change does not touch, because the replaced place is not of its write set, has the head of
the queue confirmed in the midst of it. Adds further back still count the bookie that left. Acknowledgements are not handled
meanwhile: one thread does both.
"""

from __future__ import annotations

from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.language import And, Condition, If, Not, Or, Outcome, Protocol, Truth, Updates, any_of, maximum


class Unsetting:
    """The loop as it is upstream, entry by entry, in an instance with the bug: what its rules say instead."""

    def __init__(self, p: Protocol, s: LedgerState) -> None:
        self._s = s
        self._unset_to = p.number("unset_to", 0, s.entries)  # the entries below it are done; 0 outside the loop
        self._calls_back = p.flag("calls_back")
        self._at = maximum(self._unset_to, s.lac + 1)

    def declare(self, p: Protocol) -> None:
        """Declares the step of the loop."""
        s, writers, unset_to, calls_back = self._s, self._s.writers, self._unset_to, self._calls_back

        @p.step(
            by="writer",
            takes="task",
            e=s.entry,
            fair=True,
            mirrors="PendingAddOp.unsetSuccessAndSendWriteRequest, LedgerHandle.sendAddSuccessCallbacks",
        )
        def unset(e: int) -> Outcome:
            """The loop comes to a pending add: who has left counts no more, and who has joined is sent it.

            If the change does not touch its write set, what is complete at the head of the queue is confirmed now.
            """
            is_touched = any_of(And(writers.holds(b, e), Not(s.sent_to[b].has(e))) for b in s.bookie)
            return And(s.writer == "changed", self._at == e, e <= s.sent), {
                unset_to: e + 1,
                calls_back: Not(is_touched),
                **{s.sent_to[b]: If(writers.holds(b, e), s.sent_to[b].plus(e), s.sent_to[b]) for b in s.bookie},
                **{s.acked[b]: If(writers.holds(b, e), s.acked[b], s.acked[b].minus(e)) for b in s.bookie},
            }

    def accepts_ack(self, b: int, e: int) -> Condition:
        """An acknowledgement counts for the ensemble that the add has, until the loop comes to it.

        One of the adds that the replaced bookie has not acknowledged is the one that failed, and never will be.
        """
        s, left = self._s, Not(self._s.writers.holds(b, e))
        others = (And(o != e, s.lac < o, s.sent_to[b].has(o), Not(s.acked[b].has(o))) for o in s.entry)
        of_a_leaver = And(s.writer.among("changing", "changed"), left, s.sent_to[b].has(e), any_of(others))
        return And(self._unset_to == 0, Or(s.writers.holds(b, e), of_a_leaver))

    def counts(self, b: int, e: int) -> Condition:
        """The bookie has acknowledged the entry, whether it has left meanwhile or not."""
        return self._s.acked[b].has(e)

    def may_confirm(self) -> Condition:
        """No change is under way, or the loop is at an add that it does not touch."""
        return Or(self._s.writer == "writing", And(self._s.writer == "changed", self._calls_back))

    def is_through(self) -> Truth:
        """The loop has come to the last pending add."""
        return self._at > self._s.sent

    def ended(self) -> Updates:
        """The updates: the loop is over."""
        return {self._unset_to: 0, self._calls_back: False}
