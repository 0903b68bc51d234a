"""Conditions on the parameters of an instance, written as data: ``ensemble > write_quorum and not multi``.

A condition is an expression of Python with names of parameters, numbers, words in quotes, tuples of these, ``and``, ``or``,
``not`` and comparisons, and nothing else.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from types import CodeType

from fencepost.model.language import Parameters

_ALLOWED = (
    *(ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Name, ast.Load, ast.Constant, ast.Tuple),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
)


@dataclass(frozen=True)
class Condition:
    """A condition, and the ``names`` of the parameters that it reads."""

    text: str
    names: frozenset[str]
    code: CodeType | None

    def holds(self, parameters: Parameters) -> bool:
        """Whether it is so with these parameters; the empty condition always is. A parameter that is missing counts as not
        set."""
        if self.code is None:
            return True
        values = {name: parameters.get(name, 0) for name in self.names}
        return bool(eval(self.code, {"__builtins__": {}}, values))


@cache
def condition(text: str) -> Condition:
    """The condition that is written so; ValueError for anything else than the docstring of this module names."""
    if not text:
        return Condition(text, frozenset(), None)
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        raise ValueError(f"{text!r} is no condition") from None
    nodes = list(ast.walk(tree))
    if strange := next((node for node in nodes if not isinstance(node, _ALLOWED)), None):
        raise ValueError(f"{text!r} is no condition: it has a {type(strange).__name__}")
    names = frozenset(node.id for node in nodes if isinstance(node, ast.Name))
    return Condition(text, names, compile(tree, "a condition", "eval"))
