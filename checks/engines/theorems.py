"""Proves the theorems of a theory step by step with Z3, confirmed by cvc5 where that is wanted; shows what refutes one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import z3

from fencepost.checks.console.progress import UNWATCHED, Watch
from fencepost.checks.engines.plan import Approach
from fencepost.checks.engines.results.findings import Checked, Findings, PropertyError
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.engines.solvers.solving import Answer, Disagreement, ask
from fencepost.model.language import Not, Protocol
from fencepost.model.terms.in_z3 import InZ3, raw
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Truth
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.theorems import Step, Theorem, Theory

PATIENCE = 20.0
"""Seconds for one step; each takes some milliseconds."""

Proof = Literal["proved", "refuted", "unknown"]


def check_theory(theory: Theory, bugs: Sequence[str], approach: Approach, watch: Watch = UNWATCHED) -> Checked:
    """Proves or refutes the theorems of a theory, all or those that ``approach`` names.

    Raises PropertyError for a theorem that the theory does not have, or if an engine is asked for, and ModelError for a bug
    that it does not have.
    """
    if approach.by:
        raise PropertyError(f"{theory.name} has no states to search: its theorems are proved; leave --by {approach.by} out")
    bearer = Protocol(theory.name, doc=theory.summary, bugs=theory.bugs, active=bugs)
    theorems = theory.theorems(frozenset(bugs))
    for name in approach.properties:
        if name not in {theorem.name for theorem in theorems}:
            raise PropertyError(f"{theory.name} has no theorem {name!r}; it has {', '.join(t.name for t in theorems)}")
    chosen = [theorem for theorem in theorems if theorem.name in approach.properties or not approach.properties]
    watch.reporter.begin(theory.name)
    started = time.monotonic()
    verdicts, suspicions = [], []
    for done, theorem in enumerate(chosen):
        left = PATIENCE if approach.seconds is None else approach.seconds - (time.monotonic() - started)
        if watch.should_stop() or left <= 0:
            verdicts.append(Verdict(theorem.property, "inconclusive", "theorem", note="there was no time to prove it"))
            continue
        watch.reporter.proving(done, len(chosen))
        verdict, empty = _judged(theorem, min(left, PATIENCE), approach.second_solver)
        verdicts.append(verdict)
        for step in empty:
            message = f"{theorem.name}: nothing meets what is given for: {step.name}"
            suspicions.append(Suspicion("from-nothing", theorem.name, message, theorem.location))
    watch.reporter.end()
    steps = sum(int(verdict.reach.get("obligations", 0)) for verdict in verdicts)
    solvers = "Z3 and cvc5" if approach.second_solver else "Z3"
    notes = (theory.reach, f"obligations discharged by {solvers}: {steps}")
    findings = Findings(tuple(verdicts), notes, tuple(suspicions), seconds=time.monotonic() - started)
    return Checked.of(theory, theory.instances("ci")[0], bearer, findings)


_proved = dict[object, tuple[Verdict, list[int]]]()
"""What this process has proved, with the places of steps that are given a contradiction: of a configuration a theorem is a
guarantee, and then one of those of a theory."""


def _judged(theorem: Theorem, seconds: float, second_solver: bool) -> tuple[Verdict, list[Step]]:
    """What ``decide`` and ``vacuous`` say of a theorem."""
    what = second_solver, tuple(tuple(map(_digest, (step.claim, *step.given))) for step in theorem.steps)
    if what in _proved:
        verdict, places = _proved[what]
        return replace(verdict, property=theorem.property), [theorem.steps[place] for place in places]
    verdict, empty = decide(theorem, seconds, second_solver=second_solver), vacuous(theorem)
    if verdict.verdict == "proved":
        _proved[what] = verdict, [theorem.steps.index(step) for step in empty]
    return verdict, empty


def _digest(truth: Truth) -> object:
    return truth if isinstance(truth, bool) else truth.digest


def decide(theorem: Theorem, seconds: float = PATIENCE, *, second_solver: bool = False) -> Verdict:
    """The verdict on one theorem. Raises Disagreement if cvc5, where it is asked, refutes what Z3 proves."""
    for done, step in enumerate(theorem.steps):
        solver = _negated(step)
        proof = _proof(ask(solver, seconds=seconds))
        if second_solver and proof == "proved" and (second := _confirmed(step, seconds)) != "proved":
            if second == "refuted":
                raise Disagreement(f"{theorem.name}, {step.name}: proved by Z3, refuted by cvc5")
            proof = second
        reach = {"obligations": done}
        if proof == "refuted":
            values = step.describe(_least(solver, step))
            if values is not None:
                return Verdict(theorem.property, "violated", "theorem", reach, values)
            return Verdict(theorem.property, "inconclusive", "theorem", reach, f"the proof fails at: {step.name}")
        if proof == "unknown":
            return Verdict(theorem.property, "inconclusive", "theorem", reach, f"not decided in {seconds:g} s: {step.name}")
    proved: dict[str, int | float] = {"obligations": len(theorem.steps)}
    if second_solver:
        proved["confirmed"] = len(theorem.steps)
    return Verdict(theorem.property, "proved", "theorem", proved)


def vacuous(theorem: Theorem) -> list[Step]:
    """The steps whose premises contradict each other, so that they prove nothing."""
    steps = []
    for step in theorem.steps:
        solver = z3.Solver()
        solver.add(InZ3().all(step.given))
        if solver.check() == z3.unsat:
            steps.append(step)
    return steps


def _negated(step: Step) -> z3.Solver:
    solver = z3.Solver()
    solver.add(InZ3().all([*step.given, Not(step.claim)]))
    return solver


def _proof(answer: z3.CheckSatResult) -> Proof:
    return "proved" if answer == z3.unsat else "refuted" if answer == z3.sat else "unknown"


def _least(solver: z3.Solver, step: Step) -> Callable[[Term], int]:
    """The values of the refutation in which the terms of ``least`` are smallest, one after the other."""
    printed = InZ3()

    def value(term: Term) -> int:
        return raw(solver.model().eval(printed(term), model_completion=True))

    for term in step.least:
        low, high = -1, value(term)
        while high - low > 1:
            middle = (low + high) // 2
            solver.push()
            solver.add(printed(term <= middle))
            low, high = (low, middle) if solver.check() == z3.sat else (middle, high)
            solver.pop()
        solver.add(printed(term == high))
        solver.check()
    return value


def _confirmed(step: Step, seconds: float) -> Proof:
    """What cvc5 says of the same question."""
    from fencepost.checks.engines.solvers.second_solver import ground_answer

    return _SAID[ground_answer([*step.given, Not(step.claim)], seconds, "ALL")]


_SAID: Mapping[Answer, Proof] = {"unsat": "proved", "sat": "refuted", "unknown": "unknown"}
