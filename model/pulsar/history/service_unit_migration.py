"""When the migration between the stores of service units had each of its mistakes.

Read in the sources of the modelled releases of Pulsar; ``Syncer`` is ServiceUnitStateTableViewSyncer. It came with 4.0.0.
"""

from __future__ import annotations

from typing import Any

from fencepost.model.history import History


def _present(evidence: str, costs: str, *upstream: str, **others: Any) -> History:
    """A mistake that is in 4.0.8, 4.2.4 and 5.0.0-M1."""
    return History(
        "pulsar",
        upstream,
        **{"since": "4.0.0", "releases": "4.0.8 to 5.0.0-M1, not 2.10.1, 3.0.7", **others},
        evidence=evidence,
        costs=costs,
    )


SERVICE_UNIT_MIGRATION: dict[str, History] = {
    "stores_decide_alone": _present(
        "a channel reads and writes the table view that it was started with, and no other (ServiceUnitStateChannelImpl.start"
        " 4.0.8, 4.2.4, 5.0.0-M1); Syncer copies after the write was acknowledged, and what it copies may be refused",
        "two brokers have the topics of a unit open while brokers are restarted, and the stores differ for good",
    ),
    "cleaned_in_use": _present(
        "Syncer.start, which runs whenever a broker becomes the leader (ExtensibleLoadManagerImpl.playLeader and monitor),"
        " calls syncExistingItems, and that clean of the store that it copies to, whoever uses it (4.0.8, 4.2.4, 5.0.0-M1)",
        "when the leader is restarted, units that are owned by brokers which were restarted before lose their records, are"
        " looked up as if nobody had them, and may be assigned again",
    ),
    "compared_by_number": _present(
        "Syncer.waitUntilSynced compares the sizes of the two views, also since pulsar#25946, whose reconcile copies only what"
        " one of them does not have at all (4.0.8, 4.2.4:274-298, 5.0.0-M1)",
        "the syncer is active, and the stores differ: a unit whose record changed while it started is not copied again",
        "#25946",
    ),
    "copies_overlap": _present(
        "Syncer.syncToMetadataStore does not wait for the put before it, and MetadataStoreTableViewImpl.put tests against what"
        " the cache has (4.0.8, 4.2.4:89-110, 5.0.0-M1); a version that is refused makes the resolver refuse all after it",
        "of two changes of a unit in quick succession the second is not copied to the metadata store, nor is any after it",
    ),
    "deletions_echo": _present(
        "Syncer.sync deletes for each null that it hears of, its own too: TableViewImpl.handleMessage tells its listeners of a"
        " tombstone also where there is no record (4.2.4:111-119, 5.0.0-M1)",
        "the record of a unit that was assigned just after its record was deleted is deleted: it is assigned once more",
        releases="4.2.4, 5.0.0-M1, not 2.10.1 to 4.0.8",
        since="4.2.4 or before (#25946)",
    ),
    "deletions_not_copied": History(
        "pulsar",
        ("#25946",),
        since="4.0.0",
        fixed="4.2.4 or before",
        releases="4.0.8, not 2.10.1, 3.0.7, 4.2.4, 5.0.0-M1",
        costs="the stores differ once a record was deleted in the topic: the node stays, and refuses what comes after",
        evidence="Syncer.syncToMetadataStore calls put in 4.0.8:88-90, whose value ServiceUnitStateMetadataStoreTableViewImpl"
        " declares @NonNull, and delete where there is none in 4.2.4:103-110",
    ),
}
