"""One generated protocol, as it is read in plain Python and as it is built, and what is said where the two differ."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any
from unittest.mock import patch

import numpy as np

from fencepost.model.kernel.compiler import loops
from fencepost.model.kernel.search import paths as paths_module
from fencepost.model.kernel.search import search as search_module
from fencepost.model.kernel.search import store as store_module
from fencepost.model.kernel.search.paths import Path as Run
from fencepost.model.kernel.search.results import Limits, Result, Sought
from fencepost.model.kernel.search.search import search
from fencepost.model.language import ModelError
from fencepost.properties.observed import Observed
from fencepost.traces.replay import replay_on
from fencepost.traces.trace import Trace, trace_of
from tests.fuzz.plain import Escape, Reading, State, World
from tests.fuzz.syntax import Spec, Statement, Term
from tests.fuzz.truth import Truth
from tests.fuzz.writing import program, run

NODES = 100_000
"""Nodes of terms that plain Python reads of one protocol, about."""

GIB = 1 << 30


class Difference(AssertionError):
    """Two ways to run a protocol differ; the message says in what, and has the protocol as a program."""


class Refused(Exception):
    """The language refuses the protocol."""


class Case:
    """One protocol: as it is read in plain Python, and as it is built."""

    def __init__(self, spec: Spec, *, most: int = 300) -> None:
        self.spec, self.text = spec, program(spec)
        self.chance = random.Random(self.text)
        self.reading = Reading(spec)
        self.escape = ""
        self.world = World([], {})
        try:
            self.world = self.reading.explore(min(most, NODES // (1 + self.reading.work)))
        except Escape as escape:
            self.escape = str(escape)
        self.truth = Truth(self.reading, self.world)
        try:
            self.protocol, self.suite = run(self.text)
        except ModelError as error:
            raise Refused(f"{error}\n{self.text}") from error
        self.statements = {statement.name: statement for statement in spec.statements}

    @cached_property
    def observed(self) -> Observed:
        return Observed.of(self.suite, self.suite.properties)

    @cached_property
    def result(self) -> Result:
        """What one thread finds, on its way through all that plain Python has seen."""
        return self.searched(workers=1)

    def searched(self, **options: Any) -> Result:
        """A search that nothing ends but its limits, as far as plain Python has come."""
        options.setdefault("limits", Limits(memory=GIB, depth=None if self.world.whole else len(self.world.levels) - 1))
        sought = Sought(watch=self.watch, may_end=next(iter(self.observed.may_end), None))
        return search(self.observed.kernel, sought, **options)

    @property
    def watch(self) -> list[int]:
        return list(self.formulas)

    @cached_property
    def finite(self) -> Observed:
        """Without what finite runs cannot violate."""
        finite = [p for p in self.suite.properties if p.kind != "leads_to"]
        return self.observed if len(finite) == len(self.suite.properties) else Observed.of(self.suite, finite)

    @cached_property
    def formulas(self) -> dict[int, Term]:
        return self.formulas_of(self.observed)

    def formulas_of(self, observed: Observed) -> dict[int, Term]:
        """The formulas over states that a kernel observes, by number, except for premises that it takes out of formulas."""
        formulas = {number: Term("not", (self._formula(p.name),)) for number, p in observed.states.items()}
        formulas |= {number: self._formula(p.name) for number, p in (observed.goals | observed.may_end).items()}
        pairs = [pair for statement in self.of_kind("leads_to") for pair in _pairs(statement)] if observed.leads else []
        for lead, (premise, conclusion) in zip(observed.leads, pairs, strict=True):
            formulas |= {lead.premise: premise, lead.conclusion: conclusion}
        return formulas

    def of_kind(self, *kinds: str) -> list[Statement]:
        return [statement for statement in self.spec.statements if statement.kind in kinds]

    def _formula(self, name: str) -> Term:
        return self.statements[name].formulas[0]

    # --- what is said of a difference

    def same(self, what: str, engine: object, plain: object) -> None:
        """Raises Difference unless both are the same."""
        if engine != plain:
            raise Difference(f"{what}: {engine!r}, and it should be {plain!r}\n\n{self.text}")

    def sound(self, by: str, trace: Trace | None, statement: Statement | None) -> None:
        """Raises Difference unless a trace is a run that shows what it is said to show, and replays."""
        if trace is None:
            raise Difference(f"{by}: {statement and statement.name} has no trace\n\n{self.text}")
        self.same(f"{by}: a run of {statement and statement.name}", self.truth.flaw(trace, statement), "")
        if self.chance.randrange(4):
            return  # to replay it takes a kernel of its own
        replay = replay_on(trace, self.protocol, self.suite)
        self.same(f"{by}: replay of {statement and statement.name}: {replay}", replay.replays, True)


def _pairs(statement: Statement) -> Iterator[tuple[Term, Term]]:
    return zip(statement.formulas[::2], statement.formulas[1::2], strict=True)


@contextmanager
def in_small() -> Iterator[None]:
    """Searches use all threads, small tables and close looks even where there are few states."""
    with ExitStack() as stack:
        for module in (search_module, paths_module):
            stack.enter_context(patch.object(module, "SMALL", 0))
        stack.enter_context(patch.object(store_module, "_FIRST_LINES", 1))
        stack.enter_context(patch.object(loops, "_GLANCE", 0.0))
        yield


def as_trace(case: Case, path: Run) -> Trace:
    states = [np.array(state, dtype=np.uint64) for state in path.states]
    return trace_of(case.observed.kernel, states, path.actions)


def every_state(case: Case) -> Iterator[State]:
    """Every state that the domains allow, whether it can be reached or not."""
    return itertools.product(*(range(sort.low, sort.high + 1) for sort in case.reading.sorts))
