"""The journal of a bookie: records in the order in which they are logged, how far they are safe, and what a boot makes of them.

Mirrors Journal and the scanner of BookieImpl.readJournal of bookkeeper-server 4.17.3 and 4.18.0. A record is logged to a
queue, written to the page cache, and synced. Replay reads from the log mark in order, and skips every record of a ledger
whose master key it has not met by then, neither in the storage nor in a record before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.language import (
    And,
    Condition,
    If,
    Not,
    Number,
    Or,
    Protocol,
    Subset,
    Truth,
    Universe,
    Updates,
    all_of,
    any_of,
    how_many,
    maximum,
)

NOTHING = "nothing"


class Journal:
    """The journal's variables in a protocol that has declared them, and the formulas that speak of records.

    A record is named by its kind, ``key``, ``fence``, ``lac1``, ``e0`` (an add of the writer) or ``r0`` (one of recovery), and
    where there are several ledgers by its ledger. Of its places ``logged`` are taken, ``written`` in the page cache and
    ``synced`` on the disk. Replay begins at ``mark``; what lies before ``compacted`` is deleted.

    Of two journals the records are in one sequence, in which each ledger's are of one journal (BookieImpl.getJournal). Each
    journal has the four positions for itself, so these are lists.
    """

    def __init__(self, p: Protocol) -> None:
        self.ledger, self.entry, self.place = (p.universes[name] for name in ("ledger", "entry", "place"))
        self.explicit_lacs = range(1, p.parameters["explicit_lacs"] + 1)
        s = BookieVariables.now(p)
        self.record = s.record
        self.logged = s.logged
        self.number: int = p.parameters["journals"]
        self.keys_can_be_missing: bool = p.parameters["failed_index_saves"] > 0
        positions: Iterable[Any] = (s.written, s.synced, s.mark, s.compacted)
        places: Any = ([*x] if self.number > 1 else [x] for x in positions)
        self.written: list[Number]
        self.synced: list[Number]
        self.mark: list[Number]
        self.compacted: list[Number]
        self.written, self.synced, self.mark, self.compacted = places

    @classmethod
    def declare(cls, p: Protocol) -> Journal:
        """Declares the variables in a protocol that has the universes ledger, entry and place."""
        ledger, place = p.universes["ledger"], p.universes["place"]
        kinds = ["key", "fence", *(f"lac{n}" for n in range(1, p.parameters["explicit_lacs"] + 1))]
        kinds += [f"{who}{e}" for who in "er" for e in p.universes["entry"]]
        p.choice("record", [NOTHING, *(_name(ledger, of, kind) for of in ledger for kind in kinds)], per=place)
        p.number("logged", 0, place.size)
        several = p.universe("journal", p.parameters["journals"]) if p.parameters["journals"] > 1 else ()
        for number in ("written", "synced", "mark", "compacted"):
            p.number(number, 0, place.size, per=several)
        return cls(p)

    def is_at(self, place: int, of: int, *kinds: str) -> Condition:
        """The formula: the record at that place is one of these kinds, of that ledger."""
        return self.record[place].among(*(_name(self.ledger, of, kind) for kind in kinds))

    def of(self, ledger: int) -> int:
        """The number of the journal that has a ledger's records."""
        return ledger % self.number

    def end(self, of: int) -> Number:
        """The position after the last record of a journal."""
        if self.number == 1:
            return self.logged
        return maximum(0, *(If(self.is_of(place, of), place + 1, 0) for place in self.place))

    def is_of(self, place: int, of: int) -> Condition:
        """The formula: the record at that place is of that journal."""
        return any_of(self.is_at(place, x, *self._kinds()) for x in self.ledger if self.of(x) == of)

    def _kinds(self) -> list[str]:
        entries = [f"{who}{e}" for who in "er" for e in self.entry]
        return ["key", "fence", *(f"lac{n}" for n in self.explicit_lacs), *entries]

    def has_room(self, records: int) -> Condition:
        """The formula: so many records more can be logged."""
        return self.logged + records <= self.place.size

    def logs(self, of: int, *records: str | tuple[str, Truth]) -> Updates:
        """The updates: records are logged one after the other; a kind with a formula only if that holds."""
        updates = {self.record[place]: self.record[place] for place in self.place}
        end = self.logged
        for kind, wanted in (record if isinstance(record, tuple) else (record, True) for record in records):
            for place in self.place:
                here = And(wanted, end == place)
                updates[self.record[place]] = If(here, _name(self.ledger, of, kind), updates[self.record[place]])
            end = end + (1 if wanted is True else how_many(wanted))
        return updates | {self.logged: end}

    def is_logged(self, of: int, kind: str) -> Condition:
        """The formula: such a record is in the journal."""
        return any_of(self.is_at(place, of, kind) for place in self.place)

    def is_past(self, limit: Number, of: int, *kinds: str) -> Condition:
        """The formula: a record of one of these kinds lies at or past a limit, so that its callback is still to come."""
        return any_of(And(limit <= place, self.is_at(place, of, *kinds)) for place in self.place)

    def cut_at(self, ends: Sequence[Number]) -> Updates:
        """The updates: the process is gone, and with it all records of each journal from its end on."""

        def is_lost(place: int) -> Condition:
            if self.number == 1:
                return ends[0] <= place
            return any_of(And(self.is_of(place, j), end <= place) for j, end in enumerate(ends))

        lost = {self.record[place]: If(is_lost(place), NOTHING, self.record[place]) for place in self.place}
        return lost | {self.logged: maximum(*ends)} | dict(zip(self.written, ends, strict=True))

    def reaches_mark(self) -> Condition:
        """The formula: the file that replay begins with has not been deleted, of each journal."""
        return And(*(deleted <= mark for deleted, mark in zip(self.compacted, self.mark, strict=True)))


