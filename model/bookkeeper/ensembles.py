"""The ensembles of a ledger: which bookies store which entry, as one copy of the ledger's metadata says it.

The store, the writer and every run of recovery have a copy each, and much of the ledger protocol is about these copies
differing. Mirrors LedgerMetadata.getAllEnsembles, EnsembleUtils.replaceBookiesInEnsemble and
RoundRobinDistributionSchedule of bookkeeper-server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

from fencepost.model.language import (
    And,
    Choice,
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
    any_of,
    at_least,
    same,
)
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import conditional


@dataclass(frozen=True)
class Striping:
    """How entries are laid over an ensemble: entry e goes to places e, e + 1, ... e + write_quorum - 1 modulo the ensemble.

    The arithmetic is over unbounded integers here; what a 32-bit cast makes of it is the subject of ``striping.py``.
    """

    ensemble: int
    write_quorum: int
    entries: int

    @property
    def is_striped(self) -> bool:
        """Whether some bookie of the ensemble is not in every write set."""
        return self.ensemble > self.write_quorum

    def places(self, entry: int) -> list[int]:
        """The places of the ensemble that store the entry, in the order of its copies."""
        return [(entry + copy) % self.ensemble for copy in range(self.write_quorum)]

    def windows(self) -> list[list[int]]:
        """Every run of ``write_quorum`` neighbouring places: the write sets that entries have in a striped ensemble."""
        return [self.places(entry) for entry in range(self.ensemble)]


def _called(place: int) -> str:
    """The name of a place of an ensemble."""
    return f"place{place}"


class Ensembles:
    """One copy of a ledger's ensembles: fragment f covers the entries from ``first[f]`` up to the next fragment's first.

    A fragment's ensemble is the set of its bookies if each entry goes to all of them, otherwise the place of each bookie
    in it. Fragments not yet in use are empty, so that no copy distinguishes bookies before it has to. Writers and recoveries
    name no bookie twice; that auto-recovery can is shown by the protocol ``replication``, whose ensemble is a list of places.
    """

    def __init__(
        self, protocol: Protocol, name: str, striping: Striping, owner: int | None = None, *, fragments: str = "fragment"
    ) -> None:
        self.striping = striping
        self._bookies = protocol.universes["bookie"]
        self._fragments = protocol.universes[fragments]
        state, self._prefix = protocol.state, () if owner is None else (owner,)
        self.count: Number = self._of(getattr(state, f"{name}_fragments"))
        self.first: list[Number] = [self._of(getattr(state, f"{name}_first"), f) for f in self._fragments]
        members = getattr(state, f"{name}_ensemble")
        self.places: list[list[Choice[str]]] = []
        """Of each fragment in which place each bookie is, if entries go to some of them."""
        self.members: list[Subset] = []
        """Of each fragment its bookies, if each entry goes to all of them."""
        for f in self._fragments:
            if striping.is_striped:
                self.places.append([self._of(members, f, b) for b in self._bookies])
            else:
                self.members.append(self._of(members, f))

    def _of(self, family: Any, *index: int) -> Any:
        """The variable of this copy in a family, of whatever sort."""
        full = self._prefix + index
        return family[full] if full else family

    @overload
    @classmethod
    def declare(cls, protocol: Protocol, name: str, striping: Striping, *, fragments: str = "fragment") -> Ensembles: ...
    @overload
    @classmethod
    def declare(
        cls, protocol: Protocol, name: str, striping: Striping, per: Universe, *, fragments: str = "fragment"
    ) -> Sequence[Ensembles]: ...
    @classmethod
    def declare(
        cls, protocol: Protocol, name: str, striping: Striping, per: Universe | None = None, *, fragments: str = "fragment"
    ) -> Ensembles | Sequence[Ensembles]:
        """Declares a copy that holds the first ``ensemble`` bookies and returns it; or an empty one for each member of ``per``,
        and returns these by their owners. ``fragments`` names the universe of fragments.
        """
        owners, filled = (() if per is None else (per,)), per is None
        bookies, places_of = protocol.universes["bookie"], protocol.universes[fragments]
        protocol.number(f"{name}_fragments", 0, places_of.size, per=owners, init=int(filled))
        protocol.number(f"{name}_first", 0, striping.entries, per=(*owners, places_of))
        if striping.is_striped:
            places = ["out", *map(_called, range(striping.ensemble))]

            def place(*index: int) -> int:
                return index[-1] + 1 if filled and index[-2] == 0 and index[-1] < striping.ensemble else 0

            protocol.choice(f"{name}_ensemble", places, per=(*owners, places_of, bookies), init=place)
        else:

            def members(*index: int) -> Iterable[int]:
                return bookies.first(striping.ensemble if filled and index[-1] == 0 else 0)

            protocol.subset(f"{name}_ensemble", bookies, per=(*owners, places_of), init=members)
        if per is None:
            return cls(protocol, name, striping, fragments=fragments)
        return per.each(lambda owner: cls(protocol, name, striping, owner, fragments=fragments))

    # --- reading a copy

    def is_last(self, fragment: int) -> Condition:
        """The formula: this is the last fragment."""
        return self.count == fragment + 1

    def covers(self, fragment: int, entry: Number | int) -> Condition:
        """The formula: this fragment says where the entry is stored."""
        parts: list[Condition] = [self.count > fragment]
        if fragment > 0:
            parts.append(self.first[fragment] <= entry)
        if fragment + 1 < len(self.first):
            parts.append(Or(self.is_last(fragment), entry < self.first[fragment + 1]))
        return And(*parts)

    def member(self, fragment: int, bookie: int) -> Condition:
        """The formula: the bookie is in the fragment's ensemble."""
        return self.places[fragment][bookie] != "out" if self.striping.is_striped else self.members[fragment].has(bookie)

    def _stores(self, fragment: int, bookie: int, entry: Number | int) -> Condition:
        if not self.striping.is_striped:
            return self.member(fragment, bookie)
        place = self.places[fragment][bookie]
        if isinstance(entry, int):
            return any_of(place == _called(i) for i in self.striping.places(entry))
        return any_of(And(entry == e, self._stores(fragment, bookie, e)) for e in range(self.striping.entries))

    def holds(self, bookie: int, entry: Number | int) -> Condition:
        """The formula: the bookie is in the write set of the entry (a number or a term)."""
        return any_of(And(self.covers(f, entry), self._stores(f, bookie, entry)) for f in self._fragments)

    def leaves(self, protocol: Protocol, entry: Number | int, spared: Subset | None = None) -> Condition:
        """The formula over a step: a bookie that is not ``spared`` drops out of the write set of the entry."""
        if self.striping.is_striped:
            return any_of(
                And(self.holds(b, entry), Not(protocol.primed(self.holds(b, entry))), spared is None or Not(spared.has(b)))
                for b in self._bookies
            )
        before = self.members[0]
        for f in list(self._fragments)[1:]:
            before = If(And(self.count > f, self.first[f] <= entry), self.members[f], before)
        left = before & ~protocol.primed(before)
        return Not((left if spared is None else left & ~spared).is_empty)

    def in_last(self, bookie: int) -> Condition:
        """The formula: the bookie is in the last ensemble."""
        return any_of(And(self.is_last(f), self.member(f, bookie)) for f in self._fragments)

    def are_full(self) -> Condition:
        """The formula: every ensemble has as many bookies as it should."""

        def exactly(members: Sequence[Condition]) -> tuple[Condition, Condition]:
            return at_least(self.striping.ensemble, members), Not(at_least(self.striping.ensemble + 1, members))

        sizes = ((f, exactly([self.member(f, b) for b in self._bookies])) for f in self._fragments)
        return And(*(Or(self.count <= f, size) for f, both in sizes for size in both))

    def last_first(self) -> Number:
        """The first entry of the last fragment."""
        value = self.first[0]
        for f in list(self._fragments)[1:]:
            value = If(self.is_last(f), self.first[f], value)
        return value

    def covered_by(self, heard: Callable[[int], Truth], ack_quorum: int) -> Condition:
        """The formula: in every write set of the last ensemble fewer than ``ack_quorum`` bookies are not ``heard``.

        Mirrors RoundRobinDistributionSchedule.RRQuorumCoverageSet.checkCovered, which looks at each window of neighbouring
        places. Articles say instead that ensemble - ack_quorum + 1 answers are needed. With ensemble = write quorum that is
        the same; with striping it differs: it is more than this rule asks where the silent bookies are far apart.
        """

        def is_covered(inside: Callable[[int], Truth]) -> Condition:
            return Not(at_least(ack_quorum, (And(inside(b), Not(heard(b))) for b in self._bookies)))

        return any_of(And(self.is_last(f), *map(is_covered, self._write_sets(f))) for f in self._fragments)

    def _write_sets(self, fragment: int) -> list[Callable[[int], Truth]]:
        """The write sets that entries have in a fragment, each by the formula that a bookie is in it."""
        if not self.striping.is_striped:
            return [lambda b: self.member(fragment, b)]
        return [partial(self._in_window, fragment, window) for window in self.striping.windows()]

    def _in_window(self, fragment: int, window: Sequence[int], bookie: int) -> Condition:
        return any_of(self.places[fragment][bookie] == _called(i) for i in window)

    def same_as(self, other: Ensembles) -> Condition:
        """The formula: both copies say the same."""
        return And(*map(same, self.values(), other.values()))

    def same_last(self, other: Ensembles) -> Condition:
        """The formula: the last ensembles of both copies have the same bookies, whatever their first entries are."""
        return And(*map(same, self._last(), other._last()))

    def begins_as(self, other: Ensembles) -> Condition:
        """The formula: this copy has the other's ensembles before the other's last, and one that begins where that begins."""
        alike = [And(*map(same, self._flat(f), other._flat(f))) for f in self._fragments]
        firsts = [Or(other.count <= f, self.first[f] == other.first[f]) for f in self._fragments]
        return And(self.count >= other.count, *firsts, *(Or(other.count <= f + 1, alike[f]) for f in self._fragments))

    def values(self) -> list[Term]:
        """The variables of the copy, of several sorts."""
        return [self.count, *self.first, *(value for f in self._fragments for value in self._flat(f))]

    # --- changing a copy

    def copied_from(self, other: Ensembles) -> Updates:
        """The updates that make this copy say what the other says."""
        return dict(zip(self.values(), other.values(), strict=True))

    def copied_from_if(self, condition: Condition, other: Ensembles) -> Updates:
        """The updates that make this copy say what the other says where the condition holds."""
        return {mine: If(condition, theirs, mine) for mine, theirs in self.copied_from(other).items()}

    def end_copied_from(self, other: Ensembles) -> Updates:
        """The updates that make this copy's last ensemble, and what follows it, as the other has them."""
        copied = self.copied_from(other)
        for f in list(self._fragments)[:-1]:
            for mine in (self.first[f], *self._flat(f)):
                copied[mine] = If(self.count > f + 1, mine, copied[mine])
        return copied

    def last_copied_from(self, other: Ensembles) -> Updates:
        """The updates that make this copy, of one fragment, hold the last ensemble of the other for all its entries."""
        return {self.count: 1, **dict(zip(self._flat(0), other._last(), strict=True))}

    def _flat(self, fragment: int) -> list[Term]:
        return list(self.places[fragment]) if self.striping.is_striped else [self.members[fragment]]

    def _last(self) -> list[Term]:
        """The members of the last ensemble."""
        values = self._flat(0)
        for f in list(self._fragments)[1:]:
            values = [conditional(self.is_last(f), theirs, value) for theirs, value in zip(self._flat(f), values, strict=True)]
        return values

    def may_replace(self, leaving: int, joining: int, at: Number) -> Condition:
        """The formula: the last ensemble has ``leaving``, not ``joining``, and there is room for a change at that entry."""
        room = Or(self.count < len(self.first), self.last_first() == at)
        return And(self.in_last(leaving), Not(self.in_last(joining)), room)

    def replaced(self, leaving: int, joining: int, at: Number, into: Ensembles | None = None) -> Updates:
        """The updates that put ``joining`` in the place of ``leaving`` from entry ``at`` on, here or ``into`` another copy.

        The last ensemble is replaced if ``at`` is its first entry, otherwise a new one is appended: as
        LedgerHandle.ensembleChangeLoop does with replaceEnsembleEntry and newEnsembleEntry.
        """
        target = into or self
        in_place = self.last_first() == at
        grows = And(Not(in_place), self.count < len(self.first))
        updates: Updates = {target.count: If(grows, self.count + 1, self.count)}
        for f in self._fragments:
            appended, exchanged = And(grows, self.count == f), And(in_place, self.is_last(f))
            previous = max(f - 1, 0)
            updates[target.first[f]] = If(appended, at, self.first[f])
            if self.striping.is_striped:
                for b in self._bookies:
                    put, moved = (self._swapped(self.places[g], b, leaving, joining) for g in (previous, f))
                    updates[target.places[f][b]] = If(appended, put, If(exchanged, moved, self.places[f][b]))
            else:
                new, changed = (self.members[g].minus(leaving).plus(joining) for g in (previous, f))
                updates[target.members[f]] = If(appended, new, If(exchanged, changed, self.members[f]))
        return updates

    @staticmethod
    def _swapped(members: Sequence[Choice[str]], bookie: int, leaving: int, joining: int) -> Choice[str] | str:
        if bookie == leaving:
            return "out"
        return members[leaving] if bookie == joining else members[bookie]
