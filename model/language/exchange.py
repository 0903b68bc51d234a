"""Two members of a universe exchanged in one protocol: in its variables and its terms; and whether terms are equivalent."""

from __future__ import annotations

from typing import Any

import z3

from fencepost.model.language.declarations import Variable
from fencepost.model.language.protocol import Protocol
from fencepost.model.language.transposition import Transposition

EFFORT = 50_000_000
"""What Z3 may spend on one question, in its own units, which are the same on every machine; it takes seconds to reach."""


class Exchange:
    """A transposition, applied to the variables of a protocol."""

    def __init__(self, protocol: Protocol, transposition: Transposition) -> None:
        self.transposition = transposition
        self._protocol = protocol
        self._variables = {(v.family, v.index): v for v in protocol.variables}
        self._renamed: dict[Variable, tuple[tuple[Any, Any], ...]] = {}
        for v in protocol.variables:
            other = self.variable(v)
            now, then = (transposition.term(v.domain, term) for term in (other.term, other.next))
            if not v.term.eq(now):
                self._renamed[v] = (v.term, now), (v.next, then)

    def variable(self, variable: Variable) -> Variable:
        """The variable that has this one's value in the exchanged state, and whose value this one has there."""
        return self._variables[self.transposition.place(variable)]

    def term(self, term: Any) -> Any:
        """What a term over values and next values is worth in the exchanged state, in terms of the state before."""
        mentioned = sorted(self._protocol.variables_of(term) & self._renamed.keys(), key=lambda v: v.name)
        return z3.substitute(term, *(pair for v in mentioned for pair in self._renamed[v]))


class Equivalence:
    """Whether terms of a protocol are worth the same wherever its variables are in their domains."""

    def __init__(self, protocol: Protocol) -> None:
        self._solver = z3.SimpleSolver()
        self._solver.set("rlimit", EFFORT)
        for v in protocol.variables:
            self._solver.add(v.domain.within(v.term), v.domain.within(v.next))

    def always(self, *formulas: Any) -> bool:
        """Whether Z3 proves that all formulas hold there; False if it cannot decide."""
        if not formulas:
            return True
        self._solver.push()
        self._solver.add(z3.Not(z3.And(*formulas)))
        proved: bool = self._solver.check() == z3.unsat
        self._solver.pop()
        return proved

    def same(self, first: Any, second: Any) -> bool:
        """Whether Z3 proves that both terms are worth the same there."""
        return self.always(*equation(first, second))


def equation(first: Any, second: Any) -> list[Any]:
    """The equation of two terms, or nothing if they are the same text, as they stand or simplified."""
    if first.eq(second):
        return []
    one, other = z3.simplify(first), z3.simplify(second)
    return [] if one.eq(other) else [one == other]
