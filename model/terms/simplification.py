"""Terms that are worth the same and are shorter: what is settled by what is written is no longer asked."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import reduce
from math import prod

from fencepost.model.terms.nodes import Op, S, Term, in_order, literal, made
from fencepost.model.terms.sorts import BOOL
from fencepost.model.terms.traversal import with_arguments
from fencepost.model.terms.values import (
    FALSE,
    TRUE,
    Condition,
    condition,
    conditions_of,
    conjunction,
    disjunction,
    equation,
    negation,
)


class Simplification:
    """Simplifies terms, each once."""

    def __init__(self) -> None:
        self._done: dict[Term, Term] = {}

    def __call__(self, term: S) -> S:
        done = self._done
        for part in in_order([term], done.__contains__):
            done[part] = _simple(part, tuple([done[argument] for argument in part.arguments]))
        return done[term]  # type: ignore[return-value]  # of the same sort


def simplified(term: S) -> S:
    """The term, shorter where what is written settles something."""
    return Simplification()(term)


def truth_of(term: Term) -> bool | None:
    """Whether a condition is settled to be true, or false; None if it is not."""
    simple = simplified(term)
    return True if simple is TRUE else False if simple is FALSE else None


def _simple(term: Term, parts: tuple[Term, ...]) -> Term:
    rule = _RULES.get(term.op)
    if rule is not None:
        return rule(*parts)
    if parts and all(part.op == "literal" for part in parts) and (fold := _FOLDS.get(term.op)) is not None:
        value = fold(*(part.detail for part in parts))
        return literal(term.sort, value & ((1 << term.sort.bits) - 1) if term.sort.bits else value)
    if term.op == "ite":
        return _choice(term, condition(parts[0]), *parts[1:])
    if term.op == "extract" and parts[0].op == "literal":
        high, low = term.detail
        return literal(term.sort, parts[0].detail >> low & ((1 << high - low + 1) - 1))
    if term.op in ("forall", "exists"):
        return parts[0] if parts[0] is TRUE or parts[0] is FALSE else with_arguments(term, parts)
    return with_arguments(term, parts)


def _not(part: Condition) -> Condition:
    if part is TRUE or part is FALSE:
        return FALSE if part is TRUE else TRUE
    return condition(part.arguments[0]) if part.op == "not" else negation(part)


def _flat(op: str, parts: tuple[Condition, ...]) -> Iterator[Condition]:
    dual = "or" if op == "and" else "and"
    for part in parts:
        if part.op == op:
            yield from conditions_of(part)
        elif part.op == "not" and part.arguments[0].op == dual:
            yield from map(_not, conditions_of(part.arguments[0]))
        else:
            yield part


def _joined(
    op: str,
    parts: tuple[Condition, ...],
    neutral: Condition,
    decisive: Condition,
    join: Callable[[tuple[Condition, ...]], Condition],
) -> Condition:
    left, negated = dict[Condition, None](), set[Term]()
    sets = dict[Term, Values]()
    for part in _flat(op, parts):
        if part is decisive or _is_opposed(part, left, negated):
            return decisive
        if part is not neutral:
            left[part] = None
            if part.op == "not":
                negated.add(part.arguments[0])
            if (said := _said(part)) is not None:
                subject, values = said if op == "and" else (said[0], _others(said[1]))
                both = sets[subject] = values if subject not in sets else _in_both(sets[subject], values)
                if both == NOTHING:
                    return decisive
    for part in [part for part in left if part.op in ("and", "or") or (part.op == "not" and part.arguments[0].op == op)]:
        shorter = _beside(part, left, negated)
        if shorter is decisive:
            return decisive
        if shorter is not part:
            return _joined(op, tuple([shorter if one is part else one for one in left]), neutral, decisive, join)
    return neutral if not left else next(iter(left)) if len(left) == 1 else join(tuple(left))


def _is_opposed(part: Condition, others: Collection[Term], negated: Collection[Term]) -> bool:
    """Whether the opposite of a part is among others; ``negated`` are those whose negation is."""
    return part.arguments[0] in others if part.op == "not" else part in negated


def _beside(part: Condition, others: Collection[Condition], negated: Collection[Term]) -> Condition:
    """What is left of a part that is joined with others: where they settle what it is made of, that is settled."""
    inner = condition(part.arguments[0]) if part.op == "not" else part
    if part.op == "not":
        left = tuple([one for one in conditions_of(inner) if one not in others])
    else:
        left = tuple([one for one in conditions_of(inner) if not _is_opposed(one, others, negated)])
    if len(left) == len(inner.arguments):
        return part
    shorter = _and(*left) if inner.op == "and" else _or(*left)
    return _not(shorter) if part.op == "not" else shorter


Values = tuple[bool, frozenset[int]]
"""Some values: these, or all others."""

NOTHING: Values = (True, frozenset())


def _in_both(one: Values, other: Values) -> Values:
    if one[0] and other[0]:
        return True, one[1] & other[1]
    if not one[0] and not other[0]:
        return False, one[1] | other[1]
    these, others = (one, other) if one[0] else (other, one)
    return True, these[1] - others[1]


def _others(values: Values) -> Values:
    return not values[0], values[1]


def _said(part: Term) -> tuple[Term, Values] | None:
    """What a condition says of one term alone: which values it has; None if it says anything else."""
    if part.op == "not":
        said = _said(part.arguments[0])
        return None if said is None else (said[0], _others(said[1]))
    if part.op == "=" and part.arguments[0].sort is not BOOL:
        for known, left in (part.arguments, part.arguments[::-1]):
            if known.op == "literal":
                return left, (True, frozenset([known.detail]))
    if part.op in ("and", "or"):
        each = [said for argument in part.arguments if (said := _said(argument)) is not None]
        if len(each) == len(part.arguments) and len({subject for subject, _ in each}) == 1:
            is_or = part.op == "or"  # what is said by an "or" is the opposite of what its opposites say together
            whole = reduce(_in_both, [(these is not is_or, values) for _, (these, values) in each])
            return each[0][0], (whole[0] is not is_or, whole[1])
    return None


def _and(*parts: Condition) -> Condition:
    return _joined("and", parts, TRUE, FALSE, conjunction)


def _or(*parts: Condition) -> Condition:
    return _joined("or", parts, FALSE, TRUE, disjunction)


def _equal(one: Term, other: Term) -> Condition:
    if one is other:
        return TRUE
    if one.op == other.op == "literal":
        return TRUE if one.detail == other.detail else FALSE
    for known, left in ((one, other), (other, one)):
        if known is TRUE:
            return condition(left)
        if known is FALSE:
            return _not(condition(left))
        if known.op == "literal" and left.op == "ite" and all(side.op == "literal" for side in left.arguments[1:]):
            same = [side.detail == known.detail for side in left.arguments[1:]]
            if same[0] == same[1]:
                return TRUE if same[0] else FALSE
            test = condition(left.arguments[0])
            return test if same[0] else _not(test)
    return FALSE if isinstance(one, Condition) and _not(one) is other else equation(one, other)


def _distinct(*parts: Term) -> Condition:
    return _and(*(_not(_equal(one, other)) for place, one in enumerate(parts) for other in parts[place + 1 :]))


def _choice(term: Term, test: Condition, one: Term, other: Term) -> Term:
    if one is other or test is TRUE:
        return one
    if test is FALSE:
        return other
    if isinstance(one, Condition) and isinstance(other, Condition):
        if one is TRUE or one is FALSE:
            return _or(test, other) if one is TRUE else _and(_not(test), other)
        if other is TRUE or other is FALSE:
            return _or(_not(test), one) if other is TRUE else _and(test, one)
    return made("ite", term.sort, (test, one, other))


def _order(op: Op, holds: Callable[[int, int], bool]) -> Callable[[Term, Term], Condition]:
    def rule(one: Term, other: Term) -> Condition:
        if one is other:
            return TRUE if holds(0, 0) else FALSE
        if one.op == other.op == "literal":
            return TRUE if holds(one.detail, other.detail) else FALSE
        return made(op, BOOL, (one, other))

    return rule


_RULES: Mapping[str, Callable[..., Term]] = {
    "not": _not,
    "and": _and,
    "or": _or,
    "=>": lambda premise, conclusion: _or(_not(premise), conclusion),
    "xor": lambda one, other: _not(_equal(one, other)),
    "=": _equal,
    "distinct": _distinct,
    "<=": _order("<=", operator.le),
    "<": _order("<", operator.lt),
    ">=": lambda one, other: _not(_order("<", operator.lt)(one, other)),
    ">": lambda one, other: _not(_order("<=", operator.le)(one, other)),
}
_FOLDS: Mapping[str, Callable[..., int]] = {
    "+": lambda *numbers: sum(numbers),
    "-": lambda first, *others: first - sum(others),
    "unary -": operator.neg,
    "*": lambda *numbers: prod(numbers),
    "bvand": lambda *sets: reduce(operator.and_, sets),
    "bvor": lambda *sets: reduce(operator.or_, sets),
    "bvxor": lambda *sets: reduce(operator.xor, sets),
    "bvnot": operator.invert,
}
