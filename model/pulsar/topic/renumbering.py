"""Ledger ids that begin again: what a migration of the metadata does to the order of a topic's ledgers."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Not, Or, Outcome, Protocol, any_of
from fencepost.model.pulsar.topic.state import State
from fencepost.model.pulsar.topic.trimming import Trimming
from fencepost.model.terms.values import subset_where


class Renumbering:
    """ManagedLedgerImpl.ledgers is sorted by id, and so are positions: a ledger with a smaller id than that of a cursor is one
    that the cursor has passed.

    Left out: nothing of such a ledger is delivered either, trimmed or not, and as a topic is opened the last one is deleted.
    """

    def __init__(self, p: Protocol, s: State, trimming: Trimming) -> None:
        self.protocol, self.s, self.trimming = p, s, trimming

    def declare(self) -> None:
        """Declares the steps."""
        p, s = self.protocol, self.s

        def is_taken_for_consumed(b: int, k: int) -> Condition:
            """The formula: a cursor is in a ledger of before the migration, or at the end of one, and this is a later one."""
            waits = any_of(
                And(s.known[b].has(j), s.former.has(j), s.mark[b] <= (j + 1) * s.capacity) for j in s.ledger if j < k
            )
            return And(Not(s.former.has(k)), s.has_cursor[b], waits)

        copied = "MigrationCoordinator.copy, PulsarLedgerIdGenerator.internalGenerateShortLedgerId"

        @p.step(by="coordinator", to="store", mirrors=copied, spends="migrations")
        def migrate() -> Outcome:
            """The metadata are copied to another store, without the counter of ledger ids: ids begin again."""
            there_are = Or(*(s.ledgers[k].status != "absent" for k in s.ledger))
            made = subset_where(len(s.ledger), lambda k: s.ledgers[k].status != "absent")
            return there_are, {s.former: made}

        @p.step(by="b", to="store", mirrors="ManagedLedgerImpl.internalTrimLedgers", spends="trims", b=s.broker, k=s.ledger)
        def trim_unread(b: int, k: int) -> Outcome:
            """A later ledger that is not the current one any more leaves the list, whoever has yet to read it."""
            ready = And(self.trimming.trims(b), s.known[b].has(k), s.current[b] != k, s.has_room())
            return And(ready, is_taken_for_consumed(b, k)), self.trimming.leave(
                b, subset_where(len(s.ledger), lambda j: j == k)
            )
