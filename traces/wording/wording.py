"""Formulas in the words of their protocol: names of choices, members of subsets, where Z3 has only numbers and bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import z3

from fencepost.model.language import Protocol, Variable
from fencepost.model.language.domains import Choice, Domain, Subset, Universe
from fencepost.model.language.operators import is_constant

INFIX: Mapping[int, str] = {
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
    z3.Z3_OP_IMPLIES: "=>",
    z3.Z3_OP_XOR: "xor",
    z3.Z3_OP_EQ: "=",
    z3.Z3_OP_DISTINCT: "!=",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_MUL: "*",
    z3.Z3_OP_BAND: "&",
    z3.Z3_OP_BOR: "|",
    z3.Z3_OP_BXOR: "^",
}
PREFIX: Mapping[int, str] = {z3.Z3_OP_NOT: "not ", z3.Z3_OP_UMINUS: "-", z3.Z3_OP_BNOT: "~"}
ARITHMETIC = (z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_MUL, z3.Z3_OP_UMINUS)
"""What makes numbers of its sides, whatever these are."""

CONNECTIVES = (z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_IMPLIES, z3.Z3_OP_XOR, z3.Z3_OP_ITE)


class Wording:
    """Writes formulas of one protocol as text; a value after a step has a prime, as in ``lac'``."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._written: dict[int, tuple[Any, str]] = {}  # with the term, so that its id stays its own

    def __call__(self, term: Any) -> str:
        """The term as text, written once however often it occurs in another."""
        identity = term.get_id()
        if identity not in self._written:
            self._written[identity] = term, self._write(term)
        return self._written[identity][1]

    def variable(self, constant: Any) -> Variable:
        """The variable whose value, before or after a step, the constant is."""
        return self._protocol.variable(constant.decl().name().removesuffix("'"))

    def _write(self, term: Any) -> str:
        kind = term.decl().kind()
        if is_constant(term):
            return str(term.decl().name())
        member = membership(term)
        if member is not None:
            place, among = member
            return f"{self._label(among, place)} in {self._inner(among, kind)}"
        if kind == z3.Z3_OP_NOT:
            return self._negated(term.arg(0))
        if kind in PREFIX:
            return f"{PREFIX[kind]}{self._inner(term.arg(0), kind)}"
        if kind in INFIX and term.num_args():
            return self._joined(term, INFIX[kind])
        if kind == z3.Z3_OP_ITE:
            return "if {} then {} else {}".format(*self._texts(term.children(), kind, self._show(term)))
        if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR):
            return "true" if kind == z3.Z3_OP_AND else "false"
        return str(term).lower() if z3.is_bool(term) else str(term)

    def _inner(self, term: Any, outer: int) -> str:
        """The term as text, in brackets unless it is clear without how far it reaches within the other operator."""
        text, kind = self(term), term.decl().kind()
        tighter = {z3.Z3_OP_IMPLIES: (z3.Z3_OP_AND, z3.Z3_OP_OR), z3.Z3_OP_AND: (z3.Z3_OP_AND,), z3.Z3_OP_OR: (z3.Z3_OP_OR,)}
        if outer in CONNECTIVES and (kind not in CONNECTIVES or kind in tighter.get(outer, ())):
            return text
        return f"({text})" if " " in text and not is_constant(term) else text

    def _negated(self, term: Any) -> str:
        if membership(term) is not None:
            return self(term).replace(" in ", " not in ", 1)
        if term.decl().kind() == z3.Z3_OP_EQ and not z3.is_bool(term.arg(0)):
            return self._joined(term, "!=")
        return f"not {self._inner(term, z3.Z3_OP_NOT)}"

    def _joined(self, term: Any, sign: str) -> str:
        """The sides with their operator between them; a literal is written as the domain of another side shows it, unless they
        are counted with, and of an equation it is the right side."""
        sides, kind = list(term.children()), term.decl().kind()
        if len(sides) == 1:
            return self(sides[0])
        if sign in ("=", "!=") and _is_literal(sides[0]):
            sides.reverse()
        counts = kind in CONNECTIVES or kind in ARITHMETIC
        show = None if counts else next((s for side in sides if (s := self._show(side))), None)
        return f" {sign} ".join(self._texts(sides, kind, show))

    def _texts(self, terms: Iterable[Any], outer: int, show: Callable[[int], str] | None) -> list[str]:
        return [show(term.as_long()) if show and _is_literal(term) else self._inner(term, outer) for term in terms]

    def _show(self, term: Any) -> Callable[[int], str] | None:
        """How the values of a term are shown: as those of the choice or the subset that it is, and as a number where none of
        the choice's values is that."""
        domain = self._domain(term)
        if isinstance(domain, Choice):
            names = domain.names
            return lambda raw: names[raw] if 0 <= raw < len(names) else str(raw)
        return domain.show if isinstance(domain, Subset) else None

    def _domain(self, term: Any) -> Domain | None:
        if is_constant(term):
            return self.variable(term).domain
        if z3.is_bool(term) or term.decl().kind() in ARITHMETIC:
            return None
        children = term.children()
        if term.decl().kind() == z3.Z3_OP_ITE:
            either = [self._domain(child) for child in children[1:] if not _is_literal(child)]
            return either[0] if either and all(domain == either[0] for domain in either) else None
        return next((domain for child in children if (domain := self._domain(child)) is not None), None)

    def _label(self, among: Any, place: int) -> str:
        domain = self._domain(among)
        universe: Universe | None = domain.universe if isinstance(domain, Subset) else None
        return universe.label(place) if universe else str(place)


def membership(term: Any) -> tuple[int, Any] | None:
    """The member and the subset, if the formula says that one has the other: that one bit of it is 1."""
    if term.decl().kind() != z3.Z3_OP_EQ:
        return None
    for bit, one in (term.children(), term.children()[::-1]):
        if bit.decl().kind() == z3.Z3_OP_EXTRACT and z3.is_bv_value(one) and one.size() == 1 and one.as_long() == 1:
            high, low = bit.decl().params()
            return (low, bit.arg(0)) if high == low else None
    return None


def _is_literal(term: Any) -> bool:
    return bool(z3.is_int_value(term) or z3.is_bv_value(term))
