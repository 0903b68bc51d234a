"""Z3 terms to LLVM IR: the value of a term in one state."""

from __future__ import annotations

from collections.abc import Callable

import z3

from fencepost.model.kernel.compiler.instructions import FALSE, TRUE, Function, Value, constant
from fencepost.model.kernel.compiler.operations import RULES, extract
from fencepost.model.kernel.compiler.traversal import Emission
from fencepost.model.language import ModelError
from fencepost.model.language.nodes import Node

_LITERALS = (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM)


class Terms(Emission[Value]):
    """Emits the nodes of Z3 terms into a function; ``leaf`` gives the value of a constant by its name. Raises ModelError for an
    operation that cannot be compiled."""

    false, true = FALSE, TRUE

    def __init__(
        self, function: Function, leaf: Callable[[str], Value], certain: Callable[[Node], Value | None] | None = None
    ) -> None:
        super().__init__(certain)
        self._function, self._leaf = function, leaf

    def _node(self, node: Node, arguments: list[Value]) -> Value:
        if node.kind in _LITERALS:
            return constant(node.bits or 64, node.detail)
        if node.is_variable:
            return self._leaf(node.detail)
        if node.kind == z3.Z3_OP_EXTRACT:
            return extract(self._function, arguments[0], *node.detail)
        if node.kind not in RULES:
            raise ModelError(f"the kernel cannot compile {node.detail}")
        return RULES[node.kind](self._function, arguments)
