"""Questions about terms for Z3, which is loaded with the first of them: for whoever asks few, below the engines of proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Truth

if TYPE_CHECKING:
    import z3


class Asking:
    """Questions under some formulas that are supposed.

    ``effort`` is what Z3 may spend on one, in its own units, which are the same on every machine; with 0 it may spend all that
    it takes.
    """

    def __init__(self, supposed: Iterable[Truth] = (), *, effort: int = 0) -> None:
        import z3

        from fencepost.model.terms.in_z3 import InZ3

        self._solver, self._printed = z3.SimpleSolver(), InZ3()
        self._model: z3.ModelRef | None = None
        self.reason = ""
        """Why the last answer is unknown, in Z3's words."""
        if effort:
            self._solver.set("rlimit", effort)
        self._solver.add(self._printed.all(supposed))

    @contextmanager
    def supposing(self, *formulas: Truth) -> Iterator[None]:
        """Within it these formulas are supposed, too."""
        self._solver.push()
        self._solver.add(self._printed.all(formulas))
        try:
            yield
        finally:
            self._solver.pop()

    def answer(self, *formulas: Truth) -> Literal["sat", "unsat", "unknown"]:
        """Whether the formulas can hold together."""
        with self.supposing(*formulas):
            answer = str(self._solver.check())
            self._model = self._solver.model() if answer == "sat" else None
            self.reason = self._solver.reason_unknown() if answer == "unknown" else ""
        return "sat" if answer == "sat" else "unsat" if answer == "unsat" else "unknown"

    def excludes(self, *formulas: Truth) -> bool:
        """Whether it is certain that the formulas cannot hold together."""
        return self.answer(*formulas) == "unsat"

    def value(self, term: Term) -> int:
        """What a term is worth where the formulas of the last question hold, which it said they can."""
        from fencepost.model.terms.in_z3 import raw

        assert self._model is not None
        return raw(self._model.eval(self._printed(term), model_completion=True))
