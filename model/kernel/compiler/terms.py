"""Terms to LLVM IR: the value of a term in one state, and what is certain of it wherever a step changes nothing.

Terms are gone through each once, and only as far as needed. Most of what a rule of conduct says is about other variables than
those that an action changes: found out once, such parts need not be looked at again for each of hundreds of actions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import attrgetter, or_
from typing import Generic, TypeVar

from fencepost.model.kernel.compiler.instructions import FALSE, TRUE, Constant, Function, Value, constant
from fencepost.model.kernel.compiler.operations import RULES, extract
from fencepost.model.language import ModelError
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
        known, certain = self._known, self._certain
        stack = [(root, _in_turn(root), 0)]
        while stack:
            term, in_turn, place = stack.pop()
            settled = known.get(term)
            if settled is None and not place and certain:
                settled = certain(term)
            while settled is None and place < len(in_turn):
                if in_turn[place] not in known:
                    stack += [(term, in_turn, place), (in_turn[place], _in_turn(in_turn[place]), 0)]
                    break
                settled = self._settled(term, in_turn[place])
                place += 1
            else:
                known[term] = self._term(term, [known[each] for each in term.arguments]) if settled is None else settled
        return known[root]

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


class Stillness:
    """The parts of formulas over two states.

    Sets of variables are the bits of a number here, one for each variable in ``bits``. ``still`` emits terms for a step that
    changes nothing, into a function that is thrown away.
    """

    def __init__(self, formulas: Sequence[Term], still: Terms, bits: Mapping[str, int]) -> None:
        self.formulas, self._still, self._bits = formulas, still, bits
        self._parts: dict[Term, tuple[int, Value | None]] = {}
        for formula in formulas:
            self._look_at(formula)

    def certain(self, part: Term, changed: int) -> Value | None:
        """The value of a part in every step that changes just these variables, if it is certain because it reads the new value
        of none of them."""
        reads, value = self._parts[part]
        return None if reads & changed else value

    def _look_at(self, formula: Term) -> None:
        stack = [formula]
        while stack:
            part = stack[-1]
            ahead = [argument for argument in part.arguments if argument not in self._parts]
            if ahead:
                stack += ahead
                continue
            stack.pop()
            read = [self._parts[argument][0] for argument in part.arguments]
            value = self._still.emit(part)
            self._parts[part] = reduce(or_, read, self._own(part)), value if isinstance(value, Constant) else None

    def _own(self, part: Term) -> int:
        return self._bits[part.detail.removesuffix("'")] if part.is_constant and part.detail.endswith("'") else 0
