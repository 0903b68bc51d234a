"""A choice among any number of things, or none of them: a value of a sort that has one for each thing and one more."""

from __future__ import annotations

from functools import cache
from typing import Any

import z3

from fencepost.model.language.connectives import Or


@cache
def sort_of(universe: str, member: Any, none: str) -> Any:
    """The sort of choices among the things of a sort, which are the members of a universe of that name."""
    datatype = z3.Datatype(f"{universe} or {none}")
    datatype.declare(f"{none} of {universe}")
    datatype.declare(f"one {universe}", (f"which {universe}", member))
    return datatype.create()


class OneOrNoneRef(z3.DatatypeRef):  # type: ignore[misc]
    """A term of such a sort; ``==`` and ``!=`` also take a thing, and the name of none."""

    none: str = ""

    @classmethod
    def of(cls, term: Any, none: str) -> OneOrNoneRef:
        """A term of such a sort, where that is the name of none."""
        ref = cls(term.as_ast())
        ref.none = none
        return ref

    def __eq__(self, other: object) -> Any:
        return super().__eq__(chosen(self.sort(), self.none, other))

    def __ne__(self, other: object) -> Any:
        return super().__ne__(chosen(self.sort(), self.none, other))

    def __hash__(self) -> int:
        return int(super().__hash__())

    def among(self, *values: Any) -> Any:
        """The formula: the value is one of these."""
        return Or(*(self == value for value in values))


def chosen(sort: Any, none: str, value: Any) -> Any:
    """The value as a term of such a sort: it may be one, or a thing, or the name of none. Raises ValueError for any other."""
    if isinstance(value, str) and value == none:
        return sort.constructor(0)()
    if isinstance(value, z3.ExprRef) and value.sort() == sort:
        return value
    if isinstance(value, z3.ExprRef) and value.sort() == sort.constructor(1).domain(0):
        return sort.constructor(1)(value)
    raise ValueError(f"{value!r} is not of {sort}")


def one_or_other(condition: Any, then: Any, otherwise: Any) -> OneOrNoneRef:
    """The first where the condition holds, else the second; one of them may be a thing, or the name of none."""
    known = then if isinstance(then, OneOrNoneRef) else otherwise
    first, second = (chosen(known.sort(), known.none, side) for side in (then, otherwise))
    return OneOrNoneRef.of(z3.If(condition, first, second), known.none)
