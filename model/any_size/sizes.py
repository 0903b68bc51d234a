"""The size of an unbounded universe: a number of which only the least is known."""

from __future__ import annotations

from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms.nodes import constant
from fencepost.model.terms.sorts import INT
from fencepost.model.terms.values import Condition, Number, Numeric, StandsForNumber, Truth, condition, conjunction


class Size(StandsForNumber):
    """A number of at least ``least``; and, if it is a part of ``whole``, another size, at least ``short`` less than that.

    What Python asks about it and a number, or the whole, is answered if these settle it; otherwise the protocol is not the same
    for all sizes, and ModelError is raised. With terms it makes formulas, as any number. ``alike`` says that members of a
    universe of that size have no order: the protocol only tells one from another.
    """

    def __init__(self, term: Number, least: int, *, alike: bool = False, whole: Size | None = None, short: int = 0) -> None:
        self._term, self.least, self.alike, self.whole, self.short = term, least, alike, whole, short

    @classmethod
    def named(cls, name: str, least: int, *, alike: bool = False) -> Size:
        """The size of that name."""
        return cls(constant(name, INT), least, alike=alike)

    def part(self, name: str, least: int, *, short: int) -> Size:
        """The size of that name of some of these, which is at least ``short`` less."""
        return Size(constant(name, INT), least, whole=self, short=short)

    @property
    def term(self) -> Number:
        """The size as a number."""
        return self._term

    def __str__(self) -> str:
        return str(self._term)

    @property
    def is_allowed(self) -> Condition:
        """The formula: it is at least the least, and no more than it may be."""
        least = self.term >= self.least
        return least if self.whole is None else conjunction((least, self.term + self.short <= self.whole.term))

    def _settled(self, answer: bool, settled: bool, asked: str) -> bool:
        if not settled:
            raise ModelError(f"whether {self} {asked} depends on the size; it is only known to be at least {self.least}")
        return answer

    def _lacks(self, other: Size) -> int | None:
        """By how much it is known to be less than the other, or None."""
        if self.term is other.term:
            return 0
        more = None if self.whole is None else self.whole._lacks(other)
        return None if more is None else self.short + more

    def _at_most(self, other: Size, less: int) -> bool:
        """Whether it is so much less than the other, or still less."""
        below, above = self._lacks(other), other._lacks(self)
        is_less = below is not None and below >= less
        return self._settled(is_less, is_less or (above is not None and above > -less), f"<= {other} - {less}")

    def __lt__(self, other: Numeric) -> Truth:
        if isinstance(other, Size):
            return self._at_most(other, 1)
        return self._settled(False, other <= self.least, f"< {other}") if type(other) is int else self.term.__lt__(other)

    def __le__(self, other: Numeric) -> Truth:
        if isinstance(other, Size):
            return self._at_most(other, 0)
        return self._settled(False, other < self.least, f"<= {other}") if type(other) is int else self.term.__le__(other)

    def __gt__(self, other: Numeric) -> Truth:
        if isinstance(other, Size):
            return other._at_most(self, 1)
        return self._settled(True, other < self.least, f"> {other}") if type(other) is int else self.term.__gt__(other)

    def __ge__(self, other: Numeric) -> Truth:
        if isinstance(other, Size):
            return other._at_most(self, 0)
        return self._settled(True, other <= self.least, f">= {other}") if type(other) is int else self.term.__ge__(other)

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]  # as of any number
        return self._settled(False, other < self.least, f"== {other}") if type(other) is int else condition(self.term == other)

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return self._settled(True, other < self.least, f"!= {other}") if type(other) is int else condition(self.term != other)

    def __bool__(self) -> bool:
        return self._settled(True, self.least > 0, "is 0")

    def __hash__(self) -> int:
        return hash(self.term)

    def __add__(self, other: Numeric) -> Number:
        return self.term + other

    def __radd__(self, other: Numeric) -> Number:
        return other + self.term

    def __sub__(self, other: Numeric) -> Number:
        return self.term - other

    def __rsub__(self, other: Numeric) -> Number:
        return other - self.term

    def __mul__(self, other: Numeric) -> Number:
        return self.term * other

    __rmul__ = __mul__
