"""How a service unit leaves a broker: unloaded, transferred, released, and its record deleted."""

from __future__ import annotations

from fencepost.model.language import And, Not, Outcome
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.service_unit.channel import Channel
from fencepost.model.zookeeper.sessions_and_nodes import merged


def declare_moves(channel: Channel) -> None:
    """Declares how units are given up, and to whom."""
    p, units, records, to_publish = channel.protocol, channel.units, channel.records, channel.to_publish
    broker, unit = channel.broker, channel.unit

    @p.step(
        by="c",
        mirrors="ServiceUnitStateChannelImpl.publishUnloadEventAsync, ExtensibleLoadManagerImpl.unloadNamespaceBundleAsync",
        spends="unloads",
        c=broker,
        u=unit,
        o=broker,
    )
    def unload(c: int, u: int, o: int) -> Outcome:
        """A unit is unloaded: the leader's policy wants it, or an administrator."""
        view = units.view[c, u]
        owned = And(view.state == "Owned", view.dst == o, channel.is_in_layout(c, u), units.may_write(c))
        return owned, units.written(c, u, records.record("Releasing", records.after(view.version), src=o))

    @p.step(
        by="c",
        to="store",
        mirrors="ServiceUnitStateChannelImpl.publishUnloadEventAsync, ExtensibleLoadManagerImpl.unloadNamespaceBundleAsync",
        spends="unloads",
        c=broker,
        u=unit,
        o=broker,
        x=broker,
    )
    def transfer(c: int, u: int, o: int, x: int) -> Outcome:
        """A unit is to go to another broker, which somebody has selected."""
        view = units.view[c, u]
        there = And(view.state == "Owned", view.dst == o, channel.is_in_layout(c, u))
        owned = And(o != x, there, channel.is_registered(x), units.may_write(c))
        return owned, units.written(c, u, records.record("Releasing", records.after(view.version), dst=x, src=o))

    @p.step(
        by="b",
        mirrors="ServiceUnitStateChannelImpl.handleReleaseEvent {isTargetBroker(data.sourceBroker())}",
        fair=True,
        b=broker,
        u=unit,
    )
    def release(b: int, u: int) -> Outcome:
        """The topics are closed, or late: the unit is free, or assigned to the broker that it is transferred to."""
        to, version = channel.to_publish_dst[b, u], records.after(channel.to_publish_version[b, u])
        free = records.record("Free", version, src=b)
        released = records.record("Assigning", version, dst=to, src=b).where(to != NOBODY, free)
        ready = And(channel.is_releasing(b, u), Not(channel.is_closing(b, u)), units.may_write(b))
        return ready, merged(units.written(b, u, released), channel.done(b, u))

    @p.step(
        by="b",
        mirrors="ServiceUnitStateChannelImpl.handleFreeEvent {isTargetBroker(data.sourceBroker()) && data.force()}, "
        "ServiceUnitStateChannelImpl.tombstoneAsync",
        fair=True,
        b=broker,
        u=unit,
        only_if=channel.frees,
    )
    def tombstone(b: int, u: int) -> Outcome:
        """A unit that was taken from the broker, and given to nobody, is closed: its record is deleted."""
        return And(to_publish[b, u] == "tombstone", Not(channel.is_closing(b, u)), units.may_write(b)), merged(
            units.written(b, u, records.none, And(channel.meets(b, u), channel.is_free(b, u))), channel.done(b, u)
        )

    @p.step(
        by="b",
        mirrors="ServiceUnitStateChannelImpl.handleExisting",
        fair=True,
        b=broker,
        u=unit,
        only_if=channel.reads_existing,
    )
    def take_existing(b: int, u: int) -> Outcome:
        """A broker that has started takes over what was assigned to it before."""
        view = units.view[b, u]
        owned = records.record("Owned", records.after(view.version), dst=b, src=view.src)
        return And(channel.existing[b, u], units.may_write(b)), merged(
            {channel.existing[b, u]: False}, units.written(b, u, owned)
        )
