"""What a formula says for many values of its constants at once: the very term that the provers see, over arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import z3

OPERATIONS: Mapping[int, Callable[..., Any]] = {
    z3.Z3_OP_TRUE: lambda: np.bool_(True),
    z3.Z3_OP_FALSE: lambda: np.bool_(False),
    z3.Z3_OP_AND: lambda *parts: reduce(np.logical_and, parts),
    z3.Z3_OP_OR: lambda *parts: reduce(np.logical_or, parts),
    z3.Z3_OP_NOT: np.logical_not,
    z3.Z3_OP_ITE: np.where,
    z3.Z3_OP_EQ: operator.eq,
    z3.Z3_OP_DISTINCT: operator.ne,
    z3.Z3_OP_LE: operator.le,
    z3.Z3_OP_GE: operator.ge,
    z3.Z3_OP_LT: operator.lt,
    z3.Z3_OP_GT: operator.gt,
    z3.Z3_OP_ADD: lambda *parts: reduce(operator.add, parts),
}
"""What the operators of Z3 mean for arrays."""


def evaluated(term: Any, values: Mapping[str, Any]) -> Any:
    """The value of a term, given arrays by the names of its constants; numbers beyond 64 bits want arrays of objects.

    Raises KeyError for a constant or an operator that it does not know.
    """
    known: dict[int, Any] = {}

    def value(node: Any) -> Any:
        answer = known.get(node.get_id())
        if answer is None:
            answer = known[node.get_id()] = calculated(node)
        return answer

    def calculated(node: Any) -> Any:
        if z3.is_int_value(node):
            return node.as_long()
        if z3.is_const(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            return values[node.decl().name()]
        return OPERATIONS[node.decl().kind()](*map(value, node.children()))

    return value(term)
