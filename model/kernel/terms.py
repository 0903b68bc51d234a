"""Z3 terms to LLVM IR: each node once, each operation on the same values once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from model.kernel.instructions import FALSE, TRUE, Constant, Function, Value
from model.kernel.operations import RULES, extract
from model.language import ModelError
from model.language.nodes import Node, Nodes

_LITERALS = (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM)
_SETTLED_BY = {z3.Z3_OP_AND: FALSE, z3.Z3_OP_OR: TRUE, z3.Z3_OP_IMPLIES: TRUE}
"""The value of an argument, before the last one to be looked at, that is the value of the whole whatever the others are."""


def _in_turn(node: Node, place: int) -> Node:
    """The argument to be looked at in that turn: of an implication, the conclusion comes first."""
    return node.arguments[1 - place if node.kind == z3.Z3_OP_IMPLIES else place]


class Values:
    """The values of one basic block: of an operation on values that it was done on before, the one it had."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._results: dict[tuple[Any, ...], Value] = {}
        self._constants: dict[tuple[int, int], Value] = {(1, 0): FALSE, (1, 1): TRUE}

    def one(self, value: Value) -> Value:
        """The value itself, but of equal constants always the same."""
        if not isinstance(value, Constant):
            return value
        return self._constants.setdefault((value.bits, value.constant), value)

    def of(self, node: Node, arguments: list[Value]) -> Value:
        """The value of an operation on these arguments. Raises ModelError for an unknown one."""
        operation = (node.kind, node.detail, *map(id, arguments))
        if operation not in self._results:
            self._results[operation] = self.one(self._instruction(node, arguments))
        return self._results[operation]

    def _instruction(self, node: Node, arguments: list[Value]) -> Value:
        if node.kind == z3.Z3_OP_EXTRACT:
            return extract(self._function, arguments[0], *node.detail)
        if node.kind not in RULES:
            raise ModelError(f"the kernel cannot compile {node.detail}")
        return RULES[node.kind](self._function, arguments)


class Terms:
    """Emits Z3 terms; ``leaf`` gives the value of a constant by its name."""

    def __init__(self, nodes: Nodes, values: Values, leaf: Callable[[str], Value]) -> None:
        self._nodes, self._values, self._leaf = nodes, values, leaf
        self._known: dict[int, Value] = {}

    def emit(self, term: Any) -> Value:
        """The LLVM value of a term."""
        root = self._nodes.of(term)
        stack = [(root, 0)]
        while stack:
            node, place = stack.pop()
            if node.identity in self._known:
                continue
            if node.kind in _LITERALS:
                self._known[node.identity] = self._values.one(Constant(node.bits or 64, node.detail))
            elif node.is_variable:
                self._known[node.identity] = self._values.one(self._leaf(node.detail))
            elif 0 < place < len(node.arguments) and self._last(node, place) is _SETTLED_BY.get(node.kind):
                self._known[node.identity] = self._last(node, place)
            elif place < len(node.arguments):
                stack += [(node, place + 1), (_in_turn(node, place), 0)]
            else:
                arguments = [self._known[argument.identity] for argument in node.arguments]
                self._known[node.identity] = self._values.of(node, arguments)
        return self._known[root.identity]

    def _last(self, node: Node, place: int) -> Value:
        return self._known[_in_turn(node, place - 1).identity]
