"""How large numbers can become: the kernel computes with 64 bits, where Z3 has no limit."""

from __future__ import annotations

from math import prod
from typing import Any

import z3

from model.language.declarations import Variable

Range = tuple[int, int]


class Ranges:
    """The range of every number in a term, from the domains of the variables: an upper estimate that ignores conditions."""

    def __init__(self) -> None:
        self._of: dict[int, Range] = {}

    def declare(self, variable: Variable) -> None:
        """Takes note of a variable, whose value and next value stay in its domain."""
        if variable.term.sort().kind() == z3.Z3_INT_SORT:
            bounds = variable.domain.low, variable.domain.low + variable.domain.size - 1
            self._of[variable.term.get_id()] = self._of[variable.next.get_id()] = bounds

    def too_wide(self, term: Any) -> Any | None:
        """A number within the term that might not fit 64 bits, or None. The term must be free of strangers, and stay alive."""
        stack = [(term, False)]
        while stack:
            node, ready = stack.pop()
            if node.get_id() in self._of:
                continue
            if not ready:
                stack.append((node, True))
                stack.extend((child, False) for child in node.children())
                continue
            low, high = self._of[node.get_id()] = self._range(node)
            if low < -(1 << 63) or high >= 1 << 63:
                return node
        return None

    def of(self, term: Any) -> Range:
        """The range of a number of which ``too_wide`` found nothing to say. The term must stay alive."""
        self.too_wide(term)
        return self._of[term.get_id()]

    def _range(self, node: Any) -> Range:
        if node.sort().kind() != z3.Z3_INT_SORT:
            return 0, 0
        kind = node.decl().kind()
        if kind == z3.Z3_OP_ANUM:
            return node.as_long(), node.as_long()
        parts = [self._of[child.get_id()] for child in node.children()]
        if kind == z3.Z3_OP_ITE:
            return min(parts[1][0], parts[2][0]), max(parts[1][1], parts[2][1])
        if kind == z3.Z3_OP_UMINUS:
            return -parts[0][1], -parts[0][0]
        if kind == z3.Z3_OP_SUB:
            return parts[0][0] - sum(high for _, high in parts[1:]), parts[0][1] - sum(low for low, _ in parts[1:])
        if kind == z3.Z3_OP_MUL:
            size = prod(max(abs(low), abs(high)) for low, high in parts)
            return -size, size
        return sum(low for low, _ in parts), sum(high for _, high in parts)
