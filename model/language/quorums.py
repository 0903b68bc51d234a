"""Counting members of an unbounded universe: "at least so many" says that there is a quorum, a set of so many, in which all.

Of quorums only what follows from their sizes is supposed: that none is empty, and that two of them have a member in common if
together they are more than the universe has members. That their sizes are such is proved over the integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import z3

from fencepost.model.language.mistakes import ModelError


@dataclass(frozen=True, eq=False)
class Quorum:
    """The sets of ``count`` members of a universe with ``size`` members, as a sort; ``has`` relates members and sets.

    ``is_one`` is true of all of them: it is what a solver meets where a formula speaks of such a set.
    """

    name: str
    universe: str
    count: Any
    size: Any
    sort: Any
    has: Any
    is_one: Any

    def chosen(self, formula: Any, member: Any) -> Any:
        """There is such a set, of each member of which the formula holds."""
        chosen, one = z3.Const("Q", self.sort), z3.Const("q", member.sort())
        held = z3.substitute(formula, (member, one))
        return z3.Exists([chosen], z3.And(self.is_one(chosen), z3.ForAll([one], z3.Implies(self.has(one, chosen), held))))


class Quorums:
    """The quorums that the formulas of a protocol speak of."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Quorum] = {}
        self._assumed: list[Any] = []
        self._counted: dict[Any, None] = {}

    def suppose(self, formulas: list[Any]) -> None:
        """Takes note of what is known of the sizes."""
        self._assumed += formulas

    def at_least(self, count: Any, formula: Any, marker: Any, universe: Any) -> Any:
        """The formula: it holds of at least ``count`` of the members for which the marker stands.

        Raises ModelError for a number that is not known to be from 1 up to their size.
        """
        size = universe.size.term
        self._counted.setdefault(marker.sort())
        if self._follows(count > size):
            return z3.BoolVal(False)
        one = z3.Const("q", marker.sort())
        if self._follows(count == size):
            return z3.ForAll([one], z3.substitute(formula, (marker, one)))
        if not self._follows(z3.And(count >= 1, count <= size)):
            raise ModelError(f"at_least({count}, ...): whether that is a number from 1 to {size} depends on the sizes")
        name = str(z3.simplify(count))
        made = self.known.get((universe.name, name))
        if made is None:
            sort = z3.DeclareSort(f"{name} of {universe.name}")
            has = z3.Function(f"among {name} of {universe.name}", marker.sort(), sort, z3.BoolSort())
            is_one = z3.Function(f"is {name} of {universe.name}", sort, z3.BoolSort())
            made = self.known[universe.name, name] = Quorum(name, universe.name, count, size, sort, has, is_one)
        return made.chosen(formula, marker)

    def axioms(self) -> Iterator[Any]:
        """What is true of these quorums, whatever the sizes are."""
        for quorum in self.known.values():
            chosen, one = z3.Const("Q", quorum.sort), z3.Const("q", quorum.has.domain(0))
            yield z3.ForAll([chosen], z3.Implies(quorum.is_one(chosen), z3.Exists([one], quorum.has(one, chosen))))
        for first, second in combinations_with_replacement(self.known.values(), 2):
            if first.universe == second.universe and self._follows(first.count + second.count > first.size):
                one = z3.Const("q", first.has.domain(0))
                this, that = z3.Const("Q", first.sort), z3.Const("R", second.sort)
                both = z3.Exists([one], z3.And(first.has(one, this), second.has(one, that)))
                yield z3.ForAll([this, that], z3.Implies(z3.And(first.is_one(this), second.is_one(that)), both))

    def sorts(self) -> Iterator[Any]:
        """The sorts of what is counted, and of these quorums."""
        yield from self._counted
        yield from (quorum.sort for quorum in self.known.values())

    def _follows(self, formula: Any) -> bool:
        """Whether that is so for all sizes: a question of linear arithmetic, which is decided."""
        solver = z3.Solver()
        solver.add(*self._assumed, z3.Not(formula))
        return bool(solver.check() == z3.unsat)
