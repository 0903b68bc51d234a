"""A state of the protocol ``bookie``, read; and the answers that the bookie owes in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from fencepost.checks.conformance.running.adapter import Owed
from fencepost.checks.conformance.running.view import View


@lru_cache(maxsize=4)
def bookie_of(view: View) -> Bookie:
    """The bookie in a state, which everything that is compared asks for."""
    return Bookie(view)


def of_each(values: Sequence[object]) -> object:
    """What is so of each journal: of one alone just that."""
    return tuple(values) if len(values) > 1 else values[0]


class Bookie:
    """A state of the protocol, read."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.ledgers, self.entries = view.members("ledger"), view.members("entry")
        self.stage = str(view["stage"])
        self._bugs = view.protocol.active
        parameters = view.protocol.parameters
        self.journals_data = bool(parameters["journal_write_data"])
        self._journals: Sequence[str] = view.members("journal") if parameters["journals"] > 1 else ("",)
        self._safe = "synced" if parameters["journal_sync_data"] else "written"
        self._on_db = parameters["storage"] == "db"
        self._records = [self._record(str(view[f"record[{place}]"])) for place in view.members("place")]

    def _record(self, word: str) -> str:
        """A record as ``l0 key``, empty if there is none."""
        kind, _, ledger = word.partition(" of ")
        return "" if word == "nothing" else f"{ledger or self.ledgers[0]} {kind}"

    def _at(self, position: str, journal: str) -> int:
        return int(self.view[f"{position}[{journal}]" if journal else position])

    def _reaches(self, journal: str) -> bool:
        return self._at("compacted", journal) <= self._at("mark", journal)

    def reaches_mark(self) -> object:
        """Of each journal whether the file with which replay begins is there."""
        return of_each([self._reaches(journal) for journal in self._journals])

    def _is_of(self, journal: str, record: str) -> bool:
        return bool(record) and self._journal_of(record.split()[0]) == journal

    def _journal_of(self, ledger: str) -> str:
        return self._journals[int(ledger[1:]) % len(self._journals)]

    def _between(self, begin: int, end: int, journal: str) -> list[str]:
        return [record for record in self._records[begin:end] if self._is_of(journal, record)]

    def past_mark(self) -> object:
        """Of each journal the records that replay would read, in their order; None if its first file is gone."""
        return of_each([self._past_mark(journal) for journal in self._journals])

    def _past_mark(self, journal: str) -> list[str] | None:
        return (
            self._between(self._at("mark", journal), self._at("written", journal), journal) if self._reaches(journal) else None
        )

    def unwritten(self) -> object:
        """Of each journal the records that are logged, and not in the page cache."""
        return of_each([self._between(self._at("written", j), len(self._records), j) for j in self._journals])

    def unsynced(self) -> object:
        """Of each journal how many of the records past the mark are in the page cache only."""
        return of_each([self._unsynced(journal) for journal in self._journals])

    def _unsynced(self, journal: str) -> int | None:
        within = self._between(self._at("synced", journal), self._at("written", journal), journal)
        return len(within) if self._reaches(journal) else None

    def dirty(self) -> list[bool] | None:
        """Of each directory whether its write cache has something; None where there is none."""
        return [bool(self.view[f"dirty[{d}]"]) for d in self.view.members("directory")] if self._on_db else None

    def logs(self) -> list[list[str]] | None:
        """The entries in each entry log whose file is there and has any, in order; None where no log is modelled."""
        if "log" not in self.view.protocol.universes:
            return None
        return [self._in_log(g) for g in self.numbers_of_logs()]

    def numbers_of_logs(self) -> dict[str, int]:
        """The logs whose file is there and has an entry, numbered in order."""
        there = [g for g in self.view.members("log") if not self.view[f"deleted[{g}]"] and self._in_log(g)]
        return {g: number for number, g in enumerate(there)}

    def is_collected(self, of: str) -> bool:
        """Whether the ledger was collected, and is on the disk until the next save."""
        return bool(self.view.get(f"undeleted[{of}]", False))

    def has_lost_a_log(self, of: str) -> bool:
        """Whether a log that had entries of the ledger is deleted."""
        logs = self.view.members("log") if "log" in self.view.protocol.universes else ()
        return any(self.view[f"deleted[{g}]"] and self.view[f"copies[{g}, {of}]"] for g in logs)

    def _in_log(self, g: str) -> list[str]:
        return [f"{of} {e}" for of in self.ledgers for e in self.entries if e in self.view[f"copies[{g}, {of}]"]]

    def is_past(self, of: str, kind: str) -> bool:
        """Whether the journal has such a record that is not safe yet."""
        return f"{of} {kind}" in self._records[self._at(self._safe, self._journal_of(of)) :]

    def fencing_reads(self, of: str) -> tuple[str, ...]:
        """What a fencing read of each entry of a ledger that is fenced already would hear now."""
        if self.stage != "up" or not self.view[f"fenced[{of}]"]:
            return ()
        waits = self.is_past(of, "fence")
        denies = not waits or "denies_before_fence_is_journaled" in self._bugs
        confirms = not waits or "second_fence_not_awaited" in self._bugs
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
