"""How large numbers can be where conditions hold, without a solver: intervals that may be too wide and are never too narrow."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.language.constants import Range, range_of_parts
from fencepost.model.terms.nodes import Term

LARGEST = 200
"""Size of a term, as a tree, into which this looks: that is what looking costs, and the stack must be deep enough."""

_ORDERS = {"<=": (False, 0), "<": (False, 1), ">=": (True, 0), ">": (True, 1)}
"""Comparisons, each with whether the second number is the smaller one, and by how much at least."""


class Bounds:
    """The ranges of numbers wherever all supposed conditions hold.

    ``range_of`` gives the range that a number has in any case. If a range has no value left, the conditions never hold
    together, and then any range is right.
    """

    def __init__(self, range_of: Callable[[Term], Range]) -> None:
        self._range_of = range_of
        self._narrowed: dict[Term, Range] = {}

    def suppose(self, condition: Term, *, holds: bool = True) -> bool:
        """Narrows the ranges by a condition that holds, or does not. Returns False if that is certain to be impossible."""
        possible, stack, seen = True, [(condition, holds)], set[tuple[Term, bool]]()
        while stack:
            supposed = stack.pop()
            if supposed in seen:
                continue
            seen.add(supposed)
            part, holds = supposed
            op, parts = part.op, part.arguments
            if op == "not":
                stack.append((parts[0], not holds))
            elif op == ("and" if holds else "or"):
                stack += [(one, holds) for one in reversed(parts)]
            elif op in _ORDERS:
                is_turned, gap = _ORDERS[op]
                one, other = parts if is_turned is not holds else reversed(parts)
                possible &= self._suppose_order(one, other, gap if holds else 1 - gap)
            elif op in ("=", "distinct") and len(parts) == 2 and parts[0].sort.kind == "Int":
                possible &= self._suppose_equal(*parts) if (op == "=") is holds else self._suppose_unequal(*parts)
            elif op == ("false" if holds else "true"):
                possible = False
        return possible

    def _suppose_order(self, low: Term, high: Term, gap: int) -> bool:
        """Narrows two numbers, the first of which is smaller by ``gap`` at least. Returns whether both have a value left."""
        least, most = self.of(low)[0], self.of(high)[1]
        return self._narrow(low, least, most - gap) and self._narrow(high, least + gap, most)

    def _suppose_equal(self, one: Term, other: Term) -> bool:
        return self._narrow(one, *self.of(other)) and self._narrow(other, *self.of(one))

    def _suppose_unequal(self, one: Term, other: Term) -> bool:
        """Narrows two numbers that differ: if one has a single value, that is no end of the other's range."""
        for known, number in ((one, other), (other, one)):
            least, most = self.of(known)
            low, high = self.of(number)
            if least == most and not self._narrow(number, low + (low == least), high - (high == least)):
                return False
        return True

    def _narrow(self, number: Term, low: int, high: int) -> bool:
        """Narrows the range of a number. Returns whether it has a value left."""
        least, most = self.of(number)
        low, high = self._narrowed[number] = max(low, least), min(high, most)
        return low <= high

    def of(self, number: Term) -> Range:
        """The range of a number."""
        if number.op == "literal" or number.size > LARGEST:
            low, high = self._range_of(number)
        elif number.op == "ite":
            low, high = self._of_branches(*number.arguments)
        elif number.arguments:
            low, high = range_of_parts(number, [self.of(part) for part in number.arguments])
        else:
            low, high = self._range_of(number)
        least, most = self._narrowed.get(number, (low, high))
        return max(low, least), min(high, most)

    def _of_branches(self, test: Term, then: Term, otherwise: Term) -> Range:
        ranges = list[Range]()
        for branch, holds in ((then, True), (otherwise, False)):
            within = Bounds(self._range_of)
            within._narrowed = dict(self._narrowed)
            if within.suppose(test, holds=holds):
                ranges.append(within.of(branch))
        if not ranges:
            return self.of(then)  # the conditions never hold together
        return min(low for low, _ in ranges), max(high for _, high in ranges)
