"""How the nodes of Z3 terms are gone through: each once, and only as far as it is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

import z3

from fencepost.model.language.nodes import Node

T = TypeVar("T")


class Emission(ABC, Generic[T]):
    """Makes of nodes what stands for them in a function; ``certain`` gives that of a node where it is known without looking
    further. ``false`` and ``true`` stand for what is never and always so: one object each."""

    false: T
    true: T

    def __init__(self, certain: Callable[[Node], T | None] | None = None) -> None:
        self._certain = certain
        self._known: dict[int, T] = {}

    def emit(self, root: Node) -> T:
        """What stands for a term. What is not needed, because another argument settles the whole, is not made."""
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
                arguments = [self._known[argument.identity] for argument in node.arguments]
                self._known[node.identity] = self._node(node, arguments)
        return self._known[root.identity]

    def _settled(self, node: Node, place: int) -> T | None:
        """The value of the node if the argument looked at last, of ``place`` so far, leaves no doubt of it."""
        argument = node.in_turn[place - 1]
        if node.kind == z3.Z3_OP_IMPLIES:
            decisive, whole = (self.false if argument is node.arguments[0] else self.true), self.true
        elif node.kind == z3.Z3_OP_AND:
            decisive = whole = self.false
        elif node.kind == z3.Z3_OP_OR:
            decisive = whole = self.true
        else:
            return None
        return whole if self._known[argument.identity] is decisive else None

    @abstractmethod
    def _node(self, node: Node, arguments: list[T]) -> T:
        """What stands for a node of these arguments."""
