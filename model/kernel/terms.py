"""Z3 terms to LLVM IR: each node once, and only as far as it is needed."""

from __future__ import annotations

from collections.abc import Callable

import z3

from model.kernel.instructions import FALSE, TRUE, Function, Value, constant
from model.kernel.operations import RULES, extract
from model.language import ModelError
from model.language.nodes import Node

_LITERALS = (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM)
_SETTLED_BY = {z3.Z3_OP_AND: FALSE, z3.Z3_OP_OR: TRUE}


class Terms:
    """Emits the nodes of Z3 terms into a function; ``leaf`` gives the value of a constant by its name, and ``certain`` that of
    a node where it is known without looking further. Raises ModelError for an operation that cannot be compiled."""

    def __init__(
        self, function: Function, leaf: Callable[[str], Value], certain: Callable[[Node], Value | None] | None = None
    ) -> None:
        self._function, self._leaf, self._certain = function, leaf, certain
        self._known: dict[int, Value] = {}

    def emit(self, root: Node) -> Value:
        """The LLVM value of a term. What is not needed, because another argument settles the whole, is not emitted."""
        stack = [(root, 0)]
        while stack:
            node, place = stack.pop()
            if node.identity in self._known:
                continue
            settled = self._settled(node, place) if place else self._certain and self._certain(node)
            if settled is not None:
                self._known[node.identity] = settled
            elif place < len(node.in_turn):
                stack += [(node, place + 1), (node.in_turn[place], 0)]
            else:
                self._known[node.identity] = self._operation(node)
        return self._known[root.identity]

    def _settled(self, node: Node, place: int) -> Value | None:
        """The value of the node if the argument looked at last, of ``place`` so far, leaves no doubt of it."""
        argument = node.in_turn[place - 1]
        if node.kind == z3.Z3_OP_IMPLIES:
            decisive, whole = (FALSE if argument is node.arguments[0] else TRUE), TRUE
        elif node.kind in _SETTLED_BY:
            decisive = whole = _SETTLED_BY[node.kind]
        else:
            return None
        return whole if self._known[argument.identity] is decisive else None

    def _operation(self, node: Node) -> Value:
        if node.kind in _LITERALS:
            return constant(node.bits or 64, node.detail)
        if node.is_variable:
            return self._leaf(node.detail)
        arguments = [self._known[argument.identity] for argument in node.arguments]
        if node.kind == z3.Z3_OP_EXTRACT:
            return extract(self._function, arguments[0], *node.detail)
        if node.kind not in RULES:
            raise ModelError(f"the kernel cannot compile {node.detail}")
        return RULES[node.kind](self._function, arguments)
