"""What the metadata stores differ in that ``metadataStoreUrl`` can name, as far as elections and locks can tell.

Read in ZKMetadataStore, EtcdMetadataStore, OxiaMetadataStore, RocksdbMetadataStore and LocalMemoryMetadataStore of Pulsar
4.0.8, 4.2.4 and 5.0.0-M1, of which the last has no etcd; in oxia-client 0.9.4 and jetcd, which 4.2.4 ships; and, for what a
deletion answers whose version is not there, in the server of Oxia. All three that are reached over a network send a request
again whose answer was lost: ZKMetadataStore.batchOperation itself, jetcd's KVImpl.txn (twice at most, Errors.isRetryable),
Oxia's ManagedWriteStream.
"""

from __future__ import annotations

from dataclasses import replace

from fencepost.model.language import ModelError, Parameters
from fencepost.model.releases import is_since
from fencepost.model.zookeeper.store import ClientMethods, Store

METHODS = ClientMethods(
    disconnect="ZKSessionWatcher.checkState, ZKSessionWatcher.process, AbstractMetadataStore.receivedSessionEvent",
    lose="ZKSessionWatcher.checkState, ZKSessionWatcher.checkConnectionStatus",
    reconnect="ZKSessionWatcher.checkState, AbstractMetadataStore.receivedSessionEvent",
    resume="ZKSessionWatcher.checkState, ZKMetadataStore.receivedSessionEvent, AbstractMetadataStore.receivedSessionEvent",
    learn_of_expiry="ZKSessionWatcher.checkState, PulsarZooKeeperClient.onExpired",
    reestablish="PulsarZooKeeperClient.onExpired, ZKSessionWatcher.checkState, ZKMetadataStore.receivedSessionEvent, "
    "AbstractMetadataStore.receivedSessionEvent",
    reestablish_unheard="ZKSessionWatcher.checkState, ZKSessionWatcher.setSessionInvalid",
    start="PulsarService.start",
)
"""What pulsar-metadata makes of its connection and its session, with any store: those of ZooKeeper, which was read."""


_STORE = Store(methods=METHODS, times_out=True)
"""A store behind pulsar-metadata, which takes its session for lost by a clock of its own."""

STORES = {
    "zk": replace(_STORE, deletes_any=True),
    "etcd": replace(_STORE, refuses_missing=True, catches_up=True, renews=True, ordered=False),
    "oxia": replace(_STORE, reuses_versions=False, refuses_missing=True, catches_up=True, tells=False, ordered=False),
    "rocksdb": replace(_STORE, in_process=True),
    "memory": replace(_STORE, in_process=True),
}
"""The stores by the scheme of their URL.

- ``zk``: a version is the data version. convertOp passes -1 on, which ZooKeeper takes for any; NONODE is NotFound. Persistent
  watches are set again by the client and not caught up (DataTree.setWatches). ZKSessionWatcher tells of sessions.
- ``etcd``: a version is the key's, less one, which begins again with the key (handleBatchOperationResult). A deletion by
  version compares that, also of a key that is gone: BadVersion; so -1 means a key that is not there (batchOperation). jetcd's
  WatcherImpl.resume goes on from its revision. EtcdSessionWatcher tells of sessions; receivedSessionEvent grants another
  lease before it tells of SessionReestablished, whether or not the former is still there. Answers and watches are streams of
  their own.
- ``oxia``: a version is the version id of the shard, which no two writes have in common (convertStat). Its client takes no -1
  (DeleteOption.IfVersionIdEquals), and its server answers UNEXPECTED_VERSION_ID for a record that is gone, which is BadVersion
  (convertException). ShardNotificationReceiver.start goes on from its offset. Nothing calls receivedSessionEvent: that a
  session has expired is found out by its client, which opens another with the next ephemeral record
  (SessionManager.getSession). Answers and notifications are streams of their own; only these are on the event thread.
- ``rocksdb``, ``memory``: a counter of the node, which begins again with it (storePut); -1 is no version of a node
  (storeDelete). Everything is in the broker's process. Ephemeral nodes of an earlier process are deleted when they are met
  (storeGet).
"""


UP_TO_5_0_0_M1: Parameters = {
    "acquires_when_lost": True,
    "closes_timed_out": False,
    "gives_up": False,
    "aborts_rollover": False,
    "counts_own": False,
}
"""What behaves otherwise since 5.0.1, as it was before."""


def stated(parameters: Parameters) -> dict[str, bool | int | str]:
    """The parameters of an instance as it states them. It goes without saying that the store is ZooKeeper and is not migrated,
    that what policies say is left out, that no update of a list is slow, that no topic is truncated or transferred, or
    gets other properties, and what is as up to 5.0.0-M1."""
    unsaid = (
        ("metadata_store", "zk"),
        ("policies", False),
        ("migration", False),
        ("slow_updates", 0),
        ("truncations", 0),
        ("transfers", 0),
        ("property_updates", 0),
        *UP_TO_5_0_0_M1.items(),
    )
    return {name: value for name, value in parameters.items() if (name, value) not in unsaid}


def store_of(parameters: Parameters) -> Store:
    """The store of an instance that states these parameters."""
    return STORES[parameters.get("metadata_store", "zk")]


def stores_of(release: str) -> tuple[str, ...]:
    """The schemes that a release of Pulsar knows: oxia came with 4.0.0 (PIP-335), and etcd is gone from 5.0.0-M1 (PIP-462).

    Mirrors MetadataStoreFactoryImpl.findProvider, in 2.10.1 newInstance.
    """
    absent = {*(() if is_since(release, "4.0.8") else ("oxia",)), *(("etcd",) if is_since(release, "5.0.0-M1") else ())}
    return tuple(name for name in STORES if name not in absent)


def store_named(scheme: str, protocol: str, *, brokers: int, faults: int, called: str = "brokers") -> Store:
    """The store of that scheme; ModelError if there is none, or if it is in process and there is more than one broker, or are
    ``faults`` of connections and sessions, in the protocol of that name, whose parameter for brokers is ``called`` so."""
    if scheme not in STORES:
        raise ModelError(f"{protocol}: metadata_store is one of {', '.join(STORES)}, not {scheme!r}")
    if STORES[scheme].in_process and (brokers > 1 or faults):
        raise ModelError(
            f"{protocol}: metadata_store={scheme} is in the process of one broker: set {called}=1, disconnects=0 and expiries=0"
        )
    return STORES[scheme]
