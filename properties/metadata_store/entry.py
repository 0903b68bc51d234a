"""The entry of ``metadata_store`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.store_clients import metadata_store
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.configuration import InCluster
from fencepost.properties.metadata_store import instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    name="metadata_store",
    summary="the metadata store and its clients: sessions that expire, ephemeral nodes, notifications that come late",
    function=metadata_store,
    suite=suite.metadata_store,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, metadata_store),
    in_cluster=InCluster(parameters=lambda cluster, _: cluster.store(brokers="clients")),
)
