"""Z3 terms to LLVM IR: each node once, each operation on the same values once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import z3
from llvmlite import ir

from model.kernel.operations import FALSE, I64, RULES, TRUE, Value, extract
from model.language import ModelError


class Node(NamedTuple):
    """A node of a Z3 term: its id, its operator, its arguments, and what else there is to it: the name of a variable, the value
    of a literal, the bounds of an extract, the name of an operator that is unknown."""

    identity: int
    kind: int
    arguments: tuple[Node, ...]
    detail: Any


_LITERALS = (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM)
_SETTLED_BY = {z3.Z3_OP_AND: FALSE, z3.Z3_OP_OR: TRUE, z3.Z3_OP_IMPLIES: TRUE}
"""The value of an argument, before the last one to be looked at, that is the value of the whole whatever the others are."""


def _in_turn(node: Node, place: int) -> Node:
    """The argument to be looked at in that turn: of an implication, the conclusion comes first."""
    return node.arguments[1 - place if node.kind == z3.Z3_OP_IMPLIES else place]


def _detail(kind: int, term: Any) -> Any:
    if kind in _LITERALS:
        return ir.Constant(I64 if kind == z3.Z3_OP_ANUM else ir.IntType(term.size()), term.as_long())
    if kind == z3.Z3_OP_EXTRACT:
        return tuple(term.decl().params())
    return None if kind in RULES else term.decl().name()


class Nodes:
    """The nodes of terms, each looked at once: asking Z3 for them is what would take most of the time."""

    def __init__(self) -> None:
        self._known: dict[int, Node] = {}

    def of(self, term: Any) -> Node:
        """The node of a term, with all below it."""
        stack: list[tuple[Any, int, Any]] = [(term, term.get_id(), None)]
        while stack:
            node, identity, below = stack.pop()
            if identity in self._known:
                continue
            if below is None:
                below = [(child, child.get_id()) for child in node.children()]
                stack.append((node, identity, below))
                stack.extend((child, its, None) for child, its in below if its not in self._known)
            else:
                kind, known = node.decl().kind(), tuple(self._known[its] for _, its in below)
                self._known[identity] = Node(identity, kind, known, _detail(kind, node))
        return self._known[term.get_id()]


class Values:
    """The values of one basic block: of an operation on values that it was done on before, the one it had."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder = builder
        self._results: dict[tuple[Any, ...], Value] = {}
        self._constants: dict[tuple[int, int], Value] = {(1, 0): FALSE, (1, 1): TRUE}

    def one(self, value: Value) -> Value:
        """The value itself, but of equal constants always the same."""
        if not isinstance(value, ir.Constant):
            return value
        return self._constants.setdefault((value.type.width, value.constant), value)

    def of(self, node: Node, arguments: list[Value]) -> Value:
        """The value of an operation on these arguments. Raises ModelError for an unknown one."""
        operation = (node.kind, node.detail, *map(id, arguments))
        if operation not in self._results:
            self._results[operation] = self.one(self._instruction(node, arguments))
        return self._results[operation]

    def _instruction(self, node: Node, arguments: list[Value]) -> Value:
        if node.kind == z3.Z3_OP_EXTRACT:
            return extract(self.builder, arguments[0], *node.detail)
        if node.kind not in RULES:
            raise ModelError(f"the kernel cannot compile {node.detail}")
        return RULES[node.kind](self.builder, arguments)


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
                self._known[node.identity] = self._values.one(node.detail)
            elif node.kind == z3.Z3_OP_UNINTERPRETED and not node.arguments:
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
