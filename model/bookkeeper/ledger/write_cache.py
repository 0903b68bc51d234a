"""The last add confirmed that a bookie answers with: that of its last entry, and which entry that is.

Mirrors SingleDirectoryDbLedgerStorage.getLastEntry and InterleavedLedgerStorage.getEntry of bookkeeper-server. With the bug
a bookie looks for its last entry in its write cache first. After a checkpoint that has only what was written since, such as an
earlier entry that a recovery writes back. The bookie then answers with the last add confirmed of that one.

Nothing of this is a variable of an instance without the bug. Of checkpoints only those with something to save are steps.
"""

from __future__ import annotations

from typing import Any

from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.language import And, If, Not, Or, Protocol, any_of

BUG = "last_entry_of_the_write_cache"


class WriteCache:
    """What entries that are stored, and a process that ends, make of a bookie's last add confirmed: updates for the steps."""

    def __init__(self, p: Protocol, s: LedgerState) -> None:
        self._s = s
        looks_there = p.has(BUG) and p.parameters["storage"] == "db"
        cached: Any = p.subset("cached", s.entry, per=s.bookie) if looks_there else None
        last_lac: Any = p.number("last_lac", -1, s.entries - 1, per=s.bookie) if looks_there else None
        self._cached, self._last_lac = cached, last_lac

        @p.step(
            by="b",
            takes="checkpoint",
            b=s.bookie,
            only_if=looks_there,
            mirrors="SingleDirectoryDbLedgerStorage.checkpoint, SingleDirectoryDbLedgerStorage.getLastEntry",
        )
        def empty_cache(b: int) -> Any:
            """A checkpoint saves what is in the write cache: now the last entry is that of the index."""
            return And(s.up[b], Not(cached[b].is_empty)), {cached[b]: (), s.bookie_lac[b]: last_lac[b]}

    def _lac_after(self, b: int, e: Any, piggybacked_lac: Any) -> Any:
        if self._cached is None:
            return self._s.lac_after(b, e, piggybacked_lac)
        has_later = any_of(And(self._cached[b].has(later), later > e) for later in self._s.entry)
        return If(has_later, self._s.bookie_lac[b], piggybacked_lac)

    def is_news(self, b: int, e: Any, piggybacked_lac: Any) -> Any:
        """Something changes as the bookie stores an entry once more."""
        rises = self._s.bookie_lac[b] < self._lac_after(b, e, piggybacked_lac)
        return rises if self._cached is None else Or(rises, Not(self._cached[b].has(e)))

    def after_entry(self, b: int, e: Any, piggybacked_lac: Any) -> dict[Any, Any]:
        """An entry has been stored, with the last add confirmed that it carries."""
        updates: dict[Any, Any] = {self._s.bookie_lac[b]: self._lac_after(b, e, piggybacked_lac)}
        if self._cached is not None:
            updates[self._cached[b]] = self._cached[b].plus(e)
            updates[self._last_lac[b]] = If(self._s.has_later(b, e), self._last_lac[b], piggybacked_lac)
        return updates

    def on_disk(self, b: int, updates: dict[Any, Any]) -> dict[Any, Any]:
        """These updates, after which there is nothing in the cache: the process has ended, or has other files."""
        if self._cached is None:
            return updates
        lac = updates.get(self._s.bookie_lac[b], self._last_lac[b])
        return {**updates, self._cached[b]: (), self._s.bookie_lac[b]: lac, self._last_lac[b]: lac}
