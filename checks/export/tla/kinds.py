"""What a term stands for: a truth, a number, a choice or a subset; and how one is written as another.

In terms choices are numbers and subsets bit vectors. In TLA+ they are strings and sets, so that a term which mixes the two has
to be converted where they meet.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.checks.export.tla.expressions import Expression, conditional, equality, member, members, number, of, text, union
from fencepost.model.language import ModelError, Universe
from fencepost.model.language.domains import Choice, Domain, Flag, Number, Subset


@dataclass(frozen=True)
class Bits:
    """A bit vector that is a subset of no universe: the set of the places of its ones."""

    width: int


class Anything:
    """A literal that takes its meaning from what it is compared with."""


Kind = Flag | Choice | Subset | Bits | Number | Anything
TRUTH, ANYTHING, INTEGER = Flag(), Anything(), Number(0, 0)
"""Any number is as good as another here: the bounds of a domain are no matter to how its values are written."""


def kind_of(domain: Domain) -> Kind:
    """The kind of a variable of that domain."""
    if isinstance(domain, Number):
        return INTEGER
    assert isinstance(domain, (Flag, Choice, Subset))
    return domain


def common(kinds: list[Kind], widest: Kind) -> Kind:
    """The kind in which terms of these kinds are compared or combined: their own if it is one, otherwise the widest."""
    known = [kind for kind in kinds if kind is not ANYTHING]
    return known[0] if known and all(kind == known[0] for kind in known) else widest


def choice(kind: Choice, index: int) -> Expression:
    """One of the values of a choice; ModelError if it has not so many."""
    if not 0 <= index < len(kind.names):
        raise ModelError(f"TLA+ has no name for value {index} of a choice among {', '.join(kind.names)}")
    if kind.universe is not None and index < kind.universe.size:
        return member(kind.universe, index)
    return text(kind.names[index])


def subset(kind: Subset | Bits, mask: int) -> Expression:
    """The set of a bit mask."""
    if isinstance(kind, Bits):
        return of("set", *(number(bit) for bit in range(kind.width) if mask >> bit & 1))
    if mask == (1 << kind.universe.size) - 1:
        return members(kind.universe)
    return of("set", *(member(kind.universe, m) for m in kind.universe if mask >> m & 1))


def place(kind: Subset | Bits, bit: int) -> Expression:
    """What is in the set if the bit is one."""
    return number(bit) if isinstance(kind, Bits) else member(kind.universe, bit)


def converted(expression: Expression, kind: Kind, wanted: Kind) -> Expression:
    """An expression of one kind as one of another kind of the same sort."""
    if kind == wanted:
        return expression
    if isinstance(kind, Choice):
        return converted(_chosen(expression, [(choice(kind, i), number(i)) for i in range(len(kind.names))]), INTEGER, wanted)
    if isinstance(wanted, Choice):
        return _chosen(expression, [(number(i), choice(wanted, i)) for i in range(len(wanted.names))])
    assert isinstance(kind, (Subset, Bits))
    assert isinstance(wanted, (Subset, Bits))
    result = of("set")
    for bit in range(kind.width if isinstance(kind, Bits) else kind.universe.size):
        there = of("in", place(kind, bit), expression)
        result = union(result, of("if", there, of("set", place(wanted, bit)), of("set")))
    return result


def width(kind: Subset | Bits) -> int:
    """Of how many bits the vector is."""
    return kind.width if isinstance(kind, Bits) else kind.universe.size


def universe_of(kind: Kind) -> Universe | None:
    """The universe whose members a choice or a subset is made of."""
    return kind.universe if isinstance(kind, (Choice, Subset)) else None


def _chosen(expression: Expression, table: list[tuple[Expression, Expression]]) -> Expression:
    *first, (_, result) = table
    for key, value in reversed(first):
        result = conditional(equality(expression, key), value, result)
    return result
