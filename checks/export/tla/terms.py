"""Z3 terms read as TLA+ expressions: choices as strings, bit vectors as sets, repetition over a universe as quantifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3

from fencepost.checks.export.tla.expressions import (
    FALSE,
    TRUE,
    Expression,
    belongs,
    conditional,
    conjunction,
    equality,
    implication,
    member,
    members,
    negation,
    number,
    of,
    union,
)
from fencepost.checks.export.tla.folding import Folding
from fencepost.checks.export.tla.kinds import (
    ANYTHING,
    INTEGER,
    TRUTH,
    Bits,
    Kind,
    choice,
    common,
    converted,
    kind_of,
    place,
    subset,
    universe_of,
    width,
)
from fencepost.model.language import ModelError, Protocol, Universe, Variable, at_least
from fencepost.model.language.domains import Choice, Subset
from fencepost.model.language.operators import is_constant

COMPARISONS = {z3.Z3_OP_LE: "<=", z3.Z3_OP_LT: "<", z3.Z3_OP_GE: ">=", z3.Z3_OP_GT: ">"}
ARITHMETIC = {z3.Z3_OP_ADD: "+", z3.Z3_OP_SUB: "-", z3.Z3_OP_MUL: "*"}
SETS = (z3.Z3_OP_BAND, z3.Z3_OP_BOR, z3.Z3_OP_BXOR, z3.Z3_OP_BNOT)


class Terms:
    """Reads terms over a protocol's variables; ``folding`` says what names its quantifiers may bind."""

    def __init__(self, protocol: Protocol, folding: Folding) -> None:
        self._protocol, self._folding = protocol, folding
        self._variables: dict[str, tuple[Variable, bool]] = {}
        for variable in protocol.variables:
            self._variables[variable.term.decl().name()] = variable, False
            self._variables[variable.next.decl().name()] = variable, True
        self._kinds: dict[int, Kind] = {}
        self._read: dict[tuple[int, Kind], Expression] = {}
        self._references: list[Any] = []  # keeps the terms alive whose ids are noted, so that their ids stay theirs

    def formula(self, term: Any) -> Expression:
        """A boolean term."""
        return self.value(term, TRUTH)

    def value(self, term: Any, wanted: Kind) -> Expression:
        """A term as an expression of that kind. ModelError for what TLA+ has no words for."""
        key = term.get_id(), wanted
        if key not in self._read:
            self._references.append(term)
            self._read[key] = self._value(term, wanted)
        return self._read[key]

    def _kind(self, term: Any) -> Kind:
        """What the term stands for; ANYTHING for a literal, and what consists of literals."""
        identity = term.get_id()
        if identity not in self._kinds:
            self._references.append(term)
            self._kinds[identity] = self._kind_of(term)
        return self._kinds[identity]

    def _kind_of(self, term: Any) -> Kind:
        operator = term.decl().kind()
        if z3.is_bool(term):
            return TRUTH
        if is_constant(term):
            return kind_of(self._variables[term.decl().name()][0].domain)
        if operator in (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM):
            return ANYTHING
        widest: Kind = INTEGER if z3.is_int(term) else Bits(term.size())
        if operator == z3.Z3_OP_ITE or operator in SETS:
            below = [self._kind(child) for child in term.children() if not z3.is_bool(child)]
            return ANYTHING if all(kind is ANYTHING for kind in below) else common(below, widest)
        return widest

    def _value(self, term: Any, wanted: Kind) -> Expression:
        operator, parts = term.decl().kind(), term.children()
        if is_constant(term):
            variable, primed = self._variables[term.decl().name()]
            indices = (member(u, i) for u, i in zip(variable.universes, variable.index, strict=True))
            read = of("variable", *indices, detail=(variable.family, primed))
            return converted(read, kind_of(variable.domain), wanted)
        if z3.is_bool(term):
            return self._truth(term, operator, parts)
        if operator == z3.Z3_OP_ITE:
            singled = self._singled_out(term, wanted)
            return singled or conditional(self.formula(parts[0]), self.value(parts[1], wanted), self.value(parts[2], wanted))
        if z3.is_int(term):
            return self._number(term, operator, parts, wanted)
        assert isinstance(wanted, (Subset, Bits))
        return self._set(term, operator, parts, wanted)

    # --- truths

    def _truth(self, term: Any, operator: int, parts: list[Any]) -> Expression:
        rules: dict[int, Callable[[], Expression]] = {
            z3.Z3_OP_TRUE: lambda: TRUE,
            z3.Z3_OP_FALSE: lambda: FALSE,
            z3.Z3_OP_AND: lambda: self._folding.all([self.formula(part) for part in parts]),
            z3.Z3_OP_OR: lambda: self._counted(term) or self._folding.any([self.formula(part) for part in parts]),
            z3.Z3_OP_NOT: lambda: negation(self.formula(parts[0])),
            z3.Z3_OP_IMPLIES: lambda: implication(*map(self.formula, parts)),
            z3.Z3_OP_XOR: lambda: of("#", *map(self.formula, parts)),
            z3.Z3_OP_EQ: lambda: self._equality(*parts),
            z3.Z3_OP_DISTINCT: lambda: self._distinct(parts),
            z3.Z3_OP_ITE: lambda: conditional(*map(self.formula, parts)),
        }
        if operator in COMPARISONS:
            return of(COMPARISONS[operator], *(self.value(part, INTEGER) for part in parts))
        if operator not in rules:
            raise self._unknown(term)
        return rules[operator]()

    def _equality(self, one: Any, other: Any) -> Expression:
        if z3.is_bv(one):
            return self._membership(one, other) or self._membership(other, one) or self._equal_sets(one, other)
        kind = TRUTH if z3.is_bool(one) else common([self._kind(one), self._kind(other)], INTEGER)
        return equality(self.value(one, kind), self.value(other, kind))

    def _equal_sets(self, one: Any, other: Any) -> Expression:
        kind = common([self._kind(one), self._kind(other)], Bits(one.size()))
        return equality(self.value(one, kind), self.value(other, kind))

    def _membership(self, extract: Any, literal: Any) -> Expression | None:
        """``x \\in s``, if the one is a bit of a vector and the other the value of that bit."""
        if extract.decl().kind() != z3.Z3_OP_EXTRACT or extract.size() != 1 or literal.decl().kind() != z3.Z3_OP_BNUM:
            return None
        inner, bit = extract.arg(0), extract.params()[1]
        kind = common([self._kind(inner)], Bits(inner.size()))
        assert isinstance(kind, (Subset, Bits))
        membership = belongs(place(kind, bit), self.value(inner, kind))
        return membership if literal.as_long() else negation(membership)

    def _distinct(self, parts: list[Any]) -> Expression:
        pairs = [(x, y) for i, x in enumerate(parts) for y in parts[i + 1 :]]
        return conjunction(negation(self._equality(x, y)) for x, y in pairs)

    def _counted(self, term: Any) -> Expression | None:
        """At least so many of some formulas, if the term is what ``at_least`` makes of more than two."""
        counts = [(count, parts) for count, parts in _counts(term) if len(parts) > 2 and at_least(count, parts).eq(term)]
        if not counts:
            return None
        count, parts = max(counts, key=lambda pair: (pair[0], len(pair[1])))
        formulas = [self.formula(part) for part in parts]
        return self._folding.any(formulas[::-1]) if count == 1 else of(">=", self._folding.count(formulas), number(count))

    # --- numbers

    def _number(self, term: Any, operator: int, parts: list[Any], wanted: Kind) -> Expression:
        if operator == z3.Z3_OP_ANUM:
            return choice(wanted, term.as_long()) if isinstance(wanted, Choice) else number(term.as_long())
        if operator == z3.Z3_OP_UMINUS:
            value = of("negative", self.value(parts[0], INTEGER))
        elif operator == z3.Z3_OP_ADD and all(map(_is_indicator, parts)):
            value = self._folding.count([self.formula(part.arg(0)) for part in parts])
        elif operator in ARITHMETIC:
            value = of(ARITHMETIC[operator], *(self.value(part, INTEGER) for part in parts))
        else:
            raise self._unknown(term)
        return converted(value, INTEGER, wanted)

    # --- sets

    def _set(self, term: Any, operator: int, parts: list[Any], wanted: Subset | Bits) -> Expression:
        if operator == z3.Z3_OP_BNUM:
            return subset(wanted, term.as_long())
        if operator in (z3.Z3_OP_EXTRACT, z3.Z3_OP_CONCAT):
            places = self._cut(term) if operator == z3.Z3_OP_EXTRACT else self._joined(parts)
            return converted(places, Bits(term.size()), wanted)
        if operator == z3.Z3_OP_BNOT:
            return of("minus", subset(wanted, (1 << width(wanted)) - 1), self.value(parts[0], wanted))
        if operator not in SETS:
            raise self._unknown(term)
        first, *others = parts
        union = self.value(first, wanted)
        for part in others:
            union = self._combined(operator, union, part, wanted)
        return union

    def _combined(self, operator: int, left: Expression, part: Any, wanted: Kind) -> Expression:
        if operator == z3.Z3_OP_BAND and part.decl().kind() == z3.Z3_OP_BNOT:
            return of("minus", left, self.value(part.arg(0), wanted))
        other = self.value(part, wanted)
        if operator == z3.Z3_OP_BXOR:
            return of("cup", of("minus", left, other), of("minus", other, left))
        return union(left, other) if operator == z3.Z3_OP_BOR else of("cap", left, other)

    def _cut(self, term: Any) -> Expression:
        """Some bits of a vector, as the set of their places counted from the lowest of them."""
        high, low = term.params()
        inner = term.arg(0)
        kind = common([self._kind(inner)], Bits(inner.size()))
        assert isinstance(kind, (Subset, Bits))
        whole = self.value(inner, kind)
        result = of("set")
        for bit in range(low, high + 1):
            result = union(result, of("if", of("in", place(kind, bit), whole), of("set", number(bit - low)), of("set")))
        return result

    def _joined(self, parts: list[Any]) -> Expression:
        """Vectors one behind the other, the highest first."""
        result, above = of("set"), 0
        for part in reversed(parts):
            kind = common([self._kind(part)], Bits(part.size()))
            assert isinstance(kind, (Subset, Bits))
            whole = self.value(part, kind)
            for bit in range(part.size()):
                result = union(result, of("if", of("in", place(kind, bit), whole), of("set", number(above + bit)), of("set")))
            above += part.size()
        return result

    def _singled_out(self, term: Any, wanted: Kind) -> Expression | None:
        """``{x} \\cap S``, if the term is the set of the member that x is, and empty where x is none."""
        universe = universe_of(wanted)
        if not isinstance(wanted, Subset) or universe is None:
            return None
        cases = list(_cases(term))
        if [value for _, value in cases] != [*(1 << m for m in reversed(range(universe.size))), 0]:
            return None
        element, kind = self._tested([condition for condition, _ in cases[:-1]], universe)
        if element is None or not (universe_of(kind) == universe or self._folding.numbers(universe)):
            return None
        return of("cap", of("set", element), members(universe))

    def _tested(self, conditions: list[Any], universe: Universe) -> tuple[Expression | None, Kind]:
        """The number or choice that each condition in turn compares with the universe's members, from the last."""
        expected = zip(reversed(range(universe.size)), conditions, strict=True)
        if not all(z3.is_eq(c) and z3.is_int_value(c.arg(1)) and c.arg(1).as_long() == m for m, c in expected):
            return None, ANYTHING
        first = conditions[0].arg(0)
        if not all(c.arg(0).eq(first) for c in conditions):
            return None, ANYTHING
        kind = common([self._kind(first)], INTEGER)
        return self.value(first, kind), kind

    @staticmethod
    def _unknown(term: Any) -> ModelError:
        return ModelError(f"TLA+ has no words for {term.decl().name()} in {term}")


