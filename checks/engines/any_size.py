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
from dataclasses import dataclass, field
from typing import Any

import z3

from fencepost.checks.engines.induction import Failure, Proof, prove
from fencepost.checks.engines.instantiation import Instantiation, general_conjuncts, parts_of
from fencepost.checks.engines.link import Link, link
from fencepost.checks.engines.obligations import Outcome
from fencepost.checks.engines.second_solver import Disagreement, ground_answer
from fencepost.checks.engines.solving import ask
from fencepost.checks.engines.workers import spread
from fencepost.model.language import ModelError
from fencepost.model.language.first_order import AnySize
from fencepost.model.language.unbounded import AnyNumber, Scheme
from fencepost.properties.general import Part
from fencepost.properties.vocabulary import Property, Suite

Progress = Callable[[int, int], None]

COMPARED = 2
"""Sizes, from the least on, at which the formulas are compared with those of an instance."""


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


@dataclass(frozen=True)
class GeneralProof:
    """What was established for any size.

    ``suite`` is that of the first part, ``proved`` are its properties that hold in all parts; ``unproved`` says what was not
    discharged, ``refuted`` what fails in an instance, with its counterexample. ``links`` are the comparisons with instances,
    by their sizes. Counts are as in a ``Proof``.
    """

    suite: Suite
    proved: tuple[Property, ...]
    unproved: tuple[Unproved, ...]
    refuted: tuple[Failure, ...]
    links: Mapping[str, Link]
    discharged: int
    frame: int
    confirmed: int
    instances: int
    doubt: str = ""
    """Why nothing is proved, whatever was discharged: the formulas are not the instances', or nothing satisfies them."""
    impossible: tuple[Scheme, ...] = ()
    """The actions that the invariant excludes in all instances of a part that were compared."""


