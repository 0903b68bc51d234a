"""BookKeeper as a target: its releases, its storages, and how a harness for it is started."""

from __future__ import annotations

from fencepost.checks.conformance.bookkeeper.bookie import BookieAdapter
from fencepost.checks.conformance.bookkeeper.ledger import LedgerAdapter
from fencepost.checks.conformance.bookkeeper.replication import ReplicationAdapter
from fencepost.checks.conformance.java_side.harness import OVER_ZOOKEEPER, harness
from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.published import class_path
from fencepost.checks.conformance.java_side.servers import bookkeeper_processes
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.targets import Asked, Target
from fencepost.model.releases import held, is_since

STORAGES = {
    "db": "storage.ldb.DbLedgerStorage",
    "sorted": "SortedLedgerStorage",
    "interleaved": "InterleavedLedgerStorage",
}
"""The ledger storages by the names that --storage has for them; the first is Pulsar's."""

BESIDES = ("bookies",)
"""The folder of the harnesses that those of bookies share."""

MEMORY = ("-Xmx512m", "-XX:MaxDirectMemorySize=512m")

_PAIR_AND_SPARE = {"bookies": 3, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2, "changes": 1}


def bookkeeper(version: str) -> Release:
    """A release of bookkeeper-server with what it needs."""
    return class_path("bookkeeper", version, (Artifact(f"org.apache.bookkeeper:bookkeeper-server:{version}"),))


def start(asked: Asked, *, keep_log: bool = False) -> LedgerAdapter:
    """A harness with no bookie yet. Raises ToolchainError or SessionError."""
    release = bookkeeper(asked.release)
    main, besides = "org.apache.bookkeeper.client.LedgerBench", (*BESIDES, "executor")
    bench = harness("ledger", main, release, besides=besides, options=MEMORY, own=asked.own)
    storage = asked.storage or next(iter(STORAGES))
    return LedgerAdapter(Session(bench.with_arguments(STORAGES[storage]), keep_log=keep_log), storage=storage)


LEDGER = Target(
    name="ledger",
    protocol="ledger",
    system="bookkeeper",
    releases=held("bookkeeper", usual="4.18.0"),
    start=start,
    instances=(
        {"entries": 2, "recoverers": 2},
        _PAIR_AND_SPARE | {"recoverers": 2},
        {"bookies": 4, "ensemble": 3, "write_quorum": 2, "entries": 2, "changes": 1},
        {"bookies": 4, "entries": 2, "recoverers": 2, "changes": 2},
        {"entries": 2, "recoverers": 2, "explicit_lacs": 1, "rots": 1, "deletions": 1},
        {"entries": 2, "crashes": 1, "explicit_lacs": 1},
        {"entries": 2, "losses": 1},
        {"entries": 2, "losses": 1, "unclean_shutdowns": 1, "data_integrity": True},
    ),
    weights={"close": 0.03, "find_closed": 0.3, "read_tail": 0.2, "late_recovery_add": 0.5, "fence_unheard": 0.3, "send": 2.0},
    storages=tuple(STORAGES),
)


def start_bookie(asked: Asked) -> BookieAdapter:
    """A harness with no bookie yet. Raises ToolchainError or SessionError."""
    release = bookkeeper(asked.release)
    main = "org.apache.bookkeeper.bookie.BookieBench"
    bench = harness("bookie", main, release, besides=BESIDES, options=MEMORY, own=asked.own)
    storage = asked.storage or next(iter(STORAGES))
    return BookieAdapter(lambda: Session(bench.with_arguments(STORAGES[storage])), processes=asked.processes)


_TWO_DIRECTORIES = {"ledgers": 2, "entries": 1, "directories": 2}
_LOGS = {"entries": 1, "rotations": 1}
_TWO_JOURNALS = {"ledgers": 2, "entries": 1, "journals": 2}

BOOKIE = Target(
    name="bookie",
    protocol="bookie",
    system="bookkeeper",
    releases=LEDGER.releases,
    start=start_bookie,
    instances=(
        {"kills": 2, "stops": 1, "records": 7},
        {"kills": 1, "power_losses": 2, "records": 7, "recovery": False},
        {"kills": 1, "stops": 1, "explicit_lacs": 2, "reads": 1, "recovery": False},
        {"ledgers": 2, "entries": 1, "kills": 2, "stops": 1, "records": 7},
        {"kills": 1, "power_losses": 1, "journal_sync_data": False},
        {"kills": 1, "stops": 1, "journal_write_data": False},
        {"storage": "db", "failed_saves": 1, "kills": 1, "stops": 1, "recovery": False},
        {"storage": "db", "failed_index_saves": 1, "kills": 1, "stops": 1, "recovery": False},
        {"storage": "db", "full_caches": 2, "kills": 1, "stops": 1, "recovery": False},
        {"storage": "db", "collections": 1, "kills": 1, "stops": 1, "recovery": False},
        {"storage": "db", **_LOGS, "collections": 1, "collector_looks": 1, "kills": 1, "stops": 1},
        {"storage": "db", **_LOGS, "ledgers": 2, "collections": 1, "compactions": 1, "rebuilds": 1, "kills": 1},
        {"storage": "db", **_TWO_DIRECTORIES, "full_caches": 1, "kills": 2, "stops": 1, "recovery": False},
        {"storage": "db", **_TWO_JOURNALS, "full_caches": 1, "kills": 1, "power_losses": 1, "stops": 1, "recovery": False},
    ),
    weights={"take_checkpoint": 0.1, "add": 2.0, "recovery_add": 2.0, "kill": 0.5, "stop": 0.5, "lose_power": 0.5},
    storages=tuple(STORAGES),
    processes=True,
    storage_in_model=True,
)


ASKS = "4.18.2"
"""The release since which a client that opens a closed ledger asks for changes of its metadata, as Pulsar 5.0.1 does."""


def start_replication(asked: Asked) -> ReplicationAdapter:
    """A harness with no worker yet. Raises ToolchainError or SessionError."""
    release = bookkeeper_processes(asked.release)
    main, besides = "org.apache.bookkeeper.client.ReplicationBench", (*BESIDES, *OVER_ZOOKEEPER, "executor", "ledger")
    bench = harness("replication", main, release, besides=besides, options=MEMORY, own=asked.own)
    asks = ("asks",) if is_since(asked.model_of("bookkeeper"), ASKS) else ()
    return ReplicationAdapter(Session(bench.with_arguments(STORAGES["db"], *asks)))


REPLICATION = Target(
    name="replication",
    protocol="replication",
    system="bookkeeper",
    releases=("4.18.0", "4.17.3", "4.18.2"),
    start=start_replication,
    instances=(
        {"entries": 2, "crashes": 2},
        {"crashes": 2, "failed_audits": 2},
        {"bookies": 4, "ensemble": 3, "crashes": 3, "failed_audits": 1, "daily": True},
        {"workers": 2, "crashes": 2},
        {"workers": 2, "expiries": 1, "crashes": 2},
        {"bookies": 4, "crashes": 2, "entries": 2},
        {"bookies": 4, "ensemble": 3, "workers": 2, "crashes": 2},
        {"commands": 1, "crashes": 2, "collects": True},
        {"workers": 2, "expiries": 1, "crashes": 2, "collects": True},
        {"entries": 3, "crashes": 1, "losses": 1, "gaps": 1, "rots": 1, "collects": True},
        {"bookies": 4, "crashes": 1, "losses": 1, "rots": 1, "integrity": True},
        {"bookies": 4, "crashes": 2, "handle": True},
    ),
    weights={"crash": 0.5, "restart": 0.3, "expire": 0.5},
)
