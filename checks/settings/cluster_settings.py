"""The settings of a cluster, as some files have them; and with which of them no broker of a release starts.

Compared were ServiceConfiguration of 2.10.1, 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1, PulsarConfigurationLoader.isComplete,
PulsarBrokerStarter and LoadManager.create. The limits that 3.0.7 added to six intervals refuse nothing with which 2.10.1
starts: there BrokerService schedules them at a fixed rate, which throws for 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from fencepost.checks.inputs.input_files import Place
from fencepost.checks.inputs.settings_files import BOOKIE_TAG, BROKER_TAG, EVERY_TAG, REPLICAS
from fencepost.checks.settings.bookie_settings import (
    STORAGES,
    AutoRecoverySettings,
    BookieSettings,
    PlacementSettings,
    auto_recovery_settings,
    bookie_settings,
    placement_settings,
)
from fencepost.checks.settings.broker_conf import BrokerConf, ConfigurationError, Taken
from fencepost.checks.settings.broker_settings import (
    ControlPlaneSettings,
    LedgerSettings,
    TopicSettings,
    algorithms_of,
    control_plane_settings,
    ledger_settings,
    topic_settings,
)
from fencepost.checks.settings.load_manager import CHANNELS, LoadManagerSettings, load_manager_settings, mismatches
from fencepost.checks.settings.switches import GROUPS, RACKS, REGIONS, SwitchedOn, not_modelled, ordered_losses
from fencepost.model.pulsar.stores import stores_of
from fencepost.model.releases import NEWEST, PULSAR, Releases, followed
from fencepost.properties.bugs import Bug
from fencepost.properties.configuration import Configuration, Part
from fencepost.properties.registry import Value

T = TypeVar("T")
Racks = Mapping[str, Sequence[str]]

REMEDY = "give the broker.conf that the brokers start with, or the bookkeeper.conf of the bookies"


@dataclass(frozen=True)
class Settings:
    """What is taken from a configuration, the losses that it orders, the features that it switches on and that no model has,
    and what there is to note of either part, and of the files and keys, whatever the checks find. ``places`` has where each key
    counts that a file has."""

    ledger: LedgerSettings
    bookies: BookieSettings
    auto_recovery: AutoRecoverySettings
    control_plane: ControlPlaneSettings
    load_manager: LoadManagerSettings
    topic: TopicSettings
    placement: PlacementSettings
    orders: tuple[SwitchedOn, ...]
    not_modelled: tuple[SwitchedOn, ...]
    deployment: Deployment
    ledger_notes: tuple[str, ...]
    control_plane_notes: tuple[str, ...]
    notes: tuple[str, ...]
    places: Mapping[str, Place]

    @property
    def all_notes(self) -> list[str]:
        """What there is to note of all of them."""
        return [f"note: {note}" for note in (*self.ledger_notes, *self.control_plane_notes, *self.notes)]

    def configuration(self, releases: Releases | None = None) -> Configuration:
        """What protocols take of them, as plain values, in some releases: the newest, unless named."""
        releases = releases or Releases.of()
        release, plane, manager = releases.pulsar or NEWEST, self.control_plane, self.load_manager
        store = plane.store_in(release)
        return Configuration(
            releases=releases,
            ensemble=self.ledger.ensemble.value,
            write_quorum=self.ledger.write_quorum.value,
            ack_quorum=self.ledger.ack_quorum.value,
            bookies=self.bookies.plain if self.bookies.is_given else None,
            topics=self.topic.plain_in(release),
            metadata_store=store,
            on_session_loss=plane.session_policy(store),
            split_algorithm=plane.algorithm.value,
            unloads_after_split=plane.unloads.value,
            most_bundles=plane.most_bundles.value,
            extensible=manager.is_extensible(release),
            service_unit_store=manager.service_unit_store,
            multi_phase=manager.multi_phase.value,
            written={"ensemble": str(self.ledger.ensemble), "load_manager": str(manager.manager)},
        )

    def taken(self, part: Part, release: str) -> list[str]:
        """What is taken of a part, with what there is to note of it, as lines."""
        manager, topics, plane = self.load_manager, self.topic, self.control_plane
        if part == "ledger":
            return [*map(str, self.ledger.taken), *(f"note: {note}" for note in self.ledger_notes)]
        if part == "service_units":
            return [str(manager.table_view), str(manager.multi_phase)] if release in CHANNELS else []
        if part == "bookies":
            return [str(value) for value in self.bookies.taken] if self.bookies.is_given else []
        if part == "topics":
            return [str(value) for value in topics.taken]
        return [*map(str, plane.taken), *(f"note: {note}" for note in self.control_plane_notes)]


@dataclass(frozen=True)
class Cluster:
    """The settings in some files, by the name of the files and the one to look at where no line is to blame; the releases, and
    the number of bookies, which nobody named if ``assumed``. ``of_bookies`` says whether to ask about the bookies' own
    settings. ``racks`` are the names of the bookies by rack, if they are known, and ``groups`` by isolation group."""

    file: str
    first: Place
    settings: Settings
    releases: Releases
    bookies: int
    assumed: bool
    of_bookies: bool
    racks: Racks = field(default_factory=dict)
    groups: Racks = field(default_factory=dict)

    @property
    def configuration(self) -> Configuration:
        """What protocols take of it."""
        return self.settings.configuration(self.releases)

    def exposing(self, bug: Bug | None) -> Place:
        """The line of the setting that exposes a known bug: one by which it is avoided, or the image tag that says the release
        that has it; else the file, and no line of it."""
        words = re.findall(r"\w+", bug.avoided_by.setting) if bug and bug.avoided_by else []
        places = (self.settings.places[word] for word in words if word in self.settings.places)
        return next(places, None) or (self._tag(bug) if bug else None) or self.first

    def _tag(self, bug: Bug) -> Place | None:
        """Where an image tag says the release of a bug's project that the cluster runs; None if none says it."""
        deployed = self.settings.deployment
        tag = deployed.bookies if bug.project == "bookkeeper" else deployed.brokers
        if tag is None:
            return None
        pulsar = followed("pulsar", tag.value)
        said = PULSAR[pulsar] if bug.project == "bookkeeper" else pulsar
        runs = self.releases.bookkeeper if bug.project == "bookkeeper" else self.releases.pulsar
        return tag.place if said == runs else None

    @property
    def ensemble(self) -> int:
        """The bookies of an ensemble."""
        return self.settings.ledger.ensemble.value

    @property
    def write_quorum(self) -> int:
        """The copies of an entry."""
        return self.settings.ledger.write_quorum.value

    @property
    def ack_quorum(self) -> int:
        """The copies with which an entry is acknowledged."""
        return self.settings.ledger.ack_quorum.value

    @property
    def regions(self) -> dict[str, list[str]]:
        """The racks that have bookies by region, as RegionAwareEnsemblePlacementPolicy.parseBookieRegion reads their names;
        none unless each is of the form /region/rack."""
        named = {rack: rack.strip("/").split("/") for rack, bookies in self.racks.items() if bookies}
        regions: dict[str, list[str]] = {}
        for rack, parts in named.items():
            regions.setdefault(parts[0], []).append(rack)
        return regions if all(len(parts) == 2 for parts in named.values()) else {}

    @property
    def not_modelled(self) -> tuple[SwitchedOn, ...]:
        """The features that the settings switch on and that no model has, or about which too little is known."""
        places = {RACKS: self.racks, REGIONS: self.regions, GROUPS: self.racks and self.groups}
        known = {name for name, known in places.items() if known}
        return tuple(each for each in self.settings.not_modelled if each.feature.name not in known)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of bookies and the sizes of its ledgers, by the parameters of the ledger protocol."""
        return {name: getattr(self, name) for name in ("bookies", *self.taken)}

    @property
    def parameters(self) -> dict[str, Value]:
        """The sizes, and what its bookies store in, as parameters of the ledger protocol."""
        storage = STORAGES.get(self.settings.bookies.storage.value, "db") if self.of_bookies else "db"
        return {**self.sizes, "storage": storage}

    def raised(self, names: Sequence[str]) -> dict[str, int]:
        """The sizes that become larger with one more of each of these, and of what must be at least as much."""
        order = ("ack_quorum", "write_quorum", "ensemble", "bookies")
        raised = {name: size + (name in names) for name, size in self.sizes.items()}
        for smaller, larger in pairwise(order):
            raised[larger] = max(raised[smaller], raised[larger])
        return {name: size for name, size in raised.items() if size != self.sizes[name]}

    def resized(self, sizes: Mapping[str, int]) -> Cluster:
        """The same with these sizes in place of its own."""
        ledger = LedgerSettings(**{n: replace(taken, value=sizes.get(n, taken.value)) for n, taken in self.taken.items()})
        settings = replace(self.settings, ledger=ledger)
        return replace(self, settings=settings, bookies=sizes.get("bookies", self.bookies))

    @property
    def taken(self) -> dict[str, Taken[int]]:
        """The settings by the size that they are."""
        ledger = self.settings.ledger
        return {"ensemble": ledger.ensemble, "write_quorum": ledger.write_quorum, "ack_quorum": ledger.ack_quorum}


def read_settings(*paths: Path, instead: Mapping[str, str] | None = None) -> Settings:
    """The settings in some files, of which a later one counts before an earlier one, and ``instead`` before all of them;
    InputError, with the place and the remedy, if they cannot be used."""
    conf = BrokerConf(*paths, instead=instead)
    about_files = tuple(conf.notes)
    of_brokers, of_bookies = conf.only("broker"), conf.only("bookie")
    ledger, ledger_notes = _noted(of_brokers, ledger_settings)
    bookies, about_bookies = _noted(of_bookies, bookie_settings)
    auto_recovery, about_recovery = _noted(of_bookies, auto_recovery_settings)
    control_plane, control_plane_notes = _noted(of_brokers, control_plane_settings)
    load_manager, about_classes = _noted(of_brokers, load_manager_settings)
    topic, about_topics = _noted(of_brokers, topic_settings)
    placed, about_places = _noted(of_brokers, lambda brokers: placement_settings(brokers, of_bookies, ledger))
    orders, features = ordered_losses(of_brokers), not_modelled(conf)
    deployed = deployment(conf)
    _, about_keys = _noted(conf, lambda read: read.look_closer(REMEDY, every_file=True))
    notes = (*about_files, *about_bookies, *about_recovery, *about_classes, *about_topics, *about_places, *about_keys)
    taken = ledger, bookies, auto_recovery, control_plane, load_manager, topic, placed
    return Settings(*taken, orders, features, deployed, ledger_notes, control_plane_notes, notes, conf.places)


def _noted(conf: BrokerConf, read: Callable[[BrokerConf], T]) -> tuple[T, tuple[str, ...]]:
    """What is read of the configuration, and the notes that were made of it."""
    before = len(conf.notes)
    settings = read(conf)
    return settings, tuple(conf.notes[before:])


VERSION = re.compile(r"\d+\.\d+\.\d+(-(M|milestone-?|rc|candidate-?)\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Deployment:
    """The releases of Pulsar that the brokers and the bookies run, by their image tags, and the number of bookies; None where
    no file says it."""

    brokers: Taken[str] | None = None
    bookies: Taken[str] | None = None
    count: Taken[int] | None = None


def deployment(conf: BrokerConf) -> Deployment:
    """What the files say of it; a tag without a version, or a count that is no number, says nothing."""
    count = conf.given(REPLICAS)
    known = count is not None and count.value.isdecimal() and int(count.value) > 0
    return Deployment(
        _version(conf, BROKER_TAG),
        _version(conf, BOOKIE_TAG),
        Taken(count.key, int(count.value), count.place) if known and count is not None else None,
    )


def _version(conf: BrokerConf, key: str) -> Taken[str] | None:
    tag = conf.given(key) or conf.given(EVERY_TAG)
    match = tag and VERSION.match(tag.value)
    return replace(tag, value=match[0]) if tag and match else None


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
