"""Terms by their sorts, with the operators that Python writes: conditions, numbers, choices among names, subsets, things.

What is compared or joined must fit: a type checker says so where it can, of a name that a choice does not have, of a number
beside a choice, of choices among different names. What does not fit raises TypeError or ValueError, with the terms in the
message.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cache, reduce
from operator import or_
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar, overload

from fencepost.model.terms.nodes import S, Term, bits, literal, made, number, of_kind, rational
from fencepost.model.terms.sorts import BOOL, INT, REAL, Sort, bits_sort

E = TypeVar("E", bound="int | str")
"""The values of a choice: a ``Literal`` of its names; a number for a member of a universe."""

V = TypeVar("V")

Truth: TypeAlias = "Condition | bool"
Numeric: TypeAlias = "Number | int | StandsForNumber"
Member: TypeAlias = "int | Number | Choice[Any] | Thing | OneOrNone"
"""A member of a universe: its number, or a term that says which it is."""
Members: TypeAlias = "Subset | Iterable[int]"


class StandsForNumber(ABC):
    """What is no term and stands for a number, such as a size that is not known."""

    @property
    @abstractmethod
    def term(self) -> Number:
        """The number."""


LITERALS = (Term, bool, int, str, tuple)
"""What most values are: who asks this first asks few of them whether they are of an abstract class, which takes longer."""


class OfOtherSort:
    """What comparing values of two sorts is to a type checker: no formula, so that nothing joins it. When it runs it raises."""


class Compared(Term, Generic[V]):
    """A term that is compared by ``==`` and ``!=`` with values of its sort.

    Python has each value compared with any, and a type checker believes it; so that it refuses what does not fit, such a
    comparison has a type of its own.
    """

    __slots__ = ()
    __hash__ = Term.__hash__

    def beside(self, other: object) -> Term:
        """The other side of an operator, as a term of this sort. Raises TypeError or ValueError if it is none."""
        raise AssertionError

    @overload  # type: ignore[override]
    def __eq__(self, other: V) -> Condition: ...
    @overload
    def __eq__(self, other: object) -> OfOtherSort: ...
    def __eq__(self, other: object) -> Condition | OfOtherSort:
        return made("=", BOOL, (self, self.beside(other)))

    @overload  # type: ignore[override]
    def __ne__(self, other: V) -> Condition: ...
    @overload
    def __ne__(self, other: object) -> OfOtherSort: ...
    def __ne__(self, other: object) -> Condition | OfOtherSort:
        return made("distinct", BOOL, (self, self.beside(other)))


@of_kind("Bool")
class Condition(Compared["Condition | bool"]):
    """A term that is true or false."""

    __slots__ = ()

    def beside(self, other: object) -> Condition:
        return condition(other)

    def __and__(self, other: Truth) -> Condition:
        return conjunction((self, condition(other)))

    def __rand__(self, other: Truth) -> Condition:
        return conjunction((condition(other), self))

    def __or__(self, other: Truth) -> Condition:
        return disjunction((self, condition(other)))

    def __ror__(self, other: Truth) -> Condition:
        return disjunction((condition(other), self))

    def __xor__(self, other: Truth) -> Condition:
        return made("xor", BOOL, (self, condition(other)))

    def __invert__(self) -> Condition:
        return negation(self)


@cache
def _small(value: int) -> Number:
    """The number as a term, which stays in memory."""
    return number(value)


@of_kind("Int")
class Number(Compared["Number | int | StandsForNumber"]):
    """A term that is an integer."""

    __slots__ = ()

    def beside(self, other: object) -> Number:
        if type(other) is int:
            return _small(other) if -64 <= other <= 64 else number(other)
        if isinstance(other, Number):
            return other
        if isinstance(other, StandsForNumber):
            return other.term
        raise TypeError(f"{self} is a number, and {shown(other)} is none")

    def __le__(self, other: Numeric) -> Condition:
        return made("<=", BOOL, (self, self.beside(other)))

    def __lt__(self, other: Numeric) -> Condition:
        return made("<", BOOL, (self, self.beside(other)))

    def __ge__(self, other: Numeric) -> Condition:
        return made(">=", BOOL, (self, self.beside(other)))

    def __gt__(self, other: Numeric) -> Condition:
        return made(">", BOOL, (self, self.beside(other)))

    def __add__(self, other: Numeric) -> Number:
        return made("+", INT, (self, self.beside(other)))

    def __radd__(self, other: Numeric) -> Number:
        return made("+", INT, (self.beside(other), self))

    def __sub__(self, other: Numeric) -> Number:
        return made("-", INT, (self, self.beside(other)))

    def __rsub__(self, other: Numeric) -> Number:
        return made("-", INT, (self.beside(other), self))

    def __mul__(self, other: Numeric) -> Number:
        return made("*", INT, (self, self.beside(other)))

    def __rmul__(self, other: Numeric) -> Number:
        return made("*", INT, (self.beside(other), self))

    def __neg__(self) -> Number:
        return made("unary -", INT, (self,))

    def _is_none(self, *_: object) -> NoReturn:
        raise TypeError(f"{self}: of terms there is no quotient, remainder or power, which the kernel cannot compile")

    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _is_none


@of_kind("Real")
class Real(Compared["Real | int | float"]):
    """A term that is a real number, of which theorems are proved; no variable is one."""

    __slots__ = ()

    def beside(self, other: object) -> Real:
        if isinstance(other, Real):
            return other
        if type(other) is int or isinstance(other, float):
            return rational(other)
        raise TypeError(f"{self} is a real number, and {shown(other)} is none")

    def __le__(self, other: Real | float) -> Condition:
        return made("<=", BOOL, (self, self.beside(other)))

    def __lt__(self, other: Real | float) -> Condition:
        return made("<", BOOL, (self, self.beside(other)))

    def __ge__(self, other: Real | float) -> Condition:
        return made(">=", BOOL, (self, self.beside(other)))

    def __gt__(self, other: Real | float) -> Condition:
        return made(">", BOOL, (self, self.beside(other)))

    def __add__(self, other: Real | float) -> Real:
        return made("+", REAL, (self, self.beside(other)))

    def __sub__(self, other: Real | float) -> Real:
        return made("-", REAL, (self, self.beside(other)))

    def __rsub__(self, other: float) -> Real:
        return self.beside(other) - self

    def __mul__(self, other: Real | float) -> Real:
        return made("*", REAL, (self, self.beside(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Real | float) -> Real:
        return made("/", REAL, (self, self.beside(other)))


@of_kind("choice")
class Choice(Compared["Choice[E] | E"], Generic[E]):
    """A term that is one of several names, whose place among these is its number; ``==`` and ``!=`` also take a name.

    It is no number: it has no order, and nothing is added to it.
    """

    __slots__ = ()

    sort: Sort[Choice[E]]

    @property
    def names(self) -> tuple[str, ...]:
        """The names."""
        return self.sort.names

    def beside(self, other: object) -> Choice[E]:
        if isinstance(other, Choice):
            if other.sort is not self.sort:
                raise ValueError(f"{self} is one of {', '.join(self.names)}, and {other} one of {', '.join(other.names)}")
            return other
        if isinstance(other, str) and other in self.names:
            return _named(self.sort, self.names.index(other))
        if type(other) is int and 0 <= other < len(self.names):
            return _named(self.sort, other)
        raise ValueError(f"{self} is never {shown(other)}: it is one of {', '.join(self.names)}")

    def among(self, *names: Choice[E] | E) -> Condition:
        """The formula: the value is one of these names."""
        parts = tuple([self == name for name in names])
        return parts[0] if len(parts) == 1 else disjunction(parts)


@cache
def _named(sort: Sort[Choice[Any]], place: int) -> Choice[Any]:
    """A name as a term, by its place, which stays in memory."""
    return literal(sort, place)


@of_kind("BitVec")
class Subset(Compared["Subset | Iterable[int]"]):
    """A term that is a subset of a universe; ``|``, ``&`` and ``~`` are union, intersection and complement.

    The other side of these, and of ``==`` and ``!=``, may also be a set of members.
    """

    __slots__ = ()

    sort: Sort[Subset]

    def has(self, member: Member) -> Condition:
        """The formula: the subset contains the member, a number or a term; false for a term beyond the universe."""
        if not isinstance(member, Term):
            place = self._place(member)
            return made("=", BOOL, (_bits(1, 1), extract(place, place, self)))
        tests = tuple([conjunction((test, self.has(m))) for m, test in self._tests(member)])
        return tests[0] if len(tests) == 1 else disjunction(tests)

    def plus(self, member: Member) -> Subset:
        """The subset with a member (a number or a term) added; a term beyond the universe adds nothing."""
        return self | self._mask(member)

    def minus(self, member: Member) -> Subset:
        """The subset with a member (a number or a term) taken out."""
        return self & ~self._mask(member)

    def _mask(self, member: Member) -> Subset:
        size = self.sort.bits
        if not isinstance(member, Term):
            return _bits(1 << self._place(member), size)
        mask = _bits(0, size)
        for m, test in self._tests(member):
            mask = conditional(test, _bits(1 << m, size), mask)
        return mask

    def _place(self, member: object) -> int:
        if type(member) is not int or not 0 <= member < self.sort.bits:
            raise ValueError(f"{member!r} cannot be in {self}, a subset of {self.sort.bits} members from 0")
        return member

    def _tests(self, member: Term) -> list[tuple[int, Condition]]:
        if isinstance(member, Choice) and len(member.names) != self.sort.bits:
            raise ValueError(f"{member} is one of {', '.join(member.names)}, and {self} a subset of {self.sort.bits} members")
        if not isinstance(member, (Number, Choice)):
            raise TypeError(f"{member} is no member of {self}, a subset of {self.sort.bits} members from 0")
        return [(m, member == m) for m in range(self.sort.bits)]

    def beside(self, other: object) -> Subset:
        if isinstance(other, Subset):
            if other.sort is not self.sort:
                raise TypeError(f"{self} is a subset of {self.sort.bits} members, and {other} one of {other.sort.bits}")
            return other
        return _bits(mask_of(other, self.sort.bits), self.sort.bits)

    def __or__(self, other: Members) -> Subset:
        return made("bvor", self.sort, (self, self.beside(other)))

    def __and__(self, other: Members) -> Subset:
        return made("bvand", self.sort, (self, self.beside(other)))

    def __xor__(self, other: Members) -> Subset:
        return made("bvxor", self.sort, (self, self.beside(other)))

    def __invert__(self) -> Subset:
        return made("bvnot", self.sort, (self,))

    @property
    def is_empty(self) -> Condition:
        """The formula: nothing is in."""
        return made("=", BOOL, (self, _bits(0, self.sort.bits)))


@cache
def _bits(value: int, size: int) -> Subset:
    """A subset as a term, which stays in memory."""
    return bits(value, size)


@of_kind("thing")
class Thing(Term):
    """A term that is one of any number of things without an order: all that is known of two is whether they are the same."""

    __slots__ = ()
    __hash__ = Term.__hash__

    sort: Sort[Thing]

    def beside(self, other: object) -> Term:
        if isinstance(other, Term) and other.sort is self.sort:
            return other
        raise TypeError(f"{self} is a {self.sort}, and {shown(other)} is none")

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        if isinstance(other, OneOrNone):
            return other == self
        return made("=", BOOL, (self, self.beside(other)))

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        if isinstance(other, OneOrNone):
            return other != self
        return made("distinct", BOOL, (self, self.beside(other)))


@of_kind("one or none")
class OneOrNone(Term):
    """A term that is one of any number of things, or none; ``==`` and ``!=`` also take a thing, and the name of none."""

    __slots__ = ()
    __hash__ = Term.__hash__

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return made("=", BOOL, (self, chosen(self.sort, other)))

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return made("distinct", BOOL, (self, chosen(self.sort, other)))

    def among(self, *values: object) -> Condition:
        """The formula: the value is one of these."""
        return disjunction(tuple([self == value for value in values]))


def chosen(sort: Sort[S], value: object) -> S:
    """The value as a term of one or none: it may be one, or a thing, or the name of none. Raises ValueError for any other."""
    if isinstance(value, str) and value == sort.none:
        return made("none", sort)
    if isinstance(value, Term) and value.sort is sort:
        return value  # type: ignore[return-value]  # of that sort
    if isinstance(value, Term) and value.sort is sort.member:
        return made("one", sort, (value,))
    raise ValueError(f"{value!r} is not of {sort}")


# --- what joins terms

TRUE = made("true", BOOL)
FALSE = made("false", BOOL)


def shown(value: object) -> str:
    """A value in a message."""
    return str(value) if isinstance(value, Term) else repr(value)


def condition(value: object) -> Condition:
    """A truth value or a condition as a term. Raises TypeError for anything else."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, bool):
        return TRUE if value else FALSE
    raise TypeError(f"{shown(value)} is no formula")


