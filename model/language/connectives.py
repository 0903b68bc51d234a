"""And, Or, Not, Implies, If, equations and substitutions, made at once where it is known that nothing needs converting.

Z3's own look for a sort into which all arguments fit, and make objects of it for each; with formulas there is nothing to look
for. That would be a third of the time that building a protocol takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import z3

from fencepost.model.language.markers import closed, refuse


def And(*formulas: Any) -> Any:
    """The conjunction, as ``z3.And`` makes it; like that it also takes a list, and Python's truth values."""
    formulas = closed(formulas, universal=True)
    return _joined(z3.Z3_mk_and, formulas) if _are_formulas(formulas) else z3.And(*_vetted("And", formulas))


def Or(*formulas: Any) -> Any:
    """The disjunction, as ``z3.Or`` makes it."""
    formulas = closed(formulas, universal=False)
    return _joined(z3.Z3_mk_or, formulas) if _are_formulas(formulas) else z3.Or(*_vetted("Or", formulas))


def Not(formula: Any) -> Any:
    """The negation, as ``z3.Not`` makes it."""
    refuse("Not", (formula,))
    if not _are_formulas((formula,)):
        return z3.Not(*_vetted("Not", (formula,)))
    return z3.BoolRef(z3.Z3_mk_not(formula.ctx_ref(), formula.as_ast()), formula.ctx)


def Implies(premise: Any, conclusion: Any) -> Any:
    """The implication, as ``z3.Implies`` makes it."""
    refuse("Implies", (premise, conclusion))
    if not _are_formulas((premise, conclusion)):
        return z3.Implies(*_vetted("Implies", (premise, conclusion)))
    return z3.BoolRef(z3.Z3_mk_implies(premise.ctx_ref(), premise.as_ast(), conclusion.as_ast()), premise.ctx)


def equation(one: z3.ExprRef, other: z3.ExprRef) -> z3.BoolRef:
    """That two terms of one sort are equal."""
    return z3.BoolRef(z3.Z3_mk_eq(one.ctx_ref(), one.as_ast(), other.as_ast()), one.ctx)


def conditional(condition: Any, then: Any, otherwise: Any) -> Any:
    """The one term where the condition holds and else the other, as ``z3.If`` makes it."""
    alike = any(isinstance(then, kind) and isinstance(otherwise, kind) for kind in (z3.ArithRef, z3.BoolRef, z3.BitVecRef))
    if not (alike and isinstance(condition, z3.BoolRef)):
        return z3.If(condition, then, otherwise)
    term = z3.Z3_mk_ite(condition.ctx_ref(), condition.as_ast(), then.as_ast(), otherwise.as_ast())
    return z3.z3._to_expr_ref(term, condition.ctx)


def substituted(formula: Any, pairs: Iterable[tuple[Any, Any]]) -> Any:
    """The formula with the second term of each pair, which is of the sort of the first, wherever the first stands."""
    old, new = zip(*pairs, strict=True)
    terms = z3.Ast * len(old)
    before, after = terms(*(term.as_ast() for term in old)), terms(*(term.as_ast() for term in new))
    return z3.z3._to_expr_ref(z3.Z3_substitute(formula.ctx_ref(), formula.as_ast(), len(old), before, after), formula.ctx)


def _vetted(name: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """What is given, after a look that all of it are formulas or lists of formulas. Raises TypeError."""
    parts = [part for one in given for part in (one if isinstance(one, (list, tuple)) else [one])]
    for part in parts:
        if not isinstance(part, (bool, z3.BoolRef)):
            kind = f"of sort {part.sort()}" if isinstance(part, z3.ExprRef) else "none"
            raise TypeError(f"{name} joins formulas, and {part!r} is {kind}")
    return given


def _are_formulas(given: tuple[Any, ...]) -> bool:
    """Whether these are formulas, at least one, of one context."""
    return bool(given) and all(isinstance(one, z3.BoolRef) and one.ctx is given[0].ctx for one in given)


def _joined(make: Callable[[Any, int, Any], Any], formulas: tuple[Any, ...]) -> z3.BoolRef:
    parts = (z3.Ast * len(formulas))(*(formula.as_ast() for formula in formulas))
    return z3.BoolRef(make(formulas[0].ctx_ref(), len(formulas), parts), formulas[0].ctx)
