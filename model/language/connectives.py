"""And, Or, Not and Implies of whatever a protocol gives them: terms, Python's truth values, lists of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from fencepost.model.language.markers import closed, refuse
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Condition, Truth, condition, conjunction, disjunction, implication, negation

Formulas: TypeAlias = "Truth | Sequence[Truth]"


def And(*formulas: Formulas) -> Condition:
    """The conjunction of formulas, or of a list of them, in which Python's truth values may be."""
    return conjunction(_vetted("And", closed(formulas, universal=True)))


def Or(*formulas: Formulas) -> Condition:
    """The disjunction of formulas, or of a list of them, in which Python's truth values may be."""
    return disjunction(_vetted("Or", closed(formulas, universal=False)))


def Not(formula: Truth) -> Condition:
    """The negation of a formula."""
    refuse("Not", (formula,))
    return negation(*_vetted("Not", (formula,)))


def Implies(premise: Truth, conclusion: Truth) -> Condition:
    """That the conclusion holds where the premise does."""
    refuse("Implies", (premise, conclusion))
    return implication(*_vetted("Implies", (premise, conclusion)))


def _vetted(name: str, given: tuple[Formulas, ...]) -> tuple[Condition, ...]:
    """What is given as terms. Raises TypeError for what is neither a formula nor a list of formulas."""
    terms = tuple([one for one in given if isinstance(one, Condition)])
    if len(terms) == len(given):
        return terms
    parts = [part for one in given for part in (one if isinstance(one, (list, tuple)) else [one])]
    for part in parts:
        if not isinstance(part, (bool, Condition)):
            kind = f"of sort {part.sort}" if isinstance(part, Term) else "none"
            raise TypeError(f"{name} joins formulas, and {part!r} is {kind}")
    return tuple([condition(part) for part in parts])
