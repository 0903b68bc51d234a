"""What the leader does for the units of others: it monitors them, and overrides what a broker that is gone has left.

A clean-up (ServiceUnitStateChannelImpl.doCleanup) takes its units in any order. Those of the system namespace come last in the
code, after a wait of 5 seconds at most for the others: one of these orders. That their overrides are made from records that
were read before the wait, and lose to newer ones, is the bug ``override_not_repeated`` (pulsar#26634).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from fencepost.model.language import (
    ABSENT,
    And,
    Condition,
    Family,
    If,
    Not,
    Number,
    Or,
    Outcome,
    Protocol,
    Truth,
    Updates,
    all_of,
    any_of,
)
from fencepost.model.nobody import NOBODY, Nobody
from fencepost.model.pulsar.service_unit.channel import Channel
from fencepost.model.pulsar.service_unit.nodes import SilentNode
from fencepost.model.pulsar.service_unit.records import IN_FLIGHT, Record, State
from fencepost.model.zookeeper.sessions_and_nodes import merged

Metadata = Literal["stable", "jittery", "unstable"]
METADATA: tuple[Metadata, ...] = get_args(Metadata)


class Leader:
    """Who leads, how steady each broker takes the metadata store for, and the clean-ups that it has under way.

    ``leads`` is what a broker believes. ``cleans`` says of a broker, of one that is gone, and of a unit that a clean-up has
    yet to look at it. ``found_dead`` counts, if ``rounds`` are counted, in how many runs of the monitor on end a unit was with
    a broker that is dead, since the last fault.
    """

    def __init__(self, p: Protocol, channel: Channel, *, slow: bool, rounds: int) -> None:
        self.protocol, self.channel, self.slow, self.rounds = p, channel, slow, rounds
        store, broker = channel.store, channel.broker
        self.node = SilentNode.one(store, "leader")
        self.leads = p.flag("leads", per=broker)
        self.metadata = p.choice("metadata", METADATA, per=broker)
        self.cleans = p.flag("cleans", per=(broker, broker, channel.unit))
        self.found_dead: Family[Number] = p.number("found_dead", 0, rounds + 1, per=channel.unit) if rounds else ABSENT
        self.is_orphan = p.rule(self._is_orphan)
        self.has_read_all = p.rule(self._has_read_all)
        self.may_bury = p.rule(self._may_bury)
        self.on_reestablished = p.rule(self._on_reestablished)

    # --- formulas

    def monitors(self, b: int) -> Condition:
        """The formula: the broker runs monitorOwnerships: it leads, and the metadata store is stable."""
        return And(self.leads[b], self.channel.store.reaches(b), self.metadata[b] == "stable")

    def is_with_the_dead(self, u: int) -> Condition:
        """The formula: a unit is the matter of a broker that is dead, and that the registry no longer has."""
        channel = self.channel
        return any_of(
            And(channel.units.record[u].concerns(x), Not(channel.store.lives[x]), Not(channel.is_registered(x)))
            for x in channel.broker
        )

    def is_stuck(self, u: int) -> Truth:
        """The formula: a unit may have been moving for 30 seconds; unless brokers are slow, nobody has anything left to do."""
        return True if self.slow else all_of(Not(self.channel.is_at_work(b, u)) for b in self.channel.broker)

    def _is_orphan(self, view: Record, x: int) -> Condition:
        """A unit is the matter of a broker that is gone: it owns the unit, or takes part in its move."""
        return view.concerns(x)

    def _has_read_all(self, b: int, u: int) -> Condition:
        """A clean-up has read whatever was written of a unit when it overrides its record."""
        return Not(self.channel.units.has_news(b, u))

    def _may_bury(self, view: Record) -> Condition:
        """Records that have been free for an hour, or of units that were split, are deleted."""
        return view.state.among("Free", "Deleted")

    def may_be_ill(self, x: int) -> Condition:
        """The formula: the health check of a broker can fail: it is dead, or cut off from the metadata store."""
        return Not(self.channel.store.reaches(x))

    def may_be_well(self, x: int) -> Condition:
        """The formula: the health check of a broker can pass."""
        return self.channel.store.lives[x]

    def is_cleaned(self, b: int, x: int) -> Condition:
        """The formula: a clean-up after ``x`` is under way at ``b``."""
        return any_of(self.cleans[b, x, u] for u in self.channel.unit)

    def _on_reestablished(self, b: int) -> Updates:
        """SessionReestablished: the metadata store is jittery for three minutes."""
        return {self.metadata[b]: "jittery"}

    # --- updates

    def override(self, view: Record, x: int | Nobody, *, releases: Sequence[State] = ()) -> Record:
        """What overrides a record when ``x`` is selected, or nobody is: overrideOwnership.

        In the states that ``releases`` names the owner, who lives, is to release the unit first.
        """
        records = self.channel.records
        version = records.after(view.version)
        owner = If(view.state == "Owned", view.dst, view.src)
        if x == NOBODY:
            return records.record("Free", version, src=owner, force=True)
        former = If(owner == x, records.none.src, owner)
        owned = records.record("Owned", version, dst=x, src=former, force=True)
        if releases:
            released = records.record("Releasing", version, dst=x, src=owner, force=True)
            owned = released.where(And(view.state.among(*releases), owner != x), owned)
        if self.channel.splits is None:
            return owned
        return records.record("Splitting", version, dst=view.dst, src=x, force=True).where(view.state == "Splitting", owned)

    def idle(self, b: int) -> Updates:
        """A process that has ended, or begins, leads nothing."""
        broker, unit = self.channel.broker, self.channel.unit
        cleans = {self.cleans[b, x, u]: False for x in broker for u in unit}
        return {self.leads[b]: False, self.metadata[b]: "stable", **cleans, **self._anew(self.channel.store.lives[b])}

    def lost(self, b: int) -> Updates:
        """SessionLost: the broker no longer leads, and the metadata store is unstable."""
        return {self.leads[b]: False, self.metadata[b]: "unstable", **self._anew(True)}

    def _anew(self, condition: Truth) -> Updates:
        """A fault may undo what the monitor has begun: rounds are counted again."""
        if self.found_dead is None:
            return {}
        return {self.found_dead[u]: If(condition, 0, self.found_dead[u]) for u in self.channel.unit}

    # --- steps

    def declare(self, *, expiries: int, faults: int, moves: int) -> None:
        """Declares the steps of the leader; brokers go missing if there are ``faults``, and moves stop if ``moves``."""
        self._declare_role(expiries)
        overtakes = self.slow or "close_overtaken" in self.protocol.active
        self._declare_monitor(faults > 0, moves > 0 or overtakes)
        self._declare_clean_up(faults > 0)

    def _declare_role(self, expiries: int) -> None:
        p, channel, leads = self.protocol, self.channel, self.leads
        store, broker = channel.store, channel.broker

        @p.step(by="b", mirrors="LeaderElectionImpl.elect, ExtensibleLoadManagerImpl.playLeader", fair=True, b=broker)
        def lead(b: int) -> Outcome:
            """A broker becomes leader where there is none. How that comes about is the protocol ``election``."""
            return And(store.reaches(b), self.node.absent, channel.stays(b)), merged(self.node.created(b), {leads[b]: True})

        @p.step(by="b", mirrors="ServiceUnitStateChannelImpl.getMetadataState", fair=True, b=broker, only_if=expiries)
        def settle(b: int) -> Outcome:
            """The last session event was three minutes ago."""
            return And(store.lives[b], self.metadata[b] == "jittery"), {self.metadata[b]: "stable"}

    def _declare_monitor(self, faults: bool, moves: bool) -> None:
        p, channel = self.protocol, self.channel
        units, broker, unit = channel.units, channel.broker, channel.unit

        @p.step(
            by="b",
            hears="store",
            mirrors="ServiceUnitStateChannelImpl.monitorOwnerships {isChannelOwner() && !(metadataState != Stable)}, "
            "ServiceUnitStateChannelImpl.handleBrokerDeletionEvent, ServiceUnitStateChannelImpl.scheduleCleanup",
            fair=True,
            b=broker,
            x=broker,
            only_if=faults,
        )
        def schedule_clean_up(b: int, x: int) -> Outcome:
            """The leader finds a unit at a broker that is not registered, or hears so: it is to be cleaned up after."""
            missed = any_of(self.is_orphan(units.view[b, u], x) for u in unit)
            idle = And(self.monitors(b), Not(channel.is_registered(x)), Not(self.is_cleaned(b, x)))
            return And(idle, missed, channel.runs(b)), {self.cleans[b, x, u]: True for u in unit}

        @p.step(
            by="b",
            hears="store",
            mirrors="ServiceUnitStateChannelImpl.scheduleOwnershipMonitor, ServiceUnitStateChannelImpl.monitorOwnerships",
            b=broker,
            only_if=self.rounds,
        )
        def monitor(b: int) -> Outcome:
            """A minute has passed, and the monitor runs again, after the clean-ups that the last run scheduled.

            They are done by then because both run on the one thread of PulsarService.loadManagerExecutor, with a fixed delay
            between two runs of the monitor. In that minute all is read and done that there was, unless brokers are slow.
            """
            idle = all_of(Not(self.is_cleaned(b, x)) for x in broker)
            settled = self.slow or all_of(Not(channel.is_at_work(c, u)) for c in broker for u in unit)
            cleanings: Updates = {}
            for x in broker:
                orphans = any_of(self.is_orphan(units.view[b, u], x) for u in unit)
                missed = And(channel.runs(b), Not(channel.is_registered(x)), orphans)
                cleanings |= {self.cleans[b, x, u]: missed for u in unit}
            for u in unit:
                again = If(self.found_dead[u] > self.rounds, self.found_dead[u], self.found_dead[u] + 1)
                cleanings[self.found_dead[u]] = If(self.is_with_the_dead(u), again, 0)
            return And(self.monitors(b), idle, settled), cleanings

        @p.step(
            by="b",
            to="store",
            mirrors="ServiceUnitStateChannelImpl.monitorOwnerships {isInFlightState(state) && now - stateData.timestamp() > "
            "inFlightStateWaitingTimeInMillis}, ServiceUnitStateChannelImpl.overrideOwnership, "
            "ServiceUnitStateChannelImpl.publishOverrideEventAsync",
            fair=True,
            b=broker,
            u=unit,
            x=broker,
            only_if=moves,
        )
        def override_overdue(b: int, u: int, x: int) -> Outcome:
            """The leader finds a unit that has been moving for more than 30 seconds, between brokers that are there."""
            view = units.view[b, u]
            there = [Or(channel.is_registered(y), Not(view.concerns(y))) for y in broker]
            overdue = And(self.monitors(b), view.state.among(*IN_FLIGHT), self.is_stuck(u), *there)
            # a split that goes to a dead broker stays in flight, and could forever be given to it again
            in_vain = And(view.state == "Splitting", Not(channel.store.lives[x]))
            guard = And(overdue, channel.is_registered(x), Not(in_vain), units.may_write(b))
            return guard, units.written(b, u, self.override(view, x))

        @p.step(
            by="b",
            to="store",
            mirrors="ServiceUnitStateChannelImpl.monitorOwnerships {!isActiveState(state) && now - stateData.timestamp() > "
            "stateTombstoneDelayTimeInMillis}, ServiceUnitStateChannelImpl.tombstoneAsync",
            spends="burials",
            b=broker,
            u=unit,
        )
        def tombstone_old(b: int, u: int) -> Outcome:
            """The leader finds a unit that nobody has had for an hour: its record is deleted."""
            guard = And(self.monitors(b), self.may_bury(units.view[b, u]), units.may_write(b))
            return guard, units.written(b, u, channel.records.none, channel.meets(b, u))

    def _declare_clean_up(self, faults: bool) -> None:
        p, channel, cleans = self.protocol, self.channel, self.cleans
        units, store, broker, unit = channel.units, channel.store, channel.broker, channel.unit

        def due(b: int, x: int, u: int) -> Condition:
            """The formula: it is this unit's turn in a clean-up: some broker leads, and the one that is gone is not healthy.

            A broker that shuts down takes every other one for healthy (doHealthCheckBrokerAsyncWithRetries, channelDisabled).
            """
            goes_on = And(store.lives[b], channel.runs(b), Not(self.node.absent), self.metadata[b] != "jittery")
            return And(cleans[b, x, u], goes_on, self.may_be_ill(x))

        def orphaned(b: int, x: int, u: int) -> Condition:
            """The formula: the clean-up finds that the unit is that of the broker that is gone."""
            read = Or(self.slow, self.has_read_all(b, u))
            return And(due(b, x, u), self.is_orphan(units.view[b, u], x), read, units.may_write(b))

        @p.step(
            by="b",
            to="store",
            mirrors="ServiceUnitStateChannelImpl.doCleanup {equals(broker, stateData.dstBroker()) && "
            "isActiveState(state) || equals(broker, stateData.sourceBroker()) && isInFlightState(state)}, "
            "ServiceUnitStateChannelImpl.overrideOwnership, ServiceUnitStateChannelImpl.publishOverrideEventAsync",
            fair=True,
            b=broker,
            x=broker,
            u=unit,
            y=broker,
            only_if=faults,
        )
        def clean_up(b: int, x: int, u: int, y: int) -> Outcome:
            """A unit of the broker that is gone is given to another one."""
            guard = And(y != x, orphaned(b, x, u), channel.is_registered(y))
            return guard, merged({cleans[b, x, u]: False}, units.written(b, u, self.override(units.view[b, u], y)))

        @p.step(
            by="b",
            to="store",
            mirrors="ServiceUnitStateChannelImpl.doCleanup {equals(broker, stateData.dstBroker()) && "
            "isActiveState(state) || equals(broker, stateData.sourceBroker()) && isInFlightState(state)}, "
            "ServiceUnitStateChannelImpl.overrideOwnership, ServiceUnitStateChannelImpl.publishOverrideEventAsync",
            fair=True,
            b=broker,
            x=broker,
            u=unit,
            only_if=channel.frees,
        )
        def free_orphan(b: int, x: int, u: int) -> Outcome:
            """A unit of the broker that is gone is given to nobody, as no other one is registered."""
            nobody = all_of(Not(channel.is_registered(other)) for other in broker if other != x)
            freed = units.written(b, u, self.override(units.view[b, u], NOBODY))
            return And(orphaned(b, x, u), nobody), merged({cleans[b, x, u]: False}, freed)

        @p.step(by="b", mirrors="ServiceUnitStateChannelImpl.doCleanup", fair=True, b=broker, x=broker, u=unit, only_if=faults)
        def pass_over(b: int, x: int, u: int) -> Outcome:
            """A unit is not, or no longer, that of the broker that is gone."""
            settled = And(Or(self.slow, Not(units.has_news(b, u))), Not(self.is_orphan(units.view[b, u], x)))
            return And(due(b, x, u), settled), {cleans[b, x, u]: False}

        @p.step(
            by="b",
            mirrors="ServiceUnitStateChannelImpl.doCleanup, ServiceUnitStateChannelImpl.handleBrokerCreationEvent, "
            "ServiceUnitStateChannelImpl.healthCheckBrokerAsync",
            fair=True,
            b=broker,
            x=broker,
            only_if=faults,
        )
        def call_off_clean_up(b: int, x: int) -> Outcome:
            """The broker answers its health check after all, nobody leads, or who cleans up shuts down: it is called off."""
            spared = Or(self.may_be_well(x), self.node.absent, Not(channel.runs(b)))
            return And(store.lives[b], self.is_cleaned(b, x), spared), {cleans[b, x, u]: False for u in unit}
