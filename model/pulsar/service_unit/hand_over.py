"""The steps by which a broker shuts down; how far it is, and what it hears meanwhile, is in shutdown.py."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.language import ABSENT, And, Choice, Condition, Family, If, Not, Or, Outcome, Truth, Updates, all_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.service_unit.channel import Channel
from fencepost.model.pulsar.service_unit.leader import Leader
from fencepost.model.pulsar.service_unit.shutdown import Stage
from fencepost.model.zookeeper.sessions_and_nodes import merged


def declare_shutdown(
    channel: Channel,
    leader: Leader,
    *,
    begins: Callable[[int], Truth] = lambda b: True,
    ends: Callable[[], Truth] = lambda: True,
) -> None:
    """Declares how brokers shut down: ``begins`` says whether somebody shuts one down now, ``ends`` whether one may end."""
    p = channel.protocol
    shutdown = channel.shutdown
    there = shutdown is not None
    stage: Family[Choice[Stage]] = shutdown.stage if there else ABSENT
    hands_over: Family[Condition] = shutdown.hands_over if there else ABSENT
    units, store, broker, unit = channel.units, channel.store, channel.broker, channel.unit

    @p.step(
        by="b",
        mirrors="ExtensibleLoadManagerImpl.disableBroker, ServiceUnitStateChannelImpl.cleanOwnerships",
        spends="shutdowns",
        b=broker,
    )
    def shut_down(b: int) -> Outcome:
        """Somebody shuts the broker down. If nobody leads, it hands nothing over."""
        led = Not(leader.node.absent)
        begun: Updates = {stage[b]: If(led, "disabled", "skips"), **{hands_over[b, u]: led for u in unit}}
        return And(store.reaches(b), shutdown.runs(b), begins(b)), begun

    def owned(b: int, u: int) -> Condition:
        """The formula: by its view the broker owns the unit."""
        return And(units.view[b, u].state == "Owned", units.view[b, u].dst == b)

    def has_read(b: int, u: int) -> Condition:
        """The formula: the broker has read what counts of what was written, if it would otherwise have to do so again."""
        return Or(Not(shutdown.repeats()), units.is_known(b, u))

    def is_concerned(b: int, u: int) -> Condition:
        """The formula: the broker has read what there is of the unit, and it concerns the broker, or does so again."""
        again = And(stage[b] == "disabled", shutdown.repeats(), owned(b, u))
        return And(Or(hands_over[b, u], again), has_read(b, u), units.view[b, u].concerns(b), units.may_write(b))

    @p.step(
        by="b",
        to="store",
        mirrors="ServiceUnitStateChannelImpl.doCleanup, ServiceUnitStateChannelImpl.overrideOwnership",
        fair=True,
        b=broker,
        u=unit,
        y=broker,
        only_if=there,
    )
    def hand_over(b: int, u: int, y: int) -> Outcome:
        """A unit is given to another broker by the one that shuts down."""
        given = units.written(b, u, leader.override(units.view[b, u], y, releases=shutdown.released()))
        return And(b != y, is_concerned(b, u), channel.is_registered(y)), merged({hands_over[b, u]: False}, given)

    @p.step(
        by="b",
        to="store",
        mirrors="ServiceUnitStateChannelImpl.doCleanup, ServiceUnitStateChannelImpl.overrideOwnership",
        fair=True,
        b=broker,
        u=unit,
        only_if=there and channel.frees,
    )
    def give_up(b: int, u: int) -> Outcome:
        """A unit is given to nobody, as no other broker is registered."""
        alone = all_of(Not(channel.is_registered(other)) for other in broker if other != b)
        freed = units.written(b, u, leader.override(units.view[b, u], NOBODY))
        return And(is_concerned(b, u), alone), merged({hands_over[b, u]: False}, freed)

    @p.step(by="b", mirrors="ServiceUnitStateChannelImpl.doCleanup", fair=True, b=broker, u=unit, only_if=there)
    def hold_nothing(b: int, u: int) -> Outcome:
        """A unit is not, or no longer, that of the broker that shuts down."""
        return And(hands_over[b, u], has_read(b, u), Not(units.view[b, u].concerns(b))), {hands_over[b, u]: False}

    @p.step(
        by="b",
        to="store",
        mirrors="BrokerRegistryImpl.unregister, ServiceUnitStateChannelImpl.waitForCleanups, LeaderElectionImpl.close",
        fair=True,
        b=broker,
        only_if=there,
    )
    def unregister(b: int) -> Outcome:
        """The broker, which owns nothing any more by its view or has waited for that, leaves registry and election."""
        waited = Or(leader.slow, Not(shutdown.repeats()), all_of(Not(owned(b, u)) for u in unit))
        done = Or(stage[b] == "skips", And(stage[b] == "disabled", waited, *(Not(hands_over[b, u]) for u in unit)))
        nodes = (channel.registry[b], leader.node)
        gone = merged(*(node.vanished(And(store.reaches(b), node.is_own(b)), unheard_by=b) for node in nodes))
        return And(store.lives[b], done), merged(gone, {stage[b]: "unregistered", leader.leads[b]: False})

    @p.step(by="b", mirrors="PulsarService.closeAsync", fair=True, b=broker, only_if=there)
    def end(b: int) -> Outcome:
        """The process ends, and closes its session. Topics that are still open close with it."""
        left = merged(store.ended(b), units.forgotten(b), channel.idle(b), leader.idle(b))
        return And(store.lives[b], stage[b] == "unregistered", ends()), left
