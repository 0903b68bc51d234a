"""Two members of a universe exchanged: what becomes of variables, values and terms."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.model.language.declarations import Action, Variable
from fencepost.model.language.domains import Choice, Domain, Subset, Universe
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import concatenation, conditional, equation, extract


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
