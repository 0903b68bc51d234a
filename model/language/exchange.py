"""Two members of a universe exchanged in one protocol: in its variables and its terms; and whether terms are equivalent."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fencepost.model.language.declarations import Variable
from fencepost.model.language.protocol import Protocol
from fencepost.model.language.transposition import Transposition
from fencepost.model.terms.nodes import S, Term
from fencepost.model.terms.simplification import Simplification
from fencepost.model.terms.traversal import Substitution
from fencepost.model.terms.values import Condition, conjunction, negation
from fencepost.model.terms.values import equation as equal

if TYPE_CHECKING:
    import z3

    from fencepost.model.terms.in_z3 import InZ3

EFFORT = 50_000_000
"""What Z3 may spend on one question, in its own units, which are the same on every machine; it takes seconds to reach."""


class Exchange:
    """A transposition, applied to the variables of a protocol."""

    def __init__(self, protocol: Protocol, transposition: Transposition) -> None:
        self.transposition = transposition
        self._protocol = protocol
        self._variables = {(v.family, v.index): v for v in protocol.variables}
        places: dict[Term, Term] = {}
        for v in protocol.variables:
            other = self.variable(v)
            places[v.term], places[v.next] = (transposition.term(v.domain, term) for term in (other.term, other.next))
        self._substitution = Substitution({old: new for old, new in places.items() if old is not new})

    def variable(self, variable: Variable) -> Variable:
        """The variable that has this one's value in the exchanged state, and whose value this one has there."""
        return self._variables[self.transposition.place(variable)]

    def term(self, term: S) -> S:
        """What a term over values and next values is worth in the exchanged state, in terms of the state before."""
        return self._substitution(term)


class Equivalence:
    """Whether terms of a protocol are worth the same wherever its variables are in their domains."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._simple = Simplification()

    @cached_property
    def _asked(self) -> tuple[z3.Solver, InZ3]:
        """A solver that knows the domains, and what prints terms for it."""
        import z3

        from fencepost.model.terms.in_z3 import InZ3

        solver, printed = z3.SimpleSolver(), InZ3()
        solver.set("rlimit", EFFORT)
        for v in self._protocol.variables:
            solver.add(printed(v.domain.within(v.term)), printed(v.domain.within(v.next)))
        return solver, printed

    def always(self, *formulas: Condition) -> bool:
        """Whether Z3 proves that all formulas hold there; False if it cannot decide."""
        if not formulas:
            return True
        solver, printed = self._asked
        solver.push()
        solver.add(printed(negation(conjunction(formulas))))
        proved = str(solver.check()) == "unsat"
        solver.pop()
        return proved

    def same(self, first: Term, second: Term) -> bool:
        """Whether Z3 proves that both terms are worth the same there."""
        return self.always(*self.equation(first, second))

    def equation(self, first: Term, second: Term) -> list[Condition]:
        """The equation of two terms, or nothing if they are the same text, as they stand or simplified."""
        if first is second:
            return []
        one, other = self._simple(first), self._simple(second)
        return [] if one is other else [equal(one, other)]
