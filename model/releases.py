"""The releases of Apache Pulsar, Apache BookKeeper and Apache Kafka that the protocols mirror: one table, a row each.

A release is a named set of switches of the protocols and nothing more: the bugs that it has, its bugs, and what behaves
otherwise in it. A row says what a release is made of. What it has of the bugs and methods of the protocols say those who
read it, by its number (see ``Reading``); until somebody has, that is unread, and answers for the release say so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

Project = Literal["pulsar", "bookkeeper", "kafka"]

SYSTEMS: Mapping[str, str] = {"pulsar": "Pulsar", "bookkeeper": "BookKeeper", "kafka": "Kafka"}
"""The projects, by the names of their systems."""


@dataclass(frozen=True)
class Release:
    """A release: one row of the table.

    ``bookkeeper`` and ``zookeeper`` are what a release of Pulsar ships (``bookkeeper.version`` and ``zookeeper.version`` of its
    pom), or of Kafka (gradle/dependencies.gradle). ``policies`` is whether its rules of load balancing are modelled, which is
    read in its load managers; ``held`` whether ``fencepost conform`` holds the protocols against its classes where no release
    is named; ``served`` whether its jars could be fetched: of others only the sources were read; ``read`` the month in which it
    was read for known bugs."""

    project: Project
    number: str
    bookkeeper: str = ""
    zookeeper: str = ""
    policies: bool = False
    held: bool = False
    served: bool = True
    read: str = ""

    @property
    def milestone(self) -> bool:
        """Whether it was published before the release that it leads to, e.g. 5.0.0-M1."""
        return "-" in self.number


RELEASES = (
    Release("bookkeeper", "4.14.5"),
    Release("bookkeeper", "4.16.6"),
    Release("bookkeeper", "4.17.2", held=True),
    Release("bookkeeper", "4.17.3", held=True),
    Release("bookkeeper", "4.17.4", served=False, read="2026-11"),
    Release("bookkeeper", "4.18.0", held=True),
    Release("bookkeeper", "4.18.2", held=True, read="2026-11"),
    Release("kafka", "0.10.1.1", zookeeper="3.4.8", held=True),
    Release("kafka", "0.10.2.2", zookeeper="3.4.9", held=True),
    Release("kafka", "1.0.2", zookeeper="3.4.10"),
    Release("kafka", "1.1.0", zookeeper="3.4.10"),
    Release("kafka", "2.0.1", zookeeper="3.4.13"),
    Release("kafka", "2.1.1", zookeeper="3.4.13"),
    Release("kafka", "2.2.2", zookeeper="3.4.13"),
    Release("kafka", "3.9.1", zookeeper="3.8.4"),
    Release("kafka", "3.9.2", zookeeper="3.8.4", read="2026-11"),
    Release("pulsar", "2.10.1", bookkeeper="4.14.5", zookeeper="3.6.3", policies=True),
    Release("pulsar", "3.0.7", bookkeeper="4.16.6", zookeeper="3.9.2", policies=True),
    Release("pulsar", "4.0.8", bookkeeper="4.17.2", zookeeper="3.9.4", policies=True, held=True),
    Release("pulsar", "4.2.4", bookkeeper="4.17.3", zookeeper="3.9.5", policies=True, held=True),
    Release("pulsar", "5.0.0-M1", bookkeeper="4.18.0", zookeeper="3.9.5", policies=True, held=True),
    Release("pulsar", "5.0.1", bookkeeper="4.18.2", zookeeper="3.9.5", policies=True, held=True, read="2026-11"),
)
"""The modelled releases, of each project the oldest first."""

RANGES: Mapping[str, tuple[str, ...]] = {
    "bookkeeper": ("4.14.5", "4.16.6", "4.17.2", "4.17.3", "4.17.4", "4.18.0", "4.18.2"),
    "kafka": ("0.10.1.1", "0.10.2.2", "1.0.2", "1.1.0", "2.0.1", "2.1.1", "2.2.2", "3.9.1", "3.9.2"),
    "pulsar": ("2.10.1", "3.0.7", "4.0.8", "4.2.4", "5.0.0-M1", "5.0.1"),
}
"""The releases that a range in a reading reaches over: "4.0.8 to 5.0.1" is 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1. They were read for
everything that has such a range. A release that is added to the table is not added here: ranges would claim of it what nobody
has read."""

NEWEST = next(row.number for row in reversed(RELEASES) if row.number in RANGES["pulsar"] and not row.milestone)
"""The release of Pulsar that is meant where none is named: the newest that is read and no milestone."""

NEWEST_BALANCED = next(row.number for row in reversed(RELEASES) if row.policies and not row.milestone)
"""The release of Pulsar whose rules of load balancing are meant where none is named."""


def numbers(project: str) -> tuple[str, ...]:
    """The modelled releases of ``pulsar``, ``bookkeeper`` or ``kafka``, the oldest first."""
    return tuple(release.number for release in RELEASES if release.project == project)


BOOKKEEPER = numbers("bookkeeper")
"""The modelled releases of BookKeeper, the oldest first."""

KAFKA = numbers("kafka")
"""The modelled releases of Kafka, one of each family of its controller, the oldest first."""

USUAL_KAFKA = "0.10.2.2"
"""The release of Kafka that its protocol mirrors where none is named."""

PULSAR: Mapping[str, str] = {release.number: release.bookkeeper for release in RELEASES if release.project == "pulsar"}
"""The modelled releases of Pulsar, the oldest first, each with the BookKeeper that it ships."""


class ReleaseError(Exception):
    """A release that is not modelled; the message lists those that are."""


def release(number: str) -> Release:
    """The row of that number; ReleaseError if there is none."""
    for row in RELEASES:
        if row.number == number:
            return row
    raise ReleaseError(f"{number} is not modelled; there are {', '.join((*PULSAR, *BOOKKEEPER, *KAFKA))}")


def held(project: str, usual: str) -> tuple[str, ...]:
    """The releases of a project that are held against real code, the usual one before the others."""
    rows = tuple(row.number for row in RELEASES if row.project == project and row.held)
    return tuple(sorted(rows, key=lambda number: number != usual))


def is_since(number: str, first: str) -> bool:
    """Whether a release is that one, or a later one of the table."""
    releases = numbers(release(number).project)
    return releases.index(number) >= releases.index(first)


def modelled(project: str, number: str | None) -> str:
    """That number, empty if it is none; ReleaseError if the project has no such release in the table."""
    return _known(project, number) if number else ""


_BEFORE = ("snapshot", "alpha", "beta", "m", "milestone", "rc", "cr")
"""The words behind a version's numbers that make it earlier, in Maven's order of versions; any other makes it later."""


def followed(project: str, number: str, among: Sequence[str] = ()) -> str:
    """The modelled release that a version is, or that it follows, among all or some: 4.2.4 of 4.2.5-SNAPSHOT; the oldest if it
    follows none."""
    modelled = among or numbers(project)
    return max((each for each in modelled if _order(each) <= _order(number)), key=_order, default=modelled[0])


def _order(number: str) -> tuple[tuple[int, ...], int, str]:
    numbers, _, word = number.partition("-")
    letters = re.sub(r"[^a-z].*", "", word.lower())
    place = 0 if not word else -1 if letters in _BEFORE else 1
    return tuple(int(part) for part in re.findall(r"\d+", numbers)), place, word


@dataclass(frozen=True)
class Reading:
    """Which releases have something, and which do not, as far as somebody has read them; the others are unread."""

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


@cache
def reading(project: str, text: str) -> Reading:
    """The reading that is written as ``4.0.8 to 4.2.4, not 2.10.1, 5.0.0-M1``: what follows ``not`` does not have it.

    A range reaches over ``RANGES``. ReleaseError for a release that is not in the table, or that is named twice.
    """
    having, lacking = list[str](), list[str]()
    names = having
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part.startswith("not "):
            names = lacking
        names += _named(project, part.removeprefix("not "))
    if twice := [number for number in having + lacking if (having + lacking).count(number) > 1]:
        raise ReleaseError(f"{text!r} names {twice[0]} twice")
    ordered = numbers(project)
    return Reading(*(tuple(sorted(side, key=ordered.index)) for side in (having, lacking)))


def _named(project: str, part: str) -> tuple[str, ...]:
    """The releases of a part of a reading: one, or those of a range."""
    first, _, last = part.partition(" to ")
    within = RANGES[project] if last else numbers(project)
    if unknown := [number for number in (first, last or first) if number not in within]:
        raise ReleaseError(f"{part!r} names {unknown[0]}, which is none of {', '.join(within)}")
    return within[within.index(first) : within.index(last or first) + 1]


EVERY: Mapping[str, str] = {project: f"{read[0]} to {read[-1]}" for project, read in RANGES.items()}
"""All releases that ranges reach over, as a reading."""

_FROM_4_16_6, _FROM_4_17_2 = "4.16.6 to 4.18.2, not 4.14.5", "4.17.2 to 4.18.2, not 4.14.5 to 4.16.6"
_FROM_4_2_4, _UP_TO_5_M1 = "4.2.4 to 5.0.1, not 2.10.1 to 4.0.8", "2.10.1 to 5.0.0-M1, not 5.0.1"
_FROM_5_0_1 = "5.0.1, not 2.10.1 to 5.0.0-M1"
_FROM_3_0_7, _FROM_4_0_8 = "3.0.7 to 5.0.1, not 2.10.1", "4.0.8 to 5.0.1, not 2.10.1 to 3.0.7"

_UP_TO_0_10_2, _UP_TO_1_0 = "0.10.1.1, 0.10.2.2, not 1.0.2 to 3.9.2", "0.10.1.1 to 1.0.2, not 1.1.0 to 3.9.2"
_UP_TO_2_0, _FROM_1_0 = "0.10.1.1 to 2.0.1, not 2.1.1 to 3.9.2", "1.0.2 to 3.9.2, not 0.10.1.1 to 0.10.2.2"

ONLY_IN: Mapping[str, str] = {
    "AuditorBookieCheckTask": _FROM_4_16_6,
    "AuditorCheckAllLedgersTask": _FROM_4_16_6,
    "AuditorTask": _FROM_4_16_6,
    "BookieImpl": _FROM_4_16_6,
    "DataIntegrityCheckImpl": _FROM_4_16_6,
    "DataIntegrityCookieValidation": _FROM_4_16_6,
    "EntryCopierImpl": _FROM_4_16_6,
    "Journal.ForceWriteThread.syncJournal": _FROM_4_16_6,
    "LegacyCookieValidation": _FROM_4_16_6,
    "PendingAddOp.initiate": _FROM_4_16_6,
    "ReadOpBase": _FROM_4_17_2,
    "SingleDirectoryDbLedgerStorage.setLimboState": _FROM_4_16_6,
    "UncleanShutdownDetectionImpl": _FROM_4_16_6,
    "KafkaController.SessionExpirationListener": _UP_TO_0_10_2,
    "KafkaController.checkAndTriggerPartitionRebalance": _UP_TO_0_10_2,
    "KafkaController.elect": _FROM_1_0,
    "KafkaController.handleIllegalState": _FROM_1_0,
    "KafkaController.incrementControllerEpoch": _UP_TO_2_0,
    "KafkaController.readControllerEpochFromZookeeper": _UP_TO_1_0,
    "KafkaController.triggerControllerMove": _FROM_1_0,
    "KafkaHealthcheck": _UP_TO_1_0,
    "KafkaZkClient.registerBroker": "2.1.1 to 3.9.2, not 0.10.1.1 to 2.0.1",
    "KafkaZkClient.registerBrokerInZk": "1.1.0, 2.0.1, not 0.10.1.1 to 1.0.2, 2.1.1 to 3.9.2",
    "ReplicaStateMachine.BrokerChangeListener.doHandleChildChange": "0.10.2.2, not 0.10.1.1, 1.0.2 to 3.9.2",
    "ZookeeperLeaderElector": _UP_TO_0_10_2,
    "AbstractMetadataStore.deleteInternal": _FROM_3_0_7,
    "AbstractMetadataStore.putInternal": _FROM_3_0_7,
    "BrokerRegistryImpl.handleMetadataSessionEvent": _FROM_4_0_8,
    "BrokerService.createPersistentTopic0": _FROM_3_0_7,
    "BrokerService.failTopicFuture": "4.2.4, 5.0.1, not 2.10.1 to 4.0.8, 5.0.0-M1",
    "PersistentSubscription.acknowledgeMessage": "2.10.1 to 4.2.4, not 5.0.0-M1, 5.0.1",
    "SystemTopicBasedTopicPoliciesService.scheduleInitPolicesCacheTimeout": _FROM_4_2_4,
    "BrokerRegistryImpl.handleMetadataStoreNotification": _FROM_3_0_7,
    "BrokerRegistryImpl.registerAsync": _FROM_4_0_8,
    "BrokerRegistryImpl.unregister": _FROM_3_0_7,
    "DualMetadataCache": _FROM_4_2_4,
    "DualMetadataStore": _FROM_4_2_4,
    "ExtensibleLoadManagerImpl": _FROM_3_0_7,
    "ExtensibleLoadManagerImpl.validateBrokerRegistry": _FROM_4_0_8,
    "ManagedLedgerImpl.abortRolloverAfterTerminate": _FROM_5_0_1,
    "ManagedLedgerImpl.addEntryFailedDueToConcurrentlyModified": _FROM_4_0_8,
    "ManagedLedgerImpl.createNewOpAddEntryForNewLedger": _FROM_3_0_7,
    "ManagedLedgerImpl.doDeleteLedgers": _FROM_3_0_7,
    "ManagedLedgerImpl.fenceByAnotherWriter": _FROM_5_0_1,
    "GeoPersistentReplicator": _FROM_3_0_7,
    "GeoReplicationProducerImpl": _FROM_4_0_8,
    "OwnershipCache.handleOwnershipTakenOver": _FROM_5_0_1,
    "OwnershipCache.stopServingTakenOverBundle": _FROM_5_0_1,
    "ManagedLedgerImpl.handleBadVersion": _FROM_3_0_7,
    "ManagedLedgerImpl.metadataSessionLost": _FROM_5_0_1,
    "MessageDeduplication.isDuplicateNormal": _FROM_4_0_8,
    "MessageDeduplication.isDuplicateReplV2": _FROM_4_0_8,
    "MetadataStoreTableViewImpl": _FROM_4_0_8,
    "MigrationCoordinator": _FROM_4_2_4,
    "NamespaceService.updateNamespaceBundlesForPolicies": _FROM_3_0_7,
    "NamespacesBase.internalSplitNamespaceBundleAsync": _FROM_3_0_7,
    "OpAddEntry.run": _FROM_3_0_7,
    "PulsarZooKeeperClient.onExpired": _UP_TO_5_M1,
    "PulsarWebResource.validateNamespaceBundleOwnershipAsync": _FROM_3_0_7,
    "ResourceLockImpl.silentRevalidateOnce": _FROM_3_0_7,
    "ServiceUnitStateChannelImpl": _FROM_3_0_7,
    "ServiceUnitStateChannelImpl.handleInvalidate": _FROM_4_0_8,
    "ServiceUnitStateChannelImpl.healthCheckBrokerAsync": _FROM_4_0_8,
    "ServiceUnitStateDataConflictResolver": _FROM_4_0_8,
    "ServiceUnitStateTableViewImpl": _FROM_4_0_8,
    "ServiceUnitStateTableViewSyncer": _FROM_4_0_8,
    "ServiceUnitStateTableViewSyncer.reconcile": _FROM_4_2_4,
    "ServiceUnitStateTableViewSyncer.sync": _FROM_4_2_4,
    "StrategicTwoPhaseCompactor": _FROM_3_0_7,
}
"""The releases that have a class or a method which actions mirror, where not all have it; ``fencepost conform mirrors`` looks.
A class stands for those of its methods that are not named themselves."""


def mirrored_in(method: str, project: str) -> Reading:
    """The releases of ``pulsar``, ``bookkeeper`` or ``kafka`` that have a method which actions mirror, ``Class.method``."""
    names = method.split(".")
    outer = (".".join(names[:end]) for end in range(len(names), 0, -1))
    return reading(project, next((ONLY_IN[name] for name in outer if name in ONLY_IN), EVERY[project]))


Behaviour = Mapping[str, Mapping[str, bool | int | str]]
"""By release the parameters with which a protocol behaves as it does, of those that differ between releases."""


def changed(parameter: str, *, since: str, before: bool | int | str, after: bool | int | str) -> Behaviour:
    """The value of a parameter in every modelled release of Pulsar, of behaviour that changed in one of them.

    A release that nobody has read behaves as the one before it in the table.
    """
    return {number: {parameter: after if is_since(number, since) else before} for number in PULSAR}


def both(*behaviours: Behaviour) -> Behaviour:
    """Behaviours that changed apart, together."""
    return {number: {name: value for each in behaviours for name, value in each.get(number, {}).items()} for number in PULSAR}


@dataclass(frozen=True)
class Releases:
    """What a cluster runs: a release of Pulsar and one of BookKeeper, or one of Kafka, or both; empty is what it does not
    run. ``bookkeeper`` is that of the bookies, ``client`` that of the brokers' client, which is the same unless it is named."""

    pulsar: str
    bookkeeper: str
    kafka: str = ""
    instead: tuple[str, ...] = field(default=(), compare=False)
    """Of each release that was named and is not modelled, that the nearest one answers for it."""
    client: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", self.client or self.bookkeeper)

    @classmethod
    def of(
        cls, pulsar: str | None = None, bookkeeper: str | None = None, kafka: str | None = None, client: str | None = None
    ) -> Releases:
        """The releases of these names; what is not named follows from the other, or is the newest.

        The client is what a Pulsar that is named ships. A BookKeeper that is named without a Pulsar is that of the client too,
        and goes with the newest Pulsar; a Kafka that is named alone with neither. For a release that is not modelled the one
        before it that was read answers (``instead``). Raises ReleaseError where there is none.
        """
        named = {"pulsar": pulsar, "bookkeeper": bookkeeper, "kafka": kafka, "client": client}
        projects = {**{project: project for project in SYSTEMS}, "client": "bookkeeper"}
        chosen = {name: _nearest(projects[name], number) for name, number in named.items() if number is not None}
        instead = tuple(
            f"{SYSTEMS[projects[name]]} {asked} was read by nobody: the answers are those of {number}, the nearest that was "
            f"read; fencepost releases diff {number} {asked} tells what to read"
            for name, number in chosen.items()
            if (asked := named[name]) != number
        )
        if chosen.keys() == {"kafka"}:
            return cls("", "", chosen["kafka"], instead)
        of_pulsar = chosen.get("pulsar", NEWEST)
        bookies = chosen.get("bookkeeper", PULSAR[of_pulsar])
        shipped = PULSAR[of_pulsar] if "pulsar" in chosen else bookies
        return cls(of_pulsar, bookies, chosen.get("kafka", ""), instead, chosen.get("client", shipped))

    def of_project(self, project: str, *, client: bool = False) -> str:
        """The number of the release of ``pulsar``, ``bookkeeper`` or ``kafka``; empty where there is none. Of BookKeeper it is
        that of the bookies, or of the brokers' client."""
        bookkeeper = self.client if client else self.bookkeeper
        return {"pulsar": self.pulsar, "bookkeeper": bookkeeper, "kafka": self.kafka}[project]

    def __str__(self) -> str:
        client = f" (its client {self.client})" if self.client != self.bookkeeper else ""
        pulsar = f"Pulsar {self.pulsar} with BookKeeper {self.bookkeeper}{client}" if self.pulsar else ""
        return ", ".join(filter(None, (pulsar, f"Kafka {self.kafka}" if self.kafka else "")))


def _nearest(project: str, number: str) -> str:
    """The release of that number, or the one before it that was read; ReleaseError if there is none."""
    is_number = re.fullmatch(r"\d+(\.\d+)+(-[\w.-]+)?", number)
    is_older = _order(number) < _order(numbers(project)[0])
    is_one = number in numbers(project)
    return _known(project, number) if is_one or is_older or not is_number else followed(project, number, RANGES[project])


def _known(project: str, number: str) -> str:
    if number not in numbers(project):
        raise ReleaseError(f"{SYSTEMS[project]} {number} is not modelled; there are {', '.join(numbers(project))}")
    return number
