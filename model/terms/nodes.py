"""Terms: what guards, updates and properties are made of. Each exists once, so that ``is`` says whether two are written alike.

A term has an operator, arguments, a sort, and what else there is to it: the name of a constant, the value of a literal, the
bounds of an extract, the constants that a quantifier binds, the function that is applied. Nothing about it ever changes. What
is printed for a solver, a compiler or a reader is printed elsewhere.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NoReturn, TypeVar, overload

from fencepost.model.terms.sorts import BOOL, INT, REAL, Kind, Sort, bits_sort

if TYPE_CHECKING:
    from fencepost.model.terms.values import Number, Real, Subset

Op = Literal[
    "true",
    "false",
    "and",
    "or",
    "not",
    "=>",
    "xor",
    "=",
    "distinct",
    "ite",
    "literal",
    "+",
    "-",
    "unary -",
    "*",
    "/",
    "mod",
    "real",
    "<=",
    "<",
    ">=",
    ">",
    "bvand",
    "bvor",
    "bvxor",
    "bvnot",
    "extract",
    "concat",
    "constant",
    "apply",
    "forall",
    "exists",
    "none",
    "one",
]

ONLY_PROVED = frozenset({"apply", "forall", "exists", "none", "one", "/", "mod", "real"})
"""The operators that only formulas for any size, and theorems of arithmetic, have: what is searched has none of them."""

WIDEST = 64
"""Bits of the widest vector that the kernel has words for."""


class Term:
    """A term. Terms of different sorts are of different classes, which have the operators that Python writes.

    ``size`` counts what is at it and below, as if it were a tree.
    """

    __slots__ = ("__weakref__", "_digest", "arguments", "detail", "op", "size", "sort")

    op: Op
    sort: Sort[Term]
    arguments: tuple[Term, ...]
    detail: Any
    size: int
    _digest: bytes

    __hash__ = object.__hash__

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a term never changes: {name}")

    def __bool__(self) -> bool:
        if self.op == "true" or (self.op == "=" and self.arguments[0] is self.arguments[1]):
            return True
        if self.op == "false":
            return False
        raise TypeError(
            f"Python's and, or, not, if, any and all cannot see the value of {self}: write And, Or, Not, If, any_of or all_of"
        )

    def __str__(self) -> str:
        from fencepost.model.terms.written import written  # it knows all operators, and this none

        return written(self)

    __repr__ = __str__

    def __copy__(self) -> Term:
        return self

    def __deepcopy__(self, _: object) -> Term:
        return self

    @property
    def is_constant(self) -> bool:
        """Whether it is a constant: the value of a variable, or a name for any value."""
        return self.op == "constant"

    @property
    def stranger(self) -> str | None:
        """What in this term (not below it) cannot be searched, in words; None if it can."""
        if self.op in ONLY_PROVED:
            return "a quantifier" if self.op in ("forall", "exists") else str(self)
        if self.sort.bits > WIDEST:
            return f"a bit vector of {self.sort.bits} bits"
        return None if self.sort.kind in ("Bool", "Int", "BitVec") else f"things of {self.sort}"

    @property
    def digest(self) -> bytes:
        """What identifies the term in any process: terms have it in common just if they are written alike, sorts included."""
        for term in in_order([self], _digested):
            head = repr((term.op, term.sort.written, _plain(term.detail), len(term.arguments))).encode()
            below = b"".join([argument._digest for argument in term.arguments])
            _set_digest(term, blake2b(head + below, digest_size=16).digest())
        return self._digest


def _digested(term: Term) -> bool:
    return hasattr(term, "_digest")


def _plain(detail: object) -> object:
    """What else there is to a term, as it is written alike in any process."""
    if isinstance(detail, Function):
        return detail.name, [sort.written for sort in detail.sorts]
    if isinstance(detail, tuple):
        return [(bound.detail, bound.sort.written) if isinstance(bound, Term) else bound for bound in detail]
    return detail


_slots = vars(Term)
_set_op, _set_sort, _set_arguments = (_slots[name].__set__ for name in ("op", "sort", "arguments"))
_set_detail, _set_size, _set_digest = (_slots[name].__set__ for name in ("detail", "size", "_digest"))

T = TypeVar("T", bound=type[Term])
S = TypeVar("S", bound=Term)
S_co = TypeVar("S_co", bound=Term, covariant=True)

_CLASSES: dict[str, type[Term]] = {}
_CLASS_OF: dict[Sort[Term], type[Term]] = {}


def of_kind(kind: Kind | Literal["choice"]) -> Callable[[T], T]:
    """Names the class whose instances the terms of a kind of sort are."""

    def name(cls: T) -> T:
        _CLASSES[kind] = cls
        return cls

    return name


def _class_of(sort: Sort[Term]) -> type[Term]:
    if not _CLASSES:
        from fencepost.model.terms import values  # noqa: F401  # whose classes they are

    return _CLASS_OF.setdefault(sort, _CLASSES["choice" if sort.names else sort.kind])


class _Known(weakref.ref[Term]):
    """A term that exists, as long as anybody holds on to it."""

    __slots__ = ("key",)

    key: object


_KNOWN: dict[object, _Known] = {}


def _forget(reference: weakref.ref[Term]) -> None:
    assert isinstance(reference, _Known)
    if _KNOWN.get(reference.key) is reference:
        del _KNOWN[reference.key]


def made(op: Op, sort: Sort[S], arguments: tuple[Term, ...] = (), detail: object = None) -> S:
    """The term of that operator, sort and arguments."""
    key = (op, sort, arguments, detail)
    reference = _KNOWN.get(key)
    if reference is not None:
        known = reference()
        if known is not None:
            return known  # type: ignore[return-value]  # its sort is in the key
    term = object.__new__(_CLASS_OF.get(sort) or _class_of(sort))
    size = 1
    for argument in arguments:
        size += argument.size
    _set_op(term, op)
    _set_sort(term, sort)
    _set_arguments(term, arguments)
    _set_detail(term, detail)
    _set_size(term, size)
    reference = _Known(term, _forget)
    reference.key = key
    other = _KNOWN.setdefault(key, reference)
    if other is not reference:  # one that is gone and not yet forgotten, or that another thread has made meanwhile
        known = other()
        if known is not None:
            return known  # type: ignore[return-value]
        _KNOWN[key] = reference
    return term  # type: ignore[return-value]  # the class is that of the sort


class Function(Generic[S_co]):
    """A function of things and numbers, of which only the name and the sorts are known; the last sort is that of its values."""

    __slots__ = ("name", "sorts")

    _known: ClassVar[dict[tuple[str, tuple[Sort[Term], ...]], Function[Term]]] = {}

    name: str
    sorts: tuple[Sort[Term], ...]

    @overload
    def __new__(cls, name: str, one: Sort[Term], value: Sort[S_co], /) -> Function[S_co]: ...
    @overload
    def __new__(cls, name: str, one: Sort[Term], other: Sort[Term], value: Sort[S_co], /) -> Function[S_co]: ...
    @overload
    def __new__(cls, name: str, /, *sorts: Sort[Term]) -> Function[Term]: ...
    def __new__(cls, name: str, /, *sorts: Sort[Term]) -> Function[Term]:
        known = cls._known.get((name, sorts))
        if known is None:
            known = cls._known[name, sorts] = super().__new__(cls)
            known.name, known.sorts = name, sorts
        return known

    def __call__(self, *arguments: Term | int) -> S_co:
        given: list[Term] = []
        for one, sort in zip(arguments, self.sorts[:-1], strict=True):
            term = literal(sort, one) if isinstance(one, int) else one
            if not isinstance(term, Term) or term.sort is not sort:
                raise TypeError(f"{self.name} is a function of {sort}, and {term} is none")
            given.append(term)
        return made("apply", self.sorts[-1], tuple(given), self)  # type: ignore[return-value]  # of that sort

    def __repr__(self) -> str:
        return self.name


def constant(name: str, sort: Sort[S]) -> S:
    """The constant of that name and sort."""
    return made("constant", sort, (), name)


def literal(sort: Sort[S], value: int) -> S:
    """The literal of that value: 0 or 1 of a condition, the bits of a subset, the number or the place of a name otherwise."""
    if sort is BOOL:
        return made("true" if value else "false", sort)
    return made("literal", sort, (), int(value))


def rational(value: float) -> Real:
    """The number as a term, as it is written in decimals: 0.05 is a twentieth."""
    return made("literal", REAL, (), Fraction(repr(value)))


def number(value: int) -> Number:
    """The number as a term."""
    return made("literal", INT, (), int(value))


def bits(value: int, size: int) -> Subset:
    """The subset of ``size`` members that has those whose bits are set."""
    return made("literal", bits_sort(size), (), value)


def in_order(roots: Iterable[Term], done: Callable[[Term], bool]) -> Iterator[Term]:
    """The terms within some terms, each after its arguments, except for those of which ``done`` says that nothing is needed;
    of each that it yields it must say so afterwards."""
    for root in roots:
        stack = [root]
        while stack:
            term = stack[-1]
            if done(term):
                stack.pop()
                continue
            missing = [argument for argument in term.arguments if not done(argument)]
            if missing:
                stack += missing
            else:
                stack.pop()
                yield term


def below(roots: Iterable[Term], seen: set[Term]) -> Iterator[Term]:
    """Every term within some terms that is not yet in ``seen``, each once; what is met is added to it."""
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term not in seen:
            seen.add(term)
            yield term
            stack.extend(term.arguments)


def constants_of(*terms: Term) -> set[Term]:
    """The constants within terms, those that quantifiers bind included."""
    return {term for term in below(terms, set()) if term.op == "constant"}
