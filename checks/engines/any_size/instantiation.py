"""First-order formulas without quantifiers over numbers: what is said of all is said of chosen terms, what there is has a name.

What is supposed becomes weaker by this, and so does the denial of a conclusion. Where the two contradict each other, the
conclusion follows from what was supposed, whatever the terms are; a well-chosen term only makes that visible. No solver has to
find a number by itself, so none answers by luck. Only quantifiers over certain sorts, such as bookies and quorums of them, are
left to the solvers: of things without an order and without numbers between them there are few terms.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence

from fencepost.model.language import And, Implies, Not, Or
from fencepost.model.terms.nodes import Function, S, Term, below, constant, made
from fencepost.model.terms.sorts import BOOL, Sort
from fencepost.model.terms.traversal import QUANTIFIERS, opened, substituted, with_arguments
from fencepost.model.terms.values import Condition, condition, conditions_of, for_all

GOALS = 2
"""Names for the members of which a conclusion is denied, of each sort, that are among the terms of which everything is said."""

_JOINED = {"and": And, "or": Or}
_Name = Callable[[Sort[Term]], Term]


class Instantiation:
    """Formulas said of certain terms; quantifiers over the sorts ``left`` stay.

    ``supposed`` and ``denied`` may be asked for in any order, except that a denial is also said of the witnesses of what was
    supposed before it. ``definitions`` belong to the formulas that were made until then. Under a quantifier that stays, what
    there is is not named but stays, too. ``names`` is how many names of each sort a denial has among the terms.
    """

    def __init__(self, terms: Sequence[Term], left: Collection[Sort[Term]] = (), names: int = GOALS) -> None:
        self._given, self._left, self._names = list(terms), set(left), names
        self._goals: dict[Sort[Term], list[Term]] = {}
        self._witnesses: list[Term] = []
        self._numbers = itertools.count()
        self._has: dict[Term, bool] = {}
        self._named: dict[Term, Condition] = {}
        self._defined: list[Condition] = []
        self._open: list[Term] = []  # what is bound by the quantifiers that stay
        self._leaves_unnamed = False  # whether under one of these is something that would have a name elsewhere

    def supposed(self, formula: Condition) -> Condition:
        """What the formula says of the terms."""
        return self._instance(formula, True, (), self._witness)

    def denied(self, formula: Condition) -> Condition:
        """What follows from the formula's being false."""
        unused: dict[Sort[Term], Iterator[Term]] = {}

        def name(sort: Sort[Term]) -> Term:
            goal = next(unused.setdefault(sort, iter(self.goals(sort))), None)
            return self._fresh(sort) if goal is None else goal

        return Not(self._instance(formula, False, self._witnesses, name))

    def definitions(self) -> Iterator[Condition]:
        """What is meant by the names that stand for conditions with quantifiers inside of terms, since this was last asked."""
        while self._defined:
            yield self.supposed(self._defined.pop())

    def goals(self, sort: Sort[Term]) -> list[Term]:
        """Of a sort the names of which a conclusion is denied first."""
        if sort not in self._goals:
            self._goals[sort] = [constant(f"any {sort}!{number}", sort) for number in range(self._names)]
        return self._goals[sort]

    def terms(self, sort: Sort[Term]) -> list[Term]:
        """Of a sort the terms of which everything is said."""
        return [*(term for term in self._given if term.sort is sort), *self.goals(sort)]

    def _witness(self, sort: Sort[Term]) -> Term:
        witness = self._fresh(sort)
        self._witnesses.append(witness)
        return witness

    def _fresh(self, sort: Sort[Term]) -> Term:
        return constant(f"some!{next(self._numbers)}", sort)

    def _is_quantified(self, formula: Term) -> bool:
        if formula not in self._has:
            self._has[formula] = formula.op in QUANTIFIERS or any(map(self._is_quantified, formula.arguments))
        return self._has[formula]

    def _instance(self, formula: Condition, affirmed: bool, witnesses: Sequence[Term], name: _Name) -> Condition:
        """The formula without these quantifiers: a consequence of it if it is affirmed, otherwise what it follows from."""
        if not self._is_quantified(formula):
            return formula
        if formula.op in QUANTIFIERS:
            if (formula.op == "forall") == affirmed:
                return self._said_of_all(formula, affirmed, witnesses, name)
            return self._said_of_one(formula, affirmed, witnesses, name)
        kind = formula.op
        if kind in _JOINED:
            return _JOINED[kind]([self._instance(child, affirmed, witnesses, name) for child in conditions_of(formula)])
        if kind == "not":
            return Not(self._instance(condition(formula.arguments[0]), not affirmed, witnesses, name))
        if kind == "=>":
            premise, conclusion = conditions_of(formula)
            return Implies(
                self._instance(premise, not affirmed, witnesses, name), self._instance(conclusion, affirmed, witnesses, name)
            )
        return self._with_names(formula)

    def _said_of_one(self, formula: Condition, affirmed: bool, witnesses: Sequence[Term], name: _Name) -> Condition:
        if not self._open:
            named = {variable: name(variable.sort) for variable in formula.detail}
            return self._instance(substituted(condition(formula.arguments[0]), named), affirmed, witnesses, name)
        variables, body = opened(formula)
        self._leaves_unnamed |= any(variable.sort not in self._left for variable in variables)
        return _quantified(formula, variables, self._under(variables, body, affirmed, witnesses, name))

    def _said_of_all(self, formula: Condition, affirmed: bool, witnesses: Sequence[Term], name: _Name) -> Condition:
        def said_of(variable: Term, itself: bool) -> list[Term]:
            if variable.sort in self._left:
                return [variable] if itself else self.terms(variable.sort)
            return [*self.terms(variable.sort), *(one for one in witnesses if one.sort is variable.sort)]

        variables, body = opened(formula)
        staying = [variable for variable in variables if variable.sort in self._left]
        join = And if formula.op == "forall" else Or
        bodies = _bodies(variables, body, (said_of(variable, True) for variable in variables))
        whole = join([self._under(staying, body, affirmed, witnesses, name) for body in bodies])
        if not staying:
            return whole
        whole = _quantified(formula, staying, whole)
        if self._open or not self._leaves_unnamed:
            return whole
        self._leaves_unnamed = False
        bodies = _bodies(variables, body, (said_of(variable, False) for variable in variables))
        return join([whole, *(self._instance(body, affirmed, witnesses, name) for body in bodies)])

    def _under(
        self, variables: Sequence[Term], body: Condition, affirmed: bool, witnesses: Sequence[Term], name: _Name
    ) -> Condition:
        """What is said under a quantifier that stays."""
        self._open += variables
        statement = self._instance(body, affirmed, witnesses, name)
        del self._open[len(self._open) - len(variables) :]
        return statement

    def _with_names(self, term: S) -> S:
        """The term with a name for each condition in it that has a quantifier: it is both affirmed and denied there."""
        if not self._is_quantified(term):
            return term
        if isinstance(term, Condition) and term.op in (*QUANTIFIERS, *_JOINED, "not"):
            if term not in self._named:
                mentioned = constants(term)
                of = [variable for variable in self._open if variable in mentioned]
                sorts = [variable.sort for variable in of]
                name = condition(Function(f"whether!{next(self._numbers)}", *sorts, BOOL)(*of))
                self._named[term] = name
                means = (Implies(name, term), Implies(term, name))
                self._defined += [for_all(of, one) if of else one for one in means]
            return self._named[term]  # type: ignore[return-value]  # a condition as well
        return with_arguments(term, tuple([self._with_names(child) for child in term.arguments]))


