"""How large numbers can become: the kernel computes with 64 bits, where Z3 has no limit."""

from __future__ import annotations

from math import prod

from fencepost.model.language.domains import Domain
from fencepost.model.terms.nodes import Term, in_order

Range = tuple[int, int]

_FITS = 1 << 62
_ARITHMETIC = frozenset({"+", "-", "unary -", "*"})


def is_computed(term: Term) -> bool:
    """Whether it may be a number that is larger than variables are."""
    return term.op in _ARITHMETIC or (term.op == "literal" and not term.sort.bits and abs(term.detail) > _FITS)


class Ranges:
    """The range of every number in a term, from the domains of the variables: an upper estimate that ignores conditions."""

    def __init__(self) -> None:
        self._of: dict[Term, Range] = {}

    def declare(self, constant: Term, domain: Domain) -> None:
        """Takes note of a constant that stays in a domain."""
        self._of[constant] = domain.low, domain.low + domain.size - 1

    def too_wide(self, term: Term) -> Term | None:
        """A number within the term that might not fit 64 bits, or None. The term must be free of strangers."""
        for part in in_order([term], self._of.__contains__):
            low, high = self._of[part] = self._range(part)
            if low < -(1 << 63) or high >= 1 << 63:
                return part
        return None

    def of(self, term: Term) -> Range:
        """The range of a number of which ``too_wide`` found nothing to say."""
        self.too_wide(term)
        return self._of[term]

    def _range(self, term: Term) -> Range:
        if term.sort.kind != "Int":
            return 0, 0
        if term.op == "literal":
            return term.detail, term.detail
        parts = [self._of[argument] for argument in term.arguments]
        if term.op == "ite":
            return min(parts[1][0], parts[2][0]), max(parts[1][1], parts[2][1])
        if term.op == "unary -":
            return -parts[0][1], -parts[0][0]
        if term.op == "-":
            return parts[0][0] - sum(high for _, high in parts[1:]), parts[0][1] - sum(low for low, _ in parts[1:])
        if term.op == "*":
            size = prod(max(abs(low), abs(high)) for low, high in parts)
            return -size, size
        return sum(low for low, _ in parts), sum(high for _, high in parts)
