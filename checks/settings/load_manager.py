"""What Pulsar makes of a load manager and strategies that do not go together: it takes others, or does not start.

Read in LoadManager.create, ModularLoadManagerImpl.initialize and createLoadSheddingStrategy, ModularLoadManagerStrategy.create,
UnloadScheduler.createNamespaceUnloadStrategy and ExtensibleLoadManagerImpl.createBrokerSelectionStrategy of 2.10.1, 3.0.7,
4.0.8, 4.2.4 and 5.0.0-M1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.checks.settings.broker_conf import BrokerConf, ConfigurationError, Taken
from fencepost.model.releases import PULSAR, is_since
from fencepost.properties.registry import Value

MANAGER = "loadManagerClassName"
SHEDDER = "loadBalancerLoadSheddingStrategy"
PLACEMENT = "loadBalancerLoadPlacementStrategy"
TABLE_VIEW = "loadManagerServiceUnitStateTableViewClassName"
MULTI_PHASE = "loadBalancerMultiPhaseBundleUnload"
MODULAR, EXTENSIBLE, SIMPLE = "ModularLoadManagerImpl", "ExtensibleLoadManagerImpl", "SimpleLoadManagerImpl"
_IMPL = "org.apache.pulsar.broker.loadbalance.impl."
_CHANNEL = "org.apache.pulsar.broker.loadbalance.extensions.channel."

SHEDDERS = ("OverloadShedder", "ThresholdShedder", "UniformLoadShedder", "AvgShedder")
"""What sheds for the modular manager: they implement LoadSheddingStrategy, and NamespaceUnloadStrategy none of them."""

STRICT = tuple(number for number in PULSAR if is_since(number, "4.0.8"))
"""The releases in which no broker starts with a shedder that the modular manager cannot use; before, another was taken."""

CHANNELS = STRICT
"""The releases whose extensible manager has a choice of stores and, in a transfer, of phases."""


@dataclass(frozen=True)
class Mismatch:
    """What does not go together: a sentence with its place, and whether a broker starts with it."""

    setting: Taken[str] | Taken[bool]
    text: str
    starts: bool

    def __str__(self) -> str:
        return f"{self.setting}: {self.text}"


@dataclass(frozen=True)
class Running:
    """The classes that a release runs, without their packages, whatever is configured; empty where that is not known."""

    manager: str
    shedder: str
    placement: str


@dataclass(frozen=True)
class LoadManagerSettings:
    """The classes that are configured to balance the load."""

    manager: Taken[str]
    shedder: Taken[str]
    placement: Taken[str]
    table_view: Taken[str]
    multi_phase: Taken[bool]

    def running(self, release: str) -> Running:
        """What a release of Pulsar makes of these classes; of a user's own only that they are run."""
        manager, shedder, placement = map(_simple, (self.manager, self.shedder, self.placement))
        if manager == EXTENSIBLE and release == "2.10.1":
            return Running(SIMPLE, "", "")
        if manager == EXTENSIBLE:
            return Running(manager, "TransferShedder" if shedder in SHEDDERS else shedder, "LeastResourceUsageWithWeight")
        if manager != MODULAR:
            return Running(manager, "", "")
        if shedder == "TransferShedder" or (release == "2.10.1" and shedder == "AvgShedder"):
            shedder = "OverloadShedder"
        return Running(manager, shedder, "LeastLongTermMessageRate" if release == "2.10.1" else placement)

    def is_extensible(self, release: str) -> bool:
        """Whether a release runs the extensible manager, and not the modular one."""
        return self.running(release).manager == EXTENSIBLE

    @property
    def service_units(self) -> dict[str, Value]:
        """The parameters of the protocol ``service_unit``: where its records are, and whether clients stay in a transfer.

        A class of a user's own counts as one over the system topic, as Pulsar's own unless configured.
        """
        store = "metadata" if _simple(self.table_view) == "ServiceUnitStateMetadataStoreTableViewImpl" else "topic"
        return {"store": store, "multi_phase": self.multi_phase.value}


def load_manager_settings(conf: BrokerConf) -> LoadManagerSettings:
    """The load manager of a configuration and its strategies."""
    return LoadManagerSettings(
        conf.name_of_class(MANAGER, f"{_IMPL}{MODULAR}"),
        conf.name_of_class(SHEDDER, f"{_IMPL}ThresholdShedder"),
        conf.name_of_class(PLACEMENT, f"{_IMPL}LeastLongTermMessageRate"),
        conf.name_of_class(TABLE_VIEW, f"{_CHANNEL}ServiceUnitStateTableViewImpl"),
        conf.flag(MULTI_PHASE, True),
    )


