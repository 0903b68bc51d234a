"""Two members of a universe exchanged: in variables, raw values and terms of a protocol; and whether terms are equivalent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fencepost.model.language.declarations import Action, Variable
from fencepost.model.language.domains import Choice, Domain, Subset, Universe
from fencepost.model.language.protocol import Protocol
from fencepost.model.terms.asking import Asking
from fencepost.model.terms.nodes import S, Term
from fencepost.model.terms.numbering import Numbering
from fencepost.model.terms.simplification import Simplification
from fencepost.model.terms.traversal import Substitution
from fencepost.model.terms.values import Condition, concatenation, conditional, conjunction, equation, extract, negation


@dataclass(frozen=True)
class Transposition:
    """The exchange of two members of a universe, as the declarations say how a state changes with it.

    Members of families change places where they are indexed by the two; a choice that is the one becomes the other; a subset
    has the one where it had the other. It is its own inverse.
    """

    universe: Universe
    first: int
    second: int

    def member(self, universe: Universe | None, member: int) -> int:
        """What a member of some universe, or a number of none, becomes."""
        if universe != self.universe:
            return member
        return {self.first: self.second, self.second: self.first}.get(member, member)

    def place(self, variable: Variable) -> tuple[str, tuple[int, ...]]:
        """The family and the index at which the variable's value is found afterwards."""
        pairs = zip(variable.universes, variable.index, strict=True)
        return variable.family, tuple(self.member(universe, i) for universe, i in pairs)

    def grounding(self, action: Action) -> tuple[str, tuple[int, ...]]:
        """The name and the arguments that an action has afterwards."""
        return action.name, tuple(self.member(universe, value) for universe, value in action.grounding)

    def choices(self, domain: Domain) -> tuple[int, int] | None:
        """The two raw values of a choice that are exchanged, or None if the domain is no choice of both members.

        A choice of the universe itself consists of its members; among names, those of members stand for them.
        """
        if not isinstance(domain, Choice) or domain.universe not in (None, self.universe):
            return None
        labels = self.universe.label(self.first), self.universe.label(self.second)
        if not set(labels) <= set(domain.names):
            return None
        return domain.names.index(labels[0]), domain.names.index(labels[1])

    def bits(self, domain: Domain) -> tuple[int, int] | None:
        """The two bits of a subset that are exchanged, or None if the domain has no subsets of this universe."""
        return (self.first, self.second) if isinstance(domain, Subset) and domain.universe == self.universe else None

    def value(self, domain: Domain, raw: int) -> int:
        """What a raw value of the domain becomes."""
        choices, bits = self.choices(domain), self.bits(domain)
        if choices:
            return {choices[0]: choices[1], choices[1]: choices[0]}.get(raw, raw)
        if bits and raw >> bits[0] & 1 != raw >> bits[1] & 1:
            return raw ^ (1 << bits[0] | 1 << bits[1])
        return raw

    def term(self, domain: Domain, term: Term) -> Term:
        """What a term of the domain's sort becomes."""
        choices, bits = self.choices(domain), self.bits(domain)
        if choices:
            one, other = map(domain.literal, choices)
            return conditional(equation(term, one), other, conditional(equation(term, other), one, term))
        if bits:
            order = list(self.universe)
            order[bits[0]], order[bits[1]] = bits[1], bits[0]
            return concatenation(*(extract(bit, bit, term) for bit in reversed(order)))
        return term


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
        self._number, self._simple = Numbering(), Simplification()

    @cached_property
    def _asking(self) -> Asking:
        """Questions about what is in the domains."""
        inside = (v.domain.within(term) for v in self._protocol.variables for term in (v.term, v.next))
        return Asking(inside, effort=EFFORT)

    def always(self, *formulas: Condition) -> bool:
        """Whether Z3 proves that all formulas hold there; False if it cannot decide."""
        return not formulas or self._asking.excludes(negation(conjunction(formulas)))

    def same(self, first: Term, second: Term) -> bool:
        """Whether both terms are known to be worth the same there."""
        return self.always(*self.equation(first, second))

    def equation(self, first: Term, second: Term) -> list[Condition]:
        """The equation of two terms, simplified; nothing if they are seen to be worth the same without Z3.

        An exchange mostly changes the order in which a term is written, or the places of members in subsets. A numbering sees
        through both, and takes less time than Z3.
        """
        if first is second or self._number(first) == self._number(second):
            return []
        one, other = self._simple(first), self._simple(second)
        return [] if one is other else [equation(one, other)]
