"""The metadata store as the store of service units: one node for each, and the copies of it that brokers have.

Mirrors ServiceUnitStateMetadataStoreTableViewImpl over MetadataStoreTableViewImpl. A write is tested against the writer's own
copy, by the conflict resolver, and then by compare-and-set: the node's version must be that of the copy. As a record's
version rises by one with each write from 1 on, it tells as much as the version of its node. (Upstream that is the copy in
MetadataCacheImpl, which a returning connection empties, and not the one that the broker goes by.) It is not tried again; and a
conflict is swallowed, so that the writer takes it for done. Tombstones are deletions without a version.

A broker hears that a node was written, and then reads it. What is written while it is cut off it does not hear of; that it does
not look when its connection is back is the bug ``missed_not_read``. (The cache reads a node again after ten minutes, but
only when it is asked for it.)
"""

from __future__ import annotations

from typing import Protocol as Protocol_

from fencepost.model.language import And, Condition, If, Not, Or, Outcome, Protocol, Truth, Universe, Updates, all_of
from fencepost.model.pulsar.service_unit.records import Record, Records
from fencepost.model.pulsar.service_unit.system_topic import HANDLERS, Handler, Users
from fencepost.model.zookeeper.sessions_and_nodes import Watched, merged

HEARS = f"{HANDLERS}, MetadataStoreTableViewImpl.handleNotification, MetadataStoreTableViewImpl.handleTailItem"


class Clients(Users, Protocol_):
    """Those who read and write the nodes: whether each reaches them, and what is told of who is cut off."""

    watched: list[Watched]

    def reaches(self, c: int) -> Truth:
        """The formula: a request of the client is carried out and answered."""


class MetadataViews:
    """The nodes, the copies, and how nodes are written; ``name`` goes before the names of what both stores have."""

    def __init__(self, p: Protocol, store: Clients, records: Records, unit: Universe, *, name: str = "") -> None:
        self.protocol, self.store, self.records, self.unit = p, store, records, unit
        self.broker = store.client
        view = records.declare(f"{name}view", (self.broker, unit), force=False)
        record = records.declare(f"{name}record", (unit,), force=True)
        self.view = {(b, u): view(b, u) for b in self.broker for u in unit}
        self.record = {u: record(u) for u in unit}
        self.changed = p.flag("unheard", per=(self.broker, unit))
        store.watched.append(self)

        self.is_news = p.rule(self._is_news)
        self.lost = p.rule(self._lost)
        self.reestablished = p.rule(self._reestablished)
        self.reconnected = p.rule(self._reconnected)

    # --- formulas

    def takes_place(self, b: int, u: int, record: Record) -> Condition:
        """The formula: a write takes effect: the resolver prefers it to the writer's copy, and the copy is what is there."""
        copy = self.view[b, u]
        return And(Not(self.records.keeps_old(copy, record, topic=False)), copy.version == self.record[u].version)

    def _is_news(self, b: int, u: int) -> Condition:
        """What is read is not what the copy says (updateData)."""
        return Not(self.is_known(b, u))

    def has_room(self, b: int | None = None) -> Truth:
        """The formula: a record can be written, as far as others are concerned."""
        return True

    def has_versions(self) -> Truth:
        """The formula: no record has the last version, or it may be followed by the first."""
        return self.records.overflow or all_of(self.record[u].version < self.records.last for u in self.unit)

    def is_known(self, b: int, u: int) -> Condition:
        """The formula: the broker's copy of a unit is what is there."""
        return self.view[b, u].equals(self.record[u])

    def may_write(self, b: int) -> Condition:
        """The formula: the broker's writes reach the store, and no version is about to overflow if none ever does."""
        return And(self.store.reaches(b), self.has_versions())

    def may_ask(self, b: int) -> Condition:
        """The formula: the broker can write for a client."""
        return self.may_write(b)

    def has_news(self, b: int, u: int) -> Condition:
        """The formula: the broker is about to hear of a write of the unit."""
        return And(self.store.reaches(b), self.changed[b, u])

    # --- updates

    def unheard(self, b: int) -> Updates:
        """The broker will not hear of what was written so far."""
        return {self.changed[b, u]: False for u in self.unit}

    def written(self, b: int, u: int, record: Record, condition: Truth = True, *, on_reading: bool = False) -> Updates:
        """A node is written or deleted where the condition holds; ``on_reading`` says that the writer has just read it."""
        if on_reading:
            accepted = And(condition, Not(self.records.keeps_old(self.record[u], record, topic=False)))
        else:
            accepted = And(condition, Or(record.absent, self.takes_place(b, u, record)))
        own = accepted if on_reading else Or(self.changed[b, u], accepted)
        return self.put(u, record, accepted) | {self.changed[b, u]: own}

    def put(self, u: int, record: Record, condition: Truth = True) -> Updates:
        """A node is written or deleted where the condition holds, whatever it was: all hear of it who reach the store."""
        events = {self.changed[c, u]: Or(self.changed[c, u], And(condition, self.store.reaches(c))) for c in self.broker}
        return merged(self.record[u].becomes(record, condition), events)

    def forgotten(self, b: int, starts: Truth | None = None) -> Updates:
        """A process that ends has no copy; one that starts reads all nodes: unless that is said, one that does not live."""
        starts = Not(self.store.lives[b]) if starts is None else starts
        copies = (self.view[b, u].becomes(self.record[u].where(starts, self.records.none)) for u in self.unit)
        return merged(*copies, self.unheard(b))

    def _lost(self, b: int) -> Updates:
        """A broker whose session is gone drops its copies, which nobody keeps up to date."""
        return merged(*(self.view[b, u].becomes(self.records.none) for u in self.unit), self.unheard(b))

    def _reestablished(self, b: int) -> Updates:
        """With a new session all nodes are read again."""
        return merged(*(self.view[b, u].becomes(self.record[u]) for u in self.unit), self.unheard(b))

    def _reconnected(self, b: int) -> Updates:
        """A broker whose connection is back reads what it may not have heard of."""
        return {self.changed[b, u]: True for u in self.unit}

    # --- steps

    def reading(self, handler: Handler, b: int, u: int, *, may_answer: Truth = True) -> tuple[Condition, Updates]:
        """Guard and updates of a client that reads a node which was written; it waits where it answers, and may not yet."""
        node = self.record[u]
        news = self.is_news(b, u)
        updates, answers, answer = handler(b, u, node)
        taken = {v: If(news, value, v) for v, value in updates.items()}
        written = self.written(b, u, answer, And(news, answers), on_reading=True)
        ready = Or(Not(And(news, answers)), And(may_answer, self.has_versions()))
        guard = And(self.store.reaches(b), self.changed[b, u], ready)
        return guard, merged(taken, self.view[b, u].becomes(node, news), written)

    def declare(self, handler: Handler) -> None:
        """Declares how brokers hear of writes."""
        p = self.protocol

        @p.step(by="b", hears="store", mirrors=HEARS, fair=True, b=self.broker, u=self.unit)
        def read(b: int, u: int) -> Outcome:
            """A broker that hears that a node was written reads it, and acts on it if it is not what its copy says."""
            return self.reading(handler, b, u)
