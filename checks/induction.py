"""Proof by induction, at any depth: the lemmas hold initially, every action preserves them, and they imply the properties."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import z3

from checks.counterexample import Counterexample, counterexample, starts_as
from checks.obligations import Obligations, Outcome, Part, parts
from checks.second_solver import Disagreement, SecondSolver, cvc5_solver
from checks.verdicts import Verdict
from checks.workers import spread
from model.language import Action, ModelError
from model.language.obligations import prove_domains
from properties.vocabulary import Property, Suite


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
    name = suite.protocol.name
    proved = [s for s in suite.properties if s.kind in ("always", "step", "deadlock") and not s.strict]
    if not suite.lemmas:
        raise ModelError(f"{name}: induction needs the lemmas of an inductive invariant, and its suite declares none")
    if not proved:
        raise ModelError(f"{name}: its suite declares no property that induction could prove")
    second = (cvc5_solver if second_solver is True else second_solver) or None
    domains = prove_domains(suite.protocol)
    plan = _Plan(suite, proved, seconds, time.monotonic() + (float("inf") if budget is None else budget), second)
    tasks = 2 + len(suite.protocol.actions)
    results = spread(tasks, workers, lambda: plan.outcome, progress=progress, should_stop=should_stop)
    reports = [plan.report(task, result) for task, result in enumerate(results)]
    failures = [failure for report in reports for failure in report]
    shown = [plan.with_example(f) if number < examples else f for number, f in enumerate(failures)]
    found = [result for result in results if result is not None]
    return Proof(
        verdicts=_verdicts(proved, shown, found, second is not None),
        failures=tuple(shown),
        impossible=tuple(a.label for a, f in zip(suite.protocol.actions, results[2:], strict=True) if f and f.impossible),
        domains=domains,
        discharged=sum(f.discharged for f in found),
        frame=sum(f.frame for f in found),
        confirmed=sum(f.confirmed for f in found),
    )


class _Plan:
    """The obligations of a proof as numbered tasks: 0 is the initial states, 1 what the invariant implies, then the actions."""

    def __init__(
        self, suite: Suite, proved: Sequence[Property], seconds: float, deadline: float, second: SecondSolver | None
    ) -> None:
        self.protocol = suite.protocol
        self._initial = [starts_as(v) for v in self.protocol.variables]
        self._invariant = [v.domain.within(v.term) for v in self.protocol.variables] + [s.formula for s in suite.lemmas]
        self._inductively = Obligations(self.protocol, self._invariant, seconds, deadline, second)
        self._initially = Obligations(self.protocol, self._initial, seconds, deadline, second)
        self._lemmas = parts(suite.lemmas)
        leads_on = z3.Or(*(action.guard for action in self.protocol.actions))
        deadlocks = [Part(s, z3.Or(s.formula, leads_on)) for s in proved if s.kind == "deadlock"]
        self._implied = parts(s for s in proved if s.kind == "always") + deadlocks
        steps = parts(s for s in proved if s.kind == "step")
        # what an action must preserve or respect: the part, as it speaks of the state after a step, and whether an action
        # that changes none of its variables needs no proof of it
        self._after = [replace(part, formula=self.protocol.primed(part.formula)) for part in self._lemmas] + steps
        self._mentions = [self.protocol.variables_of(part.formula) for part in self._after]
        still = [(v.next, v.term) for v in self.protocol.variables]
        self._stable = [True] * len(self._lemmas) + [z3.is_true(z3.simplify(z3.substitute(s.formula, *still))) for s in steps]

    def outcome(self, task: int) -> Outcome:
        """Puts the obligations of one task to the solvers."""
        if task == 0:
            return self._initially.discharge(z3.BoolVal(True), dict(enumerate(p.formula for p in self._lemmas)))
        if task == 1:
            return self._inductively.discharge(z3.BoolVal(True), dict(enumerate(p.formula for p in self._implied)))
        action = self.protocol.actions[task - 2]
        changed = action.updates.keys()
        touched = [n for n, names in enumerate(self._mentions) if not (self._stable[n] and names.isdisjoint(changed))]
        # one substitution for all: it is what costs
        together = z3.And(*(self._after[n].formula for n in touched), z3.BoolVal(True))
        formulas = self.protocol.after(action, together).children()[:-1]
        conclusions = dict(zip(touched, formulas, strict=True))
        return self._inductively.discharge(action.guard, conclusions, frame=len(self._after) - len(touched))

    def _parts(self, task: int) -> list[Part]:
        return (self._lemmas, self._implied)[task] if task < 2 else self._after

    def report(self, task: int, found: Outcome | None) -> list[Failure]:
        """The failures of a task, one for each statement; Disagreement if there is one. A task that was lost is undecided."""
        every = self._parts(task)
        if found is None:
            found = Outcome(undecided=list(range(len(every))))
        action = self.protocol.actions[task - 2] if task >= 2 else None
        if found.disputed:
            claim = Failure(every[found.disputed[0]].of, action, task == 0)
            raise Disagreement(
                f"{self.protocol.name}: by the second solver, {claim.sentence}; Z3 proves the contrary, one of them is wrong"
            )
        failed = dict.fromkeys(every[number].of for number in found.failed)
        undecided = dict.fromkeys(every[number].of for number in found.undecided)
        return [Failure(s, action, task == 0) for s in failed] + [
            Failure(s, action, task == 0, undecided=True) for s in undecided if s not in failed
        ]

    def with_example(self, failure: Failure) -> Failure:
        """The failure with its counterexample, unless it is merely undecided."""
        if failure.undecided:
            return failure
        action = failure.action
        every = self._after if action else self._lemmas if failure.initial else self._implied
        formula = z3.And(*(part.formula for part in every if part.of is failure.statement))
        assumed = self._initial if failure.initial else self._invariant
        if action is not None:
            formula = self.protocol.after(action, formula)
            assumed = [*assumed, action.guard]
        return replace(failure, example=counterexample(self.protocol, [*assumed, z3.Not(formula)], action))


def _verdicts(
    proved: Sequence[Property], failures: Sequence[Failure], found: Sequence[Outcome], second: bool
) -> tuple[Verdict, ...]:
    discharged = sum(f.discharged for f in found)
    reach: dict[str, int | float] = {"obligations": discharged, "frame": sum(f.frame for f in found)}
    note = "Z3 alone"
    if second:
        reach["confirmed"] = confirmed = sum(f.confirmed for f in found)
        note = "Z3 and cvc5 agree" if confirmed == discharged else f"{discharged - confirmed} obligations by Z3 alone"
    broken = next((f for f in failures if f.statement.kind == "lemma"), None)
    verdicts = []
    for statement in proved:
        failure = broken or next((f for f in failures if f.statement is statement), None)
        if failure is None:
            verdicts.append(Verdict(statement, "proved", "induction", reach, note))
        else:
            verdicts.append(Verdict(statement, "inconclusive", "induction", reach, failure.sentence))
    return tuple(verdicts)
