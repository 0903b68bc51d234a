"""The size of an unbounded universe: a number of which only the least is known."""

from __future__ import annotations

from typing import Any

import z3

from fencepost.model.language.mistakes import ModelError


class Size(z3.ArithRef):  # type: ignore[misc]
    """A Z3 Int of at least ``least``.

    What Python asks about it and a number is answered if the least size settles it; otherwise the protocol is not the same
    for all sizes, and ModelError is raised. With terms it makes formulas, as any Z3 Int.
    """

    least: int = 1

    @classmethod
    def named(cls, name: str, least: int) -> Size:
        """The size of that name."""
        return cls.of(z3.Int(name), least)

    @classmethod
    def of(cls, term: Any, least: int) -> Size:
        """A term as a size."""
        made = cls(term.as_ast())
        made.least = least
        return made

    @property
    def is_allowed(self) -> Any:
        """The formula: it is at least the least."""
        return self.term >= self.least

    @property
    def term(self) -> Any:
        """The size as a plain Z3 Int."""
        return z3.ArithRef(self.as_ast(), self.ctx)

    def _settled(self, answer: bool, settled: bool, asked: str) -> bool:
        if not settled:
            raise ModelError(f"whether {self} {asked} depends on the size; it is only known to be at least {self.least}")
        return answer

    def __lt__(self, other: Any) -> Any:
        return self._settled(False, other <= self.least, f"< {other}") if type(other) is int else super().__lt__(other)

    def __le__(self, other: Any) -> Any:
        return self._settled(False, other < self.least, f"<= {other}") if type(other) is int else super().__le__(other)

    def __gt__(self, other: Any) -> Any:
        return self._settled(True, other < self.least, f"> {other}") if type(other) is int else super().__gt__(other)

    def __ge__(self, other: Any) -> Any:
        return self._settled(True, other <= self.least, f">= {other}") if type(other) is int else super().__ge__(other)

    def __eq__(self, other: object) -> Any:
        return self._settled(False, other < self.least, f"== {other}") if type(other) is int else super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return self._settled(True, other < self.least, f"!= {other}") if type(other) is int else super().__ne__(other)

    def __bool__(self) -> bool:
        return self._settled(True, self.least > 0, "is 0")

    def __hash__(self) -> int:
        return int(super().__hash__())
