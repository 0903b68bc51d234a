"""The syncer, which copies between the two stores: ServiceUnitStateTableViewSyncer.

It runs at the leader. When it starts it deletes what is in the store to which the cluster migrates, copies to it what is in the
other one, and then listens to both: what it reads in one it writes to the other, by the same calls by which brokers write. It
is active when both are alike, which it looks after from time to time (waitUntilSynced, reconcile).
"""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.language import And, Condition, Not, Or, Outcome, Updates, any_of
from fencepost.model.pulsar.service_unit.both_stores import BothStores
from fencepost.model.pulsar.service_unit.leader import Leader
from fencepost.model.pulsar.service_unit.records import Record
from fencepost.model.zookeeper.sessions_and_nodes import merged


class Syncer:
    """The steps of the syncer."""

    def __init__(self, stores: BothStores, leader: Leader) -> None:
        p = stores.protocol
        self.protocol, self.stores, self.leader = p, stores, leader
        self.cleans = p.rule(self._cleans)
        self.winner = p.rule(self._winner)
        self.is_synced = p.rule(self._is_synced)
        self.passes_on = p.rule(self._passes_on)
        self.notes = p.rule(self._notes)
        self.is_passed = p.rule(self._is_passed)
        self.is_accepted = p.rule(self._is_accepted)

    # --- formulas

    def _in_use(self) -> Condition:
        """The formula: brokers use the store to which the cluster migrates already."""
        return any_of(self.stores.has_moved(b) for b in self.stores.broker)

    def _cleans(self) -> Condition:
        """The store to which the cluster migrates is cleaned before any broker uses it, and not when a syncer starts again."""
        return Not(self._in_use())

    def _winner(self, u: int) -> Record:
        """What both stores are to have of a unit: what is in the one that the cluster leaves, or what is newer in the other."""
        ours, theirs = self.left(u), self.reached(u)
        return theirs.where(And(self._in_use(), theirs.version > ours.version), ours)

    def _is_synced(self) -> Condition:
        """The stores are taken for alike when all their records are."""
        return self.stores.all_alike()

    def _passes_on(self, known: Record, record: Record) -> Condition:
        """A deletion in the topic is passed on if the syncer knew a record there: else it may be the one that it made."""
        return Or(Not(record.absent), Not(known.absent))

    def _notes(self) -> bool:
        """The syncer knows a node that it has deleted itself for deleted: it is no news to it."""
        return True

    def _is_passed(self, record: Record) -> bool:
        """Whatever is written to the topic is passed on to the node, deletions too."""
        return True

    def _is_accepted(self, u: int, record: Record) -> Condition:
        """What is copied to a node is tested against what is there, as each copy waits for the one before it."""
        return Not(self.stores.records.keeps_old(self.stores.nodes.record[u], record, topic=False))

    def has_equally_many(self) -> Condition:
        """The formula: both stores have equally many records."""
        return self.left(0).absent == self.reached(0).absent

    def left(self, u: int) -> Record:
        """The record of a unit in the store that the cluster leaves."""
        records: Mapping[int, Record] = self.stores.topic.record if self.stores.to_nodes else self.stores.nodes.record
        return records[u]

    def reached(self, u: int) -> Record:
        """The record of a unit in the store to which the cluster migrates."""
        records: Mapping[int, Record] = self.stores.nodes.record if self.stores.to_nodes else self.stores.topic.record
        return records[u]

    def _has_room(self, writes: Mapping[int, Condition]) -> Condition:
        """The formula: there is room in the topic for what is written there, of the units of which this formula holds."""
        return Or(Not(any_of(writes.values())), self.stores.topic.has_room())

    # --- updates

    def _put(self, u: int, record: Record, condition: Condition, *, to_nodes: bool) -> Updates:
        """A node is written or deleted whatever is there, and a message is written to the topic as by anybody."""
        nodes, topic = self.stores.nodes, self.stores.topic
        if to_nodes:
            noted = nodes.view[self.stores.syncer, u].becomes(record, And(condition, record.absent, self.notes()))
            return merged(nodes.put(u, record, condition), noted)
        return topic.written(self.stores.syncer, u, record, condition)

    # --- steps

    def declare(self) -> None:
        """Declares how the syncer starts, and what it copies."""
        self._declare_start()
        self._declare_copies()

    def _declare_start(self) -> None:
        p, stores, leader = self.protocol, self.stores, self.leader
        unit, sync, to_nodes = stores.unit, stores.sync, stores.to_nodes
        starts = "ServiceUnitStateTableViewSyncer.start, ServiceUnitStateTableViewSyncer."

        @p.step(by="b", to="store", mirrors=f"{starts}clean", fair=True, b=stores.broker)
        def clean(b: int) -> Outcome:
            """The syncer starts at the leader, and deletes what there is in the store to which the cluster migrates."""
            none = stores.records.none
            cleans = {u: And(self.cleans(), Not(self.reached(u).absent)) for u in unit}
            cleaned = [self._put(u, none, cleans[u], to_nodes=to_nodes) for u in unit]
            begun = {sync: "cleaned", stores.syncer_at: stores.broker.label(b)}
            leads = And(leader.leads[b], stores.sessions.reaches(b))
            return And(leads, sync == "off", Or(to_nodes, self._has_room(cleans))), merged(*cleaned, begun)

        @p.step(by="syncer", to="store", mirrors=f"{starts}syncExistingItems", fair=True)
        def copy_existing() -> Outcome:
            """It copies to that store what there is in the other one."""
            topic, nodes, copies = stores.topic.record, stores.nodes.record, {u: self.winner(u) for u in unit}
            lags = {u: And(Not(copies[u].absent), Not(topic[u].equals(copies[u]))) for u in unit}
            misses = {u: And(Not(copies[u].absent), Not(nodes[u].equals(copies[u]))) for u in unit}
            copied = [self._put(u, copies[u], lags[u], to_nodes=False) for u in unit]
            copied += [self._put(u, copies[u], misses[u], to_nodes=True) for u in unit]
            return And(sync == "cleaned", self._has_room(lags)), merged(*copied, {sync: "copied"})

        @p.step(by="syncer", mirrors=f"{starts}syncTailItems", fair=True)
        def listen() -> Outcome:
            """It reads both stores, and listens from then on to what is written there."""
            both = (stores.nodes.forgotten(stores.syncer, True), stores.topic.forgotten(stores.syncer, True))
            return sync == "copied", merged(*both, {sync: "listens"})

        @p.step(by="syncer", mirrors=f"{starts}waitUntilSynced", fair=True)
        def activate() -> Outcome:
            """It finds both stores alike: the syncer is active, and brokers may be restarted with the other store."""
            return And(sync == "listens", self.is_synced()), {sync: "active"}

        @p.step(
            by="syncer",
            to="store",
            mirrors="ServiceUnitStateTableViewSyncer.reconcile, ServiceUnitStateTableViewSyncer.waitUntilSynced",
            fair=True,
        )
        def reconcile() -> Outcome:
            """It finds that they are not, and copies once more, or deletes what only the store has that it copies to."""
            differs = {u: Not(self.winner(u).equals(self.reached(u))) for u in unit}
            fixed = [self._put(u, self.winner(u), differs[u], to_nodes=to_nodes) for u in unit]
            guard = And(sync == "listens", Not(self.is_synced()), any_of(differs.values()))
            return And(guard, Or(to_nodes, self._has_room(differs))), merged(*fixed)

    def _declare_copies(self) -> None:
        p, stores = self.protocol, self.stores
        topic, nodes, syncer = stores.topic, stores.nodes, stores.syncer

        def to_node(c: int, u: int, event: Record) -> tuple[Updates, bool, Record]:
            """What the syncer does with a message: syncToMetadataStore."""
            passes = And(self.is_passed(event), self.passes_on(topic.view[syncer, u], event))
            accepted = And(passes, Or(event.absent, self.is_accepted(u, event)))
            return self._put(u, event, accepted, to_nodes=True), False, stores.records.none

        def to_topic(c: int, u: int, event: Record) -> tuple[Updates, bool, Record]:
            """What the syncer does with a change of a node: syncToSystemTopic."""
            return topic.written(syncer, u, event), False, stores.records.none

        @p.step(
            by="syncer",
            hears="store",
            mirrors="ServiceUnitStateTableViewSyncer.syncToMetadataStore, ServiceUnitStateTableViewSyncer.sync",
            fair=True,
            u=stores.unit,
            k=topic.place,
        )
        def copy_message(u: int, k: int) -> Outcome:
            """The syncer reads a message of the topic that its view accepts, and writes or deletes the node."""
            return topic.reading(to_node, syncer, u, k)

        @p.step(
            by="syncer",
            hears="store",
            mirrors="ServiceUnitStateTableViewSyncer.syncToSystemTopic, ServiceUnitStateTableViewSyncer.sync",
            fair=True,
            u=stores.unit,
        )
        def copy_node(u: int) -> Outcome:
            """The syncer hears of a change of a node, and writes a message, or a tombstone."""
            guard, updates = nodes.reading(to_topic, syncer, u)
            return And(guard, topic.has_room()), updates
