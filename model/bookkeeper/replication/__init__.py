"""Auto-recovery of one ledger: auditor, tasks and locks, workers, the command recover, the collector, and a bookie's refill."""

from fencepost.model.bookkeeper.replication.protocol import replication

__all__ = ["replication"]
