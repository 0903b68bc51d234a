"""First-order formulas without their quantifiers: what is said of all is said of chosen terms, and what there is gets a name.

What is supposed becomes weaker by this, and so does the denial of a conclusion. Where the two contradict each other, the
conclusion follows from what was supposed, whatever the terms are; a well-chosen term only makes that visible. No solver has to
find an instance by itself, so none answers by luck.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import z3

GOALS = 2
"""Names for the members of which a conclusion is denied, that are among the terms of which everything is said."""

_JOINED = {z3.Z3_OP_AND: z3.And, z3.Z3_OP_OR: z3.Or}


class Instantiation:
    """Formulas said of certain terms.

    ``supposed`` and ``denied`` may be asked for in any order, except that a denial is also said of the witnesses of what was
    supposed before it. ``definitions`` belong to the formulas that were made until then.
    """

    def __init__(self, terms: Sequence[Any]) -> None:
        self.goals = [z3.Int(f"any!{number}") for number in range(GOALS)]
        self.terms = [*terms, *self.goals]
        self.witnesses: list[Any] = []
        self._numbers = itertools.count()
        self._has: dict[int, bool] = {}
        self._named: dict[int, Any] = {}
        self._defined: list[Any] = []
        self._kept: list[Any] = []

    def supposed(self, formula: Any) -> Any:
        """What the formula says of the terms."""
        return self._said(formula, True, self.terms, self._witness)

    def denied(self, formula: Any) -> Any:
        """What follows from the formula's being false."""
        names = itertools.chain(self.goals, (self._fresh() for _ in itertools.count()))
        return z3.Not(self._said(formula, False, [*self.terms, *self.witnesses], lambda: next(names)))

    def definitions(self) -> Iterator[Any]:
        """What is meant by the names that stand for conditions with quantifiers inside of terms, since this was last asked."""
        while self._defined:
            yield self.supposed(self._defined.pop())

    def _witness(self) -> Any:
        made = self._fresh()
        self.witnesses.append(made)
        return made

    def _fresh(self) -> Any:
        return z3.Int(f"some!{next(self._numbers)}")

    def _is_quantified(self, formula: Any) -> bool:
        known = self._has.get(formula.get_id())
        if known is None:
            self._kept.append(formula)
            known = z3.is_quantifier(formula) or any(map(self._is_quantified, formula.children()))
            self._has[formula.get_id()] = known
        return known

    def _said(self, formula: Any, affirmed: bool, terms: Sequence[Any], name: Callable[[], Any]) -> Any:
        """The formula without quantifiers: a consequence of it if it is affirmed, otherwise something that it follows from."""
        if not self._is_quantified(formula):
            return formula
        if z3.is_quantifier(formula):
            count = formula.num_vars()
            said_of_all = formula.is_forall() == affirmed
            chosen = list(itertools.product(terms, repeat=count)) if said_of_all else [tuple(name() for _ in range(count))]
            bodies = (z3.substitute_vars(formula.body(), *reversed(arguments)) for arguments in chosen)
            parts = [self._said(body, affirmed, terms, name) for body in bodies]
            return z3.And(parts) if formula.is_forall() else z3.Or(parts)
        kind, children = formula.decl().kind(), formula.children()
        if kind in _JOINED:
            return _JOINED[kind]([self._said(child, affirmed, terms, name) for child in children])
        if kind == z3.Z3_OP_NOT:
            return z3.Not(self._said(children[0], not affirmed, terms, name))
        if kind == z3.Z3_OP_IMPLIES:
            premise, conclusion = children
            return z3.Implies(
                self._said(premise, not affirmed, terms, name), self._said(conclusion, affirmed, terms, name)
            )
        return self._with_names(formula)

    def _with_names(self, term: Any) -> Any:
        """The term with a name for each condition in it that has a quantifier: it is both affirmed and denied there."""
        if not self._is_quantified(term):
            return term
        if z3.is_bool(term) and (z3.is_quantifier(term) or term.decl().kind() in (*_JOINED, z3.Z3_OP_NOT)):
            if term.get_id() not in self._named:
                name = self._named[term.get_id()] = z3.Bool(f"whether!{next(self._numbers)}")
                self._defined += [z3.Implies(name, term), z3.Implies(term, name)]
            return self._named[term.get_id()]
        return with_arguments(term, [self._with_names(child) for child in term.children()])


def with_arguments(term: Any, arguments: Sequence[Any]) -> Any:
    """The term with other arguments."""
    given = (z3.Ast * len(arguments))(*(argument.as_ast() for argument in arguments))
    return z3.z3._to_expr_ref(z3.Z3_update_term(term.ctx_ref(), term.as_ast(), len(arguments), given), term.ctx)


def general_conjuncts(formula: Any) -> Iterator[Any]:
    """Formulas that together say what the formula says; those under "for all", and to the right of an "or", are taken apart."""
    if z3.is_and(formula):
        for child in formula.children():
            yield from general_conjuncts(child)
    elif z3.is_implies(formula):
        premise, conclusion = formula.children()
        yield from _with_side(conclusion, lambda part: z3.Implies(premise, part))
    elif z3.is_or(formula) and any(map(_is_of_several, formula.children())):
        children = formula.children()
        place = next(place for place, child in enumerate(children) if _is_of_several(child))
        before, after = children[:place], children[place + 1 :]
        yield from _with_side(children[place], lambda part: z3.Or([*before, part, *after]))
    elif z3.is_not(formula) and z3.is_or(formula.arg(0)):
        for child in formula.arg(0).children():
            yield from general_conjuncts(z3.Not(child))
    elif z3.is_quantifier(formula) and formula.is_forall():
        variables, body = opened(formula)
        for part in general_conjuncts(body):
            yield z3.ForAll(variables, part)
    elif z3.is_not(formula) and z3.is_quantifier(formula.arg(0)) and formula.arg(0).is_exists():
        variables, body = opened(formula.arg(0))
        for part in general_conjuncts(z3.Not(body)):
            yield z3.ForAll(variables, part)
    else:
        yield formula


def _is_of_several(formula: Any) -> bool:
    """Whether it says several things, of all or of each."""
    is_universal = z3.is_quantifier(formula) and formula.is_forall()
    return bool(is_universal or (z3.is_and(formula) and any(map(_is_of_several, formula.children()))))


def _with_side(formula: Any, beside: Callable[[Any], Any]) -> Iterator[Any]:
    """The parts of a formula, each beside what stands beside it, under the quantifier if it has one."""
    for part in general_conjuncts(formula):
        if z3.is_quantifier(part) and part.is_forall():
            variables, body = opened(part)
            yield z3.ForAll(variables, beside(body))
        else:
            yield beside(part)


_NUMBERS = itertools.count()


def opened(quantifier: Any) -> tuple[list[Any], Any]:
    """Constants for the bound variables of a quantifier, of names that nothing else has, and its body with them."""
    names = (f"{quantifier.var_name(place)}.{next(_NUMBERS)}" for place in range(quantifier.num_vars()))
    variables = [z3.Const(name, quantifier.var_sort(place)) for place, name in enumerate(names)]
    return variables, z3.substitute_vars(quantifier.body(), *reversed(variables))
