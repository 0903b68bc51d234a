"""Numbers of terms: two terms with the same number are worth the same, however they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any, TypeAlias

from fencepost.model.terms.nodes import Term, in_order
from fencepost.model.terms.sorts import Sort

Worth: TypeAlias = "int | tuple[int, ...]"
"""The number of a condition or of a numeric term; the negative of a condition's number is that of its negation.

A subset has one number for each member, the lowest first: that of the condition that it contains the member. A choice has one
for each name: that of the condition that it is the name.
"""

TRUE, FALSE = 1, -1


class Numbering:
    """Numbers terms, each once. Terms with the same number are worth the same wherever each choice is one of its names.

    It sees through the order of the arguments of ``and``, ``or``, ``=``, ``distinct``, ``+`` and ``*``, through nested ``and``
    and ``or``, and through members of subsets and names of choices that have changed places. Terms with different numbers may
    be worth the same, too.
    """

    def __init__(self) -> None:
        self._worth: dict[Term, Worth] = {}
        self._numbers: dict[object, int] = {"true": TRUE}
        self._joined: dict[int, frozenset[int]] = {}
        """What each conjunction joins, no part being a conjunction itself."""
        self._rivals: dict[int, frozenset[int]] = {}
        """For the condition that a choice is some name: those that it is another."""

    def __call__(self, term: Term) -> Worth:
        """The number of the term, or its numbers."""
        worth = self._worth
        for part in in_order([term], worth.__contains__):
            rule = _RULES.get(part.op, Numbering.other)
            worth[part] = rule(self, part, *[worth[argument] for argument in part.arguments])
        return worth[term]

    def other(self, term: Term, *parts: Worth) -> Worth:
        """What a term has whose operator means nothing here: the same operator and arguments have the same number."""
        key = term.op, term.sort, term.detail, parts
        if term.sort.bits:
            return tuple([self._number(*key, place) for place in range(term.sort.bits)])
        if not term.sort.names:
            return self._number(*key)
        names = [self._number(*key, place) for place in range(len(term.sort.names))]
        if len(names) < 3:
            return (names[0], -names[0]) if len(names) == 2 else (TRUE,)
        for name in names:
            self._rivals[name] = frozenset(names) - {name}
        return tuple(names)

    def literal(self, term: Term) -> Worth:
        """What a literal has."""
        if term.sort.bits:
            return tuple([TRUE if term.detail >> place & 1 else FALSE for place in range(term.sort.bits)])
        if 0 <= term.detail < len(term.sort.names):
            return tuple([TRUE if place == term.detail else FALSE for place in range(len(term.sort.names))])
        return self._number("literal", term.sort, term.detail)

    def all(self, parts: Iterable[int]) -> int:
        """The condition that all conditions hold."""
        known = set[int]()
        for part in parts:
            known |= self._joined.get(part, {part})
        known.discard(TRUE)
        for part in [part for part in known if part in self._rivals]:
            if not known.isdisjoint(self._rivals[part]):
                return FALSE
            known.difference_update([-rival for rival in self._rivals[part]])
        if FALSE in known or any(-part in known for part in known):
            return FALSE
        for part in known:  # of a disjunction only that is left which the others do not settle
            denied = self._joined.get(-part, frozenset())
            if any(-one in known for one in denied):
                return self.all(known - {part})
            if not known.isdisjoint(denied):
                return self.all([*(known - {part}), -self.all(denied - known)])
        if len(known) < 2:
            return known.pop() if known else TRUE
        number = self._number("and", frozenset(known))
        self._joined[number] = frozenset(known)
        return number

    def any(self, parts: Iterable[int]) -> int:
        """The condition that some condition holds."""
        return -self.all([-part for part in parts])

    def alike(self, one: int, other: int) -> int:
        """The condition that both conditions hold, or neither."""
        if abs(one) == abs(other):
            return TRUE if one == other else FALSE
        if TRUE in (abs(one), abs(other)):
            return one * other
        number = self._number("alike", frozenset([abs(one), abs(other)]))
        return number if (one > 0) is (other > 0) else -number

    def equal(self, sort: Sort[Term], one: Worth, other: Worth) -> int:
        """The condition that two terms of a sort are equal."""
        if one == other:
            return TRUE
        if isinstance(one, tuple) and isinstance(other, tuple):
            return self.all([self.alike(*pair) for pair in zip(one, other, strict=True)])
        if sort.kind == "Bool" and isinstance(one, int) and isinstance(other, int):
            return self.alike(one, other)
        return self._number("=", frozenset([one, other]))

    def if_(self, sort: Sort[Term], test: int, one: Worth, other: Worth) -> Worth:
        """The one term of a sort where the test holds, and else the other."""
        if one == other or abs(test) == TRUE:
            return other if test == FALSE else one
        if test < 0:
            test, one, other = -test, other, one
        if isinstance(one, tuple) and isinstance(other, tuple):
            return tuple([self._either(test, *pair) for pair in zip(one, other, strict=True)])
        if sort.kind == "Bool" and isinstance(one, int) and isinstance(other, int):
            return self._either(test, one, other)
        return self._number("if", test, one, other)

    def opaque(self, term: Term, *_: Worth) -> Worth:
        """What a quantifier has: a choice that it binds may be none of its names, so only the same text has the same number."""
        return self._number("text", term.digest)

    def below(self, one: Worth, other: Worth) -> int:
        """The condition that a number is less than another."""
        return self._number("<", one, other)

    def in_any_order(self, term: Term, *parts: int) -> int:
        """What a term has whose operator does not heed the order of its arguments, which are numeric."""
        return self._number(term.op, term.sort, tuple(sorted(parts)))

    def _number(self, *key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def _either(self, test: int, one: int, other: int) -> int:
        if one == other:
            return one
        if one == -other:
            return self.alike(test, one)
        if abs(one) == TRUE:
            return self.any([test, other]) if one == TRUE else self.all([-test, other])
        if abs(other) == TRUE:
            return self.any([-test, one]) if other == TRUE else self.all([test, one])
        number = self._number("either", test, abs(one), other if one > 0 else -other)
        return number if one > 0 else -number


_RULES: Mapping[str, Callable[..., Any]] = {
    "true": lambda n, term: TRUE,
    "false": lambda n, term: FALSE,
    "literal": Numbering.literal,
    "and": lambda n, term, *parts: n.all(parts),
    "or": lambda n, term, *parts: n.any(parts),
    "not": lambda n, term, part: -part,
    "=>": lambda n, term, premise, conclusion: n.any([-premise, conclusion]),
    "xor": lambda n, term, one, other: -n.alike(one, other),
    "=": lambda n, term, one, other: n.equal(term.arguments[0].sort, one, other),
    "distinct": lambda n, term, *parts: n.all([-n.equal(term.arguments[0].sort, *pair) for pair in combinations(parts, 2)]),
    "ite": lambda n, term, test, one, other: n.if_(term.sort, test, one, other),
    "+": Numbering.in_any_order,
    "*": Numbering.in_any_order,
    "<": lambda n, term, one, other: n.below(one, other),
    ">": lambda n, term, one, other: n.below(other, one),
    "<=": lambda n, term, one, other: -n.below(other, one),
    ">=": lambda n, term, one, other: -n.below(one, other),
    "bvand": lambda n, term, *sets: tuple([n.all(bits) for bits in zip(*sets, strict=True)]),
    "bvor": lambda n, term, *sets: tuple([n.any(bits) for bits in zip(*sets, strict=True)]),
    "bvxor": lambda n, term, one, other: tuple([-n.alike(*bits) for bits in zip(one, other, strict=True)]),
    "bvnot": lambda n, term, bits: tuple([-bit for bit in bits]),
    "extract": lambda n, term, bits: bits[term.detail[1] : term.detail[0] + 1],
    "forall": Numbering.opaque,
    "exists": Numbering.opaque,
    "concat": lambda n, term, *parts: tuple([bit for bits in reversed(parts) for bit in bits]),
}
"""What a term of each operator has, from what its arguments have."""
