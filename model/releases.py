"""The releases of Apache Pulsar and Apache BookKeeper that the protocols mirror, and the history of a mistake in them.

A release is a named set of switches of the protocols and nothing more: the mistakes that it has, its hazards, and what behaves
otherwise in it. Which BookKeeper a release of Pulsar ships stands in its pom (``bookkeeper.version``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BOOKKEEPER = ("4.14.5", "4.16.6", "4.17.2", "4.17.3", "4.18.0")
"""The modelled releases of BookKeeper, the oldest first."""

PULSAR: Mapping[str, str] = {
    "2.10.1": "4.14.5",
    "3.0.7": "4.16.6",
    "4.0.8": "4.17.2",
    "4.2.4": "4.17.3",
    "5.0.0-M1": "4.18.0",
}
"""The modelled releases of Pulsar, the oldest first, each with the BookKeeper that it ships."""

NEWEST = "4.2.4"
"""The newest release of Pulsar that is no milestone: what is meant where none is named."""

_FROM_4_16_6, _FROM_4_17_2 = BOOKKEEPER[1:], BOOKKEEPER[2:]
_FROM_3_0_7, _FROM_4_0_8 = tuple(PULSAR)[1:], tuple(PULSAR)[2:]

ONLY_IN: Mapping[str, tuple[str, ...]] = {
    "BookieImpl": _FROM_4_16_6,
    "DataIntegrityCheckImpl": _FROM_4_16_6,
    "DataIntegrityCookieValidation": _FROM_4_16_6,
    "Journal.ForceWriteThread.syncJournal": _FROM_4_16_6,
    "LegacyCookieValidation": _FROM_4_16_6,
    "PendingAddOp.initiate": _FROM_4_16_6,
    "ReadOpBase": _FROM_4_17_2,
    "SingleDirectoryDbLedgerStorage.setLimboState": _FROM_4_16_6,
    "UncleanShutdownDetectionImpl": _FROM_4_16_6,
    "BrokerRegistryImpl.handleMetadataSessionEvent": _FROM_4_0_8,
    "BrokerRegistryImpl.handleMetadataStoreNotification": _FROM_3_0_7,
    "BrokerRegistryImpl.registerAsync": _FROM_4_0_8,
    "BrokerRegistryImpl.unregister": _FROM_3_0_7,
    "ExtensibleLoadManagerImpl": _FROM_3_0_7,
    "ExtensibleLoadManagerImpl.validateBrokerRegistry": _FROM_4_0_8,
    "MetadataStoreTableViewImpl": _FROM_4_0_8,
    "NamespaceService.updateNamespaceBundlesForPolicies": _FROM_3_0_7,
    "NamespacesBase.internalSplitNamespaceBundleAsync": _FROM_3_0_7,
    "PulsarWebResource.validateNamespaceBundleOwnershipAsync": _FROM_3_0_7,
    "ResourceLockImpl.silentRevalidateOnce": _FROM_3_0_7,
    "ServiceUnitStateChannelImpl": _FROM_3_0_7,
    "ServiceUnitStateChannelImpl.healthCheckBrokerAsync": _FROM_4_0_8,
    "ServiceUnitStateDataConflictResolver": _FROM_4_0_8,
    "ServiceUnitStateTableViewImpl": _FROM_4_0_8,
    "StrategicTwoPhaseCompactor": _FROM_3_0_7,
}
"""The modelled releases that have a class or a method which actions mirror, where not all have it; ``fencepost conform
mirrors`` looks. A class stands for those of its methods that are not named
themselves."""


Behaviour = Mapping[str, Mapping[str, bool | int | str]]
"""By release of Pulsar the parameters with which a protocol behaves as it does, of those that differ between releases."""


def changed(parameter: str, *, since: str, before: bool | int | str, after: bool | int | str) -> Behaviour:
    """The value of a parameter in every modelled release of Pulsar, of behaviour that changed in one of them."""
    first = tuple(PULSAR).index(since)
    return {release: {parameter: before if place < first else after} for place, release in enumerate(PULSAR)}


class ReleaseError(Exception):
    """A release that is not modelled; the message lists those that are."""


@dataclass(frozen=True)
class Releases:
    """What a cluster runs: a release of Pulsar and one of BookKeeper."""

    pulsar: str
    bookkeeper: str

    @classmethod
    def of(cls, pulsar: str | None = None, bookkeeper: str | None = None) -> Releases:
        """The releases of these names; what is not named follows from the other, or is the newest.

        A BookKeeper that is named alone goes with the newest Pulsar. Raises ReleaseError for a release that is not modelled.
        """
        chosen = _known("Pulsar", pulsar or NEWEST, tuple(PULSAR))
        return cls(chosen, _known("BookKeeper", bookkeeper or PULSAR[chosen], BOOKKEEPER))

    def __str__(self) -> str:
        return f"Pulsar {self.pulsar} with BookKeeper {self.bookkeeper}"


@dataclass(frozen=True)
class History:
    """What is known of a mistake in the releases of the real system.

    ``project`` is ``pulsar`` or ``bookkeeper``; ``upstream`` are issues there; ``present`` are the modelled releases that
    have the mistake. ``since`` and ``fixed`` are told as they are known, and are empty where no release ever had it, or has
    it mended. ``only`` are the values of a parameter, such as the storage, with which a release has it (empty: all), and
    ``applies`` says of all parameters whether an instance can have it, where ``only`` does not suffice. ``regardless`` are the
    parameters that make no difference to it: whatever is configured, it is looked for with those that show it soonest.
    ``costs`` says what an operator loses, ``avoided_by`` the setting that avoids it, ``evidence`` the class, method and
    release that were read, ``reproduced`` what was seen on real code, by release.
    """

    project: str
    upstream: Sequence[str] = ()
    since: str = ""
    fixed: str = ""
    present: tuple[str, ...] = ()
    only: Mapping[str, tuple[str, ...]] | None = None
    applies: Callable[[Mapping[str, Any]], bool] | None = None
    regardless: tuple[str, ...] = ()
    costs: str = ""
    avoided_by: str = ""
    evidence: str = ""
    reproduced: Mapping[str, str] | None = None

    def is_hazard(self, releases: Releases) -> bool:
        """Whether these releases have the mistake."""
        return (releases.pulsar if self.project == "pulsar" else releases.bookkeeper) in self.present

    def release(self, releases: Releases) -> str:
        """The one of these releases that it is about, by the system's name and its number."""
        return f"Pulsar {releases.pulsar}" if self.project == "pulsar" else f"BookKeeper {releases.bookkeeper}"

    def fits(self, parameters: Mapping[str, Any]) -> bool:
        """Whether an instance with these parameters can have the mistake: they are those of ``only``, and it ``applies``."""
        if self.applies is not None and not self.applies(parameters):
            return False
        return all(parameters.get(name, values[0]) in values for name, values in (self.only or {}).items())

    @property
    def modelled(self) -> tuple[str, ...]:
        """The modelled releases of the project."""
        return tuple(PULSAR) if self.project == "pulsar" else BOOKKEEPER

    @property
    def ending(self) -> str:
        """When it was mended: the releases, ``open``, or nothing where no release had it."""
        return self.fixed or ("open" if self.since or self.present else "")


def mirrored_in(method: str, project: str) -> tuple[str, ...]:
    """The modelled releases of ``pulsar`` or ``bookkeeper`` that have a method which actions mirror, ``Class.method``."""
    names = method.split(".")
    modelled = tuple(PULSAR) if project == "pulsar" else BOOKKEEPER
    return next((ONLY_IN[n] for n in (".".join(names[:end]) for end in range(len(names), 0, -1)) if n in ONLY_IN), modelled)


def _known(product: str, release: str, modelled: Sequence[str]) -> str:
    if release not in modelled:
        raise ReleaseError(f"{product} {release} is not modelled; there is {', '.join(modelled)}")
    return release
