"""What every property of a suite says at each step of a trace, and what of it became false."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fencepost.model.analysis.branches import conjuncts
from fencepost.model.kernel import Kernel
from fencepost.model.terms.values import Condition
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.trace import Loop, State, Trace
from fencepost.traces.wording.reasons import Why, why_false

Numbers = frozenset[int]

Word = Literal["holds", "violated", "reached", "unreached", "owed", "settled", "none"]
"""What a property is in one state. ``reached`` and ``unreached`` are of a ``sometimes``; of a ``leads_to`` nothing is called
for (``settled``), a conclusion is still to come (``owed``), or never comes (``violated``); a ``step`` says ``none`` of the
initial state, before which there is no step."""


@dataclass(frozen=True)
class Course:
    """A property along a trace.

    ``words`` has its word for each state, the initial one first. ``reasons`` has, for each place where other conditions of it
    are false than just before, and some are, that place and why.
    """

    property: Property
    words: tuple[Word, ...]
    reasons: tuple[tuple[int, Why], ...] = ()


class Judge:
    """Judges traces of one instance by the terms of its properties, compiled once."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._formulas: dict[bool, list[Condition]] = {False: [], True: []}  # of states, of steps
        self._numbers = {p.name: self._numbered(p) for p in suite.properties}
        self._kernel = Kernel(suite.protocol)
        watched = copy.copy(suite.protocol)
        watched.actions = []  # so that formulas over steps are not compiled into each of them: only states are given here
        self._observer = Kernel(watched, self._formulas[False], self._formulas[True])

    def _numbered(self, prop: Property) -> tuple[int, ...]:
        """The numbers of its formulas among those of states or of steps."""
        if prop.kind in ("always", "step"):
            formulas = list(conjuncts(prop.formula))
        else:
            formulas = [formula for lead in prop.leads for formula in lead] or [prop.formula]
        among = self._formulas[prop.kind == "step"]
        among += formulas
        return tuple(range(len(among) - len(formulas), len(among)))

    def courses(self, trace: Trace) -> list[Course]:
        """Each property of the suite along a trace, which must replay: its states are taken for those of the instance."""
        states = [self._kernel.packing.pack(raw) for raw in trace.states]
        held = [frozenset(self._observer.observe(state)) for state in states]
        of_steps = [frozenset(self._observer.observe_step(*pair)) for pair in itertools.pairwise(states)]
        stuck = [not self._kernel.enabled(state) for state in states]
        return [self._course(prop, trace, held, of_steps, stuck) for prop in self._suite.properties]

    def _course(
        self, prop: Property, trace: Trace, held: Sequence[Numbers], of_steps: Sequence[Numbers], stuck: Sequence[bool]
    ) -> Course:
        numbers = self._numbers[prop.name]
        match prop.kind:
            case "leads_to":
                return Course(prop, _promised(held, list(zip(numbers[::2], numbers[1::2], strict=True)), trace.loop))
            case "sometimes":
                return Course(prop, tuple("reached" if numbers[0] in here else "unreached" for here in held))
            case "step":
                moves = [before != after for before, after in itertools.pairwise(trace.states)]
                parts = [frozenset(numbers if moved else ()) - here for here, moved in zip(of_steps, moves, strict=True)]
                false = [frozenset[int](), *parts]
            case "deadlock":
                false = [frozenset(numbers) - here if end else frozenset() for here, end in zip(held, stuck, strict=True)]
            case _:
                false = [frozenset(numbers) - here for here in held]
        words: list[Word] = ["violated" if parts else "holds" for parts in false]
        if prop.kind == "step":
            words[0] = "none"
        return Course(prop, tuple(words), tuple(self._reasons(prop, trace.states, false)))

    def _reasons(self, prop: Property, states: Sequence[State], false: Sequence[Numbers]) -> Iterator[tuple[int, Why]]:
        protocol, before = self._suite.protocol, frozenset[int]()
        mentioned = protocol.variables_of(prop.formula)
        columns = [column for column, variable in enumerate(protocol.variables) if variable in mentioned]
        known: dict[tuple[int, ...], Why] = {}  # a long walk comes by the same few values again and again
        for place, parts in enumerate(false):
            if parts and parts != before:
                at = states[place - 1 : place + 1] if prop.kind == "step" else states[place : place + 1]
                values = tuple(state[column] for state in at for column in columns)
                if values not in known:
                    known[values] = why_false(protocol, prop.formula, *at)
                yield place, known[values]
            before = parts


def _promised(held: Sequence[Numbers], leads: Sequence[tuple[int, int]], loop: Loop | None) -> tuple[Word, ...]:
    """What is called for by pairs of a premise and a conclusion, in each state of a run, which may go on forever."""
    words: list[Word] = ["settled"] * len(held)
    for premise, conclusion in leads:
        comes_again = loop is None or any(conclusion in formulas for formulas in held[loop.start :])
        last = max((place for place, formulas in enumerate(held) if conclusion in formulas), default=-1)
        called = False
        for place, formulas in enumerate(held):
            called = (called or premise in formulas) and conclusion not in formulas
            if called and place > last and not comes_again:
                words[place] = "violated"
            elif called and words[place] == "settled":
                words[place] = "owed"
    return tuple(words)
