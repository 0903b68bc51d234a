"""A run, minute by minute: events, lookups, what everybody carries, reports, splits, shedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.load_manager import LoadManager
from fencepost.model.balance.simulation.leader import Leader
from fencepost.model.balance.simulation.run import Run
from fencepost.model.balance.simulation.scenario import Event, Scenario
from fencepost.model.balance.simulation.sensing import Instruments, Load
from fencepost.model.balance.simulation.what_if import AFTER, NOTHING_ELSE, WhatIf
from fencepost.model.balance.simulation.world import World
from fencepost.model.balance.strategies import strategy_name

MINUTES_OF_AN_HOUR = 60


def simulate(
    policy: LoadManager,
    scenario: Scenario,
    seed: int,
    hours: float,
    should_stop: Callable[[int, int], bool] = lambda done, minutes: False,
    what_if: WhatIf = NOTHING_ELSE,
) -> Run:
    """What happens under a policy in the world of a scenario.

    ``policy`` is a load manager that remembers nothing yet; its shedder and its placement may be a user's own. ``seed`` is not
    negative. ``should_stop`` is told after each minute how many are done and how many there are; the run ends where it says so.
    ``what_if`` is supposed besides.
    """
    scenario = what_if.of(scenario)
    minutes = max(1, round(hours * MINUTES_OF_AN_HOUR))
    world = World(scenario, seed, minutes)
    leader, instruments, record = Leader(policy, world, seed), Instruments(world, seed, minutes, policy.conf), _Record()
    owners = {bundle: broker for broker in world.live for bundle in world.owned_by(broker)}
    events = {minute: [e for e in scenario.events if e.minute == minute] for minute in {e.minute for e in scenario.events}}
    conf = policy.conf
    for minute in range(minutes):
        world.minute = minute
        due = events.get(minute, [])
        _befall(due, world, leader)
        if minute == AFTER and (what_if.splits or what_if.largest):
            leader.split_at_once(dict.fromkeys([*what_if.splits, *world.largest(what_if.largest)]))
        leader.place(world.orphans(), "looked up")
        sample, offered, constant = world.carried()
        load = Load(world, sample)
        record.add(world, load, offered, constant and not due)
        known = instruments.statistics(world, sample)
        current = instruments.measured(world, load, leader.now, known)
        heard = leader.hear(current, known)
        if heard if not conf.is_extensible else (minute + 1) % conf.loadBalancerSplitIntervalMinutes == 0:
            leader.split(current, known)
        if (minute + 1) % conf.loadBalancerSheddingIntervalMinutes == 0:
            leader.shed()
        leader.write_averages()
        if should_stop(minute + 1, minutes):
            break
    return record.run(policy, scenario, seed, world, owners)


def _befall(events: list[Event], world: World, leader: Leader) -> None:
    for event in events:
        world.happens(event)
        if event.kind == "start":
            leader.start(event.broker)
        else:
            leader.lose(event.broker)


@dataclass
class _Record:
    """What is written down of each minute."""

    usage: list[NDArray[np.float64]] = field(default_factory=list)
    rate: list[NDArray[np.float64]] = field(default_factory=list)
    throughput: list[NDArray[np.float64]] = field(default_factory=list)
    offered: list[float] = field(default_factory=list)
    bundles: list[int] = field(default_factory=list)
    constant: list[bool] = field(default_factory=list)
    assignment: list[int] = field(default_factory=list)

    def add(self, world: World, load: Load, offered: float, constant: bool) -> None:
        for rows, values in ((self.usage, load.usage), (self.rate, load.rate), (self.throughput, load.throughput)):
            rows.append(np.where(world.alive, values, np.nan))
        self.offered.append(offered)
        self.bundles.append(sum(len(layout) for layout in world.layouts.values()))
        self.constant.append(constant)
        self.assignment.append(int.from_bytes(blake2b(world.owner.tobytes(), digest_size=8).digest(), "big"))

    def run(self, policy: LoadManager, scenario: Scenario, seed: int, world: World, owners: dict[str, str]) -> Run:
        rate = np.array(self.rate)
        return Run(
            policy=strategy_name(policy.shedder),
            scenario=scenario.name,
            seed=seed,
            brokers=world.brokers,
            owners=owners,
            usage=np.array(self.usage),
            rate=rate,
            throughput=np.array(self.throughput),
            offered=np.array(self.offered),
            carried=np.nansum(rate, axis=1),
            bundles=np.array(self.bundles, dtype=np.int64),
            constant=np.array(self.constant, dtype=np.bool_),
            assignment=np.array(self.assignment, dtype=np.uint64),
            actions=tuple(world.actions),
            grace_minutes=policy.conf.loadBalancerSheddingGracePeriodMinutes,
            overload_threshold=policy.conf.overload_threshold,
        )
