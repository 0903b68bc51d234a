"""The protocols that Fencepost knows by name."""

from __future__ import annotations

from fencepost.model.bookkeeper import bookie as bookie_model
from fencepost.model.bookkeeper import history as bookkeeper_history
from fencepost.model.bookkeeper import ledger as ledger_model
from fencepost.model.pulsar import election as election_model
from fencepost.model.pulsar import history, resource_lock, store_clients
from fencepost.model.pulsar import ownership as ownership_model
from fencepost.model.pulsar import service_unit as service_unit_model
from fencepost.model.pulsar import split as split_model
from fencepost.model.pulsar import unload as unload_model
from fencepost.properties.bookie import instances as bookie
from fencepost.properties.bookie import safety as bookie_properties
from fencepost.properties.election import instances as election
from fencepost.properties.election import safety as election_properties
from fencepost.properties.ledger import instances as ledger
from fencepost.properties.ledger import safety as ledger_properties
from fencepost.properties.metadata_store import instances as metadata_store
from fencepost.properties.metadata_store import safety as metadata_store_properties
from fencepost.properties.ownership import instances as ownership
from fencepost.properties.ownership import safety as ownership_properties
from fencepost.properties.registry import Entry
from fencepost.properties.service_unit import instances as service_unit
from fencepost.properties.service_unit import safety as service_unit_properties
from fencepost.properties.service_unit_migration import instances as service_unit_migration
from fencepost.properties.service_unit_migration import safety as service_unit_migration_properties
from fencepost.properties.split import instances as split
from fencepost.properties.split import safety as split_properties
from fencepost.properties.unload import instances as unload
from fencepost.properties.unload import safety as unload_properties

PROTOCOLS: dict[str, Entry] = {
    "ledger": Entry(
        "ledger",
        "the life of one BookKeeper ledger: written, handed from bookie to bookie, fenced, recovered, closed",
        ledger_model.ledger,
        ledger_properties.ledger,
        ledger.SIZES,
        ledger.SHOWN_BY,
        ledger.MUTATED,
        bookkeeper_history.LEDGER,
        general=ledger.GENERAL,
    ),
    "bookie": Entry(
        "bookie",
        "one bookie and its disk: journal, log mark, checkpoint and replay, and what of its answers they keep",
        bookie_model.bookie,
        bookie_properties.bookie,
        bookie.SIZES,
        bookie.SHOWN_BY,
        history=bookkeeper_history.BOOKIE,
    ),
    "metadata_store": Entry(
        "metadata_store",
        "the metadata store and its clients: sessions that expire, ephemeral nodes, notifications that come late",
        store_clients.metadata_store,
        metadata_store_properties.metadata_store,
        metadata_store.SIZES,
        metadata_store.SHOWN_BY,
        history=history.METADATA_STORE,
    ),
    "election": Entry(
        "election",
        "which Pulsar broker leads: one ephemeral node, sessions that expire, and lookups that ask the leader",
        election_model.election,
        election_properties.election,
        election.SIZES,
        election.SHOWN_BY,
        history=history.ELECTION,
        releases=election_model.RELEASES,
        general=election.GENERAL,
    ),
    "ownership": Entry(
        "ownership",
        "which broker owns a bundle: locks that are acquired, looked after and released",
        ownership_model.ownership,
        ownership_properties.ownership,
        ownership.SIZES,
        ownership.SHOWN_BY,
        history=history.OWNERSHIP,
        releases=resource_lock.RELEASES,
        general=ownership.GENERAL,
    ),
    "unload": Entry(
        "unload",
        "how a broker gives a bundle up: inactive, topics closed, lock released",
        unload_model.unload,
        unload_properties.unload,
        unload.SIZES,
        unload.SHOWN_BY,
        history=history.UNLOAD,
        releases=resource_lock.RELEASES,
        general=unload.GENERAL,
    ),
    "split": Entry(
        "split",
        "how a bundle is split in two: the namespace's layout is changed by compare-and-set, and locks change hands",
        split_model.split,
        split_properties.split,
        split.SIZES,
        split.SHOWN_BY,
        split.MUTATED,
        history=history.SPLIT,
        releases=resource_lock.RELEASES,
    ),
    "service_unit": Entry(
        "service_unit",
        "which broker owns a bundle with the extensible load manager: one record, in a topic or in the metadata store",
        service_unit_model.service_unit,
        service_unit_properties.service_unit,
        service_unit.SIZES,
        service_unit.SHOWN_BY,
        service_unit.MUTATED,
        history=history.SERVICE_UNIT,
    ),
    "service_unit_migration": Entry(
        "service_unit_migration",
        "how a cluster changes from one store of service units to the other: a syncer copies, and brokers are restarted",
        service_unit_model.service_unit_migration,
        service_unit_migration_properties.service_unit_migration,
        service_unit_migration.SIZES,
        service_unit_migration.SHOWN_BY,
        history=history.SERVICE_UNIT_MIGRATION,
    ),
}
"""The protocols by name, in the order in which they are listed."""
