"""What every broker does with the records of service units: looks them up, takes them over, gives them up."""

from __future__ import annotations

from typing import Literal, get_args

from fencepost.model.language import ABSENT, And, Condition, Family, If, Not, Or, Protocol, Truth, Universe, Updates, any_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.service_unit.both_stores import BothStores
from fencepost.model.pulsar.service_unit.metadata_views import MetadataViews
from fencepost.model.pulsar.service_unit.nodes import LastingNode, SilentNode
from fencepost.model.pulsar.service_unit.records import Record, Records
from fencepost.model.pulsar.service_unit.shutdown import Shutdown
from fencepost.model.pulsar.service_unit.splits import CHILD, PARENT, Splits
from fencepost.model.pulsar.service_unit.system_topic import SystemTopic
from fencepost.model.zookeeper.sessions_and_nodes import Sessions, merged

ToPublish = Literal["none", "release", "release_attached", "tombstone"]
TO_PUBLISH: tuple[ToPublish, ...] = get_args(ToPublish)
Topics = Literal["closed", "open", "detaching", "attached", "late", "lingering"]
TOPICS: tuple[Topics, ...] = get_args(Topics)
IN_MAP: tuple[Topics, ...] = ("open", "detaching", "attached", "lingering")
"""Those that BrokerService.topics has: a closing with clients that takes too long has them removed from it."""


