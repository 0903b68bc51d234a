"""The formulas that a page watches: what its machine tells the truth of, and how each is made, so that the page can say why.

A formula is told as a tree of the connectives that decide it, each part of it numbered: the page asks its machine which parts
hold and follows those that decide, as ``wording.reasons`` does, but judges nothing itself.
"""

from __future__ import annotations

import copy
from functools import cached_property

from fencepost.model.analysis.branches import conjuncts
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.model.terms.nodes import Term, constants_of
from fencepost.model.terms.values import Condition, conditions_of
from fencepost.properties.vocabulary import Property
from fencepost.traces.wording.reasons import shortened
from fencepost.traces.wording.wording import Wording

CONNECTIVES = {"not": "not", "and": "and", "or": "or", "=>": "implies", "ite": "if"}


class Watched:
    """Formulas over states, or over steps, of one protocol, and all their parts, each once.

    ``parts`` has for each a connective and the numbers of what it joins, or ``""`` and what it mentions: a variable's place,
    and for its value after the step that place as ``-1 - place``.
    """

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._places = {v.name: place for place, v in enumerate(protocol.variables)}
        self._numbers: dict[Term, int] = {}
        self._words: dict[str, int] = {}
        self._in_words = Wording(protocol)
        self.formulas: list[Condition] = []
        self.parts: list[list[str | int]] = []

    @property
    def words(self) -> list[str]:
        """The texts of conjuncts, by number."""
        return list(self._words)

    def conjuncts(self, formula: Condition) -> list[tuple[int, int]]:
        """The conjuncts of a formula: of each the number of its text and its own."""
        return [(self._word(part), self.number(part)) for part in conjuncts(formula)]

    def of(self, prop: Property) -> list[tuple[int, int]]:
        """What there is to watch of a property: its conjuncts if it must hold, otherwise its formulas, pair by pair."""
        if prop.kind in ("always", "step", "deadlock"):
            return self.conjuncts(prop.formula)
        return [(self._word(f), self.number(f)) for f in [f for lead in prop.leads for f in lead] or [prop.formula]]

    def number(self, formula: Condition) -> int:
        """The number of a formula, which is watched from now on."""
        if formula not in self._numbers:
            self._numbers[formula] = len(self.formulas)
            self.formulas.append(formula)
            self.parts.append([])
            self.parts[self._numbers[formula]] = self._part(formula)
        return self._numbers[formula]

    def _part(self, formula: Condition) -> list[str | int]:
        connective = CONNECTIVES.get(formula.op)
        if connective:
            return [connective, *(self.number(child) for child in conditions_of(formula))]
        names = {constant.detail for constant in constants_of(formula)}
        return ["", *sorted(-1 - self._places[n[:-1]] if n.endswith("'") else self._places[n] for n in names)]

    def _word(self, formula: Condition) -> int:
        return self._words.setdefault(shortened(self._in_words(formula)), len(self._words))


class Observer:
    """What a page asks of a state or a step: ``states`` and ``steps`` are the formulas, ``kernel`` the machine."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self.states, self.steps = Watched(protocol), Watched(protocol)

    @cached_property
    def kernel(self) -> Kernel:
        """The machine that observes what was asked for until now."""
        watched = copy.copy(self._protocol)
        watched.actions = []  # states are given here, and none is made
        return Kernel(watched, self.states.formulas, self.steps.formulas)
