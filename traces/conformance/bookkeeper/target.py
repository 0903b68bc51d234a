"""BookKeeper as a target: its releases, its storages, and how a harness for it is started."""

from __future__ import annotations

from fencepost.traces.conformance.bookkeeper.adapter import LedgerAdapter
from fencepost.traces.conformance.harness import harness
from fencepost.traces.conformance.jars import Artifact, Release
from fencepost.traces.conformance.session import Session
from fencepost.traces.conformance.targets import Asked, Target

STORAGES = {
    "db": "storage.ldb.DbLedgerStorage",
    "sorted": "SortedLedgerStorage",
    "interleaved": "InterleavedLedgerStorage",
}
"""The ledger storages by the names that --storage has for them; the first is Pulsar's."""

MEMORY = ("-Xmx512m", "-XX:MaxDirectMemorySize=512m")

_PAIR_AND_SPARE = {"bookies": 3, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2, "changes": 1}


def bookkeeper(version: str) -> Release:
    """A release of bookkeeper-server with what it needs."""
    return Release("bookkeeper", version, (Artifact(f"org.apache.bookkeeper:bookkeeper-server:{version}"),))


def start(asked: Asked, *, keep_log: bool = False) -> LedgerAdapter:
    """A harness with no bookie yet. Raises ToolchainError or SessionError."""
    made = harness("ledger", "org.apache.bookkeeper.client.LedgerBench", bookkeeper(asked.release), options=MEMORY)
    storage = asked.storage or next(iter(STORAGES))
    return LedgerAdapter(Session(made.with_arguments(STORAGES[storage]), keep_log=keep_log), limbo=storage == "db")


LEDGER = Target(
    name="ledger",
    protocol="ledger",
    system="bookkeeper",
    releases=("4.18.0", "4.17.3", "4.17.2"),
    start=start,
    instances=(
        {"entries": 2, "recoverers": 2},
        _PAIR_AND_SPARE | {"recoverers": 2},
        {"bookies": 4, "ensemble": 3, "write_quorum": 2, "entries": 2, "changes": 1},
        {"bookies": 4, "entries": 2, "recoverers": 2, "changes": 2},
        {"entries": 2, "recoverers": 2, "explicit_lacs": 1, "rots": 1, "deletions": 1},
        {"entries": 2, "crashes": 1, "explicit_lacs": 1},
        {"entries": 2, "losses": 1, "unclean_shutdowns": 1, "data_integrity": True},
    ),
    weights={"close": 0.03, "find_closed": 0.3, "read_tail": 0.2, "late_recovery_add": 0.5, "fence_unheard": 0.3, "send": 2.0},
    storages=tuple(STORAGES),
)