def conditions_of(term: Term) -> tuple[Condition, ...]:
    """What an operator joins that joins conditions. Raises TypeError if it does not."""
    return tuple([condition(argument) for argument in term.arguments])


def conjunction(parts: tuple[Condition, ...]) -> Condition:
    """All of some conditions."""
    return made("and", BOOL, parts)


def disjunction(parts: tuple[Condition, ...]) -> Condition:
    """Any of some conditions."""
    return made("or", BOOL, parts)


def negation(part: Condition) -> Condition:
    """That the condition does not hold."""
    return made("not", BOOL, (part,))


def implication(premise: Condition, conclusion: Condition) -> Condition:
    """That the conclusion holds where the premise does."""
    return made("=>", BOOL, (premise, conclusion))


def equation(one: Term, other: Term) -> Condition:
    """That two terms of one sort are equal."""
    return made("=", BOOL, (one, other))


def distinct(*terms: Term) -> Condition:
    """That of some terms of one sort no two are equal."""
    return made("distinct", BOOL, terms)


def conditional(test: Truth, then: S, otherwise: S) -> S:
    """The one term where the condition holds and else the other. Raises TypeError or ValueError if they do not fit."""
    one, other = then.sort, otherwise.sort
    if one is not other:
        if one.names and other.names:
            raise ValueError(f"{then} is one of {', '.join(one.names)}, and {otherwise} one of {', '.join(other.names)}")
        raise TypeError(f"{then} is of sort {one}, and {otherwise} of sort {other}")
    return made("ite", one, (condition(test), then, otherwise))  # type: ignore[return-value]  # of the sort of both


