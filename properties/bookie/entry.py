"""The entry of ``bookie`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.bookkeeper.bookie import bookie
from fencepost.properties.bookie import suite
from fencepost.properties.bookie.in_cluster import IN_CLUSTER
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry, Instance, Value

_SMALL: Mapping[str, Value] = {"entries": 1, "records": 5, "recovery": False}
_DIRECTORIES: Mapping[str, Value] = {"ledgers": 2, "directories": 2, "full_caches": 1, "kills": 1}
_JOURNALS: Mapping[str, Value] = {"ledgers": 2, "journals": 2, "full_caches": 1, "kills": 1}
_LOGS: Mapping[str, Value] = {"rotations": 1, "collector_looks": 1, "records": 4}
_ALL_ENDS: Mapping[str, Value] = {"entries": 1, "records": 5, "kills": 1, "power_losses": 1, "stops": 1}
_MANY: Mapping[str, Value] = {"entries": 3, "records": 10, "explicit_lacs": 2, "kills": 3, "power_losses": 3, "stops": 3}

SIZES = {
    "ci": (
        Instance("two entries", {"recovery": False, "kills": 1}),
        Instance("recovery", {"entries": 1, "records": 4, "kills": 1, "stops": 1}),
        Instance("two ends", {**_SMALL, "kills": 1, "power_losses": 1}),
        Instance("full cache", {**_SMALL, "kills": 1, "full_caches": 1}),
        Instance("two directories", {**_SMALL, **_DIRECTORIES, "records": 4}),
        Instance("two journals", {**_SMALL, **_JOURNALS, "records": 4}),
        Instance("explicit last add and reads", {**_SMALL, "kills": 1, "explicit_lacs": 1, "reads": 1}),
        Instance("sorted", {**_SMALL, "storage": "sorted", "kills": 1, "stops": 1}),
        Instance("interleaved, two ledgers", {**_SMALL, "storage": "interleaved", "ledgers": 2, "records": 4, "kills": 1}),
        Instance("failed save", {**_SMALL, "kills": 1, "stops": 1, "failed_saves": 1}),
        Instance("failed save of the index", {**_SMALL, "kills": 1, "stops": 1, "failed_index_saves": 1}),
        Instance("collected ledger", {**_SMALL, "kills": 1, "collections": 1}),
        Instance("entry logs", {**_SMALL, **_LOGS, "kills": 1, "collections": 1}),
        Instance("compaction and rebuild", {**_SMALL, "kills": 1, "rotations": 1, "compactions": 1, "rebuilds": 1}),
        Instance("page cache", {**_SMALL, "power_losses": 1, "journal_sync_data": False}),
        Instance("no journal", {"entries": 1, "kills": 1, "journal_write_data": False}),
    ),
    "standard": (
        Instance("two entries and recovery", {"kills": 1}),
        Instance("kills and stops", {"entries": 1, "kills": 2, "stops": 2}),
        Instance("sorted, kills and stops", {"entries": 1, "storage": "sorted", "kills": 2, "stops": 2}),
        Instance("three entries", _MANY, by="induction"),
        Instance("three entries, sorted", {**_MANY, "storage": "sorted"}, by="induction"),
        Instance("three entries, full caches", {**_MANY, "explicit_lacs": 0, "full_caches": 3}, by="induction"),
        Instance("two journals, all ends", {**_ALL_ENDS, "ledgers": 2, "journals": 2, "full_caches": 1}, by="induction"),
        Instance("three entries, two directories", {**_MANY, "explicit_lacs": 0, **_DIRECTORIES}, by="induction"),
    ),
    "deep": (
        Instance("all ends", {"records": 7, "kills": 1, "power_losses": 1, "stops": 1}),
        Instance("two ledgers", {"ledgers": 2, "entries": 1, "kills": 1, "stops": 1}),
    ),
}


ENTRY = Entry(
    name="bookie",
    summary="one bookie and its disk: journal, log mark, checkpoint and replay, and what of its answers they keep",
    function=bookie,
    suite=suite.bookie,
    sizes=SIZES,
    bugs=bugs_beside(__file__, bookie),
    in_cluster=IN_CLUSTER,
)
