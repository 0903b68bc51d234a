"""TLA+ expressions as trees, and the simplifications that keep them as a person would write them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from fencepost.model.language import Universe


@dataclass(frozen=True)
class Expression:
    """An operator, its operands, and what else there is to it: a name, a literal's value, a universe."""

    operator: str
    operands: tuple[Expression, ...] = ()
    detail: Hashable = None

    @property
    def is_leaf(self) -> bool:
        """Whether this is a member of a universe or a number: what differs between expressions of one shape."""
        return self.operator in ("member", "number")

    @cached_property
    def shape(self) -> tuple[Hashable, ...]:
        """What two expressions have in common if they differ in members of universes and in numbers only."""
        if self.operator == "number":
            return ("number",)
        detail = self.detail[0] if self.operator == "member" and isinstance(self.detail, tuple) else self.detail
        return self.operator, detail, *(operand.shape for operand in self.operands)

    @cached_property
    def leaves(self) -> tuple[Expression, ...]:
        """The members and numbers, in order; expressions of one shape have as many of them, in the same places."""
        if self.is_leaf:
            return (self,)
        return tuple(leaf for operand in self.operands for leaf in operand.leaves)

    @cached_property
    def names(self) -> frozenset[str]:
        """The parameters and bound variables that occur."""
        below = frozenset[str]().union(*(operand.names for operand in self.operands))
        if self.operator != "name" and self.operator not in BINDERS:
            return below
        own = self.detail if isinstance(self.detail, tuple) else (self.detail,)
        return below | {str(name) for name in own}

    def with_leaves(self, leaves: Iterator[Expression]) -> Expression:
        """The same expression with other leaves, taken in order."""
        if self.is_leaf:
            return next(leaves)
        return Expression(self.operator, tuple(operand.with_leaves(leaves) for operand in self.operands), self.detail)


BINDERS = ("all", "some", "filter", "function")

TRUE, FALSE = Expression("true"), Expression("false")


def number(value: int) -> Expression:
    return Expression("number", (), value)


def member(universe: Universe, index: int) -> Expression:
    return Expression("member", (), (universe, index))


def name(text: str, offset: int = 0) -> Expression:
    """A parameter or bound variable, plus a constant."""
    bare = Expression("name", (), text)
    return bare if not offset else Expression("+" if offset > 0 else "-", (bare, number(abs(offset))))


def text(value: str) -> Expression:
    return Expression("text", (), value)


def members(universe: Universe) -> Expression:
    """The set of all members of a universe."""
    return Expression("universe", (), universe)


def of(operator: str, *operands: Expression, detail: Hashable = None) -> Expression:
    return Expression(operator, operands, detail)


def conjunction(parts: Iterable[Expression]) -> Expression:
    """All of the parts; nested conjunctions are taken apart."""
    return _joined("and", TRUE, FALSE, parts)


def disjunction(parts: Iterable[Expression]) -> Expression:
    """Any of the parts; nested disjunctions are taken apart."""
    return _joined("or", FALSE, TRUE, parts)


def _joined(operator: str, neutral: Expression, settling: Expression, parts: Iterable[Expression]) -> Expression:
    flat = dict.fromkeys(
        inner for part in parts for inner in (part.operands if part.operator == operator else (part,)) if inner != neutral
    )
    if settling in flat:
        return settling
    return next(iter(flat), neutral) if len(flat) < 2 else Expression(operator, tuple(flat))


OPPOSITES = {"=": "#", "#": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "in": "notin", "notin": "in"}


def negation(part: Expression) -> Expression:
    if part in (TRUE, FALSE):
        return FALSE if part == TRUE else TRUE
    if part.operator == "not":
        return part.operands[0]
    opposite = OPPOSITES.get(part.operator)
    return Expression(opposite, part.operands) if opposite else of("not", part)


def implication(premise: Expression, conclusion: Expression) -> Expression:
    if premise == TRUE or conclusion == TRUE:
        return conclusion
    return disjunction([negation(premise), conclusion]) if FALSE in (premise, conclusion) else of("=>", premise, conclusion)


def equality(one: Expression, other: Expression) -> Expression:
    if one == other:
        return TRUE
    for known, open_ in ((one, other), (other, one)):
        if known in (TRUE, FALSE):
            return open_ if known == TRUE else negation(open_)
    return of("=", one, other)


def conditional(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """IF; where a set is added to or left as it is, only what is added depends on the condition."""
    if condition in (TRUE, FALSE) or then == otherwise:
        return otherwise if condition == FALSE else then
    if condition.operator == "not":
        return conditional(condition.operands[0], otherwise, then)
    if {then, otherwise} <= {TRUE, FALSE}:
        return condition if then == TRUE else negation(condition)
    if then in (TRUE, FALSE) or otherwise in (TRUE, FALSE):
        if then == TRUE:
            return disjunction([condition, otherwise])
        if then == FALSE:
            return conjunction([negation(condition), otherwise])
        side = negation(condition) if otherwise == TRUE else condition
        return disjunction([side, then]) if otherwise == TRUE else conjunction([side, then])
    if condition.operands == (then, otherwise) and condition.operator in (">=", "<="):
        return of("max" if condition.operator == ">=" else "min", then, otherwise)
    for operator in ("cup", "minus"):
        if then.operator == operator and then.operands[0] == otherwise:
            return of(operator, otherwise, of("if", condition, then.operands[1], of("set")))
        if otherwise.operator == operator and otherwise.operands[0] == then:
            return of(operator, then, of("if", condition, of("set"), otherwise.operands[1]))
    return of("if", condition, then, otherwise)


def union(one: Expression, other: Expression) -> Expression:
    if of("set") in (one, other):
        return other if one == of("set") else one
    if one.operator == other.operator == "set":
        return of("set", *dict.fromkeys(one.operands + other.operands))
    return of("cup", one, other)


def belongs(element: Expression, container: Expression) -> Expression:
    if container == of("set"):
        return FALSE
    if container.operator == "set" and len(container.operands) == 1:
        return equality(element, container.operands[0])
    return of("in", element, container)
