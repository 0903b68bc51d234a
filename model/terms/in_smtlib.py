"""Terms printed as SMT-LIB 2.6: over integers, things and functions of them, or with every number as a bit vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import reduce

from fencepost.model.terms.nodes import Function, Term, below, literal
from fencepost.model.terms.sorts import BOOL, Sort
from fencepost.model.terms.traversal import QUANTIFIERS

_LEAVES = frozenset({"constant", "literal", "true", "false", "none"})
_FOLDED: Mapping[str, str] = {"bvand": "bvand", "bvor": "bvor", "bvxor": "bvxor", "concat": "concat"}
"""Operators of two, which are applied to one after the other."""

_OF_NUMBERS: Mapping[str, str] = {"unary -": "-", "real": "to_real"}
_OF_VECTORS: Mapping[str, str] = {
    "unary -": "bvneg",
    "<=": "bvsle",
    "<": "bvslt",
    ">=": "bvsge",
    ">": "bvsgt",
}
_FOLDED_VECTORS: Mapping[str, str] = {**_FOLDED, "+": "bvadd", "-": "bvsub", "*": "bvmul"}


class InSmtLib:
    """Texts for terms; with ``bits`` a number is a vector of so many, in two's complement. What a formula has twice is named
    once, by ``let``: a name begins with a question mark, as no constant's does."""

    def __init__(self, bits: int = 0) -> None:
        self._bits = bits
        self._operators = _OF_VECTORS if bits else _OF_NUMBERS
        self._folded = _FOLDED_VECTORS if bits else _FOLDED

    def __call__(self, term: Term) -> str:
        """The text of a term."""
        order = self._scope(term)
        uses = Counter(part for one in order if one.op not in QUANTIFIERS for part in one.arguments)
        texts: dict[Term, str] = {}
        levels: dict[Term, int] = {}
        named: dict[int, list[str]] = {}
        for one in order:
            bound = one.op in QUANTIFIERS
            text = self._quantified(one) if bound else self._text(one, [texts[part] for part in one.arguments])
            level = 0 if bound else max((levels[part] for part in one.arguments), default=0)
            if uses[one] > 1 and one.op not in _LEAVES:
                name = f"?{sum(map(len, named.values()))}"
                named.setdefault(level, []).append(f"({name} {text})")
                text, level = name, level + 1
            texts[one], levels[one] = text, level
        body = texts[term]
        for level in sorted(named, reverse=True):
            body = f"(let ({' '.join(named[level])}) {body})"
        return body

    def sort(self, sort: Sort[Term]) -> str:
        """The text of a sort."""
        if sort.kind in ("thing", "one or none"):
            return symbol(sort.name)
        size = sort.bits or (self._bits if sort.kind == "Int" else 0)
        return f"(_ BitVec {size})" if size else sort.kind

    def declared(self, constant: Term) -> str:
        """The declaration of a constant."""
        return f"(declare-const {self(constant)} {self.sort(constant.sort)})"

    def script(self, formulas: Iterable[Term | bool]) -> list[str]:
        """The commands that declare what formulas, or truth values, speak of, and assert them."""
        asserted = [literal(BOOL, formula) if isinstance(formula, bool) else formula for formula in formulas]
        terms = list(dict.fromkeys(below(reversed(asserted), set())))
        bound = {one for term in terms if term.op in QUANTIFIERS for one in term.detail}
        functions = dict.fromkeys(term.detail for term in terms if term.op == "apply")
        spoken_of = [sort for function in functions for sort in function.sorts] + [term.sort for term in terms]
        sorts = dict.fromkeys(sort for sort in [*spoken_of, *(one.sort for one in bound)])
        things = dict.fromkeys(each for sort in sorts for each in (sort, sort.member) if each and each.kind == "thing")
        constants = dict.fromkeys(term for term in terms if term.is_constant and term not in bound)
        return [
            *(f"(declare-sort {symbol(sort.name)} 0)" for sort in things),
            *(self._datatype(sort) for sort in sorts if sort.kind == "one or none"),
            *(self._function(function) for function in functions),
            *map(self.declared, constants),
            *(f"(assert {self(formula)})" for formula in asserted),
        ]

    def _scope(self, root: Term) -> list[Term]:
        """What is within a term, each after its arguments, down to the quantifiers: what they bind is known only below them."""
        done: dict[Term, None] = {}
        stack = [root]
        while stack:
            term = stack[-1]
            missing = [] if term.op in QUANTIFIERS else [part for part in term.arguments if part not in done]
            if term not in done and missing:
                stack += missing
            else:
                done[stack.pop()] = None
        return list(done)

    def _quantified(self, term: Term) -> str:
        bound = " ".join(f"({self(one)} {self.sort(one.sort)})" for one in term.detail)
        return f"({term.op} ({bound}) {self(term.arguments[0])})"

    def _text(self, term: Term, parts: list[str]) -> str:
        op = term.op
        if op == "constant":
            return symbol(term.detail)
        if op == "literal":
            return self._literal(term)
        if op in ("and", "or") and len(parts) < 2:
            return parts[0] if parts else str(op == "and").lower()
        if op in ("none", "one"):
            constructor = _constructors(term.sort)[op == "one"]
            return f"({constructor} {parts[0]})" if parts else constructor
        if op == "extract":
            return f"((_ extract {' '.join(map(str, term.detail))}) {parts[0]})"
        if op == "apply":
            name = symbol(term.detail.name)
            return f"({name} {' '.join(parts)})" if parts else name
        if op in self._folded:
            return reduce(lambda left, right: f"({self._folded[op]} {left} {right})", parts)
        operator = "div" if op == "/" and term.sort.kind == "Int" else self._operators.get(op, op)
        return f"({operator} {' '.join(parts)})" if parts else op

    def _literal(self, term: Term) -> str:
        size = term.sort.bits or self._bits
        if size:
            return f"#b{term.detail % (1 << size):0{size}b}"
        if term.sort.kind == "Real":
            top, bottom = abs(term.detail).as_integer_ratio()
            text = f"(/ {top}.0 {bottom}.0)"
        else:
            text = str(abs(term.detail))
        return text if term.detail >= 0 else f"(- {text})"

    def _datatype(self, sort: Sort[Term]) -> str:
        none, one = _constructors(sort)
        which = symbol(f"which {sort.universe}")
        assert sort.member is not None
        return f"(declare-datatypes (({symbol(sort.name)} 0)) ((({none}) ({one} ({which} {self.sort(sort.member)})))))"

    def _function(self, function: Function[Term]) -> str:
        *arguments, result = map(self.sort, function.sorts)
        return f"(declare-fun {symbol(function.name)} ({' '.join(arguments)}) {result})"


def symbol(name: str) -> str:
    """A name as a symbol of SMT-LIB; ValueError for one that none can be."""
    if "|" in name or "\\" in name:
        raise ValueError(f"SMT-LIB has no symbol {name!r}")
    return f"|{name}|"


def _constructors(sort: Sort[Term]) -> tuple[str, str]:
    return symbol(f"{sort.none} of {sort.universe}"), symbol(f"one {sort.universe}")
