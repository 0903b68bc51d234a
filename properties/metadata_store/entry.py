"""The entry of ``metadata_store`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.pulsar.store_clients import metadata_store
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.configuration import InCluster
from fencepost.properties.metadata_store import suite
from fencepost.properties.registry import Entry, Instance, Value

_CUT_OFF: Mapping[str, Value] = {"disconnects": 1, "expiries": 1}
_ALL_FAULTS: Mapping[str, Value] = {**_CUT_OFF, "crashes": 1}
_MANY: Mapping[str, Value] = {
    "clients": 5, "paths": 3, "writes": 2, "changes": 3, "disconnects": 3, "expiries": 3, "crashes": 3
}  # fmt: skip

SIZES = {
    "ci": (
        Instance("written", {"writes": 1}),
        Instance("cut off", {**_CUT_OFF, "writes": 1}),
        Instance("all faults", _ALL_FAULTS),
        Instance("two paths", {"paths": 2}),
        Instance("changed", {"changes": 1}),
        Instance("etcd", {"metadata_store": "etcd", "disconnects": 1}),
        Instance("oxia", {"metadata_store": "oxia", **_CUT_OFF}),
    ),
    "standard": (
        Instance("three clients", {"clients": 3, **_CUT_OFF}),
        Instance("two paths, expiry", {"paths": 2, "expiries": 1}),
        Instance("changed, cut off", {"changes": 1, "disconnects": 1}),
        Instance("etcd, all faults", {"metadata_store": "etcd", **_ALL_FAULTS}),
        Instance("oxia, all faults", {"metadata_store": "oxia", **_ALL_FAULTS}),
        Instance("memory", {"metadata_store": "memory", "clients": 1, "paths": 2, "writes": 1, "crashes": 1}),
        Instance("five clients, three paths", _MANY, by="induction"),
    ),
    "deep": (Instance("three clients, all faults", {"clients": 3, **_ALL_FAULTS}),),
}


ENTRY = Entry(
    name="metadata_store",
    summary="the metadata store and its clients: sessions that expire, ephemeral nodes, notifications that come late",
    function=metadata_store,
    suite=suite.metadata_store,
    sizes=SIZES,
    bugs=bugs_beside(__file__, metadata_store),
    in_cluster=InCluster(parameters=lambda cluster, _: cluster.store(brokers="clients")),
)
