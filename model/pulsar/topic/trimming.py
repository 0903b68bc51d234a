"""Trimming: ledgers that every durable cursor has passed, and that need not be retained, leave the list and are deleted."""

from __future__ import annotations

from fencepost.model.language import And, Condition, If, Implies, Not, Or, Outcome, Protocol, Subset, all_of, any_of, either
from fencepost.model.language.effects import Happens
from fencepost.model.pulsar.topic.cursors import Cursors
from fencepost.model.pulsar.topic.fence import Fence
from fencepost.model.pulsar.topic.state import NONE, State
from fencepost.model.terms.values import subset_where


class Trimming:
    """ManagedLedgerImpl.internalTrimLedgers. What is retained is left open: any ledgers that no cursor needs may be trimmed,
    the first ones of the list first."""

    def __init__(self, p: Protocol, s: State, fence: Fence, cursors: Cursors) -> None:
        self.protocol, self.s, self.fence, self.cursors = p, s, fence, cursors

    def trims(self, b: int) -> Condition:
        """The formula: the broker may trim: it writes to a ledger or has one closed, and no other update is under way."""
        s = self.s
        trimmable = s.state[b].among("opened", "closing_ledger", "closed_ledger", "write_failed", "terminated")
        return And(s.is_loaded(b), trimmable, s.current[b] != NONE, s.fresh[b] == NONE, s.may_update(b), s.shares(b))

    def leave(self, b: int, gone: Subset) -> Happens:
        """These ledgers leave the list, by compare-and-set, and are to be deleted. BadVersion: the managed ledger is fenced."""
        s = self.s
        left = s.known[b] & ~gone
        listed = {**s.written(b, left), s.trimmed: s.trimmed | gone, s.deleting[b]: s.deleting[b] | gone}
        forgotten = {s.known_entries[b, j]: If(gone.has(j), 0, s.known_entries[b, j]) for j in s.ledger}
        met: Happens = self.fence.becomes_fenced(b) if s.may.closes else {s.state[b]: "fenced"}
        return either(s.knows_the_version(b), {**listed, **forgotten}, met)

    def declare(self) -> None:
        """Declares the steps."""
        p, s = self.protocol, self.s
        ledgers = s.ledgers

        def upto(b: int, k: int) -> Subset:
            """The ledgers of the list up to this one."""
            return subset_where(len(s.ledger), lambda j: And(s.known[b].has(j), j <= k))

        def may_trim(b: int, k: int) -> Condition:
            """The formula: no cursor needs the ledgers up to this one, and no other update of the list is under way."""
            passed = all_of(Implies(s.known[b].has(j), self.cursors.has_passed(b, j)) for j in s.ledger if j <= k)
            return And(self.trims(b), s.known[b].has(k), *(s.current[b] != j for j in s.ledger if j <= k), passed)

        def leaves_one(b: int, k: int) -> Condition:
            """The formula: a ledger is behind this one."""
            return any_of(s.known[b].has(j) for j in s.ledger if j > k)

        @p.step(
            by="b",
            to="store",
            mirrors="ManagedLedgerImpl.internalTrimLedgers, ManagedLedgerImpl.doDeleteLedgers",
            spends="trims",
            b=s.broker,
            k=s.ledger,
        )
        def trim(b: int, k: int) -> Outcome:
            """The ledgers up to this one leave the list, by compare-and-set. BadVersion: the managed ledger is fenced."""
            trims = And(may_trim(b, k), Or(leaves_one(b, k), Not(p.has("trim_keeps_mutexes"))), s.has_room())
            return trims, self.leave(b, upto(b, k))

        @p.step(
            by="b",
            mirrors="ManagedLedgerImpl.advanceCursorsIfNecessary",
            spends="trims",
            b=s.broker,
            k=s.ledger,
            only_if=p.has("trim_keeps_mutexes"),
        )
        def trim_breaks_off(b: int, k: int) -> Outcome:
            """Every ledger that the broker knows could go, and none is behind them, for the current one is none of them: a
            NullPointerException ends the trimming, and nobody unlocks the mutexes."""
            return And(may_trim(b, k), Not(leaves_one(b, k))), {s.mutex[b]: True}

        @p.fault(
            by="b",
            takes="outage_fails",
            mirrors="ManagedLedgerImpl.internalTrimLedgers",
            spends="failures",
            b=s.broker,
            k=s.ledger,
            only_if=p.has("trimmed_before_listed"),
        )
        def trim_fails(b: int, k: int) -> Outcome:
            """The update fails with the session: the ledgers are gone from memory already, and the next update drops them."""
            gone = upto(b, k)
            forgotten = {s.known_entries[b, j]: If(gone.has(j), 0, s.known_entries[b, j]) for j in s.ledger}
            return may_trim(b, k), {s.known[b]: s.known[b] & ~gone, s.trimmed: s.trimmed | gone, **forgotten}

        @p.step(by="b", takes="metadata", mirrors="ManagedLedgerImpl.asyncDeleteLedger", fair=True, b=s.broker, k=s.ledger)
        def delete_ledger(b: int, k: int) -> Outcome:
            """A ledger that was trimmed is deleted."""
            return s.deleting[b].has(k), ledgers[k].delete(), {s.deleting[b]: s.deleting[b].minus(k)}
