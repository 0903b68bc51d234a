"""Proof for any size: an inductive invariant over first-order formulas of the protocol's own text.

What has to be shown is what induction has to show of an instance, with unbounded universes: the lemmas and domains hold
initially, every action preserves them, and they imply the properties. Each obligation is put to the solvers without
quantifiers, said of the terms that its action, and the denial of its conclusion, speak of. What fails that way is looked for in
instances: a counterexample there refutes it, since an instance is the protocol of any size at one size, which the link checks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from fencepost.checks.engines.induction import Failure, Proof, prove
from fencepost.checks.engines.instantiation import Instantiation, general_conjuncts
from fencepost.checks.engines.link import Link, link
from fencepost.checks.engines.obligations import Outcome
from fencepost.checks.engines.second_solver import Disagreement, ground_answer
from fencepost.checks.engines.solving import ask
from fencepost.checks.engines.workers import spread
from fencepost.model.language import ModelError
from fencepost.model.language.first_order import AnySize
from fencepost.model.language.unbounded import AnyNumber, Scheme, Unbounded
from fencepost.properties.vocabulary import Property, Suite

Progress = Callable[[int, int], None]

COMPARED = 2
"""Sizes, from the least on, at which the formulas are compared with those of an instance."""


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


@dataclass(frozen=True)
class GeneralProof:
    """What was established for any size.

    ``proved`` are the properties that hold, of any size from the least on and in the instances below it; ``unproved`` says what
    was not discharged, ``refuted`` what fails in an instance, with its counterexample. ``links`` are the comparisons with
    instances, by their sizes. Counts are as in a ``Proof``.
    """

    proved: tuple[Property, ...]
    unproved: tuple[Unproved, ...]
    refuted: tuple[Failure, ...]
    links: Mapping[int, Link]
    schemes: frozenset[str]
    discharged: int
    frame: int
    confirmed: int

    @property
    def impossible(self) -> frozenset[str]:
        """The actions that the invariant excludes in all instances that were compared."""
        excluded = [frozenset(one.impossible) for one in self.links.values()]
        return frozenset.intersection(*excluded) if excluded else frozenset()

    @property
    def doubt(self) -> str:
        """Why nothing is proved, whatever was discharged: the formulas are not the instances', or nothing satisfies them."""
        for size, one in self.links.items():
            if one.differing:
                return f"the formulas for any size are not those of the instance of size {size}: {one.differing[0]}"
        if len(self.links) < COMPARED:
            return "the formulas for any size were not compared with those of instances"
        return "no state satisfies the invariant and lets anything happen" if self.schemes <= self.impossible else ""