def within(term: Term, low: int, beyond: int) -> Condition:
    """That a number, or the place of a choice among its names, is from ``low`` up to what is ``beyond``."""
    return conjunction((made(">=", BOOL, (term, number(low))), made("<", BOOL, (term, number(beyond)))))


def total(numbers: tuple[Number, ...]) -> Number:
    """The sum."""
    return made("+", INT, numbers) if numbers else number(0)


def floor(dividend: Number, divisor: Number | int) -> Number:
    """The quotient by a positive divisor, rounded down; the kernel has none."""
    return made("/", INT, (dividend, number(divisor) if isinstance(divisor, int) else divisor))


def modulus(dividend: Number, divisor: int) -> Number:
    """What is left over by a positive divisor, which is not negative; the kernel has none."""
    return made("mod", INT, (dividend, number(divisor)))


def real(term: Number) -> Real:
    """The number as a real number."""
    return made("real", REAL, (term,))


def extract(high: int, low: int, vector: Term) -> Subset:
    """The bits of a vector from number ``low`` to number ``high``."""
    return made("extract", bits_sort(high - low + 1), (vector,), (high, low))


def concatenation(*vectors: Term) -> Subset:
    """Vectors one behind the other, the highest first."""
    return made("concat", bits_sort(sum(vector.sort.bits for vector in vectors)), vectors)


def mask_of(members: object, size: int) -> int:
    """The members, numbers below ``size``, as the bits of a number; ValueError if that is not what they are."""
    if isinstance(members, str) or not isinstance(members, Iterable):
        raise ValueError(f"{members!r} is not a set of members")
    mask = 0
    for member in members:
        if type(member) is not int or not 0 <= member < size:
            raise ValueError(f"{member!r} is not a member: they are numbered from 0 to {size - 1}")
        mask |= 1 << member
    return mask


def subset_where(size: int, holds: Callable[[int], Truth]) -> Subset:
    """The subset of the members, numbers below ``size``, of which the formula holds."""
    members = (conditional(condition(holds(member)), _bits(1 << member, size), _bits(0, size)) for member in range(size))
    return reduce(or_, members, _bits(0, size))


def for_all(bound: Iterable[Term], body: Condition) -> Condition:
    """That the formula holds whatever these constants are."""
    return made("forall", BOOL, (body,), tuple(bound))


def for_some(bound: Iterable[Term], body: Condition) -> Condition:
    """That the formula holds for some values of these constants."""
    return made("exists", BOOL, (body,), tuple(bound))