def _bodies(variables: Sequence[Term], body: Condition, choices: Iterator[list[Term]]) -> Iterator[Condition]:
    """The body of a quantifier with each choice for its variables."""
    return (substituted(body, zip(variables, chosen, strict=True)) for chosen in itertools.product(*choices))


def _quantified(like: Term, variables: Sequence[Term], body: Condition) -> Condition:
    return made(like.op, BOOL, (body,), tuple(variables))


def constants(term: Term) -> set[Term]:
    """The constants that a term mentions, unless a quantifier in it binds them."""
    bound = {one for part in parts_of(term) if part.op in QUANTIFIERS for one in part.detail}
    return {part for part in parts_of(term) if part.is_constant} - bound


def parts_of(term: Term) -> Iterator[Term]:
    """The terms within a term, each once, itself and those under quantifiers included."""
    return below([term], set())


def general_conjuncts(formula: Condition) -> Iterator[Condition]:
    """Formulas that together say what the formula says; those under "for all", and to the right of an "or", are taken apart."""
    if formula.op == "and":
        for child in conditions_of(formula):
            yield from general_conjuncts(child)
    elif formula.op == "=>":
        premise, conclusion = conditions_of(formula)
        yield from _with_side(conclusion, lambda part: Implies(premise, part))
    elif formula.op == "or" and any(map(_is_of_several, formula.arguments)):
        place = next(place for place, child in enumerate(formula.arguments) if _is_of_several(child))
        children = conditions_of(formula)
        before, after = children[:place], children[place + 1 :]
        yield from _with_side(children[place], lambda part: Or(*before, part, *after))
    elif formula.op == "not" and formula.arguments[0].op == "or":
        for child in conditions_of(formula.arguments[0]):
            yield from general_conjuncts(Not(child))
    elif formula.op == "forall":
        variables, body = opened(formula)
        for part in general_conjuncts(body):
            yield for_all(variables, part)
    elif formula.op == "not" and formula.arguments[0].op == "exists":
        variables, body = opened(formula.arguments[0])
        for part in general_conjuncts(Not(body)):
            yield for_all(variables, part)
    else:
        yield formula


def _is_of_several(formula: Term) -> bool:
    """Whether it says several things, of all or of each."""
    return formula.op == "forall" or (formula.op == "and" and any(map(_is_of_several, formula.arguments)))


def _with_side(formula: Condition, beside: Callable[[Condition], Condition]) -> Iterator[Condition]:
    """The parts of a formula, each beside what stands beside it, under the quantifier if it has one."""
    for part in general_conjuncts(formula):
        if part.op == "forall":
            variables, body = opened(part)
            yield for_all(variables, beside(body))
        else:
            yield beside(part)
