"""Terms worth a value: plain Python, one state at a time. It is what every other printer is held against."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from math import prod

from fencepost.model.terms.nodes import Term, in_order


class Evaluation:
    """What terms are worth where constants have these raw values: 0 or 1, a number, the place of a name, the bits of a subset.

    Raises KeyError for a constant without a value, and for what only formulas for any size have.
    """

    def __init__(self, values: Mapping[Term, int]) -> None:
        self._known: dict[Term, int] = dict(values)

    def __call__(self, term: Term) -> int:
        known = self._known
        for part in in_order([term], known.__contains__):
            known[part] = _value(part, [known[argument] for argument in part.arguments])
        return known[term]


def _value(term: Term, parts: list[int]) -> int:
    if term.op == "literal":
        return int(term.detail)
    if term.op == "extract":
        high, low = term.detail
        return parts[0] >> int(low) & (1 << int(high) - int(low) + 1) - 1
    if term.op == "bvnot":
        return ~parts[0] & (1 << term.sort.bits) - 1
    if term.op == "concat":
        whole = 0
        for vector, value in zip(term.arguments, parts, strict=True):
            whole = whole << vector.sort.bits | value
        return whole
    if term.op == "constant":
        raise KeyError(term.detail)
    return int(_OPERATORS[term.op](*parts))


_OPERATORS: Mapping[str, Callable[..., int]] = {
    "true": lambda: True,
    "false": lambda: False,
    "and": lambda *parts: all(parts),
    "or": lambda *parts: any(parts),
    "not": operator.not_,
    "=>": lambda premise, conclusion: not premise or conclusion,
    "xor": operator.ne,
    "=": operator.eq,
    "distinct": lambda *parts: len(set(parts)) == len(parts),
    "ite": lambda test, one, other: one if test else other,
    "+": lambda *parts: sum(parts),
    "-": lambda first, *others: first - sum(others),
    "unary -": operator.neg,
    "*": lambda *parts: prod(parts),
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "bvand": lambda *parts: reduce(operator.and_, parts),
    "bvor": lambda *parts: reduce(operator.or_, parts),
    "bvxor": lambda *parts: reduce(operator.xor, parts),
}
