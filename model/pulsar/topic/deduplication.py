"""MessageDeduplication: what was pushed and persisted, its snapshot in a cursor, and the replay of the log from there.

A message that is not later than the last one pushed is a duplicate if it is not later than the last one persisted, and
acknowledged at once; else nobody knows, and the producer is refused. The snapshot is a property of a durable cursor of its own:
what is persisted, at a position of the log. Whoever loads the topic replays the log from that position on.
"""

from __future__ import annotations

from fencepost.model.language import And, Conditional, If, Number, Outcome, Protocol, Updates, any_of
from fencepost.model.pulsar.topic.producer import Producer
from fencepost.model.pulsar.topic.state import State


class Deduplication:
    """What a broker remembers of the producer; of an instance without deduplication nothing."""

    def __init__(self, p: Protocol, s: State, producer: Producer) -> None:
        self.protocol, self.s, self.producer = p, s, producer

    def replayed(self, b: int, *, forgotten: bool = False) -> Updates:
        """MessageDeduplication.replayCursor: the snapshot, and after it the last message of the log. With its properties
        ``forgotten`` nothing is left of the snapshot but its position."""
        s = self.s
        if not s.dedup:
            return {}
        taken = s.snapshot is not None
        last: Conditional | Number | int = s.snapshot if taken and not forgotten else 0
        for m in s.message:
            places = [(k, e) for k in s.ledger for e in s.slots]
            after = {place: s.snapshot_at <= self._number(*place) if taken else True for place in places}
            is_there = any_of(And(s.known[b].has(k), s.holds(k, e, m), after[k, e]) for k, e in places)
            last = If(is_there, m + 1, last)
        return {s.pushed[b]: last, s.persisted[b]: last}

    def _number(self, k: int, e: int) -> int:
        return k * self.s.capacity + e

    def declare(self) -> None:
        """Declares the snapshot, and what a truncation of the topic makes of it."""
        p, s = self.protocol, self.s
        if s.snapshot is None:
            return

        def place(b: int, k: int, *, ahead: bool) -> Number:
            """The place after the last confirmed entry; unless it is ``ahead``, that of what is persisted."""
            confirmed = s.ledgers[k].confirmed
            return k * s.capacity + (confirmed if ahead else If(s.has_filled(b), confirmed - 1, confirmed))

        @p.step(
            by="b",
            to="store",
            mirrors="MessageDeduplication.takeSnapshot",
            spends="snapshots",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def take_snapshot(b: int, k: int) -> Outcome:
            """The timer takes what is persisted, and marks the cursor at the last confirmed entry.

            That entry runs ahead of what is persisted by a callback, and by the whole close of a ledger that it has filled. The
            position should be that of what is persisted.
            """
            at = place(b, k, ahead=p.has("snapshot_ahead"))
            writable = s.state[b].among("opened", "closing_ledger", "creating", "closed_ledger", "write_failed")
            ready = And(writable, s.shares(b), s.ledgers[k].confirmed > 0, s.snapshot_at < at)
            return ready, {s.snapshot: s.persisted[b], s.snapshot_at: at}

        @p.step(
            by="admin",
            to="b",
            mirrors="PersistentTopic.truncate, ManagedLedgerImpl.asyncTruncate, ManagedCursorImpl.asyncClearBacklog, "
            "ManagedCursorImpl.asyncMarkDelete",
            spends="truncations",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def truncate_topic(b: int, k: int) -> Outcome:
            """The topic is truncated: every cursor moves to the last confirmed entry, that of deduplication too, which should
            take a snapshot with it. In all releases it moves as any other one, with no properties.

            Left out: a subscription, which loses its backlog by that, as it is told to. Ledgers leave the list by ``trim``.
            """
            forgets = p.has("truncation_forgets_producers")
            at = place(b, k, ahead=forgets)
            writable = s.state[b].among("opened", "closing_ledger", "creating", "closed_ledger", "write_failed")
            ready = And(writable, s.shares(b), s.ledgers[k].confirmed > 0, s.snapshot_at <= at)
            return ready, {s.snapshot: 0 if forgets else s.persisted[b], s.snapshot_at: at}
