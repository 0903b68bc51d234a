"""What the control plane takes from a cluster's configuration: bundles, their splits, the metadata store and sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.checks.settings.broker_conf import LARGEST, BrokerConf, ConfigurationError, Taken
from fencepost.checks.settings.metadata_store_settings import metadata_store
from fencepost.model.pulsar.hash_range import ALGORITHMS
from fencepost.model.pulsar.stores import STORES

FIRST_BUNDLES = "defaultNumberOfNamespaceBundles"
MOST_BUNDLES = "loadBalancerNamespaceMaximumBundles"
ALGORITHM = "defaultNamespaceBundleSplitAlgorithm"
SUPPORTED = "supportedNamespaceBundleSplitAlgorithms"
UNLOADS = "loadBalancerAutoUnloadSplitBundlesEnabled"
SESSION_POLICY = "zookeeperSessionExpiredPolicy"
SESSION_TIMEOUT = "metadataStoreSessionTimeoutMillis"
FORMER_SESSION_TIMEOUT = "zooKeeperSessionTimeoutMillis"
DEFAULT_TIMEOUT = 30_000


@dataclass(frozen=True)
class ControlPlaneSettings:
    """Bundles of a new namespace and the most that automatic splits make of them, how they split and whether the parts are
    then unloaded; what a broker does when its session is lost, and after how many milliseconds it is; and the metadata store.
    """

    first_bundles: Taken[int]
    most_bundles: Taken[int]
    algorithm: Taken[str]
    supported: Taken[tuple[str, ...]]
    unloads: Taken[bool]
    on_session_loss: Taken[str]
    session_timeout: Taken[int]
    metadata_store: Taken[str]

    @property
    def taken(self) -> tuple[Taken[Any], ...]:
        bundles = (self.first_bundles, self.most_bundles, self.algorithm, self.supported, self.unloads)
        stores = (self.metadata_store,) if self.metadata_store.place is not None else ()
        return *bundles, self.on_session_loss, self.session_timeout, *stores

    @property
    def session_policy(self) -> str:
        """What a broker does when its session is lost: it goes on where no store tells it so."""
        return self.on_session_loss.value if STORES[self.metadata_store.value].tells else "reconnect"


def control_plane_settings(conf: BrokerConf) -> ControlPlaneSettings:
    """The control plane's settings in a ``broker.conf``.

    Raises ConfigurationError for a value that Pulsar does not take, and if the default split algorithm is not supported, with
    which PulsarBrokerStarter does not start.
    """
    settings = ControlPlaneSettings(
        conf.number(FIRST_BUNDLES, 4, f"write the number of bundles, such as {FIRST_BUNDLES}=4"),
        conf.number(MOST_BUNDLES, 128, f"write the number of bundles, such as {MOST_BUNDLES}=128"),
        conf.choice(ALGORITHM, ALGORITHMS[0], ALGORITHMS),
        conf.choices(SUPPORTED, ALGORITHMS, ALGORITHMS),
        conf.flag(UNLOADS, True),
        conf.choice(SESSION_POLICY, "reconnect", ("reconnect", "shutdown")),
        _session_timeout(conf),
        metadata_store(conf),
    )
    if settings.session_policy != settings.on_session_loss.value:
        note = f"{settings.metadata_store} does not report a lost session to brokers, so none shuts down"
        conf.notes.append(f"{settings.on_session_loss}: {note}")
    if settings.algorithm.value not in settings.supported.value:
        raise ConfigurationError(
            f"{conf.name}: {settings.algorithm} is not one of {settings.supported}, with which no broker starts;"
            f" add it to {SUPPORTED} or choose another {ALGORITHM}",
            settings.algorithm.place or settings.supported.place,
        )
    if settings.first_bundles.value >= settings.most_bundles.value:
        limit = f"{settings.first_bundles} is not below {settings.most_bundles}"
        conf.notes.append(f"{limit}: no new namespace is split automatically")
    return settings


def require_algorithms(settings: ControlPlaneSettings, release: str) -> None:
    """Raises ConfigurationError if a release lacks a split algorithm that is configured: PulsarBrokerStarter does not start."""
    named = (*settings.supported.value, settings.algorithm.value)
    where = settings.supported.place or settings.algorithm.place
    lacking = [name for name in dict.fromkeys(named) if name not in algorithms_of(release)]
    if lacking and where is not None:
        remedy = f"name of {', '.join(algorithms_of(release))}"
        raise ConfigurationError(f"{where}: Pulsar {release} has no {lacking[0]}, and no broker starts; {remedy}", where)


def algorithms_of(release: str) -> tuple[str, ...]:
    """The split algorithms of a release: NamespaceBundleSplitAlgorithm.AVAILABLE_ALGORITHMS."""
    return ALGORITHMS[:2] if release == "2.10.1" else ALGORITHMS


def _session_timeout(conf: BrokerConf) -> Taken[int]:
    """As ServiceConfiguration.getMetadataStoreSessionTimeoutMillis has it: the former key, if positive, counts first."""
    remedy = f"write milliseconds, such as {SESSION_TIMEOUT}={DEFAULT_TIMEOUT}"
    former = conf.number(FORMER_SESSION_TIMEOUT, -1, remedy, least=-LARGEST)
    present = conf.number(SESSION_TIMEOUT, DEFAULT_TIMEOUT, remedy)
    counts = former if former.value > 0 else present
    if former.value > 0 and present.place is not None:
        conf.notes.append(f"Pulsar ignores {present}: it prefers the older key {former}")
    if counts.value != DEFAULT_TIMEOUT:
        lost = counts.value * 5 // 6  # ZKSessionWatcher
        conf.notes.append(
            f"{counts}: a broker gives its session up for lost after {lost} ms, 5/6 of that; a broker that is paused for longer"
            f" than the remaining {counts.value - lost} ms may act on an expired session"
        )
    return counts
