"""What must hold while a cluster migrates from one store of service units to the other."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of, any_of, at_least
from fencepost.model.pulsar.service_unit.records import IN_FLIGHT, Record
from fencepost.properties.service_unit_migration.variables import ServiceUnitMigrationVariables
from fencepost.properties.vocabulary import Leads, Suite

UNIT = 0


def service_unit_migration(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.service_unit.service_unit_migration`` built."""
    suite = Suite(p)
    now, then = _Cluster(ServiceUnitMigrationVariables.now(p), p), _Cluster(ServiceUnitMigrationVariables.later(p), p)
    _owners(suite, now)
    _stores(suite, now, then)
    _in_the_end(suite, now)
    _possible(suite, now)
    return suite


class _Cluster:
    """The unit in both stores, and what each broker takes it for."""

    def __init__(self, state: ServiceUnitMigrationVariables, p: Protocol) -> None:
        self.s, self.broker = state, p.universes["broker"]
        self.syncer = self.broker.size
        self.to_nodes = p.parameters["to"] == "metadata"
        self.topic, self.nodes = self._record("topic_record", UNIT), self._record("node_record", UNIT)
        self.stores = (self.topic, self.nodes)

    def _record(self, name: str, *at: int) -> Record:
        parts = (getattr(self.s, f"{name}_{part}")[at] for part in ("state", "dst", "src", "version"))
        return Record(*parts)

    def view(self, b: int) -> Record:
        """What a broker takes the record for."""
        return self._record("node_view", b, UNIT).where(self.s.uses_nodes[b], self._record("topic_view", b, UNIT))

    def owns(self, b: int) -> Condition:
        """The formula: the broker takes itself for the owner."""
        return And(self.s.lives[b], self.view(b).state == "Owned", self.view(b).dst == b)

    def has_moved(self, b: int) -> Condition:
        """The formula: the broker uses the store to which the cluster migrates."""
        return self.s.uses_nodes[b] if self.to_nodes else Not(self.s.uses_nodes[b])

    def is_copied(self) -> Condition:
        """The formula: the syncer is active, and has read all that was written."""
        return And(self.s.sync == "active", self.s.behind[self.syncer] == 0, Not(self.s.unheard[self.syncer, UNIT]))

    def is_alike(self) -> Condition:
        """The formula: both stores have the same record."""
        return self.topic.equals(self.nodes)

    def is_served(self) -> Condition:
        """The formula: a broker that lives knows that it owns the unit, and so does its store."""
        return any_of(And(self.owns(b), self.view(b).equals(self.used(b))) for b in self.broker)

    def used(self, b: int) -> Record:
        """The record in the store that a broker uses."""
        return self.nodes.where(self.s.uses_nodes[b], self.topic)


def _owners(suite: Suite, now: _Cluster) -> None:
    """Adds that one broker has the unit, and its topics open."""
    s = now.s
    if now.broker.size < 2:
        return

    @suite.always
    def one_takes_itself_for_the_owner() -> Condition:
        """No two brokers take themselves for the owner of the unit, whichever stores they use."""
        return Not(at_least(2, [now.owns(b) for b in now.broker]))

    @suite.always
    def topics_are_open_once() -> Condition:
        """No two brokers have topics of the unit open."""
        return Not(at_least(2, [And(s.lives[b], s.topics[b, UNIT] == "open") for b in now.broker]))


def _stores(suite: Suite, now: _Cluster, then: _Cluster) -> None:
    """Adds how the records in both stores go together."""

    @suite.always
    def copied_stores_agree() -> Condition:
        """Where the syncer is active, and has read all that was written, both stores have the same record."""
        return Implies(now.is_copied(), now.is_alike())

    @suite.always
    def versions_suffice() -> Condition:
        """No record has the last version that this instance counts to."""
        return all_of(store.version < suite.protocol.parameters["versions"] for store in now.stores)

    @suite.step
    def owners_are_not_deleted() -> Condition:
        """In a store that brokers use the record of a unit that is owned, or about to be, is not deleted."""
        used = (any_of(Not(uses) for uses in now.s.uses_nodes), any_of(now.s.uses_nodes))
        stores = list(zip(used, now.stores, then.stores, strict=True))
        if not suite.protocol.parameters["restarts"]:
            stores = stores[:1] if now.to_nodes else stores[1:]
        busy = [(And(use, store.state.among("Owned", *IN_FLIGHT)), next_) for use, store, next_ in stores]
        return all_of(Implies(each, Not(next_.absent)) for each, next_ in busy)

    @suite.step
    def records_are_not_turned_back() -> Condition:
        """Once the syncer is active, in neither store an older record takes the place of a newer one, or of its like."""
        pairs = list(zip(now.stores, then.stores, strict=True))
        newer = [Or(next_.equals(store), next_.absent, next_.version > store.version) for store, next_ in pairs]
        return Implies(And(now.s.sync == "active", then.s.sync == "active"), all_of(newer))


def _in_the_end(suite: Suite, now: _Cluster) -> None:
    """Adds what must come about in the end."""
    s = now.s

    @suite.leads_to
    def syncer_becomes_active() -> Leads:
        """A syncer that starts is active in the end, so that brokers can be restarted."""
        return s.sync != "active", s.sync == "active"

    @suite.leads_to
    def stores_become_alike() -> Leads:
        """What is in one store is in the other one in the end, or something newer."""
        return Not(now.is_alike()), now.is_alike()

    @suite.leads_to
    def looked_up_unit_is_served() -> Leads:
        """A unit that clients go on to look up is owned in the end, by a broker that lives and knows it."""
        return Not(now.is_served()), now.is_served()

    @suite.leads_to
    def moves_end() -> Leads:
        """The unit does not stay between brokers, in either store."""
        return [(store.state.among(*IN_FLIGHT), Not(store.state.among(*IN_FLIGHT))) for store in now.stores]

    @suite.ends
    def all_is_quiet() -> Condition:
        """A run ends only where the unit is owned, and both stores say so."""
        return And(now.is_served(), now.is_alike())


def _possible(suite: Suite, now: _Cluster) -> None:
    """Adds what must be possible."""
    s, last = now.s, now.broker.size - 1

    @suite.sometimes
    def copied() -> Condition:
        """A unit is owned, and both stores say so, while the syncer is active."""
        return And(now.is_copied(), now.owns(0), now.nodes.state == "Owned", now.is_alike())

    if suite.protocol.parameters["restarts"]:

        @suite.sometimes
        def migrated() -> Condition:
            """As many brokers as are restarted use the other store, and one of these owns the unit, with topics open."""
            enough = at_least(suite.protocol.parameters["restarts"], [now.has_moved(b) for b in now.broker])
            served = And(now.has_moved(last), now.owns(last), s.topics[last, UNIT] == "open")
            return And(enough, served, now.is_copied())
