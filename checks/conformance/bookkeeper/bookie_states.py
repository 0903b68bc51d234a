"""A state of the protocol ``bookie``, read; and the answers that the bookie owes in it."""

from __future__ import annotations

from functools import lru_cache

from fencepost.checks.conformance.running.adapter import Owed
from fencepost.checks.conformance.running.view import View


@lru_cache(maxsize=4)
def bookie_of(view: View) -> Bookie:
    """The bookie in a state, which everything that is compared asks for."""
    return Bookie(view)


class Bookie:
    """A state of the protocol, read."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.ledgers, self.entries = view.members("ledger"), view.members("entry")
        self.stage = str(view["stage"])
        self._defects = view.protocol.active
        parameters = view.protocol.parameters
        self.journals_data = bool(parameters["journal_write_data"])
        self._safe = int(view["synced" if parameters["journal_sync_data"] else "written"])
        self._on_db = parameters["storage"] == "db"
        self._records = [self._record(str(view[f"record[{place}]"])) for place in view.members("place")]

    def _record(self, word: str) -> str:
        """A record as ``l0 key``, empty if there is none."""
        kind, _, ledger = word.partition(" of ")
        return "" if word == "nothing" else f"{ledger or self.ledgers[0]} {kind}"

    @property
    def reaches_mark(self) -> bool:
        """Whether the file with which replay begins is there."""
        return int(self.view["compacted"]) <= int(self.view["mark"])

    def _between(self, begin: str, end: str) -> list[str]:
        return self._records[int(self.view[begin]) : int(self.view[end])]

    def past_mark(self) -> list[str] | None:
        """The records that replay would read, in their order; None if its first file is gone."""
        return self._between("mark", "written") if self.reaches_mark else None

    def unwritten(self) -> list[str]:
        """The records that are logged, and not in the page cache."""
        return self._between("written", "logged")

    def unsynced(self) -> int | None:
        """How many of the records past the mark are in the page cache only."""
        return int(self.view["written"]) - int(self.view["synced"]) if self.reaches_mark else None

    def dirty(self) -> list[bool] | None:
        """Of each directory whether its write cache has something; None where there is none."""
        return [bool(self.view[f"dirty[{d}]"]) for d in self.view.members("directory")] if self._on_db else None

    def is_past(self, of: str, kind: str) -> bool:
        """Whether the journal has such a record that is not safe yet."""
        return f"{of} {kind}" in self._records[self._safe :]

    def fencing_reads(self, of: str) -> tuple[str, ...]:
        """What a fencing read of each entry of a ledger that is fenced already would hear now."""
        if self.stage != "up" or not self.view[f"fenced[{of}]"]:
            return ()
        waits = self.is_past(of, "fence")
        denies = not waits or "denies_before_fence_is_journaled" in self._defects
        confirms = not waits or "second_fence_not_awaited" in self._defects
        entries = self.view[f"stored[{of}]"]
        return tuple(
            ("found" if confirms else "waits") if e in entries else ("denied" if denies else "waits") for e in self.entries
        )


def wanted(bookie: Bookie) -> Owed:
    """The answers that the bookie has ready for clients which have not heard them."""
    view, must, may = bookie.view, set[str](), set[str]()
    if bookie.stage != "up":
        return Owed()
    for of in bookie.ledgers:
        for e in bookie.entries:
            for kind, family in ((f"e{e[1:]}", "added"), (f"r{e[1:]}", "recovered")):
                if view[f"{family}[{of}, {e}]"] == "accepted" and not bookie.is_past(of, kind):
                    must.add(f"answer {of} {kind}")
        if view[f"lac_asked[{of}]"]:
            asked = int(view[f"explicit_lac[{of}]"])
            may |= {f"answer {of} lac{lac}" for lac in range(1, asked)}
            if not any(bookie.is_past(of, f"lac{lac}") for lac in range(1, asked + 1)):
                must.add(f"answer {of} lac{asked}")
    return Owed(frozenset(must), frozenset(may))
