"""The entry of ``replication`` in the registry."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication import replication
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry
from fencepost.properties.replication import instances, suite

ENTRY = Entry(
    name="replication",
    summary="auto-recovery of one ledger: a bookie that is away is replaced, by tasks, locks and copies",
    function=replication,
    suite=suite.replication,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, replication),
)
