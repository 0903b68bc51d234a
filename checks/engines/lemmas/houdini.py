"""The inductive ones among many clauses, as far as a property needs them.

A step from a state in which all clauses of a set hold, to one in which some do not, is a counterexample to the induction of
these: it takes them out of every inductive subset. Of thousands of clauses a property needs a few, so nothing is asked about
the others: of each clause that is needed, the property first, and each action Z3 is asked whether a step can fail it. It is
told of a clause only when a state that it shows does not satisfy that clause, and which of those that it was told of it used,
it says itself; these are needed, too. A counterexample is shown to the kernel, which looks around it at thousands of others.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import z3

from fencepost.checks.engines.lemmas.table import Table, strays
from fencepost.checks.engines.solvers.solving import ask
from fencepost.model.counts import count_of
from fencepost.model.kernel.clause_tables.clauses import Clauses, Flags, Judge
from fencepost.model.kernel.clause_tables.truths import followers
from fencepost.model.kernel.compiler.loops import Crew
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.language import Action, And, Not, Or
from fencepost.model.terms.in_z3 import InZ3, raw
from fencepost.model.terms.values import Condition

TOGETHER = 1 << 15
"""States that are changed a little, and judged, together."""

LEAST_LOSS = 1 / 500
"""The share of the clauses that a round must take out for the kernel to go on with another."""

AROUND = 1 << 10
"""States around a counterexample of Z3's that the kernel looks at."""

TOLD = 4
"""Clauses that Z3 is told of when it shows a state that does not satisfy them, at most."""

SECONDS = 60.0
"""Seconds for a question to Z3. What it does not answer takes the clause that it was about with it."""

FOLLOWS = -1
"""In the place of an action: that a clause follows from others in any one state."""

Tell = Callable[[str], None]


@dataclass
class Survivors:
    """Clauses by their numbers, and what became of them; the first is the property.

    ``alive`` are those that no counterexample took out; ``lost_to_kernel`` and ``lost_to_z3`` count the others by who found
    it. ``uses`` has of clause and action which clauses keep it true, where that was settled. ``open`` are the clauses that are
    needed and not settled: none at the end, unless it was told to stop.
    """

    clauses: Clauses
    alive: Flags
    uses: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    lost_to_kernel: int = 0
    lost_to_z3: int = 0
    questions: int = 0
    open: list[int] = field(default_factory=list)

    def is_settled(self, clause: int, actions: int) -> bool:
        """Whether it is known of each action what keeps the clause true, or from what it follows anyway."""
        return (clause, FOLLOWS) in self.uses or all((clause, action) in self.uses for action in range(actions))

    def needed(self) -> list[int]:
        """The first clause, and all that it needs as far as is known, in the order in which they are met."""
        below: dict[int, dict[int, None]] = {}
        for (clause, _), uses in self.uses.items():
            below.setdefault(clause, {}).update(dict.fromkeys(sorted(uses)))
        met, todo = {0: None}, deque([0])
        while todo:
            for clause in below.get(todo.popleft(), ()):
                if clause not in met:
                    met[clause] = None
                    todo.append(clause)
        return list(met)

    def forget_lost(self) -> None:
        """Forgets what was settled by clauses that were taken out since."""
        alive = self.alive
        self.uses = {key: uses for key, uses in self.uses.items() if alive[key[0]] and all(alive[one] for one in uses)}

    def settled(self, actions: int) -> list[int]:
        """The clauses that are known to be inductive together, the numbers rising."""
        settled = {clause for clause, _ in self.uses if self.is_settled(clause, actions)}
        while True:
            unfit = {clause for (clause, _), uses in self.uses.items() if not uses <= settled}
            if not unfit & settled:
                return sorted(settled)
            settled -= unfit


