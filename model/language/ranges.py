"""How large numbers can become: the kernel computes with 64 bits, where Z3 has no limit."""

from __future__ import annotations

from math import prod

import z3

from fencepost.model.language.domains import Domain
from fencepost.model.language.nodes import Node

Range = tuple[int, int]


class Ranges:
    """The range of every number in a term, from the domains of the variables: an upper estimate that ignores conditions."""

    def __init__(self) -> None:
        self._of: dict[int, Range] = {}

    def declare(self, constant: Node, domain: Domain) -> None:
        """Takes note of a constant that stays in a domain."""
        self._of[constant.identity] = domain.low, domain.low + domain.size - 1

    def too_wide(self, term: Node) -> Node | None:
        """A number within the term that might not fit 64 bits, or None. The term must be free of strangers."""
        stack = [(term, False)]
        while stack:
            node, ready = stack.pop()
            if node.identity in self._of:
                continue
            if not ready:
                stack.append((node, True))
                stack.extend((argument, False) for argument in node.arguments)
                continue
            low, high = self._of[node.identity] = self._range(node)
            if low < -(1 << 63) or high >= 1 << 63:
                return node
        return None

    def of(self, term: Node) -> Range:
        """The range of a number of which ``too_wide`` found nothing to say."""
        self.too_wide(term)
        return self._of[term.identity]

    def _range(self, node: Node) -> Range:
        if node.sort != z3.Z3_INT_SORT:
            return 0, 0
        if node.kind == z3.Z3_OP_ANUM:
            return node.detail, node.detail
        parts = [self._of[argument.identity] for argument in node.arguments]
        if node.kind == z3.Z3_OP_ITE:
            return min(parts[1][0], parts[2][0]), max(parts[1][1], parts[2][1])
        if node.kind == z3.Z3_OP_UMINUS:
            return -parts[0][1], -parts[0][0]
        if node.kind == z3.Z3_OP_SUB:
            return parts[0][0] - sum(high for _, high in parts[1:]), parts[0][1] - sum(low for low, _ in parts[1:])
        if node.kind == z3.Z3_OP_MUL:
            size = prod(max(abs(low), abs(high)) for low, high in parts)
            return -size, size
        return sum(low for low, _ in parts), sum(high for _, high in parts)
