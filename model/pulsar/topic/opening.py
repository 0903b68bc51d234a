"""Opening a managed ledger: read the list, recover its last ledger, create another one, and write the list by
compare-and-set."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.language import And, Condition, Not, Outcome, Protocol, Updates, any_of, either
from fencepost.model.language.effects import Effect, Happens
from fencepost.model.pulsar.stores import store_of
from fencepost.model.pulsar.topic.cursors import Cursors
from fencepost.model.pulsar.topic.deduplication import Deduplication
from fencepost.model.pulsar.topic.state import NONE, State
from fencepost.model.terms.values import subset_where


class Opening:
    """ManagedLedgerImpl.initialize and initializeBookKeeper."""

    def __init__(self, p: Protocol, s: State, deduplication: Deduplication, cursors: Cursors) -> None:
        self.protocol, self.s, self.deduplication, self.cursors = p, s, deduplication, cursors

    def declare(self) -> Callable[..., Happens]:
        """Declares the steps; returns the one that begins, which a whole may take."""
        p, s = self.protocol, self.s
        ledgers, state = s.ledgers, s.state

        @p.step(
            by="b",
            takes="metadata",
            hears="store",
            mirrors="ManagedLedgerImpl.initialize, MetaStoreImpl.getManagedLedgerInfo",
            fair=True,
            spends="openings",
            b=s.broker,
        )
        def open(b: int) -> Outcome:
            """The broker reads the list of ledgers. A terminated topic is opened only to be read, which changes nothing
            here."""
            read: Updates = {
                s.known[b]: s.listed,
                s.known_version[b]: s.version,
                **{s.known_entries[b, k]: s.entries[k] for k in s.ledger},
            }
            ended = False if s.ended is None else s.ended
            return And(state[b] == "none", Not(ended), s.shares(b)), {state[b]: "opening", **read}

        @p.step(
            by="b",
            takes="recovery",
            mirrors="ManagedLedgerImpl.initialize, ManagedLedgerImpl.initializeBookKeeper",
            fair=True,
            b=s.broker,
            k=s.ledger,
            n=p.upto(s.capacity),
            only_if=s.may.opens_again,
        )
        def recover_last(b: int, k: int, n: int) -> Outcome:
            """The last ledger is opened with recovery: closed at an end that has all that is confirmed, unless it is closed.
            Every ledger that is empty by the list leaves it."""
            rest = subset_where(len(s.ledger), lambda j: And(s.known[b].has(j), s.known_entries[b, j] > 0 if j != k else n > 0))
            if p.has("no_recovery"):
                reads: Condition | Effect = And(ledgers[k].confirmed == n, ledgers[k].status != "deleted")
            else:
                reads = ledgers[k].close(n)
            return (
                And(state[b] == "opening", s.is_last(b, k)),
                reads,
                {state[b]: "recovered", s.known[b]: rest, s.known_entries[b, k]: n},
            )

        def dropped(b: int, k: int) -> Updates:
            """The last ledger leaves the list."""
            return {s.known[b]: s.known[b].minus(k), s.known_entries[b, k]: 0, state[b]: "recovered"}

        @p.step(
            by="b",
            takes="metadata",
            mirrors="ManagedLedgerImpl.initialize",
            fair=True,
            b=s.broker,
            k=s.ledger,
            only_if=s.may.opens_again and (s.may.fails or s.may.is_slow or (s.may.deletes and s.may.rivals)),
        )
        def drop_missing(b: int, k: int) -> Outcome:
            """There is no such ledger any more: it leaves the list."""
            missing = ledgers[k].status.among("absent", "deleted")
            return And(state[b] == "opening", s.is_last(b, k), missing), dropped(b, k)

        @p.fault(
            by="b",
            mirrors="ManagedLedgerImpl.initialize, Errors.isNoSuchLedgerExistsException",
            spends="failures",
            b=s.broker,
            k=s.ledger,
            only_if=p.has("missing_last_dropped") and s.may.settings["elsewhere"],
        )
        def drop_unseen(b: int, k: int) -> Outcome:
            """BookKeeper's metadata come by a session of their own, from a server that lags behind and has not seen the
            ledger: it leaves the list."""
            there = ledgers[k].status.among("open", "closed")
            return And(state[b] == "opening", s.is_last(b, k), there), dropped(b, k)

        @p.step(by="b", takes="task", mirrors="ManagedLedgerImpl.initialize", fair=True, b=s.broker)
        def find_empty(b: int) -> Outcome:
            """The list is empty."""
            return And(state[b] == "opening", s.known[b].is_empty), {state[b]: "recovered"}

        def listed_first(b: int, k: int, loaded: tuple[Updates, Updates]) -> tuple[Condition, Effect]:
            """The list is written with the new ledger, and then the topic is loaded with this."""
            opened = {state[b]: "opened", s.current[b]: k, s.fresh[b]: NONE}
            done = (opened, s.written(b, s.known[b].plus(k), {k: 0}), loaded)
            return And(state[b] == "recovered", s.fresh[b] == k, s.has_room()), either(s.knows_the_version(b), done, s.gone(b))

        @p.step(
            by="b",
            takes="metadata",
            to="store",
            mirrors="ManagedLedgerImpl.initializeBookKeeper, MetaStoreImpl.asyncUpdateLedgerIds, "
            "ManagedLedgerImpl.initializeCursors, "
            "MessageDeduplication.replayCursor",
            fair=True,
            b=s.broker,
            k=s.ledger,
        )
        def list_first(b: int, k: int) -> Outcome:
            """The list with the new ledger is written at the version that was read; cursors are recovered, and the log
            replayed.

            BadVersion: the opening fails. Its ledger is neither listed nor deleted.
            """
            return listed_first(b, k, (self.deduplication.replayed(b), self.cursors.recovered(b)))

        @p.fault(
            by="b",
            mirrors="MetaStoreImpl.getCursors, ManagedLedgerImpl.initializeCursors",
            spends="failures",
            b=s.broker,
            k=s.ledger,
            only_if=p.has("cursor_list_stale") and s.cursor is not None and not store_of(s.may.settings).ordered,
        )
        def list_first_stale(b: int, k: int) -> Outcome:
            """The same, and the list of cursors comes from a cache that misses one: for this broker it does not exist."""
            return listed_first(b, k, (self.deduplication.replayed(b), self.cursors.missed(b)))

        @p.fault(
            by="b",
            mirrors="ManagedCursorImpl.recoverFromLedger, ManagedCursorImpl.getRollbackPosition",
            spends="failures",
            b=s.broker,
            k=s.ledger,
            only_if=p.has("properties_dropped") and s.snapshot is not None,
        )
        def list_first_unreadable(b: int, k: int) -> Outcome:
            """The same, and the ledger of deduplication's cursor cannot be read: its position is in the node, its properties
            are gone. The node has that position if the cursor ledger was changed after the snapshot."""
            forgotten = {**self.deduplication.replayed(b, forgotten=True), s.snapshot: 0}
            return listed_first(b, k, (forgotten, self.cursors.recovered(b)))

        @p.step(
            by="reader",
            mirrors="ManagedLedgerImpl.getLedgerHandle, ReadOnlyManagedLedgerImpl.initialize",
            k=s.ledger,
            n=p.upto(s.capacity),
            only_if=p.has("resends_recovered") or p.has("no_recovery"),
        )
        def read_old(k: int, n: int) -> Outcome:
            """A reader opens a ledger that is not the last of the list, which recovers it."""
            older = any_of(And(s.listed.has(k), s.listed.has(j)) for j in s.ledger if j > k)
            return And(older, ledgers[k].status == "open"), ledgers[k].close(n)

        return open
