"""Terms read as TLA+ expressions: choices as strings, bit vectors as sets, repetition over a universe as quantifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

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
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Condition, conditions_of

COMPARISONS = {"<=": "<=", "<": "<", ">=": ">=", ">": ">"}
ARITHMETIC = {"+": "+", "-": "-", "*": "*"}
SETS = ("bvand", "bvor", "bvxor", "bvnot")


class Terms:
    """Reads terms over a protocol's variables; ``folding`` says what names its quantifiers may bind."""

    def __init__(self, protocol: Protocol, folding: Folding) -> None:
        self._protocol, self._folding = protocol, folding
        self._variables: dict[str, tuple[Variable, bool]] = {}
        for variable in protocol.variables:
            self._variables[variable.name] = variable, False
            self._variables[f"{variable.name}'"] = variable, True
        self._kinds: dict[Term, Kind] = {}
        self._read: dict[tuple[Term, Kind], Expression] = {}

    def formula(self, term: Term) -> Expression:
        """A boolean term."""
        return self.value(term, TRUTH)

    def value(self, term: Term, wanted: Kind) -> Expression:
        """A term as an expression of that kind. ModelError for what TLA+ has no words for."""
        key = term, wanted
        if key not in self._read:
            self._read[key] = self._value(term, wanted)
        return self._read[key]

    def _kind(self, term: Term) -> Kind:
        """What the term stands for; ANYTHING for a literal, and what consists of literals."""
        if term not in self._kinds:
            self._kinds[term] = self._kind_of(term)
        return self._kinds[term]

    def _kind_of(self, term: Term) -> Kind:
        operator = term.op
        if term.sort.kind == "Bool":
            return TRUTH
        if term.is_constant:
            return kind_of(self._variables[term.detail][0].domain)
        if operator == "literal":
            return ANYTHING
        widest: Kind = INTEGER if term.sort.kind == "Int" else Bits(term.sort.bits)
        if operator == "ite" or operator in SETS:
            below = [self._kind(child) for child in term.arguments if child.sort.kind != "Bool"]
            return ANYTHING if all(kind is ANYTHING for kind in below) else common(below, widest)
        return widest

    def _value(self, term: Term, wanted: Kind) -> Expression:
        operator, parts = term.op, term.arguments
        if term.is_constant:
            variable, primed = self._variables[term.detail]
            indices = (member(u, i) for u, i in zip(variable.universes, variable.index, strict=True))
            read = of("variable", *indices, detail=(variable.family, primed))
            return converted(read, kind_of(variable.domain), wanted)
        if term.sort.kind == "Bool":
            return self._truth(term, operator, parts)
        if operator == "ite":
            singled = self._singled_out(term, wanted)
            return singled or conditional(self.formula(parts[0]), self.value(parts[1], wanted), self.value(parts[2], wanted))
        if term.sort.kind == "Int":
            return self._number(term, operator, parts, wanted)
        assert isinstance(wanted, (Subset, Bits))
        return self._set(term, operator, parts, wanted)

    # --- truths

    def _truth(self, term: Term, operator: str, parts: Sequence[Term]) -> Expression:
        rules: dict[str, Callable[[], Expression]] = {
            "true": lambda: TRUE,
            "false": lambda: FALSE,
            "and": lambda: self._folding.all([self.formula(part) for part in parts]),
            "or": lambda: self._counted(term) or self._folding.any([self.formula(part) for part in parts]),
            "not": lambda: negation(self.formula(parts[0])),
            "=>": lambda: implication(*map(self.formula, parts)),
            "xor": lambda: of("#", *map(self.formula, parts)),
            "=": lambda: self._equality(*parts),
            "distinct": lambda: self._distinct(parts),
            "ite": lambda: conditional(*map(self.formula, parts)),
        }
        if operator in COMPARISONS:
            return of(COMPARISONS[operator], *(self.value(part, INTEGER) for part in parts))
        if operator not in rules:
            raise self._unknown(term)
        return rules[operator]()

    def _equality(self, one: Term, other: Term) -> Expression:
        if one.sort.bits:
            return self._membership(one, other) or self._membership(other, one) or self._equal_sets(one, other)
        kind = TRUTH if one.sort.kind == "Bool" else common([self._kind(one), self._kind(other)], INTEGER)
        return equality(self.value(one, kind), self.value(other, kind))

    def _equal_sets(self, one: Term, other: Term) -> Expression:
        kind = common([self._kind(one), self._kind(other)], Bits(one.sort.bits))
        return equality(self.value(one, kind), self.value(other, kind))

    def _membership(self, extract: Term, literal: Term) -> Expression | None:
        """``x \\in s``, if the one is a bit of a vector and the other the value of that bit."""
        if extract.op != "extract" or extract.sort.bits != 1 or literal.op != "literal":
            return None
        inner, bit = extract.arguments[0], extract.detail[1]
        kind = common([self._kind(inner)], Bits(inner.sort.bits))
        assert isinstance(kind, (Subset, Bits))
        membership = belongs(place(kind, bit), self.value(inner, kind))
        return membership if literal.detail else negation(membership)

    def _distinct(self, parts: Sequence[Term]) -> Expression:
        pairs = [(x, y) for i, x in enumerate(parts) for y in parts[i + 1 :]]
        return conjunction(negation(self._equality(x, y)) for x, y in pairs)

    def _counted(self, term: Term) -> Expression | None:
        """At least so many of some formulas, if the term is what ``at_least`` makes of more than two."""
        counts = [(count, parts) for count, parts in _counts(term) if len(parts) > 2 and at_least(count, parts) is term]
        if not counts:
            return None
        count, parts = max(counts, key=lambda pair: (pair[0], len(pair[1])))
        formulas = [self.formula(part) for part in parts]
        return self._folding.any(formulas[::-1]) if count == 1 else of(">=", self._folding.count(formulas), number(count))

    # --- numbers

    def _number(self, term: Term, operator: str, parts: Sequence[Term], wanted: Kind) -> Expression:
        if operator == "literal":
            return choice(wanted, term.detail) if isinstance(wanted, Choice) else number(term.detail)
        if operator == "unary -":
            value = of("negative", self.value(parts[0], INTEGER))
        elif operator == "+" and all(map(_is_indicator, parts)):
            value = self._folding.count([self.formula(part.arguments[0]) for part in parts])
        elif operator in ARITHMETIC:
            value = of(ARITHMETIC[operator], *(self.value(part, INTEGER) for part in parts))
        else:
            raise self._unknown(term)
        return converted(value, INTEGER, wanted)

    # --- sets

    def _set(self, term: Term, operator: str, parts: Sequence[Term], wanted: Subset | Bits) -> Expression:
        if operator == "literal":
            return subset(wanted, term.detail)
        if operator in ("extract", "concat"):
            places = self._cut(term) if operator == "extract" else self._joined(parts)
            return converted(places, Bits(term.sort.bits), wanted)
        if operator == "bvnot":
            return of("minus", subset(wanted, (1 << width(wanted)) - 1), self.value(parts[0], wanted))
        if operator not in SETS:
            raise self._unknown(term)
        first, *others = parts
        union = self.value(first, wanted)
        for part in others:
            union = self._combined(operator, union, part, wanted)
        return union

    def _combined(self, operator: str, left: Expression, part: Term, wanted: Kind) -> Expression:
        if operator == "bvand" and part.op == "bvnot":
            return of("minus", left, self.value(part.arguments[0], wanted))
        other = self.value(part, wanted)
        if operator == "bvxor":
            return of("cup", of("minus", left, other), of("minus", other, left))
        return union(left, other) if operator == "bvor" else of("cap", left, other)

    def _cut(self, term: Term) -> Expression:
        """Some bits of a vector, as the set of their places counted from the lowest of them."""
        high, low = term.detail
        inner = term.arguments[0]
        kind = common([self._kind(inner)], Bits(inner.sort.bits))
        assert isinstance(kind, (Subset, Bits))
        whole = self.value(inner, kind)
        result = of("set")
        for bit in range(low, high + 1):
            result = union(result, of("if", of("in", place(kind, bit), whole), of("set", number(bit - low)), of("set")))
        return result

    def _joined(self, parts: Sequence[Term]) -> Expression:
        """Vectors one behind the other, the highest first."""
        result, above = of("set"), 0
        for part in reversed(parts):
            kind = common([self._kind(part)], Bits(part.sort.bits))
            assert isinstance(kind, (Subset, Bits))
            whole = self.value(part, kind)
            for bit in range(part.sort.bits):
                result = union(result, of("if", of("in", place(kind, bit), whole), of("set", number(above + bit)), of("set")))
            above += part.sort.bits
        return result

    def _singled_out(self, term: Term, wanted: Kind) -> Expression | None:
        """``{x} \\cap S``, if the term is the set of the member that x is, and empty where x is none."""
        universe = universe_of(wanted)
        if not isinstance(wanted, Subset) or universe is None:
            return None
        cases = list(_cases(term))
        if [value for _, value in cases] != [*(1 << m for m in reversed(range(universe.size))), 0]:
            return None
        element, kind = self._tested([condition for condition, _ in cases if condition is not None], universe)
        if element is None or not (universe_of(kind) == universe or self._folding.numbers(universe)):
            return None
        return of("cap", of("set", element), members(universe))

    def _tested(self, conditions: Sequence[Term], universe: Universe) -> tuple[Expression | None, Kind]:
        """The number or choice that each condition in turn compares with the universe's members, from the last."""
        expected = zip(reversed(range(universe.size)), conditions, strict=True)
        if not all(c.op == "=" and _is(c.arguments[1], m) for m, c in expected):
            return None, ANYTHING
        first = conditions[0].arguments[0]
        if not all(c.arguments[0] is first for c in conditions):
            return None, ANYTHING
        kind = common([self._kind(first)], INTEGER)
        return self.value(first, kind), kind

    @staticmethod
    def _unknown(term: Term) -> ModelError:
        return ModelError(f"TLA+ has no words for {term.op} in {term}")


