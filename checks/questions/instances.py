"""The settings of a cluster, and the instances that stand for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

from fencepost.checks.settings.auto_recovery_settings import AutoRecoverySettings, auto_recovery_settings
from fencepost.checks.settings.bookie_settings import BookieSettings, bookie_settings
from fencepost.checks.settings.broker_conf import BrokerConf
from fencepost.checks.settings.control_plane_settings import ControlPlaneSettings, control_plane_settings
from fencepost.checks.settings.deployment import Deployment, deployment
from fencepost.checks.settings.input_files import Place
from fencepost.checks.settings.ledger_settings import LedgerSettings, ledger_settings
from fencepost.checks.settings.load_manager import LoadManagerSettings, load_manager_settings
from fencepost.checks.settings.metadata_store_settings import store_parameters
from fencepost.checks.settings.not_modelled import not_modelled
from fencepost.checks.settings.ordered_losses import ordered_losses
from fencepost.checks.settings.switches import SwitchedOn
from fencepost.checks.settings.topic_settings import TopicSettings, topic_settings
from fencepost.model.language import ModelError
from fencepost.model.pulsar.service_unit import OUTSIDE
from fencepost.properties.registry import Entry, Instance, Value

T = TypeVar("T")

CONTROL_PLANE: Mapping[str, Callable[[ControlPlaneSettings], dict[str, Value]]] = {
    "metadata_store": lambda settings: store_parameters(settings.metadata_store.value, brokers="clients"),
    "election": lambda settings: {
        "on_session_loss": settings.session_policy,
        **store_parameters(settings.metadata_store.value),
    },
    "ownership": lambda settings: store_parameters(settings.metadata_store.value),
    "unload": lambda settings: store_parameters(settings.metadata_store.value),
    "split": lambda settings: {
        **store_parameters(settings.metadata_store.value),
        "algorithm": settings.algorithm.value,
        "unload_after_split": settings.unloads.value,
        **({"maximum": settings.most_bundles.value} if settings.most_bundles.value < ROOM else {}),
    },
}
"""What the protocols of the control plane take as their parameters."""

LOCKED = ("ownership", "unload", "split")
"""The protocols of bundles that are owned by locks, as the modular load manager has it."""

ROOM = 3
"""Bundles below which the maximum of a namespace is felt in the small instances; what is above is no limit in them."""

LARGEST_ENSEMBLE = 9
"""Above this an instance has too many variables to be of use; the check says so instead of trying."""

UNASKED = ("cluster", "kafka_controller", "metadata_store", "replication", "service_unit_migration")
"""Protocols of which a configuration asks only what is built on them, or that no cluster of Pulsar runs, or none for long."""

TOPIC = "topic"
LARGE = ("two brokers", "two brokers, no deduplication", "trimmed")
"""Instances of a topic that a configuration is held to only where a size is named: smaller ones have the same faults."""

BOOKIE = "bookie"
SERVICE_UNIT = "service_unit"
"""What decides on ownership with the extensible load manager, in place of ``LOCKED``."""

REMEDY = "give the broker.conf that the brokers start with, or the bookkeeper.conf of the bookies"

PAIRS, TRIPLES = 2, 3
"""Write quorums up to which two entries, or one, are searched together with a change of ensemble in seconds."""


@dataclass(frozen=True)
class Settings:
    """What is taken from a configuration, the losses that it orders, the features that it switches on and that no model has,
    and what there is to note of either part, and of the files and keys, whatever the checks find."""

    ledger: LedgerSettings
    bookies: BookieSettings
    auto_recovery: AutoRecoverySettings
    control_plane: ControlPlaneSettings
    load_manager: LoadManagerSettings
    topic: TopicSettings
    orders: tuple[SwitchedOn, ...]
    not_modelled: tuple[SwitchedOn, ...]
    deployment: Deployment
    ledger_notes: tuple[str, ...]
    control_plane_notes: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def all_notes(self) -> list[str]:
        """What there is to note of all of them."""
        return [f"note: {note}" for note in (*self.ledger_notes, *self.control_plane_notes, *self.notes)]

    @property
    def of_bookies(self) -> dict[str, Value]:
        """What the protocol of a bookie takes; nothing without a file of one, or if that is not modelled."""
        return dict(self.bookies.behaviour) if self.bookies.is_given and not self.bookies.unmodelled else {}

    @property
    def places(self) -> dict[str, Place]:
        """Where each setting is written that some file has, by its key."""
        manager = self.load_manager
        several = (self.ledger.taken, self.bookies.taken, self.auto_recovery.taken, self.control_plane.taken, self.topic.taken)
        taken = [*chain.from_iterable(several), manager.manager, manager.table_view, manager.multi_phase]
        return {each.key: each.place for each in taken if each.place is not None}


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
    orders, features = ordered_losses(of_brokers), not_modelled(conf)
    _, about_keys = _noted(conf, lambda read: read.look_closer(REMEDY, every_file=True))
    notes = (*about_files, *about_bookies, *about_recovery, *about_classes, *about_topics, *about_keys)
    taken = ledger, bookies, auto_recovery, control_plane, load_manager, topic
    return Settings(*taken, orders, features, deployment(conf), ledger_notes, control_plane_notes, notes)


def _noted(conf: BrokerConf, read: Callable[[BrokerConf], T]) -> tuple[T, tuple[str, ...]]:
    """What is read of the configuration, and the notes that were made of it."""
    before = len(conf.notes)
    settings = read(conf)
    return settings, tuple(conf.notes[before:])


def unclaimed(settings: Settings, release: str) -> str:
    """Why the protocols of locks say nothing of the ownership of bundles in a release of Pulsar; empty if they do."""
    if not settings.load_manager.is_extensible(release):
        return ""
    return f"{settings.load_manager.manager}: the service unit channel owns bundles then, not locks, whose numbers these are"


def control_plane_instances(name: str, instances: Iterable[Instance], settings: ControlPlaneSettings) -> tuple[Instance, ...]:
    """The instances of a protocol with what it takes from the settings.

    Left out are those of a protocol that is fixed, which no cluster runs, and those that are about another setting, unless
    nothing is left then.
    """
    return _fitting(instances, CONTROL_PLANE[name](settings))


def service_unit_instances(instances: Iterable[Instance], settings: LoadManagerSettings) -> tuple[Instance, ...]:
    """The instances of the service unit channel with the store that is configured, likewise."""
    return _fitting(instances, settings.service_units)


def bookie_instances(entry: Entry, instances: Iterable[Instance], settings: BookieSettings) -> tuple[Instance, ...]:
    """The instances of a bookie with what it takes from the settings; those that there are not with these are left out."""
    taken, several = settings.behaviour, settings.has_several_directories
    known = [i for i in _fitting(instances, taken) if several or int(i.parameters.get("directories", 1)) == 1]
    return tuple(instance for instance in known if _can_be(entry, instance))


def _can_be(entry: Entry, instance: Instance) -> bool:
    try:
        entry.outline(instance.parameters)
    except ModelError:
        return False
    return True


def topic_instances(instances: Iterable[Instance], settings: TopicSettings, *, all_of_them: bool) -> tuple[Instance, ...]:
    """The instances of a topic with what it takes from the settings, each once; the small ones, or all of them."""
    variants: list[Instance] = []
    for instance in (i for i in instances if all_of_them or i.name not in LARGE):
        parameters = {**instance.parameters, **settings.parameters}
        if parameters not in [other.parameters for other in variants]:
            variants.append(replace(instance, parameters=parameters))
    return tuple(variants)


def _fitting(instances: Iterable[Instance], taken: Mapping[str, Value]) -> tuple[Instance, ...]:
    faithful = [instance for instance in instances if not instance.parameters.get("fixed")]
    fitting = [i for i in faithful if all(i.parameters.get(key, value) == value for key, value in taken.items())]
    return tuple(replace(i, parameters={**i.parameters, **taken}) for i in fitting or faithful)


def is_run(name: str, settings: LoadManagerSettings, release: str) -> bool:
    """Whether a cluster with this load manager runs the protocol, in a release of Pulsar, and it is to be asked for unnamed."""
    owning = (SERVICE_UNIT,) if settings.is_extensible(release) else LOCKED
    return name not in (*UNASKED, *{*LOCKED, SERVICE_UNIT} - {*owning}) and not (name == SERVICE_UNIT and release in OUTSIDE)


def ledger_instances(settings: LedgerSettings, size: str) -> tuple[Instance, ...]:
    """The settings with one bookie beside the ensemble, so that an ensemble can change, at a size: ci, standard or deep.

    ``ci`` has what takes seconds: entries in flight when a recovery begins, two recoveries that compete, a change of
    ensemble; together where the write quorum is small, else apart, and with write quorums above 3 the larger ones are
    proved. Without readers it is held against the stand-in of which topics are made. ``standard`` adds a bookie that crashes
    and one that loses its disk, and the proof for ten entries; ``deep`` two recoveries of two entries.
    """
    base: dict[str, Value] = {**settings.parameters, "bookies": settings.ensemble.value + 1}
    copies = settings.write_quorum.value
    if copies <= PAIRS:
        instances = [Instance("recovery of a changing ledger", base | {"entries": 2, "changes": 1})]
    else:
        several = {"entries": 2, "changes": 0} if copies <= TRIPLES else {"entries": 2, "changes": 1, "recoverers": 2}
        instances = [
            Instance("recovery of two entries", base | several, by="" if copies <= TRIPLES else "induction"),
        ]
        if copies <= TRIPLES:
            instances.append(Instance("recovery of a changing ledger", base | {"entries": 1, "changes": 1}))
        else:
            instances.append(Instance("recovery of one entry", base | {"entries": 1}))
    if copies <= TRIPLES:
        instances.append(Instance("two recoveries", base | {"entries": 1, "recoverers": 2, "changes": 1}))
    unread = {"entries": 1, "readers": 0, "changes": int(copies <= TRIPLES)}
    instances.append(Instance("as a topic sees it, without readers", base | unread))
    if size in ("standard", "deep"):
        instances += [
            Instance("crash and lost disk", base | {"entries": 1, "crashes": 1, "losses": 1}),
            Instance("ten entries", base | {"entries": 10, "recoverers": 2, "changes": 1}, by="induction"),
        ]
    if size == "deep":
        instances.append(Instance("two recoveries of two entries", base | {"entries": 2, "recoverers": 2, "changes": 1}))
    return tuple(instances)
