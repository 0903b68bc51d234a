"""The branches of actions: which alternative of a guard holds where one is taken, and which way each ``If`` in it goes."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.model.language import Action, And, Implies, Not
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Condition, conditions_of
from fencepost.model.terms.values import condition as condition_of


def branches(action: Action) -> Iterator[tuple[Condition, Condition]]:
    """Of each branch of an action the condition under which it is taken, and that condition without the way to it: an
    alternative of the guard, or what an ``If`` asks. Some may hold always or never; to find that out takes a while."""
    for part in conjuncts(action.guard):
        if part.op == "or":
            yield from ((one, one) for one in conditions_of(part))
    seen: set[Term] = set()
    for value in action.updates.values():
        for path, condition in _decisions(value, (), seen):
            for way in (condition, Not(condition)):
                yield And(*path, way), way


def conjuncts(formula: Condition) -> Iterator[Condition]:
    """The parts of a formula all of which must hold: those of a conjunction, each under the premises that it has.

    Several conclusions from one premise are several parts; that two things do not hold together is one.
    """
    if formula.op == "and":
        for child in conditions_of(formula):
            yield from conjuncts(child)
    elif formula.op == "=>":
        premise, conclusion = conditions_of(formula)
        for part in conjuncts(conclusion):
            if part.op == "=>":
                nested, last = conditions_of(part)
                yield Implies(And(premise, nested), last)
            else:
                yield Implies(premise, part)
    elif formula.op == "not" and formula.arguments[0].op == "or":
        for child in conditions_of(formula.arguments[0]):
            yield from conjuncts(Not(child))
    elif formula.op != "true":
        yield formula


def _decisions(term: Term, path: tuple[Condition, ...], seen: set[Term]) -> Iterator[tuple[tuple[Condition, ...], Condition]]:
    """The condition of every ``If`` in a term, each once, with the conditions on the way to it."""
    stack = [(term, path)]
    while stack:
        node, way = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "ite":
            test, then, otherwise = node.arguments
            condition = condition_of(test)
            yield way, condition
            stack += [(then, (*way, condition)), (otherwise, (*way, Not(condition))), (condition, way)]
        else:
            stack += [(child, way) for child in node.arguments]
