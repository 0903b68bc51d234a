"""The entry of ``ledger`` in the registry."""

from __future__ import annotations

from fencepost.model.bookkeeper.history import LEDGER
from fencepost.model.bookkeeper.ledger import ledger
from fencepost.properties.ledger import instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    "ledger",
    "the life of one BookKeeper ledger: written, handed from bookie to bookie, fenced, recovered, closed",
    ledger,
    suite.ledger,
    instances.SIZES,
    instances.SHOWN_BY,
    instances.MUTATED,
    LEDGER,
    general=instances.GENERAL,
)
