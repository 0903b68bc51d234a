"""Why a mutant goes unnoticed: Z3 proves that it makes no difference, or that it is as safe as the protocol."""

from __future__ import annotations

import z3

from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.engines.solvers.solving import ask
from fencepost.checks.teeth.mutation import Mistake
from fencepost.checks.teeth.switched_mutants import alone, differences
from fencepost.checks.teeth.trial import Trial
from fencepost.model.language import ModelError
from fencepost.model.terms.in_z3 import InZ3

SECONDS = 10.0


class Reasoner:
    """Questions about the mutants of one instance, whose lemmas, if they are an inductive invariant, are a help."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        suite = trial.entry.suite(trial.protocol)
        self._solver, self._printed = z3.SimpleSolver(), InZ3()
        self._solver.add(*self._printed.all(v.domain.within(v.term) for v in trial.protocol.variables))
        self.has_invariant = suite.has_lemmas and not prove(suite).failures
        if self.has_invariant:
            self._solver.add(*self._printed.all(lemma.formula for lemma in suite.lemmas))

    def never_differs(self, mistake: Mistake) -> bool:
        """Whether Z3 proves that the mutant does what the protocol does, in every state that the invariant allows."""
        self._solver.push()
        self._solver.add(self._printed(differences(self._trial.protocol, self._trial.mutants[mistake])))
        answer = ask(self._solver, seconds=SECONDS)
        self._solver.pop()
        return bool(answer == z3.unsat)

    def is_safe(self, mistake: Mistake) -> bool:
        """Whether induction proves of the mutant what it proves of the protocol."""
        suite = alone(self._trial.entry, self._trial.instance, self._trial.mutants[mistake])
        try:
            return self.has_invariant and not prove(suite, examples=0).failures
        except ModelError:
            return False
