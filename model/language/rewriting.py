"""Terms in which functions are given another meaning, under quantifiers too: what a formula says of the state after a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import z3

_NUMBERS = count()


class Rewriting:
    """Puts, for every application of certain functions, what is said of its arguments."""

    def __init__(self, meanings: Mapping[Any, Callable[..., Any]]) -> None:
        self._meanings = dict(meanings)
        self._done: dict[int, Any] = {}
        self._references: list[Any] = []

    def of(self, term: Any) -> Any:
        """The term with these meanings."""
        known = self._done.get(term.get_id())
        if known is not None:
            return known
        term_after = self._rewritten(term)
        self._references.append(term)
        self._done[term.get_id()] = term_after
        return term_after

    def _rewritten(self, term: Any) -> Any:
        if z3.is_quantifier(term):
            bound = [z3.Const(f"{term.var_name(i)}~{next(_NUMBERS)}", term.var_sort(i)) for i in range(term.num_vars())]
            before = z3.substitute_vars(term.body(), *reversed(bound))
            body = self.of(before)
            if body.eq(before):
                return term
            return z3.ForAll(bound, body) if term.is_forall() else z3.Exists(bound, body)
        if not z3.is_app(term):
            return term
        below = term.children()
        arguments = [self.of(child) for child in below]
        meaning = self._meanings.get(term.decl())
        if meaning is not None:
            return meaning(*arguments)
        if all(one is other for one, other in zip(below, arguments, strict=True)):
            return term
        if all(one.eq(other) for one, other in zip(below, arguments, strict=True)):
            return term
        given = (z3.Ast * len(arguments))(*(argument.as_ast() for argument in arguments))
        return z3.z3._to_expr_ref(z3.Z3_update_term(term.ctx_ref(), term.as_ast(), len(arguments), given), term.ctx)
