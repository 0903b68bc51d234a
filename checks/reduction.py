"""Symmetry in a search: which members of universes need not be told apart, and what the states that remain stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from checks.progress import Reporter
from checks.verdicts import Verdict
from model.kernel.orbits import MOST, Orbits, Represented
from model.kernel.results import Result
from model.language.symmetry import Symmetry, symmetry_of
from properties.observed import Observed
from properties.vocabulary import Property


@dataclass(frozen=True)
class Reduction:
    """The symmetry of a protocol and of what is observed of it, and its compiled form, None if there is none."""

    symmetry: Symmetry
    orbits: Orbits | None
    reporter: Reporter

    @classmethod
    def of(cls, observed: Observed, reporter: Reporter) -> Reduction:
        """Proves what symmetry there is."""
        proved = symmetry_of(observed.suite.protocol, _formulas(observed), reporter.proving)
        used = proved.within(MOST)
        return cls(proved, Orbits(observed.kernel.packing, used) if used.classes else None, reporter)

    @property
    def canonical(self) -> int:
        """The address that the search asks for."""
        return self.orbits.canonical if self.orbits else 0

    def represented(self, result: Result, workers: int | None) -> Represented | None:
        """What the states that a search visited stand for, or None if that is just themselves."""
        return self.orbits.represented(result, workers, self.reporter.counting) if self.orbits else None

    def notes(self, result: Result, represented: Represented | None) -> tuple[str, ...]:
        """What there is to say of it after a search: what is interchangeable, what that saved, and what is not and why."""
        if self.orbits is None or represented is None:
            told = ["symmetry: no members are interchangeable, so every state was visited"]
        else:
            classes = " and ".join(map(str, self.orbits.symmetry.classes))
            visited = sum(result.level_sizes)
            transitions = f" with {represented.transitions:,} transitions" if result.outcome == "exhausted" else ""
            factor = represented.states / visited
            told = [
                f"symmetry: {classes} interchangeable ({self._permutations()})",
                f"symmetry: {visited:,} states stand for {represented.states:,}{transitions}; reduction factor {factor:.1f}",
            ]
        return (*told, *(f"symmetry: {obstacle}" for obstacle in self.symmetry.obstacles))

    def _permutations(self) -> str:
        used, proved = self.orbits.order if self.orbits else 1, self.symmetry.order
        return f"{used:,} permutations" + (f" of {proved:,}, which would take too long for each state" if used < proved else "")


def undecided(prop: Property) -> Verdict:
    """The verdict on a ``leads_to`` after a search with symmetry: among states that stand for others nobody is seen to wait."""
    why = "with symmetry it is not seen who waits for ever, one member or several in turn: check this without --symmetry"
    return Verdict(prop, "inconclusive", "exhaustive", {}, why)


def _formulas(observed: Observed) -> dict[str, Any]:
    """Everything that the kernel observes, under the names that an obstacle is to have."""
    by_number = (observed.states, observed.steps, observed.goals, observed.may_end)
    formulas = {f"property {p.name}": p.formula for properties in by_number for p in properties.values()}
    return formulas | {f"the premise of property {p.name}": p.premise for p in observed.premises.values()}
