"""What a flush that fails at a bookie comes to for one ledger.

Mirrors SingleDirectoryDbLedgerStorage.checkpoint, SyncThread.checkpoint and BookieImpl.readJournal of bookkeeper-server. A
flush that fails leaves its entries in memory and in the journal: they are read, and a boot replays them. With the bug a
later checkpoint saves other entries, or none, and moves the log mark past these: the next boot does not have them.

Nothing of this is a variable of an instance without the bug, or without failed saves. Of checkpoints only the one that
harms is a step. A flush that fails has all that the bookie has stored since its boot, which saved what there was: a checkpoint
before it would leave less to lose.
"""

from __future__ import annotations

from typing import Any

from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.language import And, If, Not, Protocol, maximum

BUG = "failed_save_forgotten"


class Saves:
    """The entries that a failed flush has left unsaved, as updates for the steps of bookies and recoveries."""

    def __init__(self, p: Protocol, s: LedgerState) -> None:
        self._s = s
        bookie = s.bookie
        forgets = p.has(BUG) and p.budgets["failed_saves"]
        left: Any = p.subset("left", s.entry, per=bookie) if forgets else None
        passed: Any = p.flag("mark_passed_left", per=bookie) if forgets else None
        on_disk: Any = p.subset("on_disk", s.entry, per=bookie) if forgets and p.budgets["crashes"] else None
        self._left, self._passed, self._on_disk = left, passed, on_disk

        def unsaved(b: int) -> Any:
            return s.stored[b] if on_disk is None else s.stored[b] & ~on_disk[b]

        @p.rule
        def after_failure(b: int) -> dict[Any, Any]:
            """What a flush that has failed changes: nothing. The next one saves what this one had to."""
            return {}

        if forgets:
            after_failure.instead(BUG, lambda b: {left[b]: If(left[b].is_empty, unsaved(b), left[b])})

        @p.fault(
            by="b",
            takes="failed_flushes",
            spends="failed_saves",
            b=bookie,
            mirrors="SingleDirectoryDbLedgerStorage.checkpoint, SyncThread.checkpoint",
        )
        def fail_to_save(b: int) -> Any:
            """A flush of the bookie's storage fails, as on a full disk: IOException. The log mark stays."""
            return And(s.up[b], Not(s.stored[b].is_empty)), after_failure(b)

        @p.step(
            by="b",
            takes="checkpoint",
            b=bookie,
            only_if=forgets,
            mirrors="SingleDirectoryDbLedgerStorage.checkpoint, SyncThread.checkpoint, Journal.checkpointComplete",
        )
        def pass_over(b: int) -> Any:
            """A later checkpoint, or a clean stop, does not save what was left, and the log mark passes it."""
            return And(s.up[b], Not(left[b].is_empty), Not(passed[b])), {passed[b]: True}

    def after_entry(self, b: int, e: Any) -> dict[Any, Any]:
        """An entry has been stored: it is in the cache that the next flush saves, and in the journal after the log mark."""
        return {} if self._left is None else {self._left[b]: self._left[b].minus(e)}

    def after_boot(self, b: int) -> dict[Any, Any]:
        """The bookie is back: what it has replayed is saved."""
        return {} if self._on_disk is None else {self._on_disk[b]: self._s.stored[b]}

    def after_crash(self, b: int) -> dict[Any, Any]:
        """The process has ended: what neither a file nor the journal past the log mark has is gone."""
        if self._left is None:
            return {}
        s, lost = self._s, self._passed[b]
        stored = If(lost, s.stored[b] & ~self._left[b], s.stored[b])
        return {
            s.stored[b]: stored,
            s.rotten[b]: s.rotten[b] & stored,
            s.bookie_lac[b]: If(lost, self._lac_of(stored), s.bookie_lac[b]),
            **self.after_loss(b),
        }

    def after_loss(self, b: int) -> dict[Any, Any]:
        """The bookie begins with other files: nothing of a failed flush is left."""
        if self._left is None:
            return {}
        return {self._left[b]: (), self._passed[b]: False, **({} if self._on_disk is None else {self._on_disk[b]: ()})}

    def _lac_of(self, stored: Any) -> Any:
        s = self._s
        return maximum(-1, *(If(stored.has(e), s.piggybacked_lac[e], -1) for e in s.entry))
