"""What protocols take of a broker's configuration: the quorums of ledgers, topics, the control plane and its metadata store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.checks.settings.broker_conf import LARGEST, BrokerConf, ConfigurationError, Taken
from fencepost.model.pulsar.hash_range import ALGORITHMS
from fencepost.model.pulsar.stores import STORES, stores_of
from fencepost.model.releases import NEWEST, is_since
from fencepost.properties.configuration import Topics

ENSEMBLE = "managedLedgerDefaultEnsembleSize"
WRITE_QUORUM = "managedLedgerDefaultWriteQuorum"
ACK_QUORUM = "managedLedgerDefaultAckQuorum"
DEFAULT = 2


@dataclass(frozen=True)
class LedgerSettings:
    """The sizes of a ledger's quorums, 1 <= ack quorum <= write quorum <= ensemble."""

    ensemble: Taken[int]
    write_quorum: Taken[int]
    ack_quorum: Taken[int]

    @property
    def taken(self) -> tuple[Taken[int], ...]:
        return self.ensemble, self.write_quorum, self.ack_quorum


def ledger_settings(conf: BrokerConf) -> LedgerSettings:
    """The ledger settings in a ``broker.conf``; ConfigurationError if a value is no quorum, or they do not fit each other."""
    ensemble, write_quorum, ack_quorum = (
        conf.number(key, DEFAULT, f"write the number of bookies, such as {key}={DEFAULT}", tell=True)
        for key in (ENSEMBLE, WRITE_QUORUM, ACK_QUORUM)
    )
    _require_order(conf, ack_quorum, write_quorum)
    _require_order(conf, write_quorum, ensemble)
    if ack_quorum.value == 1:
        conf.notes.append(
            f"{ack_quorum}: an acknowledged entry may be on one bookie only; recovery must then hear every bookie of its"
            " write set, and one lost disk loses entries"
        )
    return LedgerSettings(ensemble, write_quorum, ack_quorum)


def _require_order(conf: BrokerConf, smaller: Taken[int], larger: Taken[int]) -> None:
    if smaller.value > larger.value:
        raise ConfigurationError(
            f"{conf.name}: {smaller} is greater than {larger}; lower {smaller.name} to at most {larger.value}"
            f" or raise {larger.name} to at least {smaller.value}",
            smaller.place or larger.place,
        )


DEDUPLICATION = "brokerDeduplicationEnabled"
MOST_ENTRIES = "managedLedgerMaxEntriesPerLedger"
ADD_TIMEOUT = "managedLedgerAddEntryTimeoutSeconds"
LAZY_CURSORS = "lazyCursorRecovery"
RETENTION_TIME, RETENTION_SIZE = "defaultRetentionTimeInMinutes", "defaultRetentionSizeInMB"
DELETES_INACTIVE = "brokerDeleteInactiveTopicsEnabled"
CLUSTERS = "replication_clusters"
BOOKKEEPER_STORE = "bookkeeperMetadataServiceUri"
MOST_RANGES = "managedLedgerMaxUnackedRangesToPersist"
LONG_ARRAYS, OPEN_CACHE = "managedLedgerPersistIndividualAckAsLongArray", "managedLedgerUnackedRangesOpenCacheSetEnabled"
MARK_DELETES = "managedLedgerDefaultMarkDeleteRateLimit"


@dataclass(frozen=True)
class TopicSettings:
    """Deduplication; entries of a full ledger; after how many seconds an add times out (not at all: 0 or less); whether cursors
    are recovered after the topic is served; what is retained (for good: a negative number); whether inactive topics are
    deleted; whether BookKeeper's metadata come by a session of their own; the clusters that messages are replicated to.

    Of a subscription: the most ranges of acknowledged messages that are persisted, and whether as a bit for each entry, both
    with another default from some release on; whether they are kept so in memory; and how many acknowledgements are written
    in a second, 0 for all."""

    deduplication: Taken[bool]
    most_entries: Taken[int]
    add_timeout: Taken[int]
    lazy_cursors: Taken[bool]
    retention_time: Taken[int]
    retention_size: Taken[int]
    deletes_inactive: Taken[bool]
    bookkeeper_store: Taken[bool]
    clusters: Taken[str]
    most_ranges: Taken[int]
    long_arrays: Taken[bool]
    open_cache: Taken[bool]
    mark_deletes: Taken[float]

    @property
    def taken(self) -> tuple[Taken[Any], ...]:
        """Those that some file has, in the order in which they are reported."""
        every: tuple[Taken[Any], ...] = (
            *(self.deduplication, self.most_entries, self.add_timeout, self.lazy_cursors),
            *(self.retention_time, self.retention_size, self.deletes_inactive, self.bookkeeper_store, self.clusters),
            *(self.most_ranges, self.long_arrays, self.open_cache, self.mark_deletes),
        )
        return tuple(each for each in every if each.place is not None)

    @property
    def keeps_all(self) -> bool:
        """Whether no ledger is ever trimmed, as ManagedLedgerImpl.hasLedgerRetentionExpired and isLedgerRetentionOverSizeQuota
        have it: neither a time nor a size limits what is retained."""
        return self.retention_time.value < 0 and self.retention_size.value < 0

    @property
    def deletes(self) -> bool:
        """Whether a topic that nobody uses is deleted: PersistentTopic.checkGC and shouldTopicBeRetained."""
        return self.deletes_inactive.value and self.retention_time.value >= 0

    def ranges_in(self, release: str) -> int:
        """The most ranges that a release persists."""
        return _most_ranges(release) if self.most_ranges.place is None else self.most_ranges.value

    def has_long_arrays_in(self, release: str) -> bool:
        """Whether a release persists ranges as a bit for each entry (ManagedCursorImpl.persistPositionToLedger).

        The setting came with 4.0.8. 5.0.1 has no managedLedgerUnackedRangesOpenCacheSetEnabled; releases before ask for both.
        """
        wanted = _has_long_arrays(release) if self.long_arrays.place is None else self.long_arrays.value
        ignores_cache = is_since(release, "5.0.1")
        return wanted and (ignores_cache or self.open_cache.value) and is_since(release, "4.0.8")

    def plain_in(self, release: str) -> Topics:
        """They as a protocol takes them, in a release."""
        return Topics(
            deduplication=self.deduplication.value,
            most_entries=self.most_entries.value,
            times_out=self.add_timeout.value > 0,
            lazy_cursors=self.lazy_cursors.value,
            keeps_all=self.keeps_all,
            deletes=self.deletes,
            separate_store=self.bookkeeper_store.value,
            replicated=len([name for name in self.clusters.value.split(",") if name.strip()]) > 1,
            most_ranges=self.ranges_in(release),
            long_arrays=self.has_long_arrays_in(release),
            answers_early=self.mark_deletes.value > 0,
        )


