"""Terms to LLVM IR: the value of a term in one state."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.kernel.compiler.instructions import FALSE, TRUE, Function, Value, constant
from fencepost.model.kernel.compiler.operations import RULES, extract
from fencepost.model.kernel.compiler.traversal import Emission
from fencepost.model.language import ModelError
from fencepost.model.terms.nodes import Term


class Terms(Emission[Value]):
    """Emits terms into a function; ``leaf`` gives the value of a constant by its name. Raises ModelError for an operation that
    cannot be compiled."""

    false, true = FALSE, TRUE

    def __init__(
        self, function: Function, leaf: Callable[[str], Value], certain: Callable[[Term], Value | None] | None = None
    ) -> None:
        super().__init__(certain)
        self._function, self._leaf = function, leaf

    def _term(self, term: Term, arguments: list[Value]) -> Value:
        if term.op == "literal":
            return constant(term.sort.bits or 64, term.detail)
        if term.op == "constant":
            return self._leaf(term.detail)
        if term.op == "extract":
            return extract(self._function, arguments[0], *term.detail)
        if term.op not in RULES:
            raise ModelError(f"the kernel cannot compile {term}")
        return RULES[term.op](self._function, arguments)
