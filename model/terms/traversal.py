"""Terms made of other terms: with other arguments, with some terms in the place of others, with other meanings of functions.

The last is done under quantifiers, too: what a formula says of the state after a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from fencepost.model.terms.nodes import Function, S, Term, below, constant, constants_of, made
from fencepost.model.terms.values import Condition, condition, conditions_of

_NUMBERS = count()

QUANTIFIERS = ("forall", "exists")


def with_arguments(term: S, arguments: tuple[Term, ...]) -> S:
    """The same operator with other arguments, of the same sorts."""
    if all(map(_is, term.arguments, arguments)):
        return term
    return made(term.op, term.sort, arguments, term.detail)  # type: ignore[return-value]  # of the same sort


def _is(one: Term, other: Term) -> bool:
    return one is other


def fresh(like: S, mark: str = "~") -> S:
    """A constant of the sort of another, and of a name that nothing else has."""
    return constant(f"{like.detail}{mark}{next(_NUMBERS)}", like.sort)  # type: ignore[return-value]  # of the same sort


def opened(quantifier: Term, mark: str = ".") -> tuple[list[Term], Condition]:
    """Constants for those that a quantifier binds, of names that nothing else has, and its body with them."""
    constants = [fresh(one, mark) for one in quantifier.detail]
    return constants, substituted(condition(quantifier.arguments[0]), dict(zip(quantifier.detail, constants, strict=True)))


class Substitution:
    """Puts some terms in the place of others, wherever these stand and are not bound by a quantifier."""

    def __init__(self, places: Mapping[Term, Term]) -> None:
        self._done: dict[Term, Term] = dict(places)
        self._places = places

    def __call__(self, root: S) -> S:
        done = self._done
        if root in done:
            return done[root]  # type: ignore[return-value]  # of the same sort
        stack: list[Term] = [root]
        while stack:
            term = stack[-1]
            if term in done:
                stack.pop()
                continue
            if term.op in QUANTIFIERS:
                done[term] = self._under(term)
                continue
            missing = [argument for argument in term.arguments if argument not in done]
            if missing:
                stack += missing
                continue
            stack.pop()
            arguments = term.arguments
            done[term] = with_arguments(term, tuple([done[one] for one in arguments])) if arguments else term
        return done[root]  # type: ignore[return-value]

    def _under(self, quantifier: Term) -> Term:
        """The same under a quantifier: what it binds is nothing else's, and no other's becomes its own."""
        bound, body = list(quantifier.detail), condition(quantifier.arguments[0])
        inside = set(below([body], set())) - set(bound)
        places = {old: new for old, new in self._places.items() if old in inside}
        taken = constants_of(*places.values())
        if not taken.isdisjoint(bound):
            bound, body = opened(quantifier, "~")
        new = Substitution(places)(body)
        return quantifier if new is quantifier.arguments[0] else made(quantifier.op, quantifier.sort, (new,), tuple(bound))


def substituted(term: S, places: Mapping[Term, Term] | Iterable[tuple[Term, Term]]) -> S:
    """The term with others, of the same sorts, in the place of some."""
    these: dict[Term, Term] = dict(places)
    return Substitution(these)(term) if these else term


def conjuncts(term: Condition) -> Iterator[Condition]:
    """The parts of a conjunction, of those that it is made of as well; without what is true."""
    if term.op == "and":
        for part in conditions_of(term):
            yield from conjuncts(part)
    elif term.op != "true":
        yield term


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
