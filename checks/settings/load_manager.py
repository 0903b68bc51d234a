"""What Pulsar makes of a load manager and strategies that do not go together: it takes others, or does not start.

Read in LoadManager.create, ModularLoadManagerImpl.initialize and createLoadSheddingStrategy, ModularLoadManagerStrategy.create,
UnloadScheduler.createNamespaceUnloadStrategy and ExtensibleLoadManagerImpl.createBrokerSelectionStrategy of 2.10.1, 3.0.7,
4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1. Up to 4.0.8 LoadManager.create catches whatever is thrown, and takes SimpleLoadManagerImpl.
Since 5.0.1 (ModularLoadManagerImpl.createLoadBalanceStrategies) AvgShedder that places and does not shed is replaced; and it
is the default of both (ServiceConfiguration).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from fencepost.checks.settings.broker_conf import PULSARS, BrokerConf, Taken
from fencepost.model.balance.configuration import ABSENT, READ_BY_SIMPLE, Configuration, defaults, key_of
from fencepost.model.releases import PULSAR, is_since

MANAGER = "loadManagerClassName"
SHEDDER = "loadBalancerLoadSheddingStrategy"
PLACEMENT = "loadBalancerLoadPlacementStrategy"
TABLE_VIEW = "loadManagerServiceUnitStateTableViewClassName"
MULTI_PHASE = "loadBalancerMultiPhaseBundleUnload"
RANKING = "loadBalancerPlacementStrategy"
MODULAR, EXTENSIBLE, SIMPLE = "ModularLoadManagerImpl", "ExtensibleLoadManagerImpl", "SimpleLoadManagerImpl"
_IMPL = "org.apache.pulsar.broker.loadbalance.impl."
_CHANNEL = "org.apache.pulsar.broker.loadbalance.extensions.channel."

SHEDDERS = ("OverloadShedder", "ThresholdShedder", "UniformLoadShedder", "AvgShedder")
"""What sheds for the modular manager: they implement LoadSheddingStrategy, and NamespaceUnloadStrategy none of them."""

PLACEMENTS = ("LeastLongTermMessageRate", "LeastResourceUsageWithWeight", "RoundRobinBrokerSelector", "AvgShedder")
"""What places for the modular manager."""

CLASSES: Mapping[str, str] = {
    **{name: f"{_IMPL}{name}" for name in (*SHEDDERS, *PLACEMENTS, MODULAR, SIMPLE)},
    EXTENSIBLE: f"org.apache.pulsar.broker.loadbalance.extensions.{EXTENSIBLE}",
}
"""The classes with their packages, by which alone a broker finds them."""

STRICT = tuple(number for number in PULSAR if is_since(number, "4.0.8"))
"""The releases whose modular manager throws for a shedder that it cannot use; before, it took OverloadShedder."""

THROWING = tuple(number for number in PULSAR if is_since(number, "4.2.4"))
"""The releases in which no broker starts with a load manager that throws; before, SimpleLoadManagerImpl ran instead."""

MIRRORED = (
    "ExtensibleLoadManagerImpl.createBrokerSelectionStrategy",
    "LoadManager.create",
    "ModularLoadManagerImpl.createLoadBalanceStrategies",
    "ModularLoadManagerImpl.createLoadSheddingStrategy",
    "ModularLoadManagerStrategy.create",
    "UnloadScheduler.createNamespaceUnloadStrategy",
)
"""The methods of Pulsar that ``mismatches`` mirrors."""

REPLACING = tuple(number for number in PULSAR if is_since(number, "5.0.1"))
"""The releases that place by LeastLongTermMessageRate where AvgShedder is to place and does not shed; others throw."""

_TABLE_VIEW = Taken(TABLE_VIEW, f"{_CHANNEL}ServiceUnitStateTableViewImpl")
_MULTI_PHASE = Taken(MULTI_PHASE, True)
_RANKING = Taken(RANKING, "leastLoadedServer")

Outcome = Literal["runs", "simple", "stops"]
"""What a release makes of it: the manager runs, perhaps with other strategies; SimpleLoadManagerImpl runs; no broker starts."""

_NAMES = tuple(
    one.name for one in fields(Configuration)[1:] if one.name not in READ_BY_SIMPLE and one.name not in (SHEDDER, PLACEMENT)
)
_UNREAD = tuple(dict.fromkeys(key_of(name, release) for name in _NAMES for release in PULSAR))

CHANNELS = STRICT
"""The releases whose extensible manager has a choice of stores and, in a transfer, of phases."""


@dataclass(frozen=True)
class Mismatch:
    """What does not go together: a sentence with its place, and what a release makes of it."""

    setting: Taken[str] | Taken[bool]
    text: str
    outcome: Outcome = "runs"

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
    table_view: Taken[str] = _TABLE_VIEW
    multi_phase: Taken[bool] = _MULTI_PHASE
    ranking: Taken[str] = _RANKING
    unread: Mapping[str, Taken[str]] = field(default_factory=dict)
    """What is configured besides, by its key, and does not count where SimpleLoadManagerImpl runs."""

    def running(self, release: str) -> Running:
        """What a release of Pulsar makes of these classes; of a user's own only that they are run."""
        if any(one.outcome == "simple" for one in mismatches(self, release)):
            return Running(SIMPLE, "", "")
        self = self.in_release(release)
        manager, shedder, placement = map(_simple, (self.manager, self.shedder, self.placement))
        if manager == EXTENSIBLE:
            return Running(manager, "TransferShedder" if shedder in SHEDDERS else shedder, "LeastResourceUsageWithWeight")
        if manager != MODULAR:
            return Running(manager, "", "")
        if release == "3.0.7" and placement == "AvgShedder":
            shedder = placement
        elif _unusable(self.shedder, release) and release not in STRICT:
            shedder = "OverloadShedder"
        replaced = release == "2.10.1" or (release in REPLACING and _is_apart(self))
        return Running(manager, shedder, "LeastLongTermMessageRate" if replaced else placement)

    def in_release(self, release: str) -> LoadManagerSettings:
        """The same, with the defaults of a release where no strategy is configured."""
        usual = defaults(release)
        return replace(
            self,
            shedder=_default(self.shedder, usual.loadBalancerLoadSheddingStrategy),
            placement=_default(self.placement, usual.loadBalancerLoadPlacementStrategy),
        )

    def is_extensible(self, release: str) -> bool:
        """Whether a release runs the extensible manager, and not the modular one."""
        return self.running(release).manager == EXTENSIBLE

    @property
    def service_unit_store(self) -> str:
        """Where the records of service units are: ``topic`` or ``metadata``. A class of a user's own counts as one over the
        system topic, as Pulsar's own unless configured."""
        return "metadata" if _simple(self.table_view) == "ServiceUnitStateMetadataStoreTableViewImpl" else "topic"


