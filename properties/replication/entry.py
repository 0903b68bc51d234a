"""The entry of ``replication`` in the registry."""

from __future__ import annotations

from fencepost.model.bookkeeper.history import REPLICATION
from fencepost.model.bookkeeper.replication import replication
from fencepost.properties.registry import Entry
from fencepost.properties.replication import instances, suite

ENTRY = Entry(
    "replication",
    "auto-recovery of one ledger: a bookie that is away is replaced, by tasks, locks and copies",
    replication,
    suite.replication,
    instances.SIZES,
    instances.SHOWN_BY,
    history=REPLICATION,
)
