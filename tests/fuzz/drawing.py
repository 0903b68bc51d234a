"""Random protocols: every word of the language, in protocols that are small enough to be read in plain Python.

What is drawn depends on nothing but a source of chance: a ``random.Random``, or what Hypothesis has in its place, which shrinks
towards the options that come first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.fuzz.plain import Escape, Reading
from tests.fuzz.syntax import Deed, Family, Index, Kind, Sort, Spec, Statement, Term, Update
from tests.fuzz.writing import LITERALS, names

T = TypeVar("T")
FAR = 1 << 63
FLAG = Sort("flag")
NUMBER = Sort("number", -FAR, FAR - 1)
UNIVERSES = ("ant", "bee", "cat")
FAMILIES = ("mass", "need", "ore", "pit", "quay")
MOST_WORK = 4000
"""Nodes of terms, in all actions together, that plain Python is to read for each state."""

FEW = 8
"""States of a protocol in which little happens."""

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


def drawn(chance: Random) -> Spec:
    """A protocol with its properties; most of those in which next to nothing happens, or too much, are drawn again."""
    for _ in range(6):
        made = _Drawing(chance).spec()
        reading = Reading(made)
        if reading.work > MOST_WORK:
            continue
        if chance.randrange(10) == 0:
            break
        try:
            if len(reading.explore(FEW).depth) > FEW:
                break
        except Escape:
            break
    return made


SPECS: st.SearchStrategy[Spec] = st.randoms(use_true_random=False).map(drawn)
"""Random protocols, as Hypothesis draws and shrinks them."""


def const(sort: Sort, value: int, plain: bool = True) -> Term:
    """A literal; ``plain`` if it may be written as Python's."""
    return Term("const", (), (sort, value, plain))


