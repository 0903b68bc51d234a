"""The entry of ``ledger`` in the registry."""

from __future__ import annotations

from fencepost.model.bookkeeper.ledger import ledger
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.ledger import instances, suite
from fencepost.properties.ledger.in_cluster import IN_CLUSTER
from fencepost.properties.registry import Entry

ENTRY = Entry(
    name="ledger",
    summary="the life of one BookKeeper ledger: written, handed from bookie to bookie, fenced, recovered, closed",
    function=ledger,
    suite=suite.ledger,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, ledger),
    mutated=instances.MUTATED,
    general=instances.GENERAL,
    in_cluster=IN_CLUSTER,
)