class Channel:
    """What a broker remembers of each unit besides its view.

    ``pending`` says that a lookup waits there; ``topics`` whether it has topics of the unit open, or closed them too late. In a
    transfer of many phases it closes them halfway, ``detaching``; then they are ``attached``: fenced and transferring, their
    clients still there, and not disposed of (PersistentTopic.close with disconnectClients=false). If that takes too long they
    are ``lingering``, and still in the map of the broker's topics, which has no ``late`` ones. ``closing`` says that it closes
    whatever there is of them, clients and all; both closings may be under way at once. A broker that closes the topics of a
    unit that was split closes those of its child, and vice versa: BrokerService.unloadServiceUnit takes all that the bundle
    includes. ``to_publish`` is what it writes once they are closed, or with ``release_attached`` closed halfway, with
    ``to_publish_dst`` and ``to_publish_version`` of the record that asked for it; ``existing`` that it has found itself as the
    target of an assignment when it started.
    """

    def __init__(
        self,
        p: Protocol,
        store: Sessions,
        records: Records,
        units: SystemTopic | MetadataViews | BothStores,
        unit: Universe,
        *,
        multi_phase: bool,
        crashes: int,
        expiries: int,
        shutdowns: int,
        splits: Splits | None,
    ) -> None:
        self.protocol, self.store, self.records, self.units, self.unit = p, store, records, units, unit
        self.multi_phase, self.splits = multi_phase, splits
        self.deregisters = crashes + expiries + shutdowns > 0
        self.frees = expiries + shutdowns > 0 and expiries + crashes + shutdowns >= store.client.size
        self.reads_existing = crashes + shutdowns > 0 or (expiries > 0 and isinstance(units, MetadataViews))
        broker = self.broker = store.client
        pair = (broker, unit)
        kind = LastingNode if "registration_persists" in p.active else SilentNode
        self.registry = kind.of_each(store, "registry")
        self.pending = p.flag("pending", per=pair)
        self.topics = p.choice("topics", TOPICS, per=pair)
        self.closing = p.flag("closing", per=pair)
        self.to_publish = p.choice("to_publish", TO_PUBLISH, per=pair)
        self.to_publish_dst = p.choice("to_publish_dst", broker, per=pair, none=NOBODY)
        self.to_publish_version = p.number("to_publish_version", 0, records.last, per=pair)
        self.existing = p.flag("existing", per=pair)
        self.acts_on_existing = p.rule(self._acts_on_existing)
        self.waits_for_owner = p.rule(self._waits_for_owner)
        self.is_free = p.rule(self._is_free)
        self.must_not_close = p.rule(self._must_not_close)
        self.meets = p.rule(self._meets)
        self.closes_in_time = p.rule(self._closes_in_time)
        self.renews = p.rule(self._renews)
        self.is_taken = p.rule(self._is_taken)
        self.comes_back = p.rule(self._comes_back)
        self.lost = p.rule(self._lost)
        self.reestablished = p.rule(self._reestablished)
        self.dropped: Family[Condition] = ABSENT
        self.shutdown: Shutdown = Shutdown(p, broker, unit) if shutdowns else ABSENT

    # --- formulas

    def is_registered(self, b: int) -> Condition:
        """The formula: the broker's node is in the registry."""
        return Not(self.registry[b].absent)

    def owns(self, b: int, u: int) -> Condition:
        """The formula: the broker takes itself for the owner."""
        return And(self.store.lives[b], _is_owner(self.units.view[b, u], b))

    def is_in_layout(self, b: int, u: int) -> Truth:
        """The formula: the broker has the unit in its copy of the namespace's layout."""
        return True if self.splits is None else self.splits.has(b, u)

    def may_assign(self, b: int, u: int) -> Truth:
        """The formula: a unit that is looked up at the broker is to be assigned, if it has no owner."""
        known = True if self.splits is None else And(self.splits.has(b, u), self.splits.is_current(b, u))
        return known if self.shutdown is None else And(known, self.shutdown.may_assign(b))

    def runs(self, b: int) -> Truth:
        """The formula: the broker is not about to shut down."""
        return True if self.shutdown is None else self.shutdown.runs(b)

    def stays(self, b: int) -> Truth:
        """The formula: the broker has not left the registry, nor the election, because it shuts down."""
        return True if self.shutdown is None else self.shutdown.stays(b)

    def is_at_work(self, b: int, u: int) -> Condition:
        """The formula: the broker has something to read, or to do for a unit that moves, and can do it, or is about to end."""
        busy = Or(And(self.to_publish[b, u] != "none", self.closes_in_time(b, u)), self.existing[b, u])
        can_write = self.store.lives[b] if isinstance(self.units, SystemTopic) else self.store.reaches(b)
        news = And(self.units.has_news(b, u), Not(self.units.is_known(b, u)))
        splits = False if self.splits is None or u != PARENT else self.splits.is_at_work(b)
        ends = False if self.shutdown is None else And(self.store.lives[b], Not(self.runs(b)))
        return Or(news, And(busy, can_write), splits, ends)

    def is_releasing(self, b: int, u: int) -> Condition:
        """The formula: the broker is about to write that it has released the unit."""
        return self.to_publish[b, u].among("release", "release_attached")

    def is_closing(self, b: int, u: int) -> Condition:
        """The formula: the closing that what the broker is about to write waits for is not over."""
        halfway = any_of(self.topics[b, v] == "detaching" for v in self.closed_with(u))
        entirely = any_of(self.closing[b, v] for v in self.closed_with(u))
        return If(self.to_publish[b, u] == "release_attached", halfway, entirely)

    def closed_with(self, u: int) -> tuple[int, ...]:
        """The units whose topics are closed with those of a unit; a broker has topics of one of them."""
        return (u,) if self.splits is None else (PARENT, CHILD)

    def _waits_for_owner(self, b: int, u: int) -> Condition:
        """A lookup waits where the unit is about to come here, or its owner is gone."""
        view = self.units.view[b, u]
        coming = And(view.state.among("Assigning", "Releasing"), view.dst == b)
        gone = [And(_is_owner(view, x), Not(self.is_registered(x))) for x in self.broker]
        return Or(coming, *gone)

    def _closes_in_time(self, b: int, u: int) -> bool:
        """Topics are closed, or given up, before the leader takes the move for stuck."""
        return True

    def _is_taken(self, b: int, event: Record) -> bool:
        """A broker that hears that another one owns a unit closes what topics, or clients, of it are left."""
        return True

    def _comes_back(self, b: int, u: int) -> Condition:
        """A broker that gets a unit back disposes of topics that it has closed halfway, or is about to."""
        return any_of(self.topics[b, v].among("detaching", "attached", "lingering") for v in self.closed_with(u))

    def _renews(self, b: int) -> bool:
        """A broker looks after its node in the registry."""
        return True

    def is_dropped(self, b: int, u: int) -> Truth:
        """The formula: no event ends the lookup that waits. That is never so without a certain bug."""
        return False if self.dropped is None else self.dropped[b, u]

    def _meets(self, b: int, u: int) -> Condition:
        """A tombstone takes effect if nothing was written since the record that it is for."""
        return self.units.is_known(b, u)

    def _is_free(self, b: int, u: int) -> Condition:
        """A unit that was taken from a broker, and given to nobody, is so still."""
        return self.units.view[b, u].state == "Free"

    def _must_not_close(self, b: int, u: int) -> bool:
        """Nothing keeps topics from closing."""
        return False

    def _acts_on_existing(self, b: int, u: int) -> Condition:
        """A broker that starts acts on an assignment to it that is there already."""
        record = self.units.record[u]
        return And(record.state == "Assigning", record.dst == b)

    # --- what a broker does with events

    def handled(self, b: int, u: int, event: Record) -> tuple[Updates, Condition, Record]:
        """What a broker does with an event: ServiceUnitStateChannelImpl.handleEvent, which calls a handler for each state.

        Returns its updates, whether it answers, and the record that it writes then. Of two writes that wait for closings the
        later one is kept.
        """
        decided = event.state.among("Init", "Free", "Owned", "Deleted")
        releases, detaches = self._on_release(b, u, event)
        frees = self._on_free(b, event)
        closes = Or(self._on_own(b, u, event), And(releases, Not(detaches)), frees)
        answers, answer = self._on_assign(b, event)
        updates: Updates = {
            self.pending[b, u]: And(self.pending[b, u], Or(Not(decided), self.is_dropped(b, u))),
            self.existing[b, u]: False,
            self.to_publish[b, u]: If(
                detaches, "release_attached", If(releases, "release", If(frees, "tombstone", self.to_publish[b, u]))
            ),
            self.to_publish_dst[b, u]: If(releases, event.dst, If(frees, NOBODY, self.to_publish_dst[b, u])),
            self.to_publish_version[b, u]: If(releases, event.version, If(frees, 0, self.to_publish_version[b, u])),
        }
        if self.splits is not None and u == PARENT:
            closes = Or(closes, self.splits.is_taken(b, event))
            deletes = self._on_delete(b, event, self.splits)
            answers, answer = Or(answers, deletes), self.records.none.where(deletes, answer)
            updates |= self.splits.begun(b, event)
        for v in self.closed_with(u):
            topics, closing = self.topics[b, v], self.closing[b, v]
            updates[topics] = If(And(detaches, topics.among("open", "lingering")), "detaching", topics)
            updates[closing] = Or(closing, And(closes, topics.among(*IN_MAP)))
        if self.shutdown is not None:
            updates, answers = self.shutdown.heard(b, event, updates, answers, self.pending[b, u])
            updates[self.existing[b, u]] = False  # what was to be written is of an older record: it is rejected
        return updates, answers, answer

    def _on_own(self, b: int, u: int, event: Record) -> Condition:
        """handleOwnEvent: whether the broker closes what topics it has."""
        taken, back = And(event.dst != b, self.is_taken(b, event)), And(event.dst == b, self.comes_back(b, u))
        return And(event.state == "Owned", Or(taken, back))

    def _on_release(self, b: int, u: int, event: Record) -> tuple[Condition, Condition]:
        """handleReleaseEvent: whether the broker closes its topics to release the unit, and whether their clients stay.

        They do not if topics are closing with their clients: PersistentTopic.close then waits for that closing.
        """
        releases = And(event.state == "Releasing", event.src == b)
        closing = any_of(self.closing[b, v] for v in self.closed_with(u))
        return releases, And(releases, event.dst != NOBODY, self.multi_phase, Not(closing))

    def _on_free(self, b: int, event: Record) -> Condition:
        """handleFreeEvent: whether the broker closes a unit that was taken from it, for nobody, and deletes its record."""
        return And(event.state == "Free", event.src == b, event.force)

    def _on_assign(self, b: int, event: Record) -> tuple[Condition, Record]:
        """handleAssignEvent: whether the unit comes to the broker, and the record by which it takes the unit over."""
        owned = self.records.record("Owned", self.records.after(event.version), dst=event.dst, src=event.src)
        return And(event.state == "Assigning", event.dst == b), owned

    def _on_delete(self, b: int, event: Record, splits: Splits) -> Condition:
        """handleDeleteEvent: whether the broker that has split a unit deletes its record."""
        return And(event.state == "Deleted", event.src == b, splits.deletes(b))

    def idle(self, b: int) -> Updates:
        """A process that has ended, or begins, has nothing under way; what it begins with says ``existing``."""
        idle: Updates = {}
        for u in self.unit:
            idle |= {flag[b, u]: False for flag in (self.pending, self.closing)}
            idle |= {self.topics[b, u]: "closed", self.to_publish[b, u]: "none", self.to_publish_dst[b, u]: NOBODY}
            idle |= {self.to_publish_version[b, u]: 0, **self.remembered(b, u)}
            idle[self.existing[b, u]] = And(Not(self.store.lives[b]), self.acts_on_existing(b, u))
        parts = [part.idle(b) for part in (self.splits, self.shutdown) if part is not None]
        return merged(idle, *parts)

    def _lost(self, b: int) -> Updates:
        """SessionLost: a broker that drops its copies closes all topics (handleInvalidate)."""
        fails = {} if self.splits is None else self.splits.lost(b)
        if isinstance(self.units, SystemTopic):
            return fails
        return {self.closing[b, u]: self.topics[b, u].among(*IN_MAP) for u in self.unit} | fails

    def _reestablished(self, b: int) -> Updates:
        """SessionReestablished: what is read again is treated like what is there at a start."""
        if isinstance(self.units, SystemTopic):
            return {}
        return {self.existing[b, u]: self.acts_on_existing(b, u) for u in self.unit}

    def remembered(self, b: int, u: int) -> Updates:
        """What only a bug makes a broker remember of a lookup goes with it."""
        return {} if self.dropped is None else {self.dropped[b, u]: False}

    def done(self, b: int, u: int) -> Updates:
        """What was due is written, or given up."""
        return {self.to_publish[b, u]: "none", self.to_publish_dst[b, u]: NOBODY, self.to_publish_version[b, u]: 0}


def _is_owner(view: Record, b: int) -> Condition:
    """The formula: a lookup is answered with this broker (getOwnerNow)."""
    return Or(And(view.state == "Owned", view.dst == b), And(view.state == "Splitting", view.src == b))
