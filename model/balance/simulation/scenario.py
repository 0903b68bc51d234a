"""What happens to a cluster in a run: events, noisy sensors, how long things take; and ready-made scenarios by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from fencepost.model.balance.simulation.cluster import Generated, Source
from fencepost.model.balance.simulation.workload import Bursts, Diurnal, HotTopic, Jitter, Shape


@dataclass(frozen=True)
class Event:
    """Something befalls a broker at the beginning of a minute.

    crash: it is gone, and its bundles can be had again when its session has expired. stop: it gives its bundles up one by one
    and ends. start: it begins, or begins again, with nothing; a broker that was not there is new.
    """

    minute: int
    kind: Literal["crash", "stop", "start"]
    broker: str


@dataclass(frozen=True)
class Sensors:
    """How brokers measure themselves wrongly: probabilities for each broker and minute.

    ``spikes``: a garbage collection takes the whole CPU and heap while they are measured. ``silent``: the network was measured
    over no time and without traffic, which makes its usage NaN. ``hasty``: over no time and with traffic: infinite.
    """

    spikes: float = 0.0
    silent: float = 0.0
    hasty: float = 0.0


@dataclass(frozen=True)
class Pauses:
    """For how many seconds nobody serves a bundle: ``unload`` and ``topic`` for each of its topics when it is unloaded or
    split, at most ``longest``; ``session`` before that when its broker crashed."""

    unload: float = 1.0
    topic: float = 0.01
    session: float = 30.0
    longest: float = 60.0

    def of_unload(self, topics: int) -> float:
        """Seconds for a bundle of so many topics."""
        return min(self.unload + self.topic * topics, self.longest)


@dataclass(frozen=True)
class Scenario:
    """A world: where the cluster comes from, and what happens to it. Everything that is random follows from a run's seed."""

    name: str
    source: Source = field(default_factory=Generated)
    shapes: tuple[Shape, ...] = ()
    events: tuple[Event, ...] = ()
    sensors: Sensors = field(default_factory=Sensors)
    pauses: Pauses = field(default_factory=Pauses)

    @property
    def brokers(self) -> tuple[str, ...]:
        """All brokers that are ever there, those that come later last."""
        return tuple(dict.fromkeys([*self.source.brokers, *(event.broker for event in self.events)]))


Maker = Callable[[Source], Scenario]

FIRST_EVENT = 30
BETWEEN_RESTARTS = 5


def _crash(source: Source) -> Scenario:
    """A broker crashes after half an hour and is back ten minutes later."""
    broker = source.brokers[-1]
    events = (Event(FIRST_EVENT, "crash", broker), Event(FIRST_EVENT + 10, "start", broker))
    return Scenario("crash", source, (Jitter(),), events)


def _restart(source: Source) -> Scenario:
    """A broker is stopped after half an hour and started again two minutes later."""
    broker = source.brokers[-1]
    events = (Event(FIRST_EVENT, "stop", broker), Event(FIRST_EVENT + 2, "start", broker))
    return Scenario("restart", source, (Jitter(),), events)


def _rolling_restart(source: Source) -> Scenario:
    """From half an hour on the brokers are stopped and started again, one every five minutes."""
    starts = [(FIRST_EVENT + BETWEEN_RESTARTS * place, broker) for place, broker in enumerate(source.brokers)]
    events = [event for at, broker in starts for event in (Event(at, "stop", broker), Event(at + 2, "start", broker))]
    return Scenario("rolling-restart", source, (Jitter(),), tuple(events))


def _scale_out(source: Source) -> Scenario:
    """After half an hour a quarter more brokers join, at least one."""
    names = [f"new-broker-{number + 1}:8080" for number in range(max(1, len(source.brokers) // 4))]
    return Scenario("scale-out", source, (Jitter(),), tuple(Event(FIRST_EVENT, "start", name) for name in names))


def _scale_in(source: Source) -> Scenario:
    """From half an hour on a quarter of the brokers is stopped for good, one every five minutes."""
    leaving = source.brokers[len(source.brokers) - max(1, len(source.brokers) // 4) :]
    events = [Event(FIRST_EVENT + BETWEEN_RESTARTS * place, "stop", broker) for place, broker in enumerate(leaving)]
    return Scenario("scale-in", source, (Jitter(),), tuple(events))


def _maker(name: str, *shapes: Shape, zipf: float | None = None, sensors: Sensors | None = None) -> Maker:
    """A scenario without events; of a generated cluster the exponent of the rates may be another."""

    def make(source: Source) -> Scenario:
        if zipf is not None and isinstance(source, Generated):
            source = replace(source, zipf=zipf)
        return Scenario(name, source, shapes, sensors=sensors or Sensors())

    return make


SCENARIOS: dict[str, tuple[Maker, str]] = {
    "steady": (_maker("steady", zipf=0.0), "rates that never change, all about the same"),
    "zipf": (_maker("zipf"), "rates that never change, few topics with much and many with little"),
    "noisy-rates": (_maker("noisy-rates", Jitter()), "the same, every topic varying by up to a fifth from minute to minute"),
    "diurnal": (_maker("diurnal", Diurnal(), Jitter()), "a daily wave, in each namespace at a time of its own"),
    "bursts": (_maker("bursts", Bursts(), Jitter()), "now and then a part of the topics carries four times as much"),
    "hot-topic": (_maker("hot-topic", HotTopic(), Jitter()), "after half an hour one topic carries two percent of everything"),
    "crash": (_crash, "a broker crashes after half an hour and is back ten minutes later"),
    "restart": (_restart, "a broker is restarted after half an hour"),
    "rolling-restart": (_rolling_restart, "from half an hour on all brokers are restarted, one every five minutes"),
    "scale-out": (_scale_out, "after half an hour a quarter more brokers join"),
    "scale-in": (_scale_in, "from half an hour on a quarter of the brokers is stopped for good"),
    "noisy-sensors": (
        _maker("noisy-sensors", Jitter(), sensors=Sensors(spikes=0.02, silent=0.01)),
        "garbage collections that look like load, and networks measured over no time",
    ),
}
"""Ready-made scenarios: how each is made of a cluster, and what it is."""


def scenario(name: str, source: Source | None = None) -> Scenario:
    """The scenario of that name on a cluster, by default a generated one; KeyError if there is none."""
    return SCENARIOS[name][0](source or Generated())
