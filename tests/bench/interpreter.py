"""The baseline of the bench and a third oracle: a plain interpreter of a protocol's terms over tuples of raw values.

Each term becomes a tree of nodes once; a state is then a tuple, and running the protocol is asking a node for its value,
which asks its arguments for theirs, and only those that matter. A node that several terms share is computed once for each
state. Nothing is compiled and no code is generated.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from fencepost.model.language import Protocol
from fencepost.model.terms.nodes import Term

State = tuple[int, ...]
Memo = dict[int, int]
Operation = Callable[["Node", State, Memo], int]


@dataclass(slots=True)
class Node:
    """One node of a term: what to do, its arguments and numbers (a value, a place, a width); ``shared`` by several others."""

    operation: Operation
    arguments: tuple[Node, ...] = ()
    numbers: tuple[int, ...] = ()
    shared: bool = False

    def value(self, state: State, memo: Memo) -> int:
        """Its value in a state; ``memo`` holds those of shared nodes in this state."""
        if not self.shared:
            return self.operation(self, state, memo)
        known = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = self.operation(self, state, memo)
        return known


def _all(node: Node, state: State, memo: Memo) -> int:
    return all(argument.value(state, memo) for argument in node.arguments)


def _any(node: Node, state: State, memo: Memo) -> int:
    return any(argument.value(state, memo) for argument in node.arguments)


def _chosen(node: Node, state: State, memo: Memo) -> int:
    condition, one, other = node.arguments
    return (one if condition.value(state, memo) else other).value(state, memo)


def _implied(node: Node, state: State, memo: Memo) -> int:
    premise, conclusion = node.arguments
    return not premise.value(state, memo) or conclusion.value(state, memo)


def _joined(node: Node, state: State, memo: Memo) -> int:
    value = 0
    for argument, width in zip(node.arguments, node.numbers, strict=True):
        value = value << width | argument.value(state, memo)
    return value


def _extracted(node: Node, state: State, memo: Memo) -> int:
    low, mask = node.numbers
    return node.arguments[0].value(state, memo) >> low & mask


def _of_one(rule: Callable[[int], int]) -> Operation:
    return lambda node, state, memo: rule(node.arguments[0].value(state, memo))


def _of_two(rule: Callable[[int, int], int]) -> Operation:
    def operation(node: Node, state: State, memo: Memo) -> int:
        left, right = node.arguments
        return rule(left.value(state, memo), right.value(state, memo))

    return operation


def _fold(rule: Callable[[int, int], int]) -> Operation:
    return _of_all(lambda values: reduce(rule, values))


def _of_all(rule: Callable[[list[int]], int]) -> Operation:
    return lambda node, state, memo: rule([argument.value(state, memo) for argument in node.arguments])


def _place(node: Node, state: State, memo: Memo) -> int:
    return state[node.numbers[0]]


def _number(node: Node, state: State, memo: Memo) -> int:
    return node.numbers[0]


OPERATIONS: dict[str, Operation] = {
    "constant": _place,
    "true": _all,
    "false": _any,
    "literal": _number,
    "and": _all,
    "or": _any,
    "not": _of_one(operator.not_),
    "=>": _implied,
    "xor": _fold(operator.xor),
    "=": _of_two(operator.eq),
    "distinct": _of_all(lambda values: len(set(values)) == len(values)),
    "ite": _chosen,
    "+": _of_all(sum),
    "-": _of_all(lambda values: values[0] - sum(values[1:])),
    "unary -": _of_one(operator.neg),
    "*": _of_all(math.prod),
    "<=": _of_two(operator.le),
    "<": _of_two(operator.lt),
    ">=": _of_two(operator.ge),
    ">": _of_two(operator.gt),
    "bvand": _fold(operator.and_),
    "bvor": _fold(operator.or_),
    "bvxor": _fold(operator.xor),
    "bvnot": lambda node, state, memo: node.numbers[0] ^ node.arguments[0].value(state, memo),
    "extract": _extracted,
    "concat": _joined,
}


def _numbers(term: Term, places: Mapping[str, int]) -> tuple[int, ...]:
    match term.op:
        case "constant":
            return (places[term.detail],)
        case "literal":
            return (term.detail,)
        case "bvnot":
            return ((1 << term.sort.bits) - 1,)
        case "extract":
            high, low = term.detail
            return low, (1 << (high - low + 1)) - 1
        case "concat":
            return tuple(argument.sort.bits for argument in term.arguments)
    return ()


class Interpreter:
    """A protocol interpreted, with the same four functions as its kernel; states are tuples of raw values."""

    def __init__(self, protocol: Protocol, observed: Sequence[Any] = (), observed_steps: Sequence[Any] = ()) -> None:
        names = [v.name for v in protocol.variables]
        places = {name: place for place, name in enumerate(names)}
        self._places = places | {name + "'": len(names) + place for name, place in places.items()}
        self._nodes: dict[Term, Node] = {}
        self._guards = self._all_of([action.guard for action in protocol.actions])
        self._observed, self._observed_steps = self._all_of(observed), self._all_of(observed_steps)
        self._updates = [
            list(zip((places[v.name] for v in a.updates), self._all_of(list(a.updates.values())), strict=True))
            for a in protocol.actions
        ]

    def _all_of(self, terms: Sequence[Any]) -> list[Node]:
        return [self._of(term) for term in terms]

    def _of(self, term: Term) -> Node:
        known = self._nodes.get(term)
        if known is not None:
            known.shared = bool(known.arguments)
            return known
        below = tuple(self._of(argument) for argument in term.arguments)
        node = self._nodes[term] = Node(OPERATIONS[term.op], below, _numbers(term, self._places))
        return node

    def enabled(self, state: State) -> list[int]:
        """The numbers of the actions that may happen in the state."""
        return self._holding(self._guards, state)

    def observe(self, state: State) -> list[int]:
        """The numbers of the observed formulas that hold in the state."""
        return self._holding(self._observed, state)

    def observe_step(self, state: State, after: State) -> list[int]:
        """The numbers of the observed formulas over two states that hold of this pair."""
        return self._holding(self._observed_steps, state + after)

    def apply(self, state: State, action: int) -> State:
        """The state after an action, whose guard is taken to hold."""
        memo: Memo = {}
        after = list(state)
        for place, node in self._updates[action]:
            after[place] = node.value(state, memo)
        return tuple(after)

    @staticmethod
    def _holding(formulas: Sequence[Node], state: State) -> list[int]:
        memo: Memo = {}
        return [number for number, node in enumerate(formulas) if node.value(state, memo)]
