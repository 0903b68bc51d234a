"""How terms are gone through: each once, and only as far as it is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from operator import attrgetter
from typing import Generic, TypeVar

from fencepost.model.terms.nodes import Term

T = TypeVar("T")

_SIZE = attrgetter("size")
_SETTLED_BY_ONE = ("and", "or", "=>")


class Emission(ABC, Generic[T]):
    """Makes of terms what stands for them in a function; ``certain`` gives that of a term where it is known without looking
    further. ``false`` and ``true`` stand for what is never and always so: one object each."""

    false: T
    true: T

    def __init__(self, certain: Callable[[Term], T | None] | None = None) -> None:
        self._certain = certain
        self._known: dict[Term, T] = {}

    def emit(self, root: Term) -> T:
        """What stands for a term. What is not needed, because another argument settles the whole, is not made."""
        stack = [(root, _in_turn(root), 0)]
        while stack:
            term, in_turn, place = stack.pop()
            if term in self._known:
                continue
            settled = self._settled(term, in_turn[place - 1]) if place else self._certain and self._certain(term)
            if settled is not None:
                self._known[term] = settled
            elif place < len(in_turn):
                stack += [(term, in_turn, place + 1), (in_turn[place], _in_turn(in_turn[place]), 0)]
            else:
                self._known[term] = self._term(term, [self._known[argument] for argument in term.arguments])
        return self._known[root]

    def _settled(self, term: Term, argument: Term) -> T | None:
        """The value of the term if the argument looked at last leaves no doubt of it."""
        if term.op == "=>":
            decisive, whole = (self.false if argument is term.arguments[0] else self.true), self.true
        elif term.op == "and":
            decisive = whole = self.false
        elif term.op == "or":
            decisive = whole = self.true
        else:
            return None
        return whole if self._known[argument] is decisive else None

    @abstractmethod
    def _term(self, term: Term, arguments: list[T]) -> T:
        """What stands for a term of these arguments."""


def _in_turn(term: Term) -> tuple[Term, ...]:
    """The arguments as they are best looked at: where one may settle the whole, the smallest first."""
    return tuple(sorted(term.arguments, key=_SIZE)) if term.op in _SETTLED_BY_ONE else term.arguments
