"""Which lemmas a proof needs: those from which its properties follow, and those that these need to be preserved."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import z3

from fencepost.checks.engines.solvers.solving import ask
from fencepost.model.language import Action, And, Not, Or
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.values import TRUE, Condition
from fencepost.properties.vocabulary import Property, Suite


def unneeded(
    suite: Suite, *, seconds: float = 10.0, budget: float | None = None, should_stop: Callable[[], bool] = lambda: False
) -> tuple[Property, ...] | None:
    """The lemmas without which the proof of an instance, which must have succeeded, still succeeds: with none of them.

    They are found from the cores of Z3's answers, which need not be minimal, so that there may be more. ``seconds`` bounds each
    question, ``budget`` all of them; None if that is not enough, or ``should_stop`` says so.
    """
    search = _Search(suite, seconds, time.monotonic() + (float("inf") if budget is None else budget), should_stop)
    try:
        needed = search.closure()
    except _Undecided:
        return None
    return tuple(lemma for lemma in suite.lemmas if lemma not in needed)


class _Undecided(Exception):
    """A question that the solver did not answer in time."""


class _Search:
    def __init__(self, suite: Suite, seconds: float, deadline: float, should_stop: Callable[[], bool]) -> None:
        self.suite, self.protocol = suite, suite.protocol
        self.seconds, self.deadline, self.should_stop = seconds, deadline, should_stop
        self.solver = z3.SimpleSolver()
        self.solver.set("smt.arith.solver", 2)
        self.solver.set("core.minimize", True)
        self.printed = InZ3()
        self.solver.add(self.printed.all(v.domain.within(v.term) for v in self.protocol.variables))
        self.lemma_of = {f"lemma {lemma.name}": lemma for lemma in suite.lemmas}
        self.assumed = [z3.Bool(name) for name in self.lemma_of]
        lemmas = self.printed.all(lemma.formula for lemma in suite.lemmas)
        self.solver.add([z3.Implies(p, lemma) for p, lemma in zip(self.assumed, lemmas, strict=True)])

    def closure(self) -> set[Property]:
        """The lemmas that the properties need, and those that these need in turn."""
        proved = [p for p in self.suite.properties if not p.strict]
        leads_on = Or([action.guard for action in self.protocol.actions])
        implied = [p.formula for p in proved if p.kind == "always"]
        implied += [Or(p.formula, leads_on) for p in proved if p.kind == "deadlock"]
        fresh = self._core(TRUE, implied)
        steps = [p.judged for p in proved if p.kind == "step"]
        for action in self.protocol.actions:
            fresh |= self._after(action, steps)
        needed: set[Property] = set()
        while fresh - needed:
            preserved = [lemma for lemma in self.suite.lemmas if lemma in fresh - needed]
            needed |= fresh
            for action in self.protocol.actions:
                touched = [p for p in preserved if not self.protocol.variables_of(p.formula).isdisjoint(action.updates)]
                fresh |= self._after(action, [self.protocol.primed(lemma.formula) for lemma in touched])
        return needed

    def _after(self, action: Action, formulas: Sequence[Condition]) -> set[Property]:
        """The lemmas because of which formulas over two states hold of every step of the action."""
        return self._core(action.guard, [self.protocol.after(action, And(list(formulas)))] if formulas else [])

    def _core(self, supposed: Condition, formulas: Sequence[Condition]) -> set[Property]:
        """The lemmas because of which the formulas follow from what is supposed."""
        if not formulas:
            return set()
        left = self.deadline - time.monotonic()
        if left <= 0 or self.should_stop():
            raise _Undecided
        self.solver.push()
        self.solver.add(*self.printed.all([supposed, Not(And(list(formulas)))]))
        answer = ask(self.solver, *self.assumed, seconds=min(left, self.seconds))
        core = self.solver.unsat_core() if answer == z3.unsat else ()
        self.solver.pop()
        if answer != z3.unsat:
            raise _Undecided
        return {self.lemma_of[str(assumption)] for assumption in core}
