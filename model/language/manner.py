"""What is told of an action besides what it does: who takes it, what it mirrors, what it spends, where it is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from fencepost.model.language.actors import Talk
from fencepost.model.language.building import is_outline
from fencepost.model.language.mistakes import ModelError

Values = Iterable[int] | Callable[..., object]
"""What a parameter of an action goes through: a universe, numbers, or the member that a variable holds, as a function of the
parameters before it."""

_METHOD = re.compile(r"[A-Z]\w*(\.[A-Z]\w*)*\.[a-z]\w*")
_MIRROR = re.compile(r"([^,{}]*)(?:\{([^{}]*)\})?\s*(?:,|$)")


class Manner(NamedTuple):
    """How an action is declared, as ``Protocol.step``, ``Protocol.fault`` and ``Protocol.move`` have it.

    ``move`` says that a part offers it to steps of the whole, ``alone`` that it is a step where there is no whole. ``takes``
    names the number that says how long it takes, or how often it happens.
    """

    by: str
    parameters: Mapping[str, Values]
    mirrors: str
    spends: str | None
    only_if: object
    fault: bool = False
    fair: bool = False
    talk: Talk = Talk()
    move: bool = False
    alone: bool = True
    takes: str = ""

    def methods(self, where: str) -> tuple[str, ...]:
        """The methods that the action mirrors; ModelError, beginning with ``where``, if one is written as no method is."""
        names = tuple(name for name, _ in self._mirrors())
        for name in names:
            if not _METHOD.fullmatch(name):
                raise ModelError(f"{where} mirrors {name!r}, which is not of the form Class.method")
        return names

    def conditions(self) -> Mapping[str, str]:
        """The condition in a method, in the words of the code, that the action's guard mirrors, by the method."""
        return {name: condition for name, condition in self._mirrors() if condition}

    def _mirrors(self) -> Iterator[tuple[str, str]]:
        """The methods as they are written, each with its condition, or with none."""
        rest = self.mirrors
        while rest:
            match = _MIRROR.match(rest)
            if match is None:
                yield rest, ""
                return
            yield match[1].strip(), " ".join((match[2] or "").split())
            rest = rest[match.end() :]
            if not rest and match[0].endswith(","):
                yield "", ""

    def is_left_out(self, where: str, budgets: Mapping[str, int]) -> bool:
        """Whether the instance has no such action; ModelError, beginning with ``where``, if it spends what is no budget."""
        if (callable(self.only_if) or self.only_if) and self.spends is not None and self.spends not in budgets:
            raise ModelError(f"{where} spends {self.spends}, which is not a budget")
        return is_outline() or not self.is_there(budgets)

    def is_there(self, budgets: Mapping[str, int]) -> bool:
        """Whether the instance has such an action, also where only an outline of it is made."""
        may_happen = callable(self.only_if) or bool(self.only_if)
        return may_happen and (self.spends is None or budgets[self.spends] > 0)

    def admits(self, bound: Mapping[str, object]) -> bool:
        """Whether there is such an action with these arguments."""
        only_if: Callable[..., object] | None = self.only_if if callable(self.only_if) else None
        return only_if is None or bool(only_if(**bound))
