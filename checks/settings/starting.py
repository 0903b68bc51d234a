"""With which settings no broker of a release starts, and which of them another release starts with.

Compared were ServiceConfiguration of 2.10.1, 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1, PulsarConfigurationLoader.isComplete,
PulsarBrokerStarter and LoadManager.create. The limits that 3.0.7 added to six intervals refuse nothing with which 2.10.1
starts: there BrokerService schedules them at a fixed rate, which throws for 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.checks.settings.broker_conf import ConfigurationError, Taken
from fencepost.checks.settings.broker_settings import ControlPlaneSettings, algorithms_of
from fencepost.checks.settings.cluster_settings import Settings
from fencepost.checks.settings.files.input_files import Place
from fencepost.checks.settings.load_manager import mismatches
from fencepost.model.pulsar.stores import stores_of


@dataclass(frozen=True)
class Stop:
    """Why no broker of a release starts, with the remedy, and the setting to look at, if a file has it."""

    why: str
    place: Place | None

    def __str__(self) -> str:
        return f"{self.place}: {self.why}" if self.place else self.why


@dataclass(frozen=True)
class StartsNoMore:
    """Brokers start with some settings in the release ``before``, where ``ran`` balances the load, and not in ``now``."""

    before: str
    ran: str
    now: str
    stops: tuple[Stop, ...]

    @property
    def in_short(self) -> str:
        """What changes, without the reasons."""
        return f"brokers with these settings start no more: Pulsar {self.before} runs {self.ran}, {self.now} does not start"


def stops_in(settings: Settings, release: str) -> Iterator[Stop]:
    """Everything with which no broker of a release of Pulsar starts."""
    for one in mismatches(settings.load_manager, release):
        if one.outcome == "stops":
            yield Stop(str(one), one.setting.place or settings.load_manager.manager.place)
    yield from _without_algorithms(settings.control_plane, release)
    yield from _without_store(settings.control_plane.metadata_store, release)


def _without_algorithms(settings: ControlPlaneSettings, release: str) -> Iterator[Stop]:
    """A release lacks a split algorithm that is configured: PulsarBrokerStarter does not start."""
    named = (*settings.supported.value, settings.algorithm.value)
    where = settings.supported.place or settings.algorithm.place
    lacking = [name for name in dict.fromkeys(named) if name not in algorithms_of(release)]
    if lacking and where is not None:
        remedy = f"name of {', '.join(algorithms_of(release))}"
        yield Stop(f"Pulsar {release} has no {lacking[0]}, and no broker starts; {remedy}", where)


def _without_store(store: Taken[str], release: str) -> Iterator[Stop]:
    """A release lacks the metadata store.

    MetadataStoreFactoryImpl.findProvider throws for etcd from 5.0.0-M1 on. Up to 3.0.7 it takes the scheme of Oxia for
    ZooKeeper's (in 2.10.1 newInstance does), whose ConnectStringParser throws for such an address.
    """
    known = stores_of(release)
    if store.value not in known:
        remedy = f"migrate the metadata to one that it has: {', '.join(known)}"
        yield Stop(f"Pulsar {release} has no metadata store {store.value}, and no broker starts; {remedy}", store.place)


def starts_no_more(settings: Settings, release: str, former: str = "") -> StartsNoMore | None:
    """What an upgrade from a ``former`` release stops; None if brokers start with the settings. Raises ConfigurationError if no
    broker starts, and none of a former release did."""
    stops = tuple(stops_in(settings, release))
    if not stops:
        return None
    if not former or next(stops_in(settings, former), None) is not None:
        raise ConfigurationError(str(stops[0]), stops[0].place)
    return StartsNoMore(former, settings.load_manager.running(former).manager, release, stops)