def _is(term: Term, number: int) -> bool:
    """Whether the term is that literal number, or that name."""
    return term.op == "literal" and not term.sort.bits and term.detail == number


def _is_indicator(term: Term) -> bool:
    """Whether the term is 1 where a formula holds, and 0 elsewhere."""
    return term.op == "ite" and _is(term.arguments[1], 1) and _is(term.arguments[2], 0)


def _cases(term: Term) -> Iterator[tuple[Term | None, int]]:
    """A chain of conditionals between sets that are literals: each condition with its set, and at last the set of no condition;
    nothing if the term is no such chain."""
    chain = list[tuple[Term, int]]()
    while term.op == "ite" and _is_set(term.arguments[1]):
        chain.append((term.arguments[0], term.arguments[1].detail))
        term = term.arguments[2]
    if _is_set(term):
        yield from chain
        yield None, term.detail


def _is_set(term: Term) -> bool:
    return term.op == "literal" and term.sort.bits > 0


def _counts(term: Term) -> Iterator[tuple[int, list[Condition]]]:
    """What ``at_least`` may have been given to make the term, if it has made it."""
    spine: list[Condition] = []
    rest = term
    while _is_pair(rest, "or"):
        left, right = conditions_of(rest)
        spine.append(right)
        yield 1, [*spine, left]
        rest = left
    if _is_pair(term, "or") and _is_pair(term.arguments[1], "and"):
        first, others = conditions_of(term.arguments[1])
        for count, parts in _counts(others):
            yield count + 1, [first, *parts]


def _is_pair(term: Term, op: str) -> bool:
    return term.op == op and len(term.arguments) == 2
