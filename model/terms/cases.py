"""Whether a condition always holds, case by case: what is not settled as it is written is looked at for each value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fencepost.model.terms.nodes import Term, below, literal
from fencepost.model.terms.simplification import Simplification
from fencepost.model.terms.traversal import substituted
from fencepost.model.terms.values import FALSE, TRUE

CASES = 1000
"""Cases that are looked at."""

DEEP = 16
"""Connectives within each other that are looked into without making a term."""

_JOINED = ("and", "or", "not", "=>")

_COMPARING = {"=": True, "<=": True, ">=": True, "distinct": False, "<": False, ">": False}
"""Operators that compare, each with what it says of two that are the same."""


def holds_as_written(condition: Term, read: Callable[[Term], Term], deep: int = DEEP) -> bool | None:
    """Whether connectives, and comparisons of a constant with itself, settle a condition, each constant being what it is
    ``read`` as; None if not.

    It sees less than ``always_holds`` does, and looks at no conclusion whose premise is false.
    """
    op, parts = condition.op, condition.arguments
    if op in ("true", "false"):
        return op == "true"
    if op in _COMPARING and len(parts) == 2 and read(parts[0]) is read(parts[1]):
        return _COMPARING[op]
    if op not in _JOINED or deep == 0:
        return None
    if op == "not":
        settled = holds_as_written(parts[0], read, deep - 1)
        return None if settled is None else not settled
    decisive, open_ = op != "and", False
    for place, part in enumerate(parts):
        settled = holds_as_written(part, read, deep - 1)
        if op == "=>" and place == 0 and settled is not None:
            settled = not settled
        if settled is decisive:
            return decisive
        open_ = open_ or settled is None
    return None if open_ else not decisive


class _TooManyError(Exception):
    """It takes more cases than there may be."""


def always_holds(
    condition: Term, values: Callable[[Term], Sequence[int]], most: int = CASES, simple: Simplification | None = None
) -> bool | None:
    """Whether a condition holds whatever values, of those that they may have, its constants have; None if that takes too many
    cases. Conditions that have parts in common are ``simple`` by one simplification."""
    cases = _Cases(values, most, simple or Simplification())
    try:
        return cases.hold(condition)
    except _TooManyError:
        return None


class _Cases:
    def __init__(self, values: Callable[[Term], Sequence[int]], most: int, simple: Simplification) -> None:
        self._values, self._left, self._simple = values, most, simple

    def hold(self, condition: Term) -> bool:
        simple = self._simple(condition)
        if simple is TRUE or simple is FALSE:
            return simple is TRUE
        if simple.op == "and":
            return all(map(self.hold, simple.arguments))
        chosen = self._chosen(simple)
        for value in self._values(chosen):
            self._left -= 1
            if self._left < 0:
                raise _TooManyError
            if not self.hold(substituted(simple, {chosen: literal(chosen.sort, value)})):
                return False
        return True

    @staticmethod
    def _chosen(condition: Term) -> Term:
        """The constant that most is said of."""
        counts = dict[Term, int]()
        for part in below([condition], set()):
            for argument in part.arguments:
                if argument.is_constant:
                    counts[argument] = counts.get(argument, 0) + 1
        return max(counts, key=lambda one: (counts[one], one.detail)) if counts else condition
