"""The entry of ``metadata_store`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.history import METADATA_STORE
from fencepost.model.pulsar.store_clients import metadata_store
from fencepost.properties.metadata_store import instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    "metadata_store",
    "the metadata store and its clients: sessions that expire, ephemeral nodes, notifications that come late",
    metadata_store,
    suite.metadata_store,
    instances.SIZES,
    instances.SHOWN_BY,
    history=METADATA_STORE,
)