class Saved:
    """What the ledger storage has on its disk, for each ledger: entries, and in its index the key, the fence, the last add."""

    def __init__(self, p: Protocol) -> None:
        s = BookieVariables.now(p)
        self.entries, self.key, self.fence, self.lac = s.saved, s.saved_key, s.saved_fence, s.saved_lac

    @classmethod
    def declare(cls, p: Protocol) -> Saved:
        """Declares the variables in a protocol that has the universes ledger and entry."""
        ledger = p.universes["ledger"]
        p.subset("saved", p.universes["entry"], per=ledger)
        p.flag("saved_key", per=ledger)
        p.flag("saved_fence", per=ledger)
        p.number("saved_lac", 0, p.parameters["explicit_lacs"], per=ledger)
        return cls(p)

    def covers(self, journal: Journal, place: int, of: int) -> Condition:
        """The formula: of that ledger's record at that place nothing is needed any more."""
        entries = [Or(Not(journal.is_at(place, of, f"e{e}", f"r{e}")), self.entries[of].has(e)) for e in journal.entry]
        lacs = [Or(Not(journal.is_at(place, of, f"lac{n}")), self.lac[of] >= n) for n in journal.explicit_lacs]
        key = Or(Not(journal.is_at(place, of, "key")), self.key[of])
        fence = Or(Not(journal.is_at(place, of, "fence")), self.fence[of])
        return all_of([key, fence, *entries, *lacs])


class Replay:
    """What replay makes of what is saved and of the records from a mark on: formulas for each ledger."""

    def __init__(self, journal: Journal, saved: Saved, marks: Sequence[Number | int]) -> None:
        self._journal, self._saved, self._marks = journal, saved, marks

    def _reads(self, place: int, of: int, *kinds: str) -> Condition:
        return And(self._marks[self._journal.of(of)] <= place, self._journal.is_at(place, of, *kinds))

    def _applies(self, place: int, of: int, *kinds: str) -> Condition:
        """The formula: replay carries that record out, because it knows the master key by then."""
        met = [self._reads(before, of, "key") for before in range(place)]
        return And(self._reads(place, of, *kinds), Or(self._saved.key[of], *met))

    def key(self, of: int) -> Condition:
        """The formula: replay meets the ledger's master key."""
        return any_of(self._reads(place, of, "key") for place in self._journal.place)

    def fence(self, of: int) -> Condition:
        """The formula: the ledger is fenced afterwards."""
        return Or(self._saved.fence[of], *(self._applies(place, of, "fence") for place in self._journal.place))

    def adds(self, of: int) -> Condition:
        """The formula: replay adds an entry of the ledger."""
        kinds = [f"{who}{e}" for who in "er" for e in self._journal.entry]
        return any_of(self._applies(place, of, *kinds) for place in self._journal.place)

    def added(self, of: int) -> Subset:
        """The entries of the ledger that replay adds."""
        return self._journal.entry.where(
            lambda e: any_of(self._applies(place, of, f"e{e}", f"r{e}") for place in self._journal.place)
        )

    def _found(self, of: int) -> Subset:
        """The saved entries, of a ledger whose master key is known afterwards: the others are not found."""
        entries = self._saved.entries[of]
        if not self._journal.keys_can_be_missing:
            return entries
        return If(Or(self._saved.key[of], self.key(of)), entries, self._journal.entry.where(lambda _: False))

    def has(self, of: int, entry: int) -> Condition:
        """The formula: the entry is there afterwards."""
        cases = [self._applies(place, of, f"e{entry}", f"r{entry}") for place in self._journal.place]
        return Or(self._found(of).has(entry), *cases)

    def stored(self, of: int) -> Subset:
        """The entries that are there afterwards."""
        result = self._found(of)
        for e in self._journal.entry:
            result = If(self.has(of, e), result.plus(e), result)
        return result

    def explicit_lac(self, of: int) -> Number:
        """The explicit last add confirmed afterwards: that of the last such record."""
        result = self._saved.lac[of]
        for place in self._journal.place:
            for lac in self._journal.explicit_lacs:
                result = If(self._applies(place, of, f"lac{lac}"), lac, result)
        return result


def _name(ledger: Universe, of: int, kind: str) -> str:
    return f"{kind} of {ledger.label(of)}" if ledger.size > 1 else kind
