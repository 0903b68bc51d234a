"""Random terms: formulas and values of every kind that the language has, over the variables of a protocol.

What is drawn depends on nothing but a source of chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from tests.fuzz.syntax import Family, Index, Sort, Term
from tests.fuzz.writing import names

T = TypeVar("T")
FAR = 1 << 63
FLAG = Sort("flag")
NUMBER = Sort("number", -FAR, FAR - 1)
UNIVERSES = ("ant", "bee", "cat")
COMPARISONS = ("eq", "lt", "le", "gt", "ge", "ne")


def fits(low: int, high: int) -> bool:
    """Whether a number in that range fits 64 bits, as the language asks of every part of a term."""
    return low >= -FAR and high < FAR


@dataclass(frozen=True)
class Ranged:
    """A number as a term, with the least and the greatest value that its parts allow."""

    term: Term
    low: int
    high: int


@dataclass(frozen=True)
class Traits:
    """What is out of the ordinary in a protocol.

    ``symmetric``: no member is named. ``far``: numbers at ±2⁶³. ``wide``: nine words and more. ``many``: more than 64 actions.
    ``vast``: a universe of 64. ``empty``: one of 0. ``large``: more states than plain Python can look at. ``leaky``: updates
    that nothing keeps in their domain.
    """

    symmetric: bool
    far: bool
    wide: bool
    many: bool
    vast: bool
    empty: bool
    large: bool
    leaky: bool

    @classmethod
    def drawn(cls, chance: Random) -> Traits:
        shares = (35, 20, 12, 12, 10, 10, 10, 4)
        return cls(*(chance.randrange(100) >= 100 - share for share in shares))


def const(sort: Sort, value: int, plain: bool = True) -> Term:
    """A literal; ``plain`` if it may be written as Python's."""
    return Term("const", (), (sort, value, plain))


