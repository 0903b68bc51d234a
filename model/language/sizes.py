"""The size of an unbounded universe: a number of which only the least is known."""

from __future__ import annotations

from typing import Any

import z3

from fencepost.model.language.mistakes import ModelError


class Size(z3.ArithRef):  # type: ignore[misc]
    """A Z3 Int of at least ``least``; and, if it is a part of ``whole``, another size, at least ``short`` less than that.

    What Python asks about it and a number, or the whole, is answered if these settle it; otherwise the protocol is not the same
    for all sizes, and ModelError is raised. With terms it makes formulas, as any Z3 Int. ``alike`` says that members of a
    universe of that size have no order: the protocol only tells one from another.
    """

    least: int = 1
    alike: bool = False
    whole: Size | None = None
    short: int = 0

    @classmethod
    def named(cls, name: str, least: int, *, alike: bool = False) -> Size:
        """The size of that name."""
        size = cls.of(z3.Int(name), least)
        size.alike = alike
        return size

    @classmethod
    def of(cls, term: Any, least: int) -> Size:
        """A term as a size."""
        size = cls(term.as_ast())
        size.least = least
        return size

    def part(self, name: str, least: int, *, short: int) -> Size:
        """The size of that name of some of these, which is at least ``short`` less."""
        part = Size.named(name, least)
        part.whole, part.short = self, short
        return part

    @property
    def is_allowed(self) -> Any:
        """The formula: it is at least the least, and no more than it may be."""
        least = self.term >= self.least
        return least if self.whole is None else z3.And(least, self.term + self.short <= self.whole.term)

    @property
    def term(self) -> Any:
        """The size as a plain Z3 Int."""
        return z3.ArithRef(self.as_ast(), self.ctx)

    def _settled(self, answer: bool, settled: bool, asked: str) -> bool:
        if not settled:
            raise ModelError(f"whether {self} {asked} depends on the size; it is only known to be at least {self.least}")
        return answer

    def _lacks(self, other: Size) -> int | None:
        """By how much it is known to be less than the other, or None."""
        if self.eq(other):
            return 0
        more = None if self.whole is None else self.whole._lacks(other)
        return None if more is None else self.short + more

    def _at_most(self, other: Size, less: int) -> bool:
        """Whether it is so much less than the other, or still less."""
        below, above = self._lacks(other), other._lacks(self)
        is_less = below is not None and below >= less
        return self._settled(is_less, is_less or (above is not None and above > -less), f"<= {other} - {less}")

    def __lt__(self, other: Any) -> Any:
        if isinstance(other, Size):
            return self._at_most(other, 1)
        return self._settled(False, other <= self.least, f"< {other}") if type(other) is int else super().__lt__(other)

    def __le__(self, other: Any) -> Any:
        if isinstance(other, Size):
            return self._at_most(other, 0)
        return self._settled(False, other < self.least, f"<= {other}") if type(other) is int else super().__le__(other)

    def __gt__(self, other: Any) -> Any:
        if isinstance(other, Size):
            return other._at_most(self, 1)
        return self._settled(True, other < self.least, f"> {other}") if type(other) is int else super().__gt__(other)

    def __ge__(self, other: Any) -> Any:
        if isinstance(other, Size):
            return other._at_most(self, 0)
        return self._settled(True, other <= self.least, f">= {other}") if type(other) is int else super().__ge__(other)

    def __eq__(self, other: object) -> Any:
        return self._settled(False, other < self.least, f"== {other}") if type(other) is int else super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return self._settled(True, other < self.least, f"!= {other}") if type(other) is int else super().__ne__(other)

    def __bool__(self) -> bool:
        return self._settled(True, self.least > 0, "is 0")

    def __hash__(self) -> int:
        return int(super().__hash__())
