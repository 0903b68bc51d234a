"""The obligations of a proof for any size, and how they are put to the solvers: as tasks, each for processes of its own.

Each is put without quantifiers over numbers, said of the terms that its action, and the denial of its conclusion, speak of.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import z3

from fencepost.checks.engines.any_size.instantiation import GOALS, Instantiation, general_conjuncts, parts_of
from fencepost.checks.engines.solvers.obligations import Outcome
from fencepost.checks.engines.solvers.solving import Disagreement, ask
from fencepost.model.any_size.first_order import AnySize
from fencepost.model.any_size.unbounded import AnyNumber, Scheme
from fencepost.model.language import ModelError, Or
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.simplification import truth_of
from fencepost.model.terms.traversal import QUANTIFIERS
from fencepost.model.terms.values import TRUE, Condition, Number
from fencepost.properties.vocabulary import Property, Suite

PATIENCE = 2.0
"""Seconds for a look for models, with what does not follow from what is there."""


@dataclass(frozen=True)
class Unproved:
    """An obligation that was not discharged: its ``action`` (empty: it is of the initial states or of a property)."""

    statement: str
    action: str = ""
    initial: bool = False

    def __str__(self) -> str:
        if self.action:
            return f"for any size: not shown that action {self.action} preserves {self.statement}"
        return f"for any size: not shown that {self.statement} {'holds initially' if self.initial else 'follows'}"


def is_provable(prop: Property) -> bool:
    """Whether a property is one that can be proved for any size: of states or of steps, said of any, and not known to fail."""
    return prop.kind in ("always", "step") and prop.formula is not None and not prop.strict


@dataclass(frozen=True, eq=False)
class Goal:
    """One conjunct of a lemma, of a domain or of a property, whose name it has."""

    statement: str
    formula: Condition
    is_domain: bool = False

    def is_near(self, statement: str) -> bool:
        """Whether it belongs to that lemma, or is a domain."""
        return self.is_domain or self.statement == statement


class Plan:
    """The obligations as numbered tasks: 0 is the initial states, 1 what the invariant implies, then the actions."""

    def __init__(self, suite: Suite, seconds: float, deadline: float, second_solver: bool) -> None:
        assert isinstance(suite.protocol, AnySize)
        protocol = self._protocol = suite.protocol
        self._seconds, self._deadline, self._second = seconds, deadline, second_solver
        if not suite.has_lemmas:
            raise ModelError(f"{protocol.name}: this instance has no lemmas, so there is nothing to prove its properties from")
        domains = [(f"the domain of {symbol.name}", symbol.within()) for symbol in protocol.symbols]
        self._invariant = [Goal(name, formula, is_domain=True) for name, formula in domains if formula is not TRUE]
        self._invariant += _goals(suite.lemmas)
        provable = list(filter(is_provable, suite.properties))
        self._implied = _goals(prop for prop in provable if prop.kind == "always")
        self._steps = _goals(prop for prop in provable if prop.kind == "step")
        self.invariants = {goal.statement for goal in self._invariant}
        self.schemes = protocol.schemes
        self.count = 2 + len(protocol.schemes)

    def outcome(self, task: int) -> Outcome:
        """Puts the obligations of one task to the solvers. One that fails, or crashes, leaves them undecided."""
        goals = self._goals(task)
        try:
            outcome = self._discharged(task, goals)
        except (z3.Z3Exception, RuntimeError):
            outcome = Outcome(undecided=list(goals))
        outcome.frame = len(self._parts(task)) - len(goals)
        return outcome

    def _parts(self, task: int) -> list[Goal]:
        return self._invariant if task == 0 else self._implied if task == 1 else [*self._invariant, *self._steps]

    def _goals(self, task: int) -> dict[int, Condition]:
        """What must follow, by the number of its part; of an action only that of which it changes something."""
        goals = {number: part.formula for number, part in enumerate(self._parts(task))}
        if task < 2:
            return goals
        scheme, count = self._protocol.schemes[task - 2], len(self._invariant)
        after, stepping = self._protocol.rewriting(scheme), self._protocol.stepping(scheme)
        changed = {number: new for number in range(count) if (new := after.of(goals[number])) is not goals[number]}
        steps = {number: stepping.of(goals[number]) for number in range(count, len(goals))}
        return changed | {number: formula for number, formula in steps.items() if not truth_of(formula)}

    def _discharged(self, task: int, goals: Mapping[int, Condition]) -> Outcome:
        """What is discharged of the goals; those that stay open are tried again, said of more terms."""
        outcome = self._tried(task, goals)
        if open_ := {number: goals[number] for number in outcome.undecided}:
            second = self._tried(task, open_, again=True)
            outcome.discharged += second.discharged
            outcome.confirmed += second.confirmed
            outcome.undecided, outcome.disputed = second.undecided, [*outcome.disputed, *second.disputed]
        return outcome

    def _tried(self, task: int, goals: Mapping[int, Condition], *, again: bool = False) -> Outcome:
        scheme = self._protocol.schemes[task - 2] if task >= 2 else None
        initially = [symbol.begins() for symbol in self._protocol.symbols]
        instantiation = Instantiation(self._terms(scheme, goals), self._protocol.counted, GOALS + again)
        supposed = initially if task == 0 else [goal.formula for goal in self._invariant]
        instances = [instantiation.supposed(formula) for formula in supposed]
        always = [*self._protocol.assumed, *([] if scheme is None else [instantiation.supposed(scheme.guard)])]
        denials = {number: instantiation.denied(formula) for number, formula in goals.items()}
        always += instantiation.definitions()
        if again:  # of what the definitions say that there is, too
            denials = {number: instantiation.denied(formula) for number, formula in goals.items()}
            always += instantiation.definitions()
        given = [*always, *instances]
        near = dict[int, list[Condition]]()

        def rest() -> dict[int, Condition]:
            return {number: denial for number, denial in denials.items() if number not in near}

        if scheme is not None and (exchanges := self._exchanges(scheme)):
            near |= self._near(rest(), always, instances, exchanges)
        outcome = Outcome()
        if self._asked(_by_what_is_there(given), Or(list(rest().values()))) != z3.unsat:
            if scheme is not None:
                near |= self._near(rest(), always, instances, [[]])
            outcome.undecided = self._open(given, rest())
        outcome.discharged = len(denials) - len(outcome.undecided)
        if self._second:
            self._confirm(given, {n: denial for n, denial in rest().items() if n not in outcome.undecided}, outcome)
            for number, hypotheses in near.items():
                self._confirm(hypotheses, {number: denials[number]}, outcome)
        return outcome

    def _open(self, given: Sequence[Condition], denials: Mapping[int, Condition]) -> list[int]:
        """Which of these are not contradicted by what is given."""
        solver, models = _by_what_is_there(given), z3.SimpleSolver()
        models.add(InZ3().all(given))
        # said of more terms it might follow still: only an instance refutes it
        return [
            number
            for number, denial in denials.items()
            if self._asked(solver, denial) != z3.unsat and self._asked(models, denial, PATIENCE) != z3.unsat
        ]

    def _near(
        self,
        denials: Mapping[int, Condition],
        always: Sequence[Condition],
        instances: Sequence[Condition],
        more: Sequence[Sequence[Condition]],
    ) -> dict[int, list[Condition]]:
        """Which of these are contradicted by the domains, the same lemma before and one thing more; and by what each.

        So it is with the size of an ensemble in which a bookie is exchanged: of all lemmas a solver would make more quorums
        than it needs.
        """
        contradicted = dict[int, list[Condition]]()
        for number, denial in denials.items():
            name = [*self._invariant, *self._steps][number].statement
            near = [one for one, goal in zip(instances, self._invariant, strict=True) if goal.is_near(name)]
            for besides in more:
                hypotheses = [*always, *near, *besides]
                if self._asked(_by_what_is_there(hypotheses), denial, PATIENCE) == z3.unsat:
                    contradicted[number] = hypotheses
                    break
        return contradicted

    def _exchanges(self, scheme: Scheme) -> list[list[Condition]]:
        """What an action that puts one thing in the place of another leaves of quorums, and that the other way round.

        Each is said by itself: of both a solver would make quorums without end.
        """
        things = [value for value in scheme.arguments.values() if isinstance(value, Term)]
        pairs = ((one, other) for one, other in permutations(things, 2) if one.sort is other.sort)
        return [exchange for one, other in pairs if (exchange := self._protocol.exchanged(one, other))]

    def _confirm(self, given: Sequence[Condition], denials: Mapping[int, Condition], outcome: Outcome) -> None:
        from fencepost.checks.engines.solvers.second_solver import ground_answer

        if not denials:
            return
        if ground_answer([*given, Or(list(denials.values()))], self._left()) == "unsat":
            outcome.confirmed += len(denials)
            return
        for number, denial in denials.items():
            answer = ground_answer([*given, denial], self._left())
            outcome.confirmed += answer == "unsat"
            if answer == "sat":
                outcome.disputed.append(number)

    def _asked(self, solver: z3.Solver, formula: Condition, most: float = float("inf")) -> z3.CheckSatResult:
        if self._left() <= 0:
            return z3.unknown
        solver.push()
        solver.add(InZ3()(formula))
        answer = ask(solver, seconds=min(most, self._left()))
        solver.pop()
        return answer

    def _left(self) -> float:
        return min(self._seconds, self._deadline - time.monotonic())

    def _terms(self, scheme: Scheme | None, goals: Mapping[int, Condition]) -> list[Term]:
        """What an action speaks of, or the goals do: its members, and the numbers that are mentioned, each with the next."""
        spoken: list[Term] = (
            [*goals.values()] if scheme is None else [scheme.guard, *(new.value for new in scheme.updates.values())]
        )
        terms: list[Term] = [] if scheme is None else [v for v in scheme.arguments.values() if isinstance(v, Term)]
        numbers = {symbol.function for symbol in self._protocol.symbols if isinstance(symbol.domain, AnyNumber)}
        mentioned = dict[Number, None]()
        for term in spoken:
            bound = {one for part in parts_of(term) if part.op in QUANTIFIERS for one in part.detail}
            parts = [
                part for part in parts_of(term) if isinstance(part, Number) and part.op == "apply" and part.detail in numbers
            ]
            mentioned |= dict.fromkeys(part for part in parts if bound.isdisjoint(parts_of(part)))
        for part in sorted(mentioned, key=str):
            terms += [part, part + 1]
        return terms

    def unproved(self, task: int, outcome: Outcome | None) -> list[Unproved]:
        """What a task left open, each statement once; Disagreement if the solvers differ. A task that was lost is open."""
        parts = self._parts(task)
        action = self._protocol.schemes[task - 2].label if task >= 2 else ""
        if outcome is None:
            return [Unproved(name, action, task == 0) for name in dict.fromkeys(part.statement for part in parts)]
        if outcome.disputed:
            claim = Unproved(parts[outcome.disputed[0]].statement, action, task == 0)
            raise Disagreement(f"by the second solver, {claim}; Z3 proves the contrary, one of them is wrong")
        return [Unproved(name, action, task == 0) for name in dict.fromkeys(parts[n].statement for n in outcome.undecided)]


def _by_what_is_there(given: Sequence[Condition]) -> z3.Solver:
    """A solver that says quantified formulas of what is there, and does not look for models."""
    solver = z3.SimpleSolver()
    solver.set("auto_config", False)
    solver.set("mbqi", False)
    solver.add(InZ3().all(given))
    return solver


def _goals(statements: Iterable[Property]) -> list[Goal]:
    return [Goal(statement.name, part) for statement in statements for part in general_conjuncts(statement.formula)]
