"""Obligations: formulas that must follow from assumptions, put to Z3 in groups and, on request, to a second solver too."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from fencepost.checks.engines.solvers.solving import Answer, SecondSolver, ask
from fencepost.model.language import And, Implies, Not, Protocol
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.values import Condition, conditions_of
from fencepost.properties.vocabulary import Property


@dataclass(frozen=True, eq=False)
class Part:
    """One conjunct of a lemma or property: a statement is proved conjunct by conjunct."""

    of: Property
    formula: Condition


def parts(statements: Iterable[Property]) -> list[Part]:
    """The conjuncts of the statements, in their order."""
    return [Part(statement, formula) for statement in statements for formula in conjuncts(statement.judged)]


def conjuncts(formula: Condition) -> Iterator[Condition]:
    """Formulas that together say what the formula says; those to the right of an implication are taken apart, too."""
    if formula.op == "and":
        for child in conditions_of(formula):
            yield from conjuncts(child)
    elif formula.op == "=>":
        premise, conclusions = conditions_of(formula)
        for conclusion in conjuncts(conclusions):
            yield Implies(premise, conclusion)
    else:
        yield formula


@dataclass
class Outcome:
    """What became of some obligations, by the numbers of their parts: refuted ones and those that Z3 gave up on; of the
    others, which are discharged, the count, and how many the second solver confirmed; ``disputed`` are those that it
    refutes. ``impossible`` says that nothing can be as the obligations suppose, so that they hold of nothing."""

    failed: list[int] = field(default_factory=list)
    undecided: list[int] = field(default_factory=list)
    disputed: list[int] = field(default_factory=list)
    discharged: int = 0
    confirmed: int = 0
    frame: int = 0
    impossible: bool = False


class Obligations:
    """Answers which formulas follow from the assumptions, which must keep every variable in its domain.

    Make it before the conclusions are written. The simplified assumptions are kept, so that their terms are older than
    those of any question: Z3 orders terms by age, and is three times as fast that way.

    ``seconds`` bounds each question to a solver and ``deadline`` (of ``time.monotonic``) all of them: what is not answered by
    then is undecided.
    """

    def __init__(
        self,
        protocol: Protocol,
        assumptions: Sequence[Condition],
        seconds: float,
        deadline: float = float("inf"),
        second_solver: SecondSolver | None = None,
    ) -> None:
        self._solver = z3.SimpleSolver()
        # bounds on small numbers and little else: the older arithmetic takes two thirds of the time
        self._solver.set("smt.arith.solver", 2)
        self._printed = InZ3()
        self._assumptions = [z3.simplify(formula) for formula in self._printed.all(assumptions)]
        self._solver.add(*self._assumptions)
        self._seconds = seconds
        self._deadline = deadline
        self._second = second_solver(protocol, assumptions) if second_solver else None

    def discharge(self, supposed: Condition, conclusions: Mapping[int, Condition], frame: int = 0) -> Outcome:
        """Which conclusions follow from the assumptions and what is ``supposed`` besides."""
        outcome = Outcome(frame=frame)
        self._solver.push()
        self._solver.add(self._printed(supposed))
        outcome.impossible = self._ask()[0] == z3.unsat
        rest = dict(conclusions)
        while rest:
            answer, model = self._ask(Not(And(*rest.values())))
            if answer == z3.unknown:
                self._one_by_one(rest, outcome)
            if answer != z3.sat:
                break
            refuted = [number for number, formula in rest.items() if not self._holds(model, formula)]
            outcome.failed += refuted
            for number in refuted:
                del rest[number]
        self._solver.pop()
        left = {*outcome.failed, *outcome.undecided}
        discharged = {number: formula for number, formula in rest.items() if number not in left}
        outcome.failed.sort()
        outcome.discharged = len(discharged)
        if self._second is not None and discharged:
            self._confirm(supposed, discharged, outcome)
        return outcome

    def _holds(self, model: z3.ModelRef, formula: Condition) -> bool:
        return bool(z3.is_true(model.eval(self._printed(formula), model_completion=True)))

    def _one_by_one(self, rest: Mapping[int, Condition], outcome: Outcome) -> None:
        for number, formula in rest.items():
            answer, _ = self._ask(Not(formula))
            if answer == z3.sat:
                outcome.failed.append(number)
            elif answer == z3.unknown:
                outcome.undecided.append(number)

    def _ask(self, *formulas: Condition) -> tuple[Any, Any]:
        """Z3's answer to whether the formulas can hold with what is asserted, and its model if they can."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            return z3.unknown, None
        self._solver.push()
        self._solver.add(*self._printed.all(formulas))
        answer = ask(self._solver, seconds=min(left, self._seconds))
        model = self._solver.model() if answer == z3.sat else None
        self._solver.pop()
        return answer, model

    def _confirm(self, supposed: Condition, discharged: Mapping[int, Condition], outcome: Outcome) -> None:
        if self._asked_again(supposed, Not(And(*discharged.values()))) == "unsat":
            outcome.confirmed = len(discharged)
            return
        for number, formula in discharged.items():
            answer = self._asked_again(supposed, Not(formula))
            outcome.confirmed += answer == "unsat"
            if answer == "sat":
                outcome.disputed.append(number)

    def _asked_again(self, *formulas: Condition) -> Answer:
        """The second solver's answer to whether the formulas can hold with the assumptions."""
        assert self._second is not None
        left = self._deadline - time.monotonic()
        return self._second(formulas, min(left, self._seconds)) if left > 0 else "unknown"