class _Drawing:
    """One protocol while it is drawn. ``scope`` are the names that stand for members, each with its universe or count."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.traits = Traits.drawn(chance)
        self.universes = self._universes()
        self.budgets = tuple((name, self.upto(2)) for name in ("luck", "time")[: self.upto(2)])
        self.families: list[Family] = []
        self.scope: list[tuple[str, str | int]] = []
        self.primed = False
        self.starts = 1

    # --- chance

    def upto(self, most: int) -> int:
        return self.chance.randrange(most + 1)

    def likely(self, percent: int) -> bool:
        return self.chance.randrange(100) >= 100 - percent

    def one_of(self, options: Sequence[T]) -> T:
        return options[self.chance.randrange(len(options))]

    # --- declarations

    def _universes(self) -> dict[str, int]:
        sizes = {name: 1 + self.upto(3 if self.traits.symmetric else 2) for name in UNIVERSES[: 1 + self.upto(1)]}
        if self.traits.vast:
            sizes["vat"] = 64 - self.upto(1)
        if self.traits.empty:
            sizes["zoo"] = 0
        return sizes

    def spec(self) -> Spec:
        for name in FAMILIES[: self.one_of((2, 3, 4, 5, 1))]:
            self.families.append(self._family(name))
        if self.traits.wide:
            self.families.append(self._padding())
        count = self.one_of((2, 1, 3, 4, 5, 6, 7, 0))
        deeds = tuple(self._deed(f"do_{number}") for number in range(count))
        if self.traits.many:
            deeds = (*deeds, self._deed("do_many", (("i", 9), ("j", 8))))
        budgets, universes = self.budgets, tuple(self.universes.items())
        return Spec(universes, tuple(self.families), budgets, deeds, tuple(self._statements(deeds)))

    def _family(self, name: str) -> Family:
        few = [u for u, size in self.universes.items() if size <= 4]
        per: tuple[str, ...] = ()
        if few and self.likely(55):
            per = tuple(self.one_of(few) for _ in range(1 if self.likely(80) else 2))
        if self.traits.vast and self.likely(10):
            per = ("vat",)
        sort = self._sort()
        count = math.prod(self.universes[u] for u in per)
        if self.traits.symmetric:
            return Family(name, sort, per, (self._initial(sort, count),) * count)
        return Family(name, sort, per, tuple(self._initial(sort, 1) for _ in range(count)))

    def _initial(self, sort: Sort, times: int) -> tuple[int, ...]:
        """Possible initial values of a variable; several only while there are few initial states."""
        if self.likely(75) or self.starts * 2**times > 16:
            return (self._value(sort),)
        self.starts *= 2**times
        return tuple(dict.fromkeys([self._value(sort), self._value(sort)]))

    def _value(self, sort: Sort) -> int:
        """A value, mostly one at the ends of its range; without one that names a member, if none is to be named."""
        if self.traits.symmetric and sort.universe:
            if sort.kind == "choice":
                return sort.high if sort.none else 0
            return self.one_of((0, sort.high))
        if sort.size <= 8:
            return sort.low + self.upto(sort.size - 1)
        at = self.one_of([sort.low, sort.high, sort.low + 1, sort.high - 1, sort.low + sort.size // 2, 0, 1])
        return at if sort.low <= at <= sort.high else sort.low

    def _sort(self) -> Sort:
        kind = self.one_of(("flag", "number", "number", "choice", "subset"))
        with_members = [u for u, size in self.universes.items() if size]
        if kind == "number":
            return self._range()
        if kind == "choice":
            if self.likely(50):
                universe, none = self.one_of([u for u, size in self.universes.items() if size < 5]), self.likely(60)
                size = self.universes[universe] + none
                return Sort("choice", 0, max(size, 1) - 1, universe, none or not size)
            return Sort("choice", 0, self.upto(3))
        if kind == "subset" and with_members:
            universe = self.one_of(with_members)
            return Sort("subset", 0, (1 << self.universes[universe]) - 1, universe)
        return FLAG

    def _range(self) -> Sort:
        if self.traits.far and self.likely(60):
            low, high = self.one_of(
                [(-FAR, FAR - 1), (FAR - 4, FAR - 1), (-FAR, -FAR + 3), (-FAR, 0), (-1, FAR - 1), (0, (1 << 62) + 1)]
            )
            return Sort("number", low, high)
        if self.traits.large:
            return Sort("number", 0, 5 + self.upto(40))
        low = self.one_of((0, 0, 1, -1, -3))
        return Sort("number", low, low + self.upto(5))

    def _padding(self) -> Family:
        """A family of whole words: subsets of 64, or numbers as far as they go."""
        self.universes["word"] = 9 + self.upto(3)
        sort = Sort("number", -FAR, FAR - 1) if self.likely(50) or "vat" not in self.universes else None
        sort = sort or Sort("subset", 0, (1 << self.universes["vat"]) - 1, "vat")
        initial = tuple(self._initial(sort, 4) for _ in range(self.universes["word"]))
        return Family("wide", sort, ("word",), initial if not self.traits.symmetric else initial[:1] * len(initial))

    # --- actions

    def _deed(self, name: str, parameters: tuple[tuple[str, str | int], ...] = ()) -> Deed:
        if not parameters:
            over: list[str | int] = [u for u, size in self.universes.items() if size <= 4 or self.likely(30)]
            over += [] if self.traits.symmetric else [2, 3]
            count = 0 if not over else self.one_of((0, 1, 1, 2))
            parameters = tuple((n, self.one_of(over)) for n in ("i", "j")[:count])
            if sum(self._size(over) > 4 for _, over in parameters) > 1:
                parameters = parameters[:1]
        self.scope = list(parameters)
        guards: list[Term] = [] if self.likely(45) else [self.truth(self.upto(2))]
        usable = [f for f in self.families if self._places(f)]
        chosen = [self.one_of(usable) for _ in range(1 + self.upto(2))] if usable else []
        updates = [self._update(family, guards) for family in dict.fromkeys(chosen)]
        fault = self.likely(25)
        spends = self.one_of(self.budgets)[0] if self.budgets and self.likely(40) else ""
        apart = len(parameters) == 2 and self.likely(40)
        by = self.one_of(["someone", *(n for n, _ in parameters)])
        guard = guards[0] if len(guards) == 1 else Term("and", tuple(guards)) if guards else const(FLAG, 1)
        self.scope = []
        return Deed(name, by, parameters, guard, tuple(updates), fault, not fault and self.likely(50), spends, apart)

    def _size(self, over: str | int) -> int:
        return over if isinstance(over, int) else self.universes[over]

    def _places(self, family: Family) -> list[Index]:
        """Ways to name one variable of a family here: by names that stand for members, or by members."""
        ways: list[Index] = [()]
        for universe in family.per:
            named: list[int | str] = [name for name, over in self.scope if over == universe]
            named += [] if self.traits.symmetric else list(range(min(self.universes[universe], 12)))
            ways = [(*way, index) for way in ways for index in named]
        return ways

    def _update(self, family: Family, guards: list[Term]) -> Update:
        if family.per and self.likely(20):
            bound = tuple((f"k{place}", universe) for place, universe in enumerate(family.per))
            self.scope += bound
            value = self._new(family.sort, None)
            del self.scope[-len(bound) :]
            return Update(family.name, tuple(name for name, _ in bound), value, bound)
        index = self.one_of(self._places(family))
        return Update(family.name, index, self._new(family.sort, guards, Term("var", (), (family.name, index, False))))

    def _new(self, sort: Sort, guards: list[Term] | None, old: Term | None = None) -> Term:
        """A new value; what keeps a number in its domain is added to the guards, if that can be."""
        if sort.kind == "flag":
            return self.truth(self.upto(2))
        if sort.kind == "subset":
            return self.subset(sort, self.upto(2), whole=True)
        if sort.kind == "choice":
            return self.choice(sort, self.upto(1), whole=True)
        made = self.number(self.upto(2))
        if old is not None and self.likely(50):
            step = self.one_of((1, -1, 2))
            if fits(sort.low + step, sort.high + step):
                made = Ranged(Term("add", (old, const(NUMBER, step))), sort.low + step, sort.high + step)
        if made.term.op in LITERALS and not sort.low <= made.low <= made.high <= sort.high:
            return const(sort, self._value(sort), self.likely(50))
        if self.likely(15):
            return const(sort, self._value(sort), self.likely(50))
        if (sort.low <= made.low and made.high <= sort.high) or (self.traits.leaky and self.likely(30)):
            return made.term
        inside = (
            Term("le", (const(NUMBER, sort.low), made.term)),
            Term("ge", (const(NUMBER, sort.high, self.likely(50)), made.term)),
        )
        if guards is not None and self.likely(60):
            guards.extend(inside)
            return made.term
        if old is not None and self.likely(50):
            return Term("ite", (Term("and", inside), made.term, const(sort, sort.low)))
        if self.likely(50):
            capped = Term("min", (made.term, const(NUMBER, sort.high)))
            return Term("max", (const(NUMBER, sort.low), capped))
        return Term("ite", (Term("and", inside), made.term, const(sort, self._value(sort))))

    # --- properties

    def _statements(self, deeds: Sequence[Deed]) -> list[Statement]:
        made = [Statement("reached", "sometimes", (self._rare(),))]

        def add(name: str, kind: Kind, *formulas: Term, unfair: tuple[str, ...] = ()) -> None:
            made.append(Statement(name, kind, formulas, unfair))

        for number in range(1 + self.upto(1)):
            add(f"holds_{number}", "always", self._invariant())
        if self.likely(50):
            self.primed = True
            add("moves", "step", self._invariant())
            self.primed = False
        if self.likely(50):
            add("ended", "ends", self.one_of([const(FLAG, 0), self.truth(1)]))
        if self.likely(30):
            add("control", "strict", self._invariant())
        for number in range(self.upto(2)):
            pairs = [self._promise() for _ in range(1 + self.upto(1))]
            unfair = tuple(deed.name for deed in deeds if self.likely(20))
            add(f"comes_{number}", "leads_to", *(formula for pair in pairs for formula in pair), unfair=unfair)
        statements = [s for s in made if s.kind == "always"]
        lemmas = [s.formulas[0] for s in statements if self.likely(70)] + [self._invariant() for _ in range(self.upto(1))]
        for number, formula in enumerate(lemmas or [const(FLAG, 1)]):
            add(f"lemma_{number}", "lemma", formula)
        return made

    def _promise(self) -> tuple[Term, Term]:
        return self.one_of([self.truth(1), const(FLAG, 1)]), self.one_of([self._rare(), self.truth(1)])

    def _invariant(self) -> Term:
        """Something that may hold of every state, or of most."""
        kind = self.one_of(("never", "never", "implies", "any"))
        if kind == "never":
            return Term("not", (self._rare(),))
        if kind == "implies":
            return Term("implies", (self.truth(1), Term("or", (self.truth(1), self.truth(1)))))
        return self.truth(2)

    def _rare(self) -> Term:
        """Several things at once."""
        return Term("and", tuple(self.truth(self.upto(1)) for _ in range(2 + self.upto(1))))

    # --- formulas

    def truth(self, depth: int) -> Term:
        if depth <= 0:
            return self.one_of(ATOMS)(self)
        return self.one_of(FORMULAS)(self, depth - 1)

    def variable(self, fit: Callable[[Sort], bool]) -> Term | None:
        """A variable of a sort that fits, if one can be named here."""
        usable = [(f, places) for f in self.families if fit(f.sort) and (places := self._places(f))]
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
        found = self.variable(lambda sort: sort.kind == "choice")
        if found is None:
            return self.flag()
        sort = self.sort(found)
        if self.likely(25) and not (self.traits.symmetric and sort.universe):
            return Term("among", (found,), tuple(name for name in names(sort) if self.likely(50)))
        return Term(self.one_of(("eq", "ne")), (found, self.choice(sort, 0)))

    def contained(self) -> Term:
        found = self.variable(lambda sort: sort.kind == "subset")
        if found is None:
            return self.flag()
        sort = self.sort(found)
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
        found = self.variable(lambda other: other == sort)
        if depth > 0 and (found or whole):
            return Term("ite", (self.truth(depth - 1), self.choice(sort, 0), found or self.choice(sort, 0)))
        literals = [Term("member", (), name) for name, over in self.scope if over == sort.universe and sort.universe]
        if not (self.traits.symmetric and sort.universe and not sort.none):
            literals.append(const(sort, self._value(sort), self.likely(70)))
        options = literals + ([found] if found else [])
        return self.one_of(options) if options else const(sort, 0)

    def subset(self, sort: Sort, depth: int, *, whole: bool = False) -> Term:
        """A subset; literals only where a whole new value, or the right side of an operator, is asked for."""
        found = self.variable(lambda other: other == sort)
        literal = const(sort, self._value(sort))
        if found is None:
            # without a variable to begin with there is nothing but a literal, which may be chosen between
            return Term("ite", (self.truth(0), literal, const(sort, self._value(sort)))) if depth > 0 else literal
        if depth <= 0:
            return literal if whole and self.likely(50) else found
        kind = self.one_of(("plus", "minus", "union", "inter", "complement", "ite"))
        below = self.subset(sort, depth - 1)
        if kind in ("plus", "minus"):
            member = self.of_universe(sort.universe)
            return Term(kind, (below, member)) if member else Term("complement", (below,))
        if kind == "complement":
            return Term(kind, (below,))
        if kind == "ite":
            return Term("ite", (self.truth(depth - 1), literal if whole else below, found))
        return Term(kind, (below, self.one_of((self.subset(sort, 0, whole=True), self.subset(sort, depth - 1)))))

    def number(self, depth: int) -> Ranged:
        made = self.one_of(NUMBERS if depth > 0 else LEAVES)(self, depth - 1)
        return made if fits(made.low, made.high) else self.measure(0)

    def measure(self, depth: int) -> Ranged:
        found = self.variable(lambda sort: sort.kind == "number")
        if found is None:
            return self.figure(0)
        sort = self.sort(found)
        return Ranged(found, sort.low, sort.high)

    def figure(self, depth: int) -> Ranged:
        value = self.one_of((0, 1, 2, -1, 3, FAR - 1, -FAR)) if self.traits.far else self.upto(6) - 2
        return Ranged(const(NUMBER, value, self.likely(60)), value, value)

    def member(self, depth: int) -> Ranged:
        if self.traits.symmetric or not self.scope:
            return self.measure(0)
        name, over = self.one_of(self.scope)
        return Ranged(Term("member", (), name), 0, max(self._size(over) - 1, 0))

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
        made = self.within(lambda: self.truth(0), "how_many_of")
        return Ranged(made, 0, self.universes[made.detail[-1]])


ATOMS: Sequence[Callable[[_Drawing], Term]] = (
    _Drawing.flag,
    lambda d: d.comparison(0),
    _Drawing.chosen,
    _Drawing.contained,
    lambda d: d.comparison(1),
    _Drawing.same,
    _Drawing.flag,
    _Drawing.chosen,
    _Drawing.known,
)

FORMULAS: Sequence[Callable[[_Drawing, int], Term]] = (
    lambda d, depth: d.truth(0),
    lambda d, depth: Term("not", (d.truth(depth),)),
    lambda d, depth: Term("and", d.several(depth)),
    lambda d, depth: Term("or", d.several(depth)),
    lambda d, depth: Term("implies", (d.truth(depth), d.truth(depth))),
    _Drawing.equal,
    _Drawing.comparison,
    lambda d, depth: d.within(lambda: d.truth(depth), "all"),
    lambda d, depth: d.within(lambda: d.truth(depth), "any"),
    lambda d, depth: d.within(lambda: d.truth(depth), "at_least_of", d.upto(3)),
    lambda d, depth: Term("at_least", d.several(depth), d.upto(3)),
    lambda d, depth: Term("ite", (d.truth(depth), d.truth(depth), d.truth(depth))),
    lambda d, depth: Term("distinct", tuple(d.number(0).term for _ in range(2 + d.upto(1)))),
)

LEAVES: Sequence[Callable[[_Drawing, int], Ranged]] = (_Drawing.measure, _Drawing.measure, _Drawing.figure, _Drawing.member)

NUMBERS: Sequence[Callable[[_Drawing, int], Ranged]] = (
    _Drawing.measure,
    _Drawing.sum,
    _Drawing.difference,
    _Drawing.negative,
    _Drawing.product,
    _Drawing.extreme,
    _Drawing.either,
    _Drawing.selected,
    _Drawing.counted,
    _Drawing.counted_members,
)