class Houdini:
    """Looks for an inductive set of clauses of a table, all of which hold in ``reached`` states and initial ones."""

    def __init__(self, table: Table, reached: Words, crew: Crew, seed: int) -> None:
        self.table, self._reached = table, reached
        self.protocol = table.vocabulary.protocol
        self._judge = Judge(table.ground, crew)
        self._chance = np.random.default_rng(seed)
        self._may_follow = True

    def inductive(self, clauses: Clauses, tell: Tell, should_stop: Callable[[], bool]) -> Survivors:
        """What the first clause, the property, needs. It is alive and settled if that is an inductive set."""
        survivors = Survivors(clauses, np.ones(len(clauses), dtype=np.bool_))
        self._may_follow = True
        self._thin_out(survivors, tell, should_stop)
        steps, started = self.steps(clauses), time.monotonic()
        while survivors.alive[0]:
            needed = survivors.needed()
            open_ = [clause for clause in needed if not survivors.is_settled(clause, steps.actions)]
            if not open_ or should_stop():
                survivors.open = open_
                break
            self._settle(steps, survivors, open_[0], should_stop)
            survivors.forget_lost()
            tell(_rated(survivors, len(needed), len(open_), time.monotonic() - started))
        return survivors

    def steps(self, clauses: Clauses) -> Steps:
        """What Z3 is to be told of the clauses."""
        return Steps(self.table, clauses)

    def _settle(self, steps: Steps, survivors: Survivors, clause: int, should_stop: Callable[[], bool]) -> None:
        """Finds for each action what keeps the clause true; or takes the clause out.

        A property that follows from others in each state need not be kept by itself.
        """
        if clause == 0 and self._may_follow:
            uses = self._following(steps, survivors)
            self._may_follow = uses is not None
            if uses is not None:
                survivors.uses = {key: used for key, used in survivors.uses.items() if key[0] != 0} | {(0, FOLLOWS): uses}
                return
        for action in range(steps.actions):
            if should_stop() or not survivors.alive[clause]:
                return
            if (clause, action) not in survivors.uses:
                uses = self._premises(steps, survivors, clause, action) if steps.touches(action, clause) else frozenset()
                if uses is not None:
                    survivors.uses[clause, action] = uses

    def _following(self, steps: Steps, survivors: Survivors) -> frozenset[int] | None:
        """The other clauses from which the property follows; None if it does not, or that is not decided."""
        others = survivors.alive.copy()
        others[0] = False
        with steps.failing(0, FOLLOWS) as question:
            while True:
                survivors.questions += 1
                answer = question.ask(others)
                if answer is None or isinstance(answer, frozenset):
                    return answer
                broken = self._broken(answer, survivors.clauses, others)
                if not broken:
                    return None
                steps.tell(broken)

    def _broken(self, state: Words, clauses: Clauses, of: Flags) -> list[int]:
        """A few of some clauses that a state does not satisfy."""
        numbers = np.flatnonzero(of)
        held = self._judge.holding(self.table.truths(state), clauses[numbers])
        return [int(number) for number in numbers[~held][:TOLD]]

    def _premises(self, steps: Steps, survivors: Survivors, clause: int, action: int) -> frozenset[int] | None:
        """The clauses because of which no step of the action fails the clause; None if one does, or that is not decided."""
        with steps.failing(clause, action) as question:
            while True:
                survivors.questions += 1
                answer = question.ask(survivors.alive)
                if isinstance(answer, frozenset):
                    return answer
                if answer is None:
                    survivors.alive[clause] = False
                    return None
                broken = self._broken(answer, survivors.clauses, survivors.alive)
                if not broken:
                    self._look_around(answer, survivors)
                    assert not survivors.alive[clause], "Z3 and the kernel differ on a step"
                    return None
                steps.tell(broken)

    def _look_around(self, state: Words, survivors: Survivors) -> None:
        """Takes out what does not hold after a step from the state, or from one near it in which all clauses hold."""
        near = strays(self.protocol, np.repeat(state, AROUND, axis=0), self._chance, 2)
        alive = np.flatnonzero(survivors.alive)
        lost, _ = self._lost(np.concatenate([state, near]), survivors.clauses[alive])
        survivors.alive[alive[lost]] = False
        survivors.lost_to_z3 += int(lost.sum())

    def _thin_out(self, survivors: Survivors, tell: Tell, should_stop: Callable[[], bool]) -> None:
        """Takes out what steps from states that differ a little from reached ones, or from others met so, do not preserve."""
        pool, round_, share = self._reached, 0, 1.0
        while share >= LEAST_LOSS and not should_stop():
            halves = [self._chance.choice(states, TOGETHER // 2) for states in (self._reached, pool)]
            tried = strays(self.protocol, np.concatenate(halves), self._chance, 1 + round_ % 3)
            alive = np.flatnonzero(survivors.alive)
            lost, pool = self._lost(tried, survivors.clauses[alive])
            survivors.alive[alive[lost]] = False
            survivors.lost_to_kernel += int(lost.sum())
            share, round_ = lost.sum() / max(len(alive), 1), round_ + 1
            left = len(alive) - int(lost.sum())
            states = count_of(TOGETHER * round_, "state")
            tell(f"{count_of(left, 'clause')} are left after {states} that differ from reached ones")

    def _lost(self, states: Words, clauses: Clauses) -> tuple[Flags, Words]:
        """Which clauses fail in a state that follows one of those in which all hold; and all these states."""
        consistent = states[self._judge.satisfying(self.table.truths(states), clauses)[: len(states)]]
        after = followers(self.table.kernel, consistent)
        if not len(after):
            return np.zeros(len(clauses), dtype=np.bool_), self._reached
        return ~self._judge.holding(self.table.truths(after), clauses), np.concatenate([consistent, after])


def _rated(survivors: Survivors, needed: int, left: int, seconds: float) -> str:
    rate = survivors.questions / max(seconds, 0.001)
    return f"{needed - left} of {needed} needed clauses settled so far, {survivors.questions:,} questions to Z3, {rate:.0f}/s"


class Steps:
    """What Z3 knows: the domains, and the clauses that it was told of, each under a name.

    It knows it in a context of its own: what Z3 answers depends on the terms that were made in a context before.
    """

    def __init__(self, table: Table, clauses: Clauses) -> None:
        self.table, self._clauses = table, clauses
        self.protocol = table.vocabulary.protocol
        self._formulas: dict[int, Condition] = {}
        self.context = z3.Context()
        self.solver = z3.SimpleSolver(ctx=self.context)
        self.solver.set("smt.arith.solver", 2)
        self.solver.set("core.minimize", True)
        self.in_context = InZ3(self.context)
        self.variables = [self.in_context(v.term) for v in self.protocol.variables]
        self.solver.add([self.in_context(v.domain.within(v.term)) for v in self.protocol.variables])
        self.names: dict[int, z3.BoolRef] = {}
        self.numbers: dict[str, int] = {}
        self._waiting: list[int] = []

    def formula(self, clause: int) -> Condition:
        """What the clause says."""
        if clause not in self._formulas:
            (clauses,) = self.table.ground_clauses(self._clauses[clause : clause + 1])
            atoms = self.table.formulas
            parts = [Or([Not(atoms[n >> 1]) if n & 1 else atoms[n >> 1] for n in literals]) for literals in clauses]
            self._formulas[clause] = And(parts)
        return self._formulas[clause]

    def tell(self, clauses: list[int]) -> None:
        """Lets Z3 suppose these clauses, too."""
        for clause in clauses:
            if clause not in self.names:
                name = self.names[clause] = z3.Bool(f"clause {clause}", self.context)
                self.numbers[str(name)] = clause
                self._waiting.append(clause)
                self.solver.add(z3.Implies(name, self.in_context(self.formula(clause))))

    @property
    def actions(self) -> int:
        """How many actions there are."""
        return len(self.protocol.actions)

    def touches(self, action: int, clause: int) -> bool:
        """Whether the action changes a variable that the clause mentions."""
        return not self.protocol.variables_of(self.formula(clause)).isdisjoint(self.protocol.actions[action].updates)

    def failing(self, clause: int, action: int) -> Question:
        """The question whether a step of the action fails the clause, or whether it can be false at all, to be asked within
        a ``with``."""
        self.tell([clause])
        return Question(self, clause, None if action == FOLLOWS else self.protocol.actions[action])

    def repeat(self) -> None:
        """Tells Z3 again what it was told within a question that is over, since that is forgotten."""
        self.solver.add([z3.Implies(self.names[clause], self.in_context(self.formula(clause))) for clause in self._waiting])
        self._waiting = []


class Question:
    """A question to Z3, for as long as the ``with`` of it lasts."""

    def __init__(self, steps: Steps, clause: int, action: Action | None) -> None:
        self._steps, self._action, self._formula = steps, action, steps.formula(clause)

    def __enter__(self) -> Question:
        steps, protocol, action = self._steps, self._steps.protocol, self._action
        steps.repeat()
        steps.solver.push()
        if action is None:
            steps.solver.add(steps.in_context(Not(self._formula)))
        else:
            after = protocol.after(action, protocol.primed(self._formula))
            steps.solver.add(steps.in_context(action.guard), steps.in_context(Not(after)))
        return self

    def __exit__(self, *_: object) -> None:
        self._steps.solver.pop()

    def ask(self, alive: Flags) -> frozenset[int] | Words | None:
        """The clauses, of those that Z3 was told of and that are alive, because of which no step fails; or a state before one
        that does; None if Z3 does not know."""
        steps = self._steps
        supposed = [name for clause, name in steps.names.items() if alive[clause]]
        answer = ask(steps.solver, *supposed, seconds=SECONDS)
        if answer == z3.unsat:
            return frozenset(steps.numbers[str(name)] for name in steps.solver.unsat_core())
        if answer != z3.sat:
            return None
        model = steps.solver.model()
        state = [raw(model.eval(term, model_completion=True)) for term in steps.variables]
        return self._steps.table.kernel.packing.pack(state)[None]