def load_manager_settings(conf: BrokerConf) -> LoadManagerSettings:
    """The load manager of a configuration and its strategies."""
    return LoadManagerSettings(
        conf.name_of_class(MANAGER, f"{_IMPL}{MODULAR}"),
        conf.name_of_class(SHEDDER, f"{_IMPL}ThresholdShedder"),
        conf.name_of_class(PLACEMENT, f"{_IMPL}LeastLongTermMessageRate"),
        conf.name_of_class(TABLE_VIEW, _TABLE_VIEW.value),
        conf.flag(MULTI_PHASE, _MULTI_PHASE.value),
        conf.name_of_class(RANKING, _RANKING.value),
        {key: given for key in _UNREAD if (given := conf.given(key)) is not None},
    )


def mismatches(settings: LoadManagerSettings, release: str) -> Iterator[Mismatch]:
    """What of the settings does not go together in a release of Pulsar; of classes of a user's own nothing is known."""
    found = list(_of_classes(settings.in_release(release), release))
    yield from found
    if _simple(settings.manager) == SIMPLE or any(one.outcome == "simple" for one in found):
        usual = defaults(release)
        others = [name for name in _NAMES if name not in ABSENT.get(release, ())]
        given = {name: settings.unread.get(key_of(name, release)) for name in others}
        unread = [one for name, one in given.items() if one is not None and not _is_usual(one.value, getattr(usual, name))]
        if unread:
            more = "".join(f", nor {one.key} ({one.source})" for one in unread[1:])
            yield Mismatch(unread[0], f"{SIMPLE} does not read it{more}: it has rules of its own")


def _of_classes(settings: LoadManagerSettings, release: str) -> Iterator[Mismatch]:
    manager, shedder, placement = map(_simple, (settings.manager, settings.shedder, settings.placement))
    if manager == EXTENSIBLE and release == "2.10.1":
        text = f"Pulsar 2.10.1 does not have it and takes {SIMPLE}, and only logs a warning"
        yield Mismatch(settings.manager, f"{text}; set it to {_IMPL}{MODULAR}", "simple")
    elif elsewhere := _elsewhere(settings.manager):
        yield _thrown(settings.manager, f"there is no class of that name, and {{then}}; write {elsewhere}", release)
    elif manager == EXTENSIBLE:
        yield from _of_extensible(settings, shedder, placement, release)
    elif manager == SIMPLE:
        for setting in (settings.shedder, settings.placement):
            if setting.place is not None:
                yield Mismatch(setting, f"{SIMPLE} does not read it: it has rules of its own; leave it out")
    elif manager == MODULAR:
        yield from _of_modular(settings, shedder, placement, release)


def _thrown(setting: Taken[str], text: str, release: str) -> Mismatch:
    """What comes of a class with which the load manager throws; ``{then}`` is the place of that in the sentence."""
    stops = release in THROWING
    then = f"no broker of Pulsar {release} starts" if stops else f"Pulsar {release} logs a warning and runs {SIMPLE} instead"
    return Mismatch(setting, text.replace("{then}", then), "stops" if stops else "simple")