class Terms:
    """Terms over what a protocol declares: its universes with their sizes, its budgets and families.

    ``scope`` are the names that stand for members, each with its universe or count; ``primed`` tells whether variables may be
    those of the next state.
    """

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.traits = Traits.drawn(chance)
        self.universes = self._universes()
        self.budgets = tuple((name, self.upto(2)) for name in ("luck", "time")[: self.upto(2)])
        self.families: list[Family] = []
        self.scope: list[tuple[str, str | int]] = []
        self.primed = False

    def _universes(self) -> dict[str, int]:
        sizes = {name: 1 + self.upto(3 if self.traits.symmetric else 2) for name in UNIVERSES[: 1 + self.upto(1)]}
        if self.traits.vast:
            sizes["vat"] = 64 - self.upto(1)
        if self.traits.empty:
            sizes["zoo"] = 0
        return sizes

    # --- chance

    def upto(self, most: int) -> int:
        return self.chance.randrange(most + 1)

    def likely(self, percent: int) -> bool:
        return self.chance.randrange(100) >= 100 - percent

    def one_of(self, options: Sequence[T]) -> T:
        return options[self.chance.randrange(len(options))]

    # --- what can be named

    def size(self, over: str | int) -> int:
        return over if isinstance(over, int) else self.universes[over]

    def places(self, family: Family) -> list[Index]:
        """Ways to name one variable of a family here: by names that stand for members, or by members."""
        ways: list[Index] = [()]
        for universe in family.per:
            named: list[int | str] = [name for name, over in self.scope if over == universe]
            named += [] if self.traits.symmetric else list(range(min(self.universes[universe], 12)))
            ways = [(*way, index) for way in ways for index in named]
        return ways

    def value(self, sort: Sort) -> int:
        """A value, mostly one at the ends of its range; without one that names a member, if none is to be named."""
        if self.traits.symmetric and sort.universe:
            if sort.kind == "choice":
                return sort.high if sort.none else 0
            return self.one_of((0, sort.high))
        if sort.size <= 8:
            return sort.low + self.upto(sort.size - 1)
        at = self.one_of([sort.low, sort.high, sort.low + 1, sort.high - 1, sort.low + sort.size // 2, 0, 1])
        return at if sort.low <= at <= sort.high else sort.low

    # --- formulas

    def truth(self, depth: int) -> Term:
        if depth <= 0:
            return self.one_of(ATOMS)(self)
        return self.one_of(FORMULAS)(self, depth - 1)

    def variable(self, fit: Callable[[Sort], bool]) -> Term | None:
        """A variable of a sort that fits, if one can be named here."""
        usable = [(f, places) for f in self.families if fit(f.sort) and (places := self.places(f))]
        if fit(Sort("number", 0, 2)) and self.budgets and self.likely(10):
            return Term("var", (), (self.one_of(self.budgets)[0], (), False))
        if not usable:
            return None
        family, places = self.one_of(usable)
        return Term("var", (), (family.name, self.one_of(places), self.primed and self.likely(50)))

    def sort(self, variable: Term) -> Sort:
        name = variable.detail[0]
        return next((f.sort for f in self.families if f.name == name), Sort("number", 0, dict(self.budgets).get(name, 0)))

    def within(self, make: Callable[[], Term], op: str, *detail: Any) -> Term:
        """A term over all members of a universe."""
        few = [u for u, size in self.universes.items() if size <= 4 or self.likely(10)]
        universe, name = self.one_of(few or list(self.universes)), f"m{len(self.scope)}"
        self.scope.append((name, universe))
        body = make()
        self.scope.pop()
        return Term(op, (body,), (*detail, name, universe))

    def flag(self) -> Term:
        return self.variable(lambda sort: sort.kind == "flag") or self.comparison(0)

    def comparison(self, depth: int) -> Term:
        left = self.number(depth)
        if self.likely(60):
            near = [n for n in (left.low, left.high, left.low + 1, left.high - 1, (left.low + left.high) // 2) if fits(n, n)]
            right = const(NUMBER, self.one_of(near), self.likely(50))
        else:
            right = self.number(depth).term
        pair = (left.term, right) if self.likely(70) else (right, left.term)
        return Term(self.one_of(COMPARISONS), pair)

    def chosen(self) -> Term:
        variable = self.variable(lambda sort: sort.kind == "choice")
        if variable is None:
            return self.flag()
        sort = self.sort(variable)
        if self.likely(25) and not (self.traits.symmetric and sort.universe):
            return Term("among", (variable,), tuple(name for name in names(sort) if self.likely(50)))
        return Term(self.one_of(("eq", "ne")), (variable, self.choice(sort, 0)))

    def contained(self) -> Term:
        variable = self.variable(lambda sort: sort.kind == "subset")
        if variable is None:
            return self.flag()
        sort = self.sort(variable)
        one = self.subset(sort, self.upto(1))
        kind = self.one_of(("has", "empty", "eq", "ne"))
        if kind == "has":
            member = self.of_universe(sort.universe)
            return Term("has", (one, member)) if member else Term("empty", (one,))
        return Term("empty", (one,)) if kind == "empty" else Term(kind, (one, self.subset(sort, 0, whole=True)))

    def same(self) -> Term:
        pairs = [(a, b) for a, over in self.scope for b, other in self.scope if a < b and over == other]
        if not self.traits.symmetric:
            pairs += [(name, self.upto(2)) for name, _ in self.scope]
        return Term("same", (), self.one_of(pairs)) if pairs else self.comparison(0)

    def known(self) -> Term:
        return const(FLAG, self.upto(1), self.likely(50))

    def several(self, depth: int, least: int = 1, most: int = 3) -> tuple[Term, ...]:
        return tuple(self.truth(depth) for _ in range(least + self.upto(most - least)))

    def equal(self, depth: int) -> Term:
        return Term(self.one_of(("eq", "ne", "xor")), (self.truth(depth), self.truth(depth)))

    # --- values

    def of_universe(self, universe: str) -> Term | None:
        """What may be a member of a universe: a name, a literal, a choice or a number; None if there is nothing to name."""
        options: list[Term] = [Term("member", (), name) for name, over in self.scope if over == universe]
        choice = self.variable(lambda sort: sort.kind == "choice" and sort.universe == universe and not sort.none)
        options += [choice] if choice else []
        if not self.traits.symmetric:
            options += [const(NUMBER, self.upto(self.universes[universe] - 1), self.likely(70))]
            options += [term for term in [self.number(0).term] if term.op == "var"]
        return self.one_of(options) if options else None

    def choice(self, sort: Sort, depth: int, *, whole: bool = False) -> Term:
        """A choice; only a whole new value may be a conditional of literals."""
        variable = self.variable(lambda other: other == sort)
        if depth > 0 and (variable or whole):
            return Term("ite", (self.truth(depth - 1), self.choice(sort, 0), variable or self.choice(sort, 0)))
        literals = [Term("member", (), name) for name, over in self.scope if over == sort.universe and sort.universe]
        if not (self.traits.symmetric and sort.universe and not sort.none):
            literals.append(const(sort, self.value(sort), self.likely(70)))
        options = literals + ([variable] if variable else [])
        return self.one_of(options) if options else const(sort, 0)

    def subset(self, sort: Sort, depth: int, *, whole: bool = False) -> Term:
        """A subset; literals only where a whole new value, or the right side of an operator, is asked for."""
        variable = self.variable(lambda other: other == sort)
        literal = const(sort, self.value(sort))
        if variable is None:
            # without a variable to begin with there is nothing but a literal, which may be chosen between
            return Term("ite", (self.truth(0), literal, const(sort, self.value(sort)))) if depth > 0 else literal
        if depth <= 0:
            return literal if whole and self.likely(50) else variable
        kind = self.one_of(("plus", "minus", "union", "inter", "complement", "ite"))
        below = self.subset(sort, depth - 1)
        if kind in ("plus", "minus"):
            member = self.of_universe(sort.universe)
            return Term(kind, (below, member)) if member else Term("complement", (below,))
        if kind == "complement":
            return Term(kind, (below,))
        if kind == "ite":
            return Term("ite", (self.truth(depth - 1), literal if whole else below, variable))
        return Term(kind, (below, self.one_of((self.subset(sort, 0, whole=True), self.subset(sort, depth - 1)))))

    def number(self, depth: int) -> Ranged:
        number = self.one_of(NUMBERS if depth > 0 else LEAVES)(self, depth - 1)
        return number if fits(number.low, number.high) else self.measure(0)

    def measure(self, depth: int) -> Ranged:
        variable = self.variable(lambda sort: sort.kind == "number")
        if variable is None:
            return self.figure(0)
        sort = self.sort(variable)
        return Ranged(variable, sort.low, sort.high)

    def figure(self, depth: int) -> Ranged:
        value = self.one_of((0, 1, 2, -1, 3, FAR - 1, -FAR)) if self.traits.far else self.upto(6) - 2
        return Ranged(const(NUMBER, value, self.likely(60)), value, value)

    def member(self, depth: int) -> Ranged:
        if self.traits.symmetric or not self.scope:
            return self.measure(0)
        name, over = self.one_of(self.scope)
        return Ranged(Term("member", (), name), 0, max(self.size(over) - 1, 0))

    def sum(self, depth: int) -> Ranged:
        a, b = self.number(depth), self.number(depth)
        return Ranged(Term("add", (a.term, b.term)), a.low + b.low, a.high + b.high)

    def difference(self, depth: int) -> Ranged:
        a, b = self.number(depth), self.number(depth)
        return Ranged(Term("sub", (a.term, b.term)), a.low - b.high, a.high - b.low)

    def negative(self, depth: int) -> Ranged:
        a = self.number(depth)
        return Ranged(Term("neg", (a.term,)), -a.high, -a.low)

    def product(self, depth: int) -> Ranged:
        a, b = self.number(0), self.number(0)
        size = max(abs(a.low), abs(a.high)) * max(abs(b.low), abs(b.high))
        return Ranged(Term("mul", (a.term, b.term)), -size, size)

    def extreme(self, depth: int) -> Ranged:
        parts = [self.number(depth) for _ in range(2 + self.upto(1))]
        return self._one_of_these(Term(self.one_of(("max", "min")), tuple(p.term for p in parts)), parts)

    def either(self, depth: int) -> Ranged:
        parts = [self.number(depth), self.number(depth)]
        return self._one_of_these(Term("ite", (self.truth(depth), *(p.term for p in parts))), parts)

    def selected(self, depth: int) -> Ranged:
        parts = [self.number(0) for _ in range(2 + self.upto(2))]
        return self._one_of_these(Term("select", (self.number(depth).term, *(p.term for p in parts))), parts)

    @staticmethod
    def _one_of_these(term: Term, parts: Sequence[Ranged]) -> Ranged:
        return Ranged(term, min(p.low for p in parts), max(p.high for p in parts))

    def counted(self, depth: int) -> Ranged:
        parts = self.several(min(depth, 1))
        return Ranged(Term("how_many", parts), 0, len(parts))

    def counted_members(self, depth: int) -> Ranged:
        count = self.within(lambda: self.truth(0), "how_many_of")
        return Ranged(count, 0, self.universes[count.detail[-1]])


ATOMS: Sequence[Callable[[Terms], Term]] = (
    Terms.flag,
    lambda d: d.comparison(0),
    Terms.chosen,
    Terms.contained,
    lambda d: d.comparison(1),
    Terms.same,
    Terms.flag,
    Terms.chosen,
    Terms.known,
)

FORMULAS: Sequence[Callable[[Terms, int], Term]] = (
    lambda d, depth: d.truth(0),
    lambda d, depth: Term("not", (d.truth(depth),)),
    lambda d, depth: Term("and", d.several(depth)),
    lambda d, depth: Term("or", d.several(depth)),
    lambda d, depth: Term("implies", (d.truth(depth), d.truth(depth))),
    Terms.equal,
    Terms.comparison,
    lambda d, depth: d.within(lambda: d.truth(depth), "all"),
    lambda d, depth: d.within(lambda: d.truth(depth), "any"),
    lambda d, depth: d.within(lambda: d.truth(depth), "at_least_of", d.upto(3)),
    lambda d, depth: Term("at_least", d.several(depth), d.upto(3)),
    lambda d, depth: Term("ite", (d.truth(depth), d.truth(depth), d.truth(depth))),
    lambda d, depth: Term("distinct", tuple(d.number(0).term for _ in range(2 + d.upto(1)))),
)

LEAVES: Sequence[Callable[[Terms, int], Ranged]] = (Terms.measure, Terms.measure, Terms.figure, Terms.member)

NUMBERS: Sequence[Callable[[Terms, int], Ranged]] = (
    Terms.measure,
    Terms.sum,
    Terms.difference,
    Terms.negative,
    Terms.product,
    Terms.extreme,
    Terms.either,
    Terms.selected,
    Terms.counted,
    Terms.counted_members,
)
