"""The history of each mistake of BookKeeper's protocols: since when, fixed in which release, which of the modelled have it."""

from __future__ import annotations

from fencepost.model.bookkeeper.history.bookie import BOOKIE
from fencepost.model.bookkeeper.history.ledger import LEDGER
from fencepost.model.bookkeeper.history.replication import REPLICATION

__all__ = ["BOOKIE", "LEDGER", "REPLICATION"]