def _is_indicator(term: Any) -> bool:
    """Whether the term is 1 where a formula holds, and 0 elsewhere."""
    if term.decl().kind() != z3.Z3_OP_ITE:
        return False
    return [part.as_long() if z3.is_int_value(part) else None for part in term.children()[1:]] == [1, 0]


def _cases(term: Any) -> Iterator[tuple[Any, int]]:
    """A chain of conditionals between sets that are literals: each condition with its set, and at last the set of no condition;
    nothing if the term is no such chain."""
    chain = []
    while term.decl().kind() == z3.Z3_OP_ITE and z3.is_bv_value(term.arg(1)):
        chain.append((term.arg(0), term.arg(1).as_long()))
        term = term.arg(2)
    if z3.is_bv_value(term):
        yield from chain
        yield None, term.as_long()


def _counts(term: Any) -> Iterator[tuple[int, list[Any]]]:
    """What ``at_least`` may have been given to make the term, if it has made it."""
    spine: list[Any] = []
    rest = term
    while z3.is_or(rest) and rest.num_args() == 2:
        spine.append(rest.arg(1))
        yield 1, [*spine, rest.arg(0)]
        rest = rest.arg(0)
    if z3.is_or(term) and term.num_args() == 2:
        decided = term.arg(1)
        if z3.is_and(decided) and decided.num_args() == 2:
            for count, parts in _counts(decided.arg(1)):
                yield count + 1, [decided.arg(0), *parts]
