"""Terms in which functions are given another meaning, under quantifiers too: what a formula says of the state after a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fencepost.model.terms.nodes import Function, S, Term, made
from fencepost.model.terms.traversal import QUANTIFIERS, opened, with_arguments


class Rewriting:
    """Puts, for every application of certain functions, what is said of its arguments."""

    def __init__(self, meanings: Mapping[Function[Term], Callable[..., Term]]) -> None:
        self._meanings = dict(meanings)
        self._done: dict[Term, Term] = {}

    def of(self, term: S) -> S:
        """The term with these meanings."""
        if term not in self._done:
            self._done[term] = self._rewritten(term)
        return self._done[term]  # type: ignore[return-value]  # of the same sort

    def _rewritten(self, term: Term) -> Term:
        if term.op in QUANTIFIERS:
            bound, before = opened(term, "~")
            body = self.of(before)
            return term if body is before else made(term.op, term.sort, (body,), tuple(bound))
        arguments = tuple([self.of(argument) for argument in term.arguments])
        meaning = self._meanings.get(term.detail) if term.op == "apply" else None
        return with_arguments(term, arguments) if meaning is None else meaning(*arguments)
