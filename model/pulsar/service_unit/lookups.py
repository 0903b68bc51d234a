"""How a broker is asked for a service unit, and what it does with the topics of one."""

from __future__ import annotations

from fencepost.model.language import And, If, Not, Or, Outcome, Updates
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.service_unit.channel import Channel
from fencepost.model.zookeeper.sessions_and_nodes import merged


def declare_lookups(channel: Channel) -> None:
    """Declares how clients ask for a unit, and how a broker enters itself in the registry."""
    p, store, units, records = channel.protocol, channel.store, channel.units, channel.records
    broker, unit, pending = channel.broker, channel.unit, channel.pending

    @p.step(
        by="b",
        mirrors="BrokerRegistryImpl.registerAsync, BrokerRegistryImpl.handleMetadataStoreNotification, "
        "BrokerRegistryImpl.handleMetadataSessionEvent, ExtensibleLoadManagerImpl.validateBrokerRegistry",
        fair=True,
        b=broker,
        only_if=channel.deregisters,
    )
    def register(b: int) -> Outcome:
        """A broker that is not in the registry, or no longer, enters itself."""
        wanted = And(channel.registry[b].absent, channel.renews(b), channel.stays(b))
        return And(store.reaches(b), wanted), channel.registry[b].created(b)

    @p.step(
        by="client",
        mirrors="ExtensibleLoadManagerImpl.getOrSelectOwnerAsync, ServiceUnitStateChannelImpl.getOwnerAsync, "
        "ServiceUnitStateChannelImpl.publishAssignEventAsync, ExtensibleLoadManagerImpl.assign, "
        "ExtensibleLoadManagerImpl.dedupeLookupRequest, ExtensibleLoadManagerImpl.tryAcquiringOwnership",
        fair=True,
        b=broker,
        u=unit,
        x=broker,
    )
    def assign(b: int, u: int, x: int) -> Outcome:
        """A client looks a unit up for which the broker knows no owner, nor one to come: it selects one, and waits."""
        view = units.view[b, u]
        unknown = Or(view.state.among("Init", "Free"), And(view.state == "Releasing", view.dst == NOBODY))
        guard = And(Not(pending[b, u]), unknown, channel.may_assign(b, u), channel.is_registered(x), units.may_ask(b))
        assigning = records.record("Assigning", records.after(view.version), dst=x)
        return guard, merged({pending[b, u]: True}, units.written(b, u, assigning))

    @p.step(
        by="client",
        mirrors="ServiceUnitStateChannelImpl.getActiveOwnerAsync, ServiceUnitStateChannelImpl.dedupeGetOwnerRequest",
        b=broker,
        u=unit,
    )
    def wait_for_owner(b: int, u: int) -> Outcome:
        """A client looks up a unit that is about to come here, or whose owner is not registered: the lookup waits."""
        return And(store.lives[b], Not(pending[b, u]), channel.waits_for_owner(b, u)), {pending[b, u]: True}

    @p.step(by="b", mirrors="ServiceUnitStateChannelImpl.deferGetOwner", fair=True, b=broker, u=unit)
    def stop_waiting(b: int, u: int) -> Outcome:
        """A lookup has waited for 30 seconds: it is answered with whoever is the owner by then, or fails."""
        return And(store.lives[b], pending[b, u]), merged({pending[b, u]: False}, channel.remembered(b, u))


def declare_topics(channel: Channel, timeouts: int) -> None:
    """Declares how topics are opened and closed; ``timeouts`` says that they may close late."""
    p, store, topics, closing = channel.protocol, channel.store, channel.topics, channel.closing
    broker, unit = channel.broker, channel.unit

    @p.step(
        by="client",
        mirrors="BrokerService.checkTopicNsOwnership {ownedByThisInstance}, BrokerService.getTopic",
        b=broker,
        u=unit,
    )
    def open_topics(b: int, u: int) -> Outcome:
        """A client is served by a broker that takes itself for the owner, unless the topics there are closed halfway.

        Those that did not close in time are opened again: the map does not have them.
        """
        ready = And(topics[b, u].among("closed", "late"), Not(closing[b, u]))
        return And(channel.owns(b, u), channel.is_in_layout(b, u), ready), {topics[b, u]: "open"}

    @p.step(
        by="b",
        mirrors="ServiceUnitStateChannelImpl.closeServiceUnit, PersistentTopic.close {closeType == CloseTypes.transferring}",
        fair=True,
        b=broker,
        u=unit,
        only_if=channel.multi_phase,
    )
    def detach_topics(b: int, u: int) -> Outcome:
        """The topics are closed halfway, as in a transfer of many phases: clients stay until the next owner has the unit."""
        wanted = And(store.lives[b], topics[b, u].among("detaching", "lingering"))
        return And(wanted, Not(channel.must_not_close(b, u))), {topics[b, u]: "attached"}

    @p.step(
        by="b",
        mirrors="ServiceUnitStateChannelImpl.closeServiceUnit, PersistentTopic.close {closeType != CloseTypes.transferring}",
        fair=True,
        b=broker,
        u=unit,
    )
    def close_topics(b: int, u: int) -> Outcome:
        """The topics are closed, clients and all, because the unit is to be released or is another's.

        That ends a closing halfway, too.
        """
        wanted = And(store.lives[b], closing[b, u])
        return And(wanted, Not(channel.must_not_close(b, u))), {topics[b, u]: "closed", closing[b, u]: False}

    @p.fault(
        by="b",
        mirrors="BrokerService.unloadServiceUnit, BrokerService.cleanUnloadedTopicFromCache",
        spends="timeouts",
        b=broker,
        u=unit,
    )
    def time_out_closing(b: int, u: int) -> Outcome:
        """The topics of a unit do not close in time: the release goes on without them.

        The map of the broker's topics has them no more, unless they were being closed halfway only.
        """
        waits = And(store.lives[b], channel.is_releasing(b, u), channel.is_closing(b, u))
        closes = [topics[b, v].among("open", "detaching", "lingering") for v in channel.closed_with(u)]
        updates: Updates = {}
        for v, is_closed in zip(channel.closed_with(u), closes, strict=True):
            halfway = And(topics[b, v] == "detaching", Not(closing[b, v]))
            updates[topics[b, v]] = If(is_closed, If(halfway, "lingering", "late"), topics[b, v])
            updates[closing[b, v]] = False
        return And(waits, Or(*closes)), updates

    @p.step(by="b", mirrors="BrokerService.unloadServiceUnit", fair=True, b=broker, u=unit, only_if=timeouts)
    def close_late(b: int, u: int) -> Outcome:
        """Topics that did not close in time are closed."""
        return And(store.lives[b], topics[b, u] == "late"), {topics[b, u]: "closed", closing[b, u]: False}