def _of_extensible(settings: LoadManagerSettings, shedder: str, placement: str, release: str) -> Iterator[Mismatch]:
    if settings.shedder.place is not None and shedder in SHEDDERS:
        text = f"{EXTENSIBLE} cannot use it, logs an error and takes TransferShedder; name that, or"
        yield Mismatch(settings.shedder, f"{text} set {MANAGER} to {_IMPL}{MODULAR}")
    if settings.placement.place is not None and placement != "LeastResourceUsageWithWeight":
        text = f"{EXTENSIBLE} does not read it: it places by LeastResourceUsageWithWeight; leave it out"
        yield Mismatch(settings.placement, text)
    if settings.table_view.place is not None and release not in CHANNELS:
        text = f"Pulsar {release} does not read it: its records are in the system topic; leave it out"
        yield Mismatch(settings.table_view, text)
    if settings.multi_phase.place is not None and release not in CHANNELS:
        text = f"Pulsar {release} does not read it: it moves a bundle in one phase; leave it out"
        yield Mismatch(settings.multi_phase, text)


def _of_modular(settings: LoadManagerSettings, shedder: str, placement: str, release: str) -> Iterator[Mismatch]:
    unusable = _unusable(settings.shedder, release)
    if release == "2.10.1":  # it places by LeastLongTermMessageRate, whatever is written
        if unusable:
            yield Mismatch(settings.shedder, f"{unusable[0]}, logs an error and takes OverloadShedder; {unusable[1]}")
        return
    if elsewhere := _elsewhere(settings.placement):
        yield _thrown(settings.placement, f"there is no class of that name, and {{then}}; write {elsewhere}", release)
    elif placement == "AvgShedder" and release == "3.0.7":
        if settings.shedder.value != settings.ranking.value:
            text = f"3.0.7 compares {RANKING}, another setting, with {SHEDDER}: {{then}};"
            yield _thrown(
                settings.placement, f"{text} leave {PLACEMENT} out, or name {CLASSES[placement]} in all three", release
            )
    elif _is_apart(settings) and release in REPLACING and not unusable:
        text = f"it places only where it sheds, and with {settings.shedder} Pulsar {release} logs a warning and places by"
        yield Mismatch(settings.placement, f"{text} LeastLongTermMessageRate; name the same class in both")
    elif _is_apart(settings) and release not in REPLACING:
        text = f"it places only where it sheds, and with {settings.shedder} {{then}}; name the same class in both"
        yield _thrown(settings.placement, text, release)
    elif unusable and release in STRICT:
        yield _thrown(settings.shedder, f"{unusable[0]}, and {{then}}; {unusable[1]}", release)
    elif unusable:
        yield Mismatch(settings.shedder, f"{unusable[0]}, logs an error and takes OverloadShedder; {unusable[1]}")
    elif shedder == "AvgShedder" and placement != "AvgShedder":
        remedy = f"set {PLACEMENT} to {_IMPL}AvgShedder" if release in STRICT else "name ThresholdShedder"
        text = f"{placement} places, so what it sheds does not go where it means it to; {remedy}"
        yield Mismatch(settings.shedder, text)


def _is_usual(text: str, usual: object) -> bool:
    """Whether a file has a default."""
    if isinstance(usual, bool | str):
        return text.lower() == str(usual).lower()
    try:
        return float(text) == usual
    except ValueError:
        return False


def _default(setting: Taken[str], usual: str) -> Taken[str]:
    """The setting, with that value if it is a default."""
    return replace(setting, value=usual) if setting.place is None and setting.default == PULSARS else setting


def _is_apart(settings: LoadManagerSettings) -> bool:
    """Whether AvgShedder is to place, and another class to shed."""
    return _simple(settings.placement) == "AvgShedder" and settings.shedder.value != settings.placement.value


def _unusable(shedder: Taken[str], release: str) -> tuple[str, str] | None:
    """Why the modular manager cannot use a shedder of Pulsar's, and what to do; None if it can, or it is a user's own."""
    name = _simple(shedder)
    other = f"name {_IMPL}ThresholdShedder"
    if not _is_pulsars(shedder):
        return None
    if name == "TransferShedder":
        extensible = "" if release == "2.10.1" else f", or set {MANAGER} to {CLASSES[EXTENSIBLE]}"
        return f"{MODULAR} cannot use it", f"{other}{extensible}"
    if name == "DeviationShedder":
        return f"{MODULAR} cannot use it, because no release has a class that extends it", other
    if name == "AvgShedder" and release == "2.10.1":
        return "Pulsar 2.10.1 does not have it", other
    if elsewhere := _elsewhere(shedder):
        return f"{MODULAR} finds no class of that name", f"write {elsewhere}"
    return None


def _elsewhere(name: Taken[str]) -> str:
    """The class of Pulsar's that is meant, where its package is missing or another one; empty if the name is right."""
    meant = CLASSES.get(_simple(name), "")
    return meant if meant != name.value and _is_pulsars(name) else ""


def _is_pulsars(name: Taken[str]) -> bool:
    """Whether the name is of a class of Pulsar's, or would be with its package."""
    package = name.value.rpartition(".")[0]
    return not package or package.startswith("org.apache.pulsar.")


def _simple(name: Taken[str]) -> str:
    """The class without its package."""
    return name.value.rpartition(".")[2]
