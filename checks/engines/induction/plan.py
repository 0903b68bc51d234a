"""What induction has to show: the lemmas hold initially, all actions preserve them, and they imply the properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import z3

from fencepost.checks.engines.induction.counterexample import starts_as
from fencepost.checks.engines.solvers.obligations import Part, parts
from fencepost.model.language import Action, And, ModelError, Or
from fencepost.model.language.declarations import Variable
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.values import TRUE, Condition, conditions_of
from fencepost.properties.vocabulary import Suite


class InductionPlan:
    """The assumptions and the conclusions of a proof.

    ``initial`` and ``invariant`` are what is assumed, of the initial states and of any state. The conclusions are made when
    they are first asked for, because Z3 is faster with assumptions that are older. Raises ModelError if the suite has no lemmas
    or nothing to prove.
    """

    def __init__(self, suite: Suite) -> None:
        self.protocol = suite.protocol
        self.proved = [s for s in suite.properties if s.kind in ("always", "step", "deadlock") and not s.strict]
        name = self.protocol.name
        if not suite.has_lemmas:
            raise ModelError(f"{name}: induction needs the lemmas of an inductive invariant, and its suite declares none")
        if not self.proved:
            raise ModelError(f"{name}: its suite declares no property that induction could prove")
        self.initial = [starts_as(v) for v in self.protocol.variables]
        self.invariant = [v.domain.within(v.term) for v in self.protocol.variables] + [s.formula for s in suite.lemmas]
        self.statements = suite.lemmas

    @cached_property
    def lemmas(self) -> Sequence[Part]:
        """What must hold initially."""
        return parts(self.statements)

    @cached_property
    def implied(self) -> Sequence[Part]:
        """What must follow from the invariant."""
        leads_on = Or(*(action.guard for action in self.protocol.actions))
        deadlocks = [Part(s, Or(s.formula, leads_on)) for s in self.proved if s.kind == "deadlock"]
        return parts(s for s in self.proved if s.kind == "always") + deadlocks

    @cached_property
    def after(self) -> Sequence[Part]:
        """What every action must preserve or respect: lemmas as they speak of the state after a step, and step properties."""
        return [replace(part, formula=self.protocol.primed(part.formula)) for part in self.lemmas] + self._steps

    @cached_property
    def _steps(self) -> list[Part]:
        return parts(s for s in self.proved if s.kind == "step")

    @cached_property
    def _mentions(self) -> Sequence[frozenset[Variable]]:
        return [self.protocol.variables_of(part.formula) for part in self.after]

    @cached_property
    def _stable(self) -> Sequence[bool]:
        """Whether an action that changes none of a part's variables needs no proof of it."""
        printed = InZ3()
        held = [z3.is_true(z3.simplify(printed(self.protocol.still(s.formula)))) for s in self._steps]
        return [True] * len(self.lemmas) + held

    def conclude(self) -> None:
        """Makes all conclusions but those of single actions."""
        for part in (self.implied, self.after, self._mentions, self._stable):
            assert part is not None

    def conclusions(self, action: Action) -> dict[int, Condition]:
        """What must follow, from the invariant and the action's guard, of the state before the action: for the parts of
        ``after``, by number, of which the action changes something."""
        changed = action.updates.keys()
        touched = [n for n, names in enumerate(self._mentions) if not (self._stable[n] and names.isdisjoint(changed))]
        # one substitution for all: it is what costs
        together = And(*(self.after[n].formula for n in touched), TRUE)
        formulas = conditions_of(self.protocol.after(action, together))[:-1]
        return dict(zip(touched, formulas, strict=True))
