"""A durable subscription: its parameters, and how the topic is loaded, unloaded and lost."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.language import And, If, ModelError, Not, Outcome, Protocol, Updates
from fencepost.model.pulsar.subscription.acknowledgements import declare_acknowledgements
from fencepost.model.pulsar.subscription.bugs import BUGS
from fencepost.model.pulsar.subscription.cursor import NONE, Cursor
from fencepost.model.pulsar.subscription.seeks import declare_seeks
from fencepost.model.pulsar.subscription.writes import declare_writes


def subscription(
    *,
    messages: int = 3,
    capacity: int = 3,
    limit: int = 3,
    node_limit: int = 3,
    long_arrays: bool = False,
    limited: bool = False,
    one_above: bool = False,
    counts_own: bool = False,
    sets_last: bool = False,
    cuts_ranges: bool = False,
    seeks: int = 1,
    unloads: int = 1,
    crashes: int = 1,
    bugs: Iterable[str] = (),
) -> Protocol:
    """A subscription of some ``messages``; the other parameters are constants of the same name."""
    settings = {name: value for name, value in locals().items() if name != "bugs"}
    if min(messages, capacity) < 1:
        raise ModelError("subscription: messages and capacity are at least 1")
    p = Protocol("subscription", doc=__doc__, parameters=settings, bugs=BUGS, active=bugs)
    cursor = Cursor(p)
    declare_loads(cursor)
    declare_acknowledgements(cursor)
    declare_seeks(cursor)
    declare_writes(cursor)
    return p


def declare_loads(cursor: Cursor) -> None:
    """Declares the steps in which a broker gets the topic, and loses it."""
    p = cursor.protocol

    def ends() -> Updates:
        """What a broker that has the topic no more knows of it; a seek that was not answered may be done or not."""
        pending = cursor.before(cursor.target) | cursor.meanwhile
        return {
            cursor.state: "none",
            cursor.mark: 0,
            cursor.acked: (),
            cursor.last: 0,
            cursor.persisted: NONE,
            cursor.queued: "nothing",
            **cursor.joins_queue(0),
            **cursor.progresses(NONE),
            **{cursor.writing[w]: "nothing" for w in range(2)},
            **{cursor.place[w]: 0 for w in range(2)},
            **{cursor.ranges[w]: () for w in range(2)},
            cursor.asked: If(cursor.is_seeking, cursor.asked | pending, cursor.asked),
            cursor.meanwhile: (),
            cursor.target: NONE,
        }

    @p.step(by="broker", mirrors="ManagedCursorImpl.recover, ManagedCursorImpl.recoveredCursor", fair=True)
    def load() -> Outcome:
        """The position and the ranges that were written last are read."""
        known = {cursor.mark: cursor.stored_mark, cursor.last: cursor.stored_mark, cursor.persisted: cursor.stored_mark}
        return cursor.state == "none", {cursor.state: "no_ledger", cursor.acked: cursor.stored_acked, **known}

    @p.step(
        by="admin",
        mirrors="ManagedCursorImpl.asyncClose, ManagedCursorImpl.persistPositionWhenClosing",
        spends="unloads",
    )
    def unload() -> Outcome:
        """The cursor is closed: it writes its position and its ranges, to the node, or to its ledger if they are many."""
        many = Not(cursor.is_within("node_limit", cursor.acked)) if p.parameters["limit"] else False
        written = If(And(many, cursor.state == "open"), cursor.kept(cursor.acked), cursor.kept(cursor.acked, in_node=True))
        rest = cursor.answered & cursor.covers(cursor.mark, cursor.acked)
        kept = cursor.promised_with(cursor.mark, cursor.acked, written, rest)
        stored = {cursor.stored_mark: cursor.position_to_write(), cursor.stored_acked: written, cursor.promised: kept}
        return And(cursor.is_in_use, cursor.writing[0] == "nothing"), stored, ends()

    @p.fault(by="broker", spends="crashes")
    def crash() -> Outcome:
        """The process ends, and what it has in memory is gone."""
        return cursor.is_in_use, ends()
