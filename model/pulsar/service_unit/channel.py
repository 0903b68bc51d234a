"""What every broker does with the records of service units: looks them up, takes them over, gives them up."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, If, Not, Or, Protocol, Universe
from fencepost.model.pulsar.metadata_store import Sessions, Updates, merged
from fencepost.model.pulsar.service_unit.metadata_views import MetadataViews
from fencepost.model.pulsar.service_unit.nodes import LastingNode, SilentNode
from fencepost.model.pulsar.service_unit.records import NOBODY, Record, Records
from fencepost.model.pulsar.service_unit.system_topic import SystemTopic

DUES = ("none", "release", "tombstone")
TOPICS = ("closed", "open", "attached", "late")


class Channel:
    """What a broker remembers of each unit besides its view.

    ``pending`` says that a lookup waits there; ``topics`` whether it has topics of the unit open, or only their clients still
    attached, or topics that did not close in time; ``leaves`` that it is closing them because the unit is another's; ``due``
    what it writes once they are closed, with ``due_dst`` and ``due_version`` of the record that asked for it; ``existing``
    that it has found itself as the target of an assignment when it started.
    """

    def __init__(
        self,
        p: Protocol,
        store: Sessions,
        records: Records,
        units: SystemTopic | MetadataViews,
        unit: Universe,
        *,
        multi_phase: bool,
        crashes: int,
        expiries: int,
    ) -> None:
        self.protocol, self.store, self.records, self.units, self.unit = p, store, records, units, unit
        self.multi_phase = multi_phase
        self.deregisters = crashes + expiries > 0
        self.frees = expiries > 0 and expiries + crashes >= store.client.size
        self.reads_existing = crashes > 0 or (expiries > 0 and isinstance(units, MetadataViews))
        broker = self.broker = store.client
        pair = (broker, unit)
        kind = LastingNode if p.has("registration_persists") else SilentNode
        self.registry = kind.of_each(store, "registry")
        self.pending = p.flag("pending", per=pair)
        self.topics = p.choice("topics", TOPICS, per=pair)
        self.leaves = p.flag("leaves", per=pair)
        self.due = p.choice("due", DUES, per=pair)
        self.due_dst = p.choice("due_dst", broker, per=pair, none=NOBODY)
        self.due_version = p.number("due_version", 0, records.last, per=pair)
        self.existing = p.flag("existing", per=pair)
        self.acts_on_existing = p.part(self._acts_on_existing)
        self.waits_for_owner = p.part(self._waits_for_owner)
        self.must_not_close = p.part(self._must_not_close)
        self.meets = p.part(self._meets)
        self.closes_in_time = p.part(self._closes_in_time)
        self.renews = p.part(self._renews)
        self.is_taken = p.part(self._is_taken)
        self.lost = p.part(self._lost)
        self.reestablished = p.part(self._reestablished)
        self.dropped: Any = None

    # --- formulas

    def is_registered(self, b: int) -> Any:
        """The formula: the broker's node is in the registry."""
        return Not(self.registry[b].absent)

    def owns(self, b: int, u: int) -> Any:
        """The formula: the broker takes itself for the owner."""
        view = self.units.view[b, u]
        return And(self.store.lives[b], view.state == "Owned", view.dst == b)

    def is_at_work(self, b: int, u: int) -> Any:
        """The formula: the broker has something to read, or to do for a unit that moves, and can do it."""
        busy = Or(And(self.due[b, u] != "none", self.closes_in_time(b, u)), self.existing[b, u])
        can_write = self.store.lives[b] if isinstance(self.units, SystemTopic) else self.store.reaches(b)
        news = And(self.units.has_news(b, u), Not(self.units.is_known(b, u)))
        return Or(news, And(busy, can_write))

    def _waits_for_owner(self, b: int, u: int) -> Any:
        """A lookup waits where the unit is about to come here, or its owner is gone."""
        view = self.units.view[b, u]
        coming = And(view.state.among("Assigning", "Releasing"), view.dst == b)
        gone = [And(view.state == "Owned", view.dst == x, Not(self.is_registered(x))) for x in self.broker]
        return Or(coming, *gone)

    def _closes_in_time(self, b: int, u: int) -> Any:
        """Topics are closed, or given up, before the leader takes the move for stuck."""
        return True

    def _is_taken(self, b: int, event: Record) -> Any:
        """A broker that hears that another one owns a unit closes what topics, or clients, of it are left."""
        return True

    def _renews(self, b: int) -> Any:
        """A broker looks after its node in the registry."""
        return True

    def is_dropped(self, b: int, u: int) -> Any:
        """The formula: no event ends the lookup that waits. That is never so without a certain mistake."""
        return False if self.dropped is None else self.dropped[b, u]

    def _meets(self, b: int, u: int) -> Any:
        """A tombstone takes effect if nothing was written since the record that it is for."""
        return self.units.is_known(b, u)

    def _must_not_close(self, b: int, u: int) -> Any:
        """Nothing keeps topics from closing."""
        return False

    def _acts_on_existing(self, b: int, u: int) -> Any:
        """A broker that starts acts on an assignment to it that is there already."""
        truth = self.units.truth[u]
        return And(truth.state == "Assigning", truth.dst == b)

    # --- what a broker does with events

    def handled(self, b: int, u: int, event: Record) -> tuple[Updates, Any, Record]:
        """What a broker does with an event, in the order of handleOwnEvent, handleAssignEvent and so on.

        Returns its updates, whether it answers, and the record that it writes then.
        """
        records, to_me, from_me = self.records, event.dst == b, event.src == b
        owned = event.state == "Owned"
        decided = event.state.among("Init", "Free", "Owned", "Deleted")
        taken = And(owned, Not(to_me), self.is_taken(b, event))
        releases = And(event.state == "Releasing", from_me)
        frees = And(event.state == "Free", from_me, event.force)
        updates = {
            self.pending[b, u]: And(self.pending[b, u], Or(Not(decided), self.is_dropped(b, u))),
            self.existing[b, u]: False,
            self.leaves[b, u]: Or(self.leaves[b, u], And(taken, self.topics[b, u] != "closed")),
            self.due[b, u]: If(releases, "release", If(frees, "tombstone", self.due[b, u])),
            self.due_dst[b, u]: If(releases, event.dst, If(frees, NOBODY, self.due_dst[b, u])),
            self.due_version[b, u]: If(releases, event.version, If(frees, 0, self.due_version[b, u])),
        }
        answer = records.record("Owned", records.after(event.version), dst=event.dst, src=event.src)
        return updates, And(event.state == "Assigning", to_me), answer

    def idle(self, b: int) -> Updates:
        """A process that has ended, or begins, has nothing under way; what it begins with says ``existing``."""
        idle: Updates = {}
        for u in self.unit:
            idle |= {flag[b, u]: False for flag in (self.pending, self.leaves)}
            idle |= {self.topics[b, u]: "closed", self.due[b, u]: "none", self.due_dst[b, u]: NOBODY}
            idle |= {self.due_version[b, u]: 0, **self._remembered(b, u)}
            idle[self.existing[b, u]] = And(Not(self.store.lives[b]), self.acts_on_existing(b, u))
        return idle

    def _lost(self, b: int) -> Updates:
        """SessionLost: a broker that drops its copies closes all topics (handleInvalidate)."""
        if isinstance(self.units, SystemTopic):
            return {}
        return {self.leaves[b, u]: self.topics[b, u] != "closed" for u in self.unit}

    def _reestablished(self, b: int) -> Updates:
        """SessionReestablished: what is read anew is treated like what is there at a start."""
        if isinstance(self.units, SystemTopic):
            return {}
        return {self.existing[b, u]: self.acts_on_existing(b, u) for u in self.unit}

    # --- steps

    def declare(self, *, timeouts: int) -> None:
        """Declares the steps of the channel; ``timeouts`` says that topics may close late."""
        self.units.declare(self.handled)
        self._declare_lookups()
        self._declare_topics(timeouts)
        self._declare_moves()

    def _declare_lookups(self) -> None:
        p, store, units, records = self.protocol, self.store, self.units, self.records
        broker, unit, pending = self.broker, self.unit, self.pending

        @p.step(
            by="b",
            mirrors="BrokerRegistryImpl.registerAsync, BrokerRegistryImpl.handleMetadataStoreNotification, "
            "BrokerRegistryImpl.handleMetadataSessionEvent, ExtensibleLoadManagerImpl.validateBrokerRegistry",
            fair=True,
            b=broker,
            only_if=self.deregisters,
        )
        def register(b: int) -> Any:
            """A broker that is not in the registry, or no longer, enters itself."""
            return And(store.reaches(b), self.registry[b].absent, self.renews(b)), self.registry[b].created(b)

        @p.step(
            by="client",
            mirrors="ExtensibleLoadManagerImpl.getOrSelectOwnerAsync, ServiceUnitStateChannelImpl.getOwnerAsync, "
            "ServiceUnitStateChannelImpl.publishAssignEventAsync",
            fair=True,
            b=broker,
            u=unit,
            x=broker,
        )
        def assign(b: int, u: int, x: int) -> Any:
            """A client looks a unit up for which the broker knows no owner, nor one to come: it selects one, and waits."""
            view = units.view[b, u]
            unknown = Or(view.state.among("Init", "Free"), And(view.state == "Releasing", view.dst == NOBODY))
            guard = And(Not(pending[b, u]), unknown, self.is_registered(x), units.may_ask(b))
            assigning = records.record("Assigning", records.after(view.version), dst=x)
            return guard, merged({pending[b, u]: True}, units.written(b, u, assigning))

        @p.step(
            by="client",
            mirrors="ServiceUnitStateChannelImpl.getActiveOwnerAsync, ServiceUnitStateChannelImpl.dedupeGetOwnerRequest",
            b=broker,
            u=unit,
        )
        def wait_for_owner(b: int, u: int) -> Any:
            """A client looks up a unit that is about to come here, or whose owner is not registered: the lookup waits."""
            return And(store.lives[b], Not(pending[b, u]), self.waits_for_owner(b, u)), {pending[b, u]: True}

        @p.step(by="b", mirrors="ServiceUnitStateChannelImpl.deferGetOwner", fair=True, b=broker, u=unit)
        def stop_waiting(b: int, u: int) -> Any:
            """A lookup has waited for 30 seconds: it is answered with whoever is the owner by then, or fails."""
            return And(store.lives[b], pending[b, u]), merged({pending[b, u]: False}, self._remembered(b, u))

    def _declare_topics(self, timeouts: int) -> None:
        p, store, topics, leaves, due = self.protocol, self.store, self.topics, self.leaves, self.due
        broker, unit = self.broker, self.unit

        @p.step(by="client", mirrors="BrokerService.checkTopicNsOwnership, BrokerService.getTopic", b=broker, u=unit)
        def open_topics(b: int, u: int) -> Any:
            """A client is served by a broker that takes itself for the owner."""
            ready = And(topics[b, u].among("closed", "attached"), Not(leaves[b, u]))
            return And(self.owns(b, u), ready), {topics[b, u]: "open"}

        @p.step(
            by="b",
            mirrors="ServiceUnitStateChannelImpl.closeServiceUnit, BrokerService.unloadServiceUnit",
            fair=True,
            b=broker,
            u=unit,
        )
        def close_topics(b: int, u: int) -> Any:
            """The topics are closed, because the unit is to be released or is another's.

            In a transfer of many phases clients stay attached until the next owner has the unit.
            """
            keeps = And(due[b, u] == "release", self.due_dst[b, u] != NOBODY, self.multi_phase, Not(leaves[b, u]))
            wanted = Or(And(due[b, u] != "none", topics[b, u] == "open"), And(leaves[b, u], topics[b, u] != "closed"))
            closed = {topics[b, u]: If(keeps, "attached", "closed"), leaves[b, u]: False}
            return And(store.lives[b], wanted, Not(self.must_not_close(b, u))), closed

        @p.fault(
            by="b",
            mirrors="ServiceUnitStateChannelImpl.closeServiceUnit, BrokerService.cleanUnloadedTopicFromCache",
            spends="timeouts",
            b=broker,
            u=unit,
        )
        def time_out_closing(b: int, u: int) -> Any:
            """The topics of a unit that is to be released do not close in time: nothing is written, and they are forgotten."""
            closing = And(store.lives[b], due[b, u] == "release", topics[b, u] == "open")
            return closing, merged({topics[b, u]: "late", leaves[b, u]: False}, self._done(b, u))

        @p.step(by="b", mirrors="BrokerService.unloadServiceUnit", fair=True, b=broker, u=unit, only_if=timeouts)
        def close_late(b: int, u: int) -> Any:
            """Topics that did not close in time are closed."""
            return And(store.lives[b], topics[b, u] == "late"), {topics[b, u]: "closed", leaves[b, u]: False}

    def _remembered(self, b: int, u: int) -> Updates:
        """What only a mistake makes a broker remember of a lookup goes with it."""
        return {} if self.dropped is None else {self.dropped[b, u]: False}

    def _done(self, b: int, u: int) -> Updates:
        return {self.due[b, u]: "none", self.due_dst[b, u]: NOBODY, self.due_version[b, u]: 0}

    def _declare_moves(self) -> None:
        p, units, records, due, topics = self.protocol, self.units, self.records, self.due, self.topics
        broker, unit = self.broker, self.unit

        @p.step(
            by="c",
            mirrors="ServiceUnitStateChannelImpl.publishUnloadEventAsync, ExtensibleLoadManagerImpl.unloadNamespaceBundleAsync",
            spends="unloads",
            c=broker,
            u=unit,
            o=broker,
        )
        def unload(c: int, u: int, o: int) -> Any:
            """A unit is unloaded: the leader's policy wants it, or an administrator."""
            view = units.view[c, u]
            owned = And(view.state == "Owned", view.dst == o, units.may_write(c))
            return owned, units.written(c, u, records.record("Releasing", records.after(view.version), src=o))

        @p.step(
            by="c",
            mirrors="ServiceUnitStateChannelImpl.publishUnloadEventAsync, ExtensibleLoadManagerImpl.unloadNamespaceBundleAsync",
            spends="unloads",
            c=broker,
            u=unit,
            o=broker,
            x=broker,
        )
        def transfer(c: int, u: int, o: int, x: int) -> Any:
            """A unit is to go to another broker, which somebody has selected."""
            view = units.view[c, u]
            owned = And(o != x, view.state == "Owned", view.dst == o, self.is_registered(x), units.may_write(c))
            return owned, units.written(c, u, records.record("Releasing", records.after(view.version), dst=x, src=o))

        @p.step(
            by="b",
            mirrors="ServiceUnitStateChannelImpl.handleReleaseEvent",
            fair=True,
            b=broker,
            u=unit,
        )
        def release(b: int, u: int) -> Any:
            """The topics are closed: the unit is free, or assigned to the broker that it is transferred to."""
            closed = topics[b, u].among("closed", "attached")
            to, version = self.due_dst[b, u], records.after(self.due_version[b, u])
            free = records.record("Free", version, src=b)
            released = records.record("Assigning", version, dst=to, src=b).either(to != NOBODY, free)
            return And(due[b, u] == "release", closed, units.may_write(b)), merged(
                units.written(b, u, released), self._done(b, u)
            )

        @p.step(
            by="b",
            mirrors="ServiceUnitStateChannelImpl.handleFreeEvent, ServiceUnitStateChannelImpl.tombstoneAsync",
            fair=True,
            b=broker,
            u=unit,
            only_if=self.frees,
        )
        def bury(b: int, u: int) -> Any:
            """A unit that was taken from the broker, and given to nobody, is closed: its record is deleted."""
            closed = topics[b, u].among("closed", "attached")
            return And(due[b, u] == "tombstone", closed, units.may_write(b)), merged(
                units.written(b, u, records.none, self.meets(b, u)), self._done(b, u)
            )

        @p.step(
            by="b",
            mirrors="ServiceUnitStateChannelImpl.handleExisting",
            fair=True,
            b=broker,
            u=unit,
            only_if=self.reads_existing,
        )
        def take_existing(b: int, u: int) -> Any:
            """A broker that has started takes over what was assigned to it before."""
            view = units.view[b, u]
            owned = records.record("Owned", records.after(view.version), dst=b, src=view.src)
            return And(self.existing[b, u], units.may_write(b)), merged(
                {self.existing[b, u]: False}, units.written(b, u, owned)
            )
