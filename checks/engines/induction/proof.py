"""Proof by induction, at any depth: the lemmas hold initially, every action preserves them, and they imply the properties."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fencepost.checks.console.extras import SECOND_SOLVER, require
from fencepost.checks.engines.induction.counterexample import SECONDS, Counterexample, counterexample
from fencepost.checks.engines.induction.plan import InductionPlan
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.engines.solvers.obligations import Obligations, Outcome, Part
from fencepost.checks.engines.solvers.solving import Disagreement, SecondSolver
from fencepost.checks.engines.solvers.workers import spread
from fencepost.model.analysis.obligations import prove_domains
from fencepost.model.counts import count_of
from fencepost.model.language import Action, And, Not
from fencepost.model.terms.values import TRUE
from fencepost.properties.vocabulary import Property, Suite


@dataclass(frozen=True)
class Failure:
    """An obligation that does not hold, or (``undecided``) that no solver decided in time.

    It prints as one sentence, then where its lemma or property and its action are written, then the counterexample.
    """

    statement: Property
    action: Action | None
    initial: bool = False
    undecided: bool = False
    example: Counterexample | None = None

    @property
    def sentence(self) -> str:
        """What does not hold."""
        lemma = self.statement.kind == "lemma"
        if self.undecided:
            return f"not decided in time: whether {self._subject()} {self._verb(lemma)} {self.statement.name}"
        if self.initial:
            return f"lemma {self.statement.name} does not hold initially"
        if self.action is None:
            return f"the invariant does not imply property {self.statement.name}"
        if lemma:
            return f"action {self.action.label} does not preserve lemma {self.statement.name}"
        return f"action {self.action.label} breaks step property {self.statement.name}"

    def _subject(self) -> str:
        if self.action is not None:
            return f"action {self.action.label}"
        return "the initial state" if self.initial else "the invariant"

    def _verb(self, lemma: bool) -> str:
        if self.action is not None:
            return "preserves lemma" if lemma else "respects step property"
        return "satisfies lemma" if self.initial else "implies property"

    def __str__(self) -> str:
        lines = [self.sentence, f"  {self.statement.name}: {self.statement.location}"]
        if self.action is not None:
            lines.append(f"  {self.action.name}: {self.action.location}")
        return "\n".join(lines + ([str(self.example)] if self.example else []))


@dataclass(frozen=True)
class Proof:
    """What induction established of an instance.

    There is a verdict for each property but the ``sometimes`` and the negative controls, which no induction can show;
    ``failures`` say why something was not proved, the first few with a counterexample. ``impossible`` are the labels of the
    actions that can never happen. Counts: ``domains`` updates proved to stay in their domain; ``discharged`` obligations,
    one for each conjunct and action; ``frame`` obligations that hold because the action changes nothing in them;
    ``confirmed`` by the second solver.
    """

    verdicts: tuple[Verdict, ...]
    failures: tuple[Failure, ...]
    impossible: tuple[str, ...]
    domains: int
    discharged: int
    frame: int
    confirmed: int


def prove(
    suite: Suite,
    *,
    workers: int | None = 1,
    seconds: float = 10.0,
    budget: float | None = None,
    second_solver: bool | SecondSolver = False,
    examples: int = 3,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Proof:
    """Proves the properties of an instance from its lemmas.

    ``workers`` is the number of processes (None: one for each core), and changes nothing but the time. ``seconds`` bounds
    each question to a solver, ``budget`` all of them (in seconds; None: no limit); ``second_solver`` has everything that Z3
    discharges confirmed by cvc5 (or by the solver given); the first ``examples`` failures come with a counterexample.
    ``progress`` is told of tasks done of all, and ``should_stop`` asked whether to leave the rest undecided. Raises ModelError
    if an action leaves the domain of a variable, or if the suite has no lemmas or nothing to prove, and Disagreement if the
    second solver refutes what Z3 discharged.
    """
    induction = InductionPlan(suite)
    second = _solver(second_solver)
    domains = prove_domains(suite.protocol)
    plan = _Plan(induction, seconds, time.monotonic() + (float("inf") if budget is None else budget), second)
    tasks = 2 + len(suite.protocol.actions)
    results = spread(tasks, workers, lambda: plan.outcome, progress=progress, should_stop=should_stop)
    reports = [plan.report(task, result) for task, result in enumerate(results)]
    failures = [failure for report in reports for failure in report]
    shown = [plan.with_example(f, should_stop) if number < examples else f for number, f in enumerate(failures)]
    outcomes = [result for result in results if result is not None]
    return Proof(
        verdicts=_verdicts(induction.proved, shown, outcomes, second is not None),
        failures=tuple(shown),
        impossible=tuple(a.label for a, f in zip(suite.protocol.actions, results[2:], strict=True) if f and f.impossible),
        domains=domains,
        discharged=sum(f.discharged for f in outcomes),
        frame=sum(f.frame for f in outcomes),
        confirmed=sum(f.confirmed for f in outcomes),
    )


def _solver(asked: bool | SecondSolver) -> SecondSolver | None:
    """The second solver, which is loaded if it is asked for. ExtraError if it is not installed."""
    if asked is not True:
        return asked or None
    require(SECOND_SOLVER, "check --second-solver")
    from fencepost.checks.engines.solvers.second_solver import cvc5_solver

    return cvc5_solver


class _Plan:
    """The obligations of a proof as numbered tasks: 0 is the initial states, 1 what the invariant implies, then the actions."""

    def __init__(self, induction: InductionPlan, seconds: float, deadline: float, second: SecondSolver | None) -> None:
        self.protocol, self._induction = induction.protocol, induction
        self._deadline = deadline
        self._inductively = Obligations(self.protocol, induction.invariant, seconds, deadline, second)
        self._initially = Obligations(self.protocol, induction.initial, seconds, deadline, second)
        induction.conclude()

    def outcome(self, task: int) -> Outcome:
        """Puts the obligations of one task to the solvers."""
        induction = self._induction
        if task == 0:
            return self._initially.discharge(TRUE, dict(enumerate(p.formula for p in induction.lemmas)))
        if task == 1:
            return self._inductively.discharge(TRUE, dict(enumerate(p.formula for p in induction.implied)))
        action = self.protocol.actions[task - 2]
        conclusions = induction.conclusions(action)
        return self._inductively.discharge(action.guard, conclusions, frame=len(induction.after) - len(conclusions))

    def _parts(self, task: int) -> Sequence[Part]:
        return (self._induction.lemmas, self._induction.implied)[task] if task < 2 else self._induction.after

    def report(self, task: int, outcome: Outcome | None) -> list[Failure]:
        """The failures of a task, one for each statement; Disagreement if there is one. A task that was lost is undecided."""
        every = self._parts(task)
        if outcome is None:
            outcome = Outcome(undecided=list(range(len(every))))
        action = self.protocol.actions[task - 2] if task >= 2 else None
        if outcome.disputed:
            claim = Failure(every[outcome.disputed[0]].of, action, task == 0)
            raise Disagreement(
                f"{self.protocol.name}: by the second solver, {claim.sentence}; Z3 proves the contrary, one of them is wrong"
            )
        failed = dict.fromkeys(every[number].of for number in outcome.failed)
        undecided = dict.fromkeys(every[number].of for number in outcome.undecided)
        return [Failure(s, action, task == 0) for s in failed] + [
            Failure(s, action, task == 0, undecided=True) for s in undecided if s not in failed
        ]

    def with_example(self, failure: Failure, should_stop: Callable[[], bool]) -> Failure:
        """The failure with its counterexample, unless it is merely undecided or there is no time left to look for one."""
        seconds = min(SECONDS, self._deadline - time.monotonic())
        if failure.undecided or seconds <= 0:
            return failure
        action = failure.action
        every = self._parts(2 if action else 0 if failure.initial else 1)
        formula = And(*(part.formula for part in every if part.of is failure.statement))
        assumed = self._induction.initial if failure.initial else self._induction.invariant
        if action is not None:
            formula = self.protocol.after(action, formula)
            assumed = [*assumed, action.guard]
        asked = [*assumed, Not(formula)]
        example = counterexample(self.protocol, asked, action, seconds=seconds, should_stop=should_stop)
        return replace(failure, example=example)


def _verdicts(
    proved: Sequence[Property], failures: Sequence[Failure], outcomes: Sequence[Outcome], second: bool
) -> tuple[Verdict, ...]:
    discharged = sum(f.discharged for f in outcomes)
    reach: dict[str, int | float] = {"obligations": discharged, "frame": sum(f.frame for f in outcomes)}
    note = "Z3 alone"
    if second:
        reach["confirmed"] = confirmed = sum(f.confirmed for f in outcomes)
        alone = count_of(discharged - confirmed, "obligation")
        note = "Z3 and cvc5 agree" if confirmed == discharged else f"{alone} by Z3 alone"
    broken = next((f for f in failures if f.statement.kind == "lemma"), None)
    verdicts = []
    for statement in proved:
        failure = broken or next((f for f in failures if f.statement is statement), None)
        if failure is None:
            verdicts.append(Verdict(statement, "proved", "induction", reach, note))
        else:
            verdicts.append(Verdict(statement, "inconclusive", "induction", reach, failure.sentence))
    return tuple(verdicts)