def prove_for_any_size(
    general: Suite,
    instance: Callable[[int], Suite],
    least: int,
    *,
    workers: int | None = 1,
    seconds: float = 10.0,
    budget: float | None = None,
    second_solver: bool = True,
    progress: Progress | None = None,
    telling: Callable[[str], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> GeneralProof:
    """Proves the properties of single states of a protocol of any size.

    ``instance`` makes the suite of the instance in which every unbounded universe has a certain size. Those below ``least`` are
    proved one by one, those of ``least`` and one more compared with the protocol of any size. ``second_solver`` has cvc5
    confirm what Z3 discharges; Disagreement is raised if it refutes it. A solver that gives up leaves an obligation unproved.
    """
    deadline = time.monotonic() + (float("inf") if budget is None else budget)
    plan = _Plan(general, seconds, deadline, second_solver)
    # in processes of their own, so that a solver that crashes takes nothing else with it
    processes = max(2, workers or os.cpu_count() or 1)
    results = spread(plan.count, processes, lambda: plan.outcome, progress=progress, should_stop=should_stop)
    unproved = [failure for task, result in enumerate(results) for failure in plan.unproved(task, result)]
    links: dict[int, Link] = {}
    for size in range(least, least + COMPARED):
        if not should_stop():
            telling(f"compares the formulas with those of the instance of size {size}")
            links[size] = link(general, instance(size), dict.fromkeys(plan.unbounded, size))

    def proved_at(size: int) -> Proof:
        telling(f"proves the instance of size {size}")
        left = max(deadline - time.monotonic(), 0.0)
        return prove(
            instance(size),
            workers=workers,
            seconds=seconds,
            budget=left,
            second_solver=second_solver,
            should_stop=should_stop,
        )

    refuted: list[Failure] = []
    below = {size: proved_at(size) for size in range(1, least)}
    holds = plan.provable
    for proof in below.values():
        refuted += proof.failures
        open_ = {verdict.property.name for verdict in proof.verdicts if verdict.verdict != "proved"}
        holds = [prop for prop in holds if prop.name not in open_]
    if unproved:
        refuted += [failure for failure in proved_at(least).failures if not failure.undecided]
    found = [result for result in results if result is not None]
    broken = any(failure.statement in plan.invariants for failure in unproved)
    missed = {failure.statement for failure in unproved}
    return GeneralProof(
        proved=() if broken else tuple(prop for prop in holds if prop.name not in missed),
        unproved=tuple(unproved),
        refuted=tuple(refuted),
        links=links,
        schemes=frozenset(scheme.label for scheme in plan.schemes),
        discharged=sum(f.discharged for f in found),
        frame=sum(f.frame for f in found),
        confirmed=sum(f.confirmed for f in found),
    )


@dataclass(frozen=True, eq=False)
class Goal:
    """One conjunct of a lemma, of a domain or of a property, whose name it has."""

    statement: str
    formula: Any


class _Plan:
    """The obligations as numbered tasks: 0 is the initial states, 1 what the invariant implies, then the actions."""

    def __init__(self, suite: Suite, seconds: float, deadline: float, second_solver: bool) -> None:
        assert isinstance(suite.protocol, AnySize)
        protocol = self._protocol = suite.protocol
        self._seconds, self._deadline, self._second = seconds, deadline, second_solver
        if not suite.has_lemmas:
            raise ModelError(f"{protocol.name}: this instance has no lemmas, so there is nothing to prove its properties from")
        self.unbounded = [name for name, universe in protocol.universes.items() if isinstance(universe, Unbounded)]
        self.provable = [p for p in suite.properties if p.kind == "always" and not p.strict]
        domains = [(f"the domain of {symbol.name}", symbol.within()) for symbol in protocol.symbols]
        self._invariant = [Goal(name, formula) for name, formula in domains if not z3.is_true(formula)]
        self._invariant += _goals(suite.lemmas)
        self._implied = _goals(self.provable)
        self.invariants = {goal.statement for goal in self._invariant}
        self.schemes = protocol.schemes
        self.count = 2 + len(protocol.schemes)

    def outcome(self, task: int) -> Outcome:
        """Puts the obligations of one task to the solvers. One that fails, or crashes, leaves them undecided."""
        goals = self._goals(task)
        try:
            found = self._discharged(task, goals)
        except (z3.Z3Exception, RuntimeError):
            found = Outcome(undecided=list(goals))
        found.frame = len(self._parts(task)) - len(goals)
        return found

    def _parts(self, task: int) -> list[Goal]:
        return self._implied if task == 1 else self._invariant

    def _goals(self, task: int) -> dict[int, Any]:
        """What must follow, by the number of its part; of an action only that of which it changes something."""
        goals = {number: part.formula for number, part in enumerate(self._parts(task))}
        if task < 2:
            return goals
        after = self._protocol.rewriting(self._protocol.schemes[task - 2])
        return {number: new for number, formula in goals.items() if not (new := after.of(formula)).eq(formula)}

    def _discharged(self, task: int, goals: Mapping[int, Any]) -> Outcome:
        scheme = self._protocol.schemes[task - 2] if task >= 2 else None
        said = Instantiation(self._terms(scheme, goals))
        initially = [symbol.begins() for symbol in self._protocol.symbols]
        supposed = initially if task == 0 else [goal.formula for goal in self._invariant]
        given = [*self._protocol.assumed, *map(said.supposed, supposed)]
        if scheme is not None:
            given.append(said.supposed(scheme.guard))
        denials = {number: said.denied(formula) for number, formula in goals.items()}
        given += said.definitions()
        solver = z3.SimpleSolver()
        solver.add(given)
        found = Outcome()
        if self._asked(solver, z3.Or(list(denials.values()))) != z3.unsat:
            for number, denial in denials.items():
                answer = self._asked(solver, denial)
                if answer != z3.unsat:
                    # said of more terms it might follow still: only an instance refutes it
                    found.undecided.append(number)
        rest = {number: denial for number, denial in denials.items() if number not in found.undecided}
        found.discharged = len(rest)
        if self._second and rest:
            self._confirm(given, rest, found)
        return found

    def _confirm(self, given: Sequence[Any], denials: Mapping[int, Any], found: Outcome) -> None:
        if ground_answer([*given, z3.Or(list(denials.values()))], self._left()) == "unsat":
            found.confirmed = len(denials)
            return
        for number, denial in denials.items():
            answer = ground_answer([*given, denial], self._left())
            found.confirmed += answer == "unsat"
            if answer == "sat":
                found.disputed.append(number)

    def _asked(self, solver: z3.Solver, formula: Any) -> z3.CheckSatResult:
        if self._left() <= 0:
            return z3.unknown
        solver.push()
        solver.add(formula)
        answer = ask(solver, seconds=self._left())
        solver.pop()
        return answer

    def _left(self) -> float:
        return min(self._seconds, self._deadline - time.monotonic())

    def _terms(self, scheme: Scheme | None, goals: Mapping[int, Any]) -> list[Any]:
        """What an action speaks of, or the goals do: its members, and the numbers that are mentioned, each with the next."""
        spoken = [*goals.values()] if scheme is None else [scheme.guard, *(new.value for new in scheme.updates.values())]
        seen = set[Any]().union(*map(_constants, spoken))
        terms = [] if scheme is None else [v for v in scheme.arguments.values() if isinstance(v, z3.ExprRef)]
        for symbol in self._protocol.symbols:
            if isinstance(symbol.domain, AnyNumber) and not symbol.universes and symbol.function() in seen:
                terms += [symbol.function(), symbol.function() + 1]
        return terms

    def unproved(self, task: int, found: Outcome | None) -> list[Unproved]:
        """What a task left open, each statement once; Disagreement if the solvers differ. A task that was lost is open."""
        parts = self._parts(task)
        action = self._protocol.schemes[task - 2].label if task >= 2 else ""
        if found is None:
            return [Unproved(name, action, task == 0) for name in dict.fromkeys(part.statement for part in parts)]
        if found.disputed:
            claim = Unproved(parts[found.disputed[0]].statement, action, task == 0)
            raise Disagreement(f"by the second solver, {claim}; Z3 proves the contrary, one of them is wrong")
        return [Unproved(name, action, task == 0) for name in dict.fromkeys(parts[n].statement for n in found.undecided)]


def _goals(statements: Iterable[Property]) -> list[Goal]:
    return [Goal(statement.name, part) for statement in statements for part in general_conjuncts(statement.formula)]


def _constants(term: Any) -> set[Any]:
    """The constants that a term mentions."""
    found: set[Any] = set()
    seen: set[int] = set()
    stack = [term]
    while stack:
        one = stack.pop()
        if one.get_id() in seen:
            continue
        seen.add(one.get_id())
        if z3.is_quantifier(one):
            stack.append(one.body())
        elif z3.is_const(one) and one.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found.add(one)
        else:
            stack += one.children()
    return found