def mismatches(settings: LoadManagerSettings, release: str) -> Iterator[Mismatch]:
    """What of the classes does not go together in a release of Pulsar; of classes of a user's own nothing is known."""
    manager, shedder, placement = map(_simple, (settings.manager, settings.shedder, settings.placement))
    if manager == EXTENSIBLE and release == "2.10.1":
        text = f"Pulsar 2.10.1 does not have it and takes {SIMPLE}, and only logs a warning"
        yield Mismatch(settings.manager, f"{text}; set it to {_IMPL}{MODULAR}", True)
    elif manager == EXTENSIBLE:
        yield from _of_extensible(settings, shedder, placement, release)
    elif manager == MODULAR:
        yield from _of_modular(settings, shedder, placement, release)


def as_taken(settings: LoadManagerSettings, release: str) -> list[str]:
    """What a release silently makes of the classes. Raises ConfigurationError if no broker starts with them."""
    notes = list(mismatches(settings, release))
    for one in notes:
        if not one.starts:
            where = one.setting.place or settings.manager.place
            raise ConfigurationError(f"{where}: {one}" if where else str(one), where)
    return [str(one) for one in notes]


def _of_extensible(settings: LoadManagerSettings, shedder: str, placement: str, release: str) -> Iterator[Mismatch]:
    if settings.shedder.place is not None and shedder in SHEDDERS:
        text = f"{EXTENSIBLE} cannot use it, logs an error and takes TransferShedder; name that, or"
        yield Mismatch(settings.shedder, f"{text} set {MANAGER} to {_IMPL}{MODULAR}", True)
    if settings.placement.place is not None and placement != "LeastResourceUsageWithWeight":
        text = f"{EXTENSIBLE} does not read it: it places by LeastResourceUsageWithWeight; leave it out"
        yield Mismatch(settings.placement, text, True)
    if settings.table_view.place is not None and release not in CHANNELS:
        text = f"Pulsar {release} does not read it: its records are in the system topic; leave it out"
        yield Mismatch(settings.table_view, text, True)
    if settings.multi_phase.place is not None and release not in CHANNELS:
        text = f"Pulsar {release} does not read it: it moves a bundle in one phase; leave it out"
        yield Mismatch(settings.multi_phase, text, True)


def _of_modular(settings: LoadManagerSettings, shedder: str, placement: str, release: str) -> Iterator[Mismatch]:
    if release == "2.10.1" and shedder == "AvgShedder":
        text = "Pulsar 2.10.1 does not have it and takes OverloadShedder, and only logs an error; name another"
        yield Mismatch(settings.shedder, text, True)
        return
    if shedder == "TransferShedder" and placement != "AvgShedder":
        if release in STRICT:
            text = f"{MODULAR} cannot use it, and no broker of Pulsar {release} starts"
        else:
            text = f"{MODULAR} cannot use it, logs an error and takes OverloadShedder"
        extensible = "org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl"
        remedy = "name ThresholdShedder" + ("" if release == "2.10.1" else f", or set {MANAGER} to {extensible}")
        yield Mismatch(settings.shedder, f"{text}; {remedy}", release not in STRICT)
    if release == "2.10.1":  # it places by LeastLongTermMessageRate, whatever is written
        return
    if placement == "AvgShedder" and release == "3.0.7":
        text = (
            "no broker of Pulsar 3.0.7 starts: it holds it against loadBalancerPlacementStrategy, which is another setting;"
            f" leave {PLACEMENT} out"
        )
        yield Mismatch(settings.placement, text, False)
    elif placement == "AvgShedder" and settings.shedder.value != settings.placement.value:
        text = f"it places only where it sheds, and no broker starts with {settings.shedder}; name the same class in both"
        yield Mismatch(settings.placement, text, False)
    elif shedder == "AvgShedder" and placement != "AvgShedder":
        remedy = f"set {PLACEMENT} to {_IMPL}AvgShedder" if release in STRICT else "name ThresholdShedder"
        text = f"{placement} places, so what it sheds does not go where it means it to; {remedy}"
        yield Mismatch(settings.shedder, text, True)


def _simple(name: Taken[str]) -> str:
    """The class without its package."""
    return name.value.rpartition(".")[2]
