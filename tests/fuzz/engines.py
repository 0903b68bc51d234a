"""The engines that are no exhaustive search, against plain Python.

A comparison tells whether there was something to compare.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test

from fencepost.checks.commands.export.run import tla
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.search.sampling import Walks, sample
from fencepost.model.kernel.walks.steered import Steered
from fencepost.model.kernel.walks.walks import random_walks, walk_path
from fencepost.properties.machines import Violation
from fencepost.properties.machines import machine as machine_of
from fencepost.traces.trace import trace_of
from tests.checks.export.tlc import Tlc
from tests.fuzz.case import Case, as_trace, every_state
from tests.fuzz.exact import MOST_IN_DOMAINS
from tests.fuzz.judging import never_wrong
from tests.fuzz.plain import State


def induction(case: Case) -> bool:
    """Proofs against a look at every state that the domains allow, where these are few; else they are not of what is false."""
    proof = prove(case.suite, workers=1, seconds=5.0, budget=20.0, examples=0)
    never_wrong(case, "induction", Findings(proof.verdicts))
    case.same("induction: violated", [v.verdict for v in proof.verdicts if v.verdict == "violated"], [])
    if proof.failures and any(failure.undecided for failure in proof.failures):
        return True
    if math.prod(sort.size for sort in case.reading.sorts) <= MOST_IN_DOMAINS:
        expected = _inductively(case)
        case.same("induction", {v.property.name: v.verdict for v in proof.verdicts}, expected)
    return True


def confirmed(case: Case) -> bool:
    """Whether cvc5 confirms whatever Z3 discharges of a proof, and there is some; Disagreement if it refutes any of it."""
    proof = prove(case.suite, workers=1, seconds=5.0, budget=20.0, examples=0, second_solver=True)
    return 0 < proof.discharged == proof.confirmed


def inductive_states(case: Case) -> tuple[bool, dict[State, list[tuple[int, State]]]]:
    """Whether the lemmas are inductive, and the states in which they hold, each with what can happen in it."""
    holds, lemmas = case.truth.holds, [s.formulas[0] for s in case.of_kind("lemma")]
    inside = {s: case.reading.steps(s) for s in every_state(case) if all(holds(lemma, s) for lemma in lemmas)}
    inductive = all(state in inside for state in case.reading.initial)
    return inductive and all(after in inside for steps in inside.values() for _, after in steps), inside


def _inductively(case: Case) -> dict[str, str]:
    """What follows from the lemmas, by looking at every state in which they hold."""
    holds, (inductive, inside) = case.truth.holds, inductive_states(case)
    broken = {
        "always": lambda f: not all(holds(f, s) for s in inside),
        "step": lambda f: not all(after == s or holds(f, s, after) for s, steps in inside.items() for _, after in steps),
        "ends": lambda f: not all(steps or holds(f, s) for s, steps in inside.items()),
    }
    return {
        s.name: "proved" if inductive and not broken[s.kind](s.formulas[0]) else "inconclusive" for s in case.of_kind(*broken)
    }


def walks(case: Case) -> bool:
    """Random walks: what they violate is violated, what they see can be reached, and the walks themselves are runs."""
    chance, observed = case.chance, case.finite
    strategy, seed = chance.choice(("uniform", "swarm", "held")), chance.randrange(1000)
    asked: dict[str, Any] = {"seed": seed, "steps": chance.choice((1, 7, 40)), "strategy": strategy}
    result = random_walks(observed.kernel, count=200, workers=chance.choice((1, 2)), **asked)
    for walk in range(3):
        trace = as_trace(case, walk_path(observed.kernel, walk=walk, **asked))
        case.sound("a walk", trace, None)
        if case.world.whole:
            case.same("states of a walk that can be reached", set(trace.states) <= set(case.world.depth), True)
    if case.world.whole:
        for number, formula in case.formulas_of(observed).items():
            if number in result.seen:
                case.same(f"walks have seen {formula}", case.truth.first(formula) is not None, True)
        may = {case.reading.events[number].label for steps in case.world.steps.values() for number, _ in steps}
        labels = [action.label for action in case.protocol.actions]
        case.same("walks: enabled where it never is", {labels[n] for n in result.enabled} - may, set())
        case.same("walks: taken", {labels[n] for n, count in enumerate(result.taken) if count} - may, set())
    case.same("walks: steps", sum(result.taken), result.steps)
    findings = sample(observed, Walks(200, asked["steps"], seed, strategy), workers=1)
    never_wrong(case, "walks", findings)
    return True


def steered(case: Case) -> bool:
    """A run that bytes steer, as machines of Hypothesis do: what is enabled and violated at each step of it."""
    observed = case.observed
    alarm, step_alarm = observed.alarms()
    wheel = Steered(observed.kernel, alarm=alarm, step_alarm=step_alarm, may_end=next(iter(observed.may_end), None))
    labels = [action.label for action in observed.kernel.actions]
    for _ in range(4):
        wheel.begin(case.chance.randrange(len(wheel.initials)))
        wheel.follow(case.chance.randbytes(case.chance.randrange(40)))
        trace = as_trace(case, wheel.path)
        case.sound("a steered run", trace, None)
        state, before = trace.states[-1], trace.states[-2:-1]
        may = [case.reading.events[number].label for number, _ in case.reading.steps(state)]
        case.same("enabled", [label for n, label in enumerate(labels) if wheel.enabled >> n & 1], may)
        states, steps, ends = wheel.violated
        for number, p in observed.states.items():
            if not p.strict:
                case.same(f"{p.name} is violated", number in states, case.truth.holds(case.formulas[number], state))
        for number, p in observed.steps.items():
            formula = case.statements[p.name].formulas[0]
            bad = bool(before) and before[0] != state and not case.truth.holds(formula, before[0], state)
            case.same(f"{p.name} is violated", number in steps, bad)
        over = [not may and not case.truth.holds(case.formulas[number], state) for number in observed.may_end]
        case.same("ends where it may not", ends, any(over))
    return True


def machine(case: Case) -> bool:
    """Hypothesis on a machine of the protocol: what it finds is violated, and it shows a run that does it."""
    few = settings(
        max_examples=8,
        stateful_step_count=3,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    try:
        run_state_machine_as_test(machine_of(case.finite, stretch=24), settings=few)
    except Violation as violation:
        states = [np.array(state, dtype=np.uint64) for state in violation.path.states]
        trace = trace_of(case.finite.kernel, states, violation.path.actions, violated=violation.property.name)
        case.sound("Hypothesis", trace, case.statements[violation.property.name])
    return True


def tlc(case: Case, checker: Tlc, folder: Path) -> bool:
    """The TLA+ module in TLC: states, transitions and depth, and which situations it reaches."""
    if not case.world.whole or not case.spec.variables or re.search(r"[0-9]{9}", case.text):
        return False
    files = tla(case.suite, Reporter(quiet=True))
    (module,) = (name.removesuffix(".tla") for name in files if name.endswith(".tla"))
    reach = "SPECIFICATION Spec\nINVARIANT TypeOK\nCHECK_DEADLOCK FALSE\n"
    report = checker.run(folder, {f"{module}.tla": files[f"{module}.tla"], "Reach.cfg": reach}, "Reach.cfg")
    case.same(f"TLC: {report.output}", report.status, 0)
    world = case.world
    expected = len(world.depth), world.transitions + len(world.levels[0]), len(world.levels) - 1
    case.same("TLC: states, transitions, depth", report.counts, expected)
    shown = checker.run(folder, files, f"{module}_reached.cfg")
    length = case.truth.shortest(case.statements["reached"])
    case.same(f"TLC: reached: {shown.output}", shown.status, 0 if length is None else 12)
    if length is not None:
        case.same("TLC: steps to what is reached", max(shown.steps, 0), length)  # of an initial state it numbers none
    return True
