"""What a formula says for many values of its constants at once: the very term that the provers see, over arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fencepost.model.terms.nodes import Term, in_order

Array: TypeAlias = "npt.NDArray[np.generic]"

OPERATIONS: Mapping[str, Callable[..., Array]] = {
    "true": lambda: np.array(True),
    "false": lambda: np.array(False),
    "and": lambda *parts: reduce(np.logical_and, parts),
    "or": lambda *parts: reduce(np.logical_or, parts),
    "not": np.logical_not,
    "ite": np.where,
    "=": operator.eq,
    "distinct": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "+": lambda *parts: reduce(operator.add, parts),
}
"""What the operators of terms mean for arrays."""


def evaluated(term: Term, values: Mapping[str, Array]) -> Array:
    """The value of a term, given arrays by the names of its constants; numbers beyond 64 bits want arrays of objects.

    Raises KeyError for a constant or an operator that it does not know.
    """
    known: dict[Term, Array] = {}
    for part in in_order([term], known.__contains__):
        if part.op == "literal":
            known[part] = part.detail
        elif part.is_constant:
            known[part] = values[part.detail]
        else:
            known[part] = OPERATIONS[part.op](*[known[argument] for argument in part.arguments])
    return known[term]
