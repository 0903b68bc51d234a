"""First-order formulas without quantifiers over numbers: what is said of all is said of chosen terms, what there is has a name.

What is supposed becomes weaker by this, and so does the denial of a conclusion. Where the two contradict each other, the
conclusion follows from what was supposed, whatever the terms are; a well-chosen term only makes that visible. No solver has to
find a number by itself, so none answers by luck. Only quantifiers over certain sorts, such as bookies and quorums of them, are
left to the solvers: of things without an order and without numbers between them there are few terms.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import z3

GOALS = 2
"""Names for the members of which a conclusion is denied, of each sort, that are among the terms of which everything is said."""

_JOINED = {z3.Z3_OP_AND: z3.And, z3.Z3_OP_OR: z3.Or}
_Name = Callable[[Any], Any]


class Instantiation:
    """Formulas said of certain terms; quantifiers over the sorts ``left`` stay.

    ``supposed`` and ``denied`` may be asked for in any order, except that a denial is also said of the witnesses of what was
    supposed before it. ``definitions`` belong to the formulas that were made until then. Under a quantifier that stays, what
    there is is not named but stays, too. ``names`` is how many names of each sort a denial has among the terms.
    """

    def __init__(self, terms: Sequence[Any], left: Collection[Any] = (), names: int = GOALS) -> None:
        self._given, self._left, self._names = list(terms), set(left), names
        self._goals: dict[Any, list[Any]] = {}
        self._witnesses: list[Any] = []
        self._numbers = itertools.count()
        self._has: dict[int, bool] = {}
        self._named: dict[int, Any] = {}
        self._defined: list[Any] = []
        self._references: list[Any] = []
        self._open: list[Any] = []  # what is bound by the quantifiers that stay
        self._leaves_unnamed = False  # whether under one of these is something that would have a name elsewhere

    def supposed(self, formula: Any) -> Any:
        """What the formula says of the terms."""
        return self._instance(formula, True, (), self._witness)

    def denied(self, formula: Any) -> Any:
        """What follows from the formula's being false."""
        unused: dict[Any, Iterator[Any]] = {}

        def name(sort: Any) -> Any:
            goal = next(unused.setdefault(sort, iter(self.goals(sort))), None)
            return self._fresh(sort) if goal is None else goal

        return z3.Not(self._instance(formula, False, self._witnesses, name))

    def definitions(self) -> Iterator[Any]:
        """What is meant by the names that stand for conditions with quantifiers inside of terms, since this was last asked."""
        while self._defined:
            yield self.supposed(self._defined.pop())

    def goals(self, sort: Any) -> list[Any]:
        """Of a sort the names of which a conclusion is denied first."""
        if sort not in self._goals:
            self._goals[sort] = [z3.Const(f"any {sort}!{number}", sort) for number in range(self._names)]
        return self._goals[sort]

    def terms(self, sort: Any) -> list[Any]:
        """Of a sort the terms of which everything is said."""
        return [*(term for term in self._given if term.sort() == sort), *self.goals(sort)]

    def _witness(self, sort: Any) -> Any:
        witness = self._fresh(sort)
        self._witnesses.append(witness)
        return witness

    def _fresh(self, sort: Any) -> Any:
        return z3.Const(f"some!{next(self._numbers)}", sort)

    def _is_quantified(self, formula: Any) -> bool:
        known = self._has.get(formula.get_id())
        if known is None:
            self._references.append(formula)
            known = z3.is_quantifier(formula) or any(map(self._is_quantified, formula.children()))
            self._has[formula.get_id()] = known
        return known

    def _instance(self, formula: Any, affirmed: bool, witnesses: Sequence[Any], name: _Name) -> Any:
        """The formula without these quantifiers: a consequence of it if it is affirmed, otherwise what it follows from."""
        if not self._is_quantified(formula):
            return formula
        if z3.is_quantifier(formula):
            if formula.is_forall() == affirmed:
                return self._said_of_all(formula, affirmed, witnesses, name)
            return self._said_of_one(formula, affirmed, witnesses, name)
        kind, children = formula.decl().kind(), formula.children()
        if kind in _JOINED:
            return _JOINED[kind]([self._instance(child, affirmed, witnesses, name) for child in children])
        if kind == z3.Z3_OP_NOT:
            return z3.Not(self._instance(children[0], not affirmed, witnesses, name))
        if kind == z3.Z3_OP_IMPLIES:
            premise, conclusion = children
            return z3.Implies(
                self._instance(premise, not affirmed, witnesses, name), self._instance(conclusion, affirmed, witnesses, name)
            )
        return self._with_names(formula)

    def _said_of_one(self, formula: Any, affirmed: bool, witnesses: Sequence[Any], name: _Name) -> Any:
        if not self._open:
            named = [name(formula.var_sort(place)) for place in range(formula.num_vars())]
            return self._instance(z3.substitute_vars(formula.body(), *reversed(named)), affirmed, witnesses, name)
        variables, body = opened(formula)
        self._leaves_unnamed |= any(variable.sort() not in self._left for variable in variables)
        return _quantified(formula, variables, self._under(variables, body, affirmed, witnesses, name))

    def _said_of_all(self, formula: Any, affirmed: bool, witnesses: Sequence[Any], name: _Name) -> Any:
        def said_of(variable: Any, itself: bool) -> list[Any]:
            if variable.sort() in self._left:
                return [variable] if itself else self.terms(variable.sort())
            return [*self.terms(variable.sort()), *(one for one in witnesses if one.sort() == variable.sort())]

        variables, _ = opened(formula)
        staying = [variable for variable in variables if variable.sort() in self._left]
        join = z3.And if formula.is_forall() else z3.Or
        bodies = _bodies(formula, (said_of(variable, True) for variable in variables))
        whole = join([self._under(staying, body, affirmed, witnesses, name) for body in bodies])
        if not staying:
            return whole
        whole = _quantified(formula, staying, whole)
        if self._open or not self._leaves_unnamed:
            return whole
        self._leaves_unnamed = False
        bodies = _bodies(formula, (said_of(variable, False) for variable in variables))
        return join([whole, *(self._instance(body, affirmed, witnesses, name) for body in bodies)])

    def _under(self, variables: Sequence[Any], body: Any, affirmed: bool, witnesses: Sequence[Any], name: _Name) -> Any:
        """What is said under a quantifier that stays."""
        self._open += variables
        statement = self._instance(body, affirmed, witnesses, name)
        del self._open[len(self._open) - len(variables) :]
        return statement

    def _with_names(self, term: Any) -> Any:
        """The term with a name for each condition in it that has a quantifier: it is both affirmed and denied there."""
        if not self._is_quantified(term):
            return term
        if z3.is_bool(term) and (z3.is_quantifier(term) or term.decl().kind() in (*_JOINED, z3.Z3_OP_NOT)):
            if term.get_id() not in self._named:
                mentioned = constants(term)
                of = [variable for variable in self._open if variable in mentioned]
                sorts = [variable.sort() for variable in of]
                name = z3.Function(f"whether!{next(self._numbers)}", *sorts, z3.BoolSort())(*of)
                self._named[term.get_id()] = name
                self._references.append(term)
                means = (z3.Implies(name, term), z3.Implies(term, name))
                self._defined += [z3.ForAll(of, one) if of else one for one in means]
            return self._named[term.get_id()]
        return with_arguments(term, [self._with_names(child) for child in term.children()])


def _bodies(quantifier: Any, choices: Iterator[list[Any]]) -> Iterator[Any]:
    """The body of a quantifier with each choice for its variables."""
    return (z3.substitute_vars(quantifier.body(), *reversed(chosen)) for chosen in itertools.product(*choices))


def _quantified(like: Any, variables: Sequence[Any], body: Any) -> Any:
    return z3.ForAll(variables, body) if like.is_forall() else z3.Exists(variables, body)


def constants(term: Any) -> set[Any]:
    """The constants that a term mentions."""
    return {part for part in parts_of(term) if z3.is_const(part) and part.decl().kind() == z3.Z3_OP_UNINTERPRETED}


def parts_of(term: Any) -> Iterator[Any]:
    """The terms within a term, each once, itself and those under quantifiers included."""
    seen: set[int] = set()
    stack = [term]
    while stack:
        one = stack.pop()
        if one.get_id() in seen:
            continue
        seen.add(one.get_id())
        yield one
        stack += [one.body()] if z3.is_quantifier(one) else one.children()


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