def _has_long_arrays(release: str) -> bool:
    """The default of managedLedgerPersistIndividualAckAsLongArray in ServiceConfiguration: 4.0.8:2359, 4.2.4:2533."""
    return is_since(release, "4.2.4")


def _most_ranges(release: str) -> int:
    """The default of managedLedgerMaxUnackedRangesToPersist in ServiceConfiguration: 2.10.1:1808, 4.2.4:2518, 5.0.0-M1:2731."""
    return 200_000 if is_since(release, "5.0.0-M1") else 10_000


def topic_settings(conf: BrokerConf) -> TopicSettings:
    """The settings of topics in a ``broker.conf``; ConfigurationError for a value that Pulsar does not take."""
    remedy = "write a number, such as {}=0, or -1 for no limit"
    separate = conf.address(BOOKKEEPER_STORE)
    return TopicSettings(
        conf.flag(DEDUPLICATION, False),
        conf.number(MOST_ENTRIES, 50_000, f"write the number of entries, such as {MOST_ENTRIES}=50000"),
        conf.number(ADD_TIMEOUT, 0, f"write seconds, such as {ADD_TIMEOUT}=120, or 0 for none", least=-LARGEST),
        conf.flag(LAZY_CURSORS, False),
        conf.number(RETENTION_TIME, 0, remedy.format(RETENTION_TIME), least=-LARGEST),
        conf.number(RETENTION_SIZE, 0, remedy.format(RETENTION_SIZE), least=-LARGEST),
        conf.flag(DELETES_INACTIVE, True),
        Taken(BOOKKEEPER_STORE, separate is not None, separate.place if separate else None),
        conf.given(CLUSTERS) or Taken(CLUSTERS, "", None),
        conf.number(MOST_RANGES, _most_ranges(NEWEST), f"write the number of ranges, such as {MOST_RANGES}=10000", least=0),
        conf.flag(LONG_ARRAYS, _has_long_arrays(NEWEST)),
        conf.flag(OPEN_CACHE, True),
        conf.decimal(MARK_DELETES, 1.0, f"write the writes in a second, such as {MARK_DELETES}=1.0, or 0 for no limit"),
    )


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

    def store_in(self, release: str) -> str:
        """The metadata store by its scheme; where a release of Pulsar lacks it, and no broker starts, what else there is to say
        of the release is said of ZooKeeper."""
        return self.metadata_store.value if self.metadata_store.value in stores_of(release) else ZOOKEEPER

    def session_policy(self, store: str) -> str:
        """What a broker does when its session is lost: it goes on where no store tells it so."""
        return self.on_session_loss.value if STORES[store].tells else "reconnect"


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
    if settings.session_policy(settings.metadata_store.value) != settings.on_session_loss.value:
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


URL, FORMER_URL = "metadataStoreUrl", "zookeeperServers"
ZOOKEEPER = "zk"


def metadata_store(conf: BrokerConf) -> Taken[str]:
    """The scheme of the metadata store's URL; it is ZooKeeper where none is written, or none that Pulsar ships.

    As ServiceConfiguration.getMetadataStoreUrl and MetadataStoreFactoryImpl.findProvider have it: the former key counts only if
    the present one is not set, and is of ZooKeeper whatever it says. The URL itself is not kept, which may tell where a cluster
    is.
    """
    url, former = conf.address(URL), conf.address(FORMER_URL)
    if url is None:
        return Taken(FORMER_URL, ZOOKEEPER, former.place) if former is not None else Taken(URL, ZOOKEEPER)
    scheme = next((scheme for scheme in STORES if url.value.startswith(f"{scheme}:")), None)
    if scheme is None:
        head, colon, _ = url.value.partition("://")
        if colon and head.isidentifier():
            conf.notes.append(f"{url.place}: {URL}: {head}:// is not a store that Pulsar ships; ZooKeeper is assumed")
    return Taken(URL, scheme or ZOOKEEPER, url.place)