def prove_for_any_size(
    parts: Sequence[Part],
    *,
    workers: int | None = 1,
    seconds: float = 10.0,
    budget: float | None = None,
    second_solver: bool = True,
    progress: Progress | None = None,
    telling: Callable[[str], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> GeneralProof:
    """Proves the properties of single states of a protocol of any size, which is of any in the first part.

    The formulas of each part are compared with those of its least instance and of the next; a part that is an instance is
    proved as such. ``second_solver`` has cvc5 confirm what Z3 discharges; Disagreement is raised if it refutes it. A solver
    that gives up leaves an obligation unproved.
    """
    deadline = time.monotonic() + (float("inf") if budget is None else budget)
    asked = _Asked(seconds, deadline, second_solver, workers, progress, telling, should_stop)
    found = [_proved_instance(part, asked) if part.is_an_instance else _proved_part(part, asked) for part in parts]
    suite = found[0].suite
    provable = [prop for prop in suite.properties if is_provable(prop)]
    open_ = frozenset[str]().union(*(one.open_ for one in found))
    counts = [one.counts for one in found]
    return GeneralProof(
        suite=suite,
        proved=tuple(prop for prop in provable if prop.name not in open_),
        unproved=tuple(failure for one in found for failure in one.unproved),
        refuted=tuple(failure for one in found for failure in one.refuted),
        links={size: compared for one in found for size, compared in one.links.items()},
        discharged=sum(count.discharged for count in counts),
        frame=sum(count.frame for count in counts),
        confirmed=sum(count.confirmed for count in counts),
        instances=sum(part.is_an_instance for part in parts),
        doubt=next((doubt for part, one in zip(parts, found, strict=True) if (doubt := _doubt(part, one))), ""),
        impossible=tuple({scheme.label: scheme for one in found for scheme in _impossible(one)}.values()),
    )


def is_provable(prop: Property) -> bool:
    """Whether a property is one that can be proved for any size: of single states, and not known to fail."""
    return prop.kind == "always" and not prop.strict


@dataclass(frozen=True)
class _Asked:
    """How a proof is asked for, as ``prove_for_any_size`` has it."""

    seconds: float
    deadline: float
    second_solver: bool
    workers: int | None
    progress: Progress | None
    telling: Callable[[str], None]
    should_stop: Callable[[], bool]


@dataclass(frozen=True)
class _Found:
    """What was established of a part: ``open_`` are the properties that are not proved."""

    suite: Suite
    open_: frozenset[str]
    unproved: tuple[Unproved, ...] = ()
    refuted: tuple[Failure, ...] = ()
    links: Mapping[str, Link] = field(default_factory=dict)
    counts: Outcome = field(default_factory=Outcome)


def _proved_instance(part: Part, asked: _Asked) -> _Found:
    proof = _proof_at(part, 0, asked)
    open_ = frozenset(verdict.property.name for verdict in proof.verdicts if verdict.verdict != "proved")
    return _Found(part.instance(), open_, refuted=tuple(proof.failures))


def _proved_part(part: Part, asked: _Asked) -> _Found:
    suite = part.general()
    plan = _Plan(suite, asked.seconds, asked.deadline, asked.second_solver)
    asked.telling(f"proves it for {_told(part)}")
    # in processes of their own, so that a solver that crashes takes nothing else with it
    processes = max(2, asked.workers or os.cpu_count() or 1)
    results = spread(plan.count, processes, lambda: plan.outcome, progress=asked.progress, should_stop=asked.should_stop)
    unproved = tuple(failure for task, result in enumerate(results) for failure in plan.unproved(task, result))
    links: dict[str, Link] = {}
    for larger in range(COMPARED):
        sizes = part.sizes(larger)
        if not asked.should_stop():
            asked.telling(f"compares the formulas with those of the instance with {_written(sizes)}")
            links[_written(sizes)] = link(suite, part.instance(larger), sizes)
    refuted: list[Failure] = []
    if unproved:
        refuted = [failure for failure in _proof_at(part, 0, asked).failures if not failure.undecided]
    missed = {failure.statement for failure in unproved}
    broken = not missed.isdisjoint(plan.invariants)
    open_ = frozenset(prop.name for prop in suite.properties if is_provable(prop) and (broken or prop.name in missed))
    counts = Outcome()
    for result in results:
        if result is not None:
            counts.discharged += result.discharged
            counts.frame += result.frame
            counts.confirmed += result.confirmed
    return _Found(suite, open_, unproved, tuple(refuted), links, counts)


def _proof_at(part: Part, larger: int, asked: _Asked) -> Proof:
    asked.telling(f"proves the instance with {_written(part.sizes(larger))}")
    return prove(
        part.instance(larger),
        workers=asked.workers,
        seconds=asked.seconds,
        budget=max(asked.deadline - time.monotonic(), 0.0),
        second_solver=asked.second_solver,
        should_stop=asked.should_stop,
    )


def _written(sizes: Mapping[str, int]) -> str:
    return " ".join(f"{name}={size}" for name, size in sizes.items())


def _told(part: Part) -> str:
    sizes = part.sizes()
    return " ".join(f"{name}={sizes[name]}{'' if case.alone else ' or more'}" for name, (_, case) in part.cases.items())


def _impossible(found: _Found) -> list[Scheme]:
    if not found.links:
        return []
    assert isinstance(found.suite.protocol, AnySize)
    excluded = frozenset.intersection(*(frozenset(one.impossible) for one in found.links.values()))
    return [scheme for scheme in found.suite.protocol.schemes if scheme.label in excluded]


def _doubt(part: Part, found: _Found) -> str:
    if part.is_an_instance:
        return ""
    for size, one in found.links.items():
        if one.differing:
            return f"the formulas for any size are not those of the instance with {size}: {one.differing[0]}"
    if len(found.links) < COMPARED:
        return "the formulas for any size were not compared with those of instances"
    assert isinstance(found.suite.protocol, AnySize)
    if len(_impossible(found)) == len(found.suite.protocol.schemes):
        return "no state satisfies the invariant and lets anything happen"
    return ""


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
        domains = [(f"the domain of {symbol.name}", symbol.within()) for symbol in protocol.symbols]
        self._invariant = [Goal(name, formula) for name, formula in domains if not z3.is_true(formula)]
        self._invariant += _goals(suite.lemmas)
        self._implied = _goals(filter(is_provable, suite.properties))
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
        said = Instantiation(self._terms(scheme, goals), self._protocol.counted)
        initially = [symbol.begins() for symbol in self._protocol.symbols]
        supposed = initially if task == 0 else [goal.formula for goal in self._invariant]
        given = [*self._protocol.assumed, *map(said.supposed, supposed)]
        if scheme is not None:
            given.append(said.supposed(scheme.guard))
        denials = {number: said.denied(formula) for number, formula in goals.items()}
        given += said.definitions()
        solver, models = z3.SimpleSolver(), z3.SimpleSolver()
        solver.set("auto_config", False)
        solver.set("mbqi", False)  # quantifiers that are left are said of what is there, and nobody looks for models
        for one in (solver, models):
            one.add(given)
        found = Outcome()
        if self._asked(solver, z3.Or(list(denials.values()))) != z3.unsat:
            for number, denial in denials.items():
                if self._asked(solver, denial) != z3.unsat and self._asked(models, denial, PATIENCE) != z3.unsat:
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

    def _asked(self, solver: z3.Solver, formula: Any, most: float = float("inf")) -> z3.CheckSatResult:
        if self._left() <= 0:
            return z3.unknown
        solver.push()
        solver.add(formula)
        answer = ask(solver, seconds=min(most, self._left()))
        solver.pop()
        return answer

    def _left(self) -> float:
        return min(self._seconds, self._deadline - time.monotonic())

    def _terms(self, scheme: Scheme | None, goals: Mapping[int, Any]) -> list[Any]:
        """What an action speaks of, or the goals do: its members, and the numbers that are mentioned, each with the next."""
        spoken = [*goals.values()] if scheme is None else [scheme.guard, *(new.value for new in scheme.updates.values())]
        terms = [] if scheme is None else [v for v in scheme.arguments.values() if isinstance(v, z3.ExprRef)]
        numbers = {symbol.function for symbol in self._protocol.symbols if isinstance(symbol.domain, AnyNumber)}
        found = dict[Any, None]()
        for term in spoken:
            parts = (part for part in parts_of(term) if z3.is_app(part) and part.decl() in numbers)
            found |= dict.fromkeys(part for part in parts if _is_free(part))
        for part in sorted(found, key=str):
            terms += [part, part + 1]
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



def _is_free(term: Any) -> bool:
    """Whether nothing in it is bound by a quantifier around it."""
    return not any(z3.is_var(part) for part in parts_of(term))
