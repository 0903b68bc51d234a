"""Formulas in the words of their protocol: names of choices, members of subsets, where terms have only numbers and bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from fencepost.model.language import Protocol, Variable
from fencepost.model.language.domains import Choice, Domain, Subset, Universe
from fencepost.model.terms.nodes import Term

INFIX: Mapping[str, str] = {
    "and": "and",
    "or": "or",
    "=>": "=>",
    "xor": "xor",
    "=": "=",
    "distinct": "!=",
    "<=": "<=",
    "<": "<",
    ">=": ">=",
    ">": ">",
    "+": "+",
    "-": "-",
    "*": "*",
    "bvand": "&",
    "bvor": "|",
    "bvxor": "^",
}
PREFIX: Mapping[str, str] = {"not": "not ", "unary -": "-", "bvnot": "~"}
ARITHMETIC = ("+", "-", "*", "unary -")
"""What makes numbers of its sides, whatever these are."""

CONNECTIVES = ("and", "or", "=>", "xor", "ite")


class Wording:
    """Writes formulas of one protocol as text; a value after a step has a prime, as in ``lac'``."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._written: dict[Term, str] = {}

    def __call__(self, term: Term) -> str:
        """The term as text, written once however often it occurs in another."""
        if term not in self._written:
            self._written[term] = self._write(term)
        return self._written[term]

    def variable(self, constant: Term) -> Variable:
        """The variable whose value, before or after a step, the constant is."""
        return self._protocol.variable(constant.detail.removesuffix("'"))

    def _write(self, term: Term) -> str:
        kind, arguments = term.op, term.arguments
        if term.is_constant:
            return str(term.detail)
        member = membership(term)
        if member is not None:
            place, among = member
            return f"{self._label(among, place)} in {self._inner(among, kind)}"
        if kind == "not":
            return self._negated(arguments[0])
        if kind in PREFIX:
            return f"{PREFIX[kind]}{self._inner(arguments[0], kind)}"
        if kind in INFIX and arguments:
            return self._joined(term, INFIX[kind])
        if kind == "ite":
            return "if {} then {} else {}".format(*self._texts(arguments, kind, self._show(term)))
        if kind in ("and", "or"):
            return "true" if kind == "and" else "false"
        return kind if kind in ("true", "false") else _plainly(term)

    def _inner(self, term: Term, outer: str) -> str:
        """The term as text, in brackets unless it is clear without how far it reaches within the other operator."""
        text, kind = self(term), term.op
        tighter = {"=>": ("and", "or"), "and": ("and",), "or": ("or",)}
        if outer in CONNECTIVES and (kind not in CONNECTIVES or kind in tighter.get(outer, ())):
            return text
        return f"({text})" if " " in text and not term.is_constant else text

    def _negated(self, term: Term) -> str:
        if membership(term) is not None:
            return self(term).replace(" in ", " not in ", 1)
        if term.op == "=" and term.arguments[0].sort.kind != "Bool":
            return self._joined(term, "!=")
        return f"not {self._inner(term, 'not')}"

    def _joined(self, term: Term, sign: str) -> str:
        """The sides with their operator between them; a literal is written as the domain of another side shows it, unless they
        are counted with, and of an equation it is the right side."""
        sides, kind = list(term.arguments), term.op
        if len(sides) == 1:
            return self(sides[0])
        if sign in ("=", "!=") and _is_literal(sides[0]):
            sides.reverse()
        counts = kind in CONNECTIVES or kind in ARITHMETIC
        show = None if counts else next((s for side in sides if (s := self._show(side))), None)
        return f" {sign} ".join(self._texts(sides, kind, show))

    def _texts(self, terms: Iterable[Term], outer: str, show: Callable[[int], str] | None) -> list[str]:
        return [show(term.detail) if show and _is_literal(term) else self._inner(term, outer) for term in terms]

    def _show(self, term: Term) -> Callable[[int], str] | None:
        """How the values of a term are shown: as those of the choice or the subset that it is, and as a number where none of
        the choice's values is that."""
        domain = self._domain(term)
        if isinstance(domain, Choice):
            names = domain.names
            return lambda raw: names[raw] if 0 <= raw < len(names) else str(raw)
        return domain.show if isinstance(domain, Subset) else None

    def _domain(self, term: Term) -> Domain | None:
        if term.is_constant:
            return self.variable(term).domain
        if term.sort.kind == "Bool" or term.op in ARITHMETIC:
            return None
        children = term.arguments
        if term.op == "ite":
            either = [self._domain(child) for child in children[1:] if not _is_literal(child)]
            return either[0] if either and all(domain == either[0] for domain in either) else None
        return next((domain for child in children if (domain := self._domain(child)) is not None), None)

    def _label(self, among: Term, place: int) -> str:
        domain = self._domain(among)
        universe: Universe | None = domain.universe if isinstance(domain, Subset) else None
        return universe.label(place) if universe else str(place)


def membership(term: Term) -> tuple[int, Term] | None:
    """The member and the subset, if the formula says that one has the other: that one bit of it is 1."""
    if term.op != "=":
        return None
    for bit, one in (term.arguments, term.arguments[::-1]):
        if bit.op == "extract" and _is_literal(one) and one.sort.bits == 1 and one.detail == 1:
            high, low = bit.detail
            return (low, bit.arguments[0]) if high == low else None
    return None


def _is_literal(term: Term) -> bool:
    return term.op == "literal"


def _plainly(term: Term) -> str:
    return str(term.detail) if _is_literal(term) else str(term)
