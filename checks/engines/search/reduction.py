"""Symmetry in a search: which members of universes need not be told apart, and what the states that remain stand for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.model.analysis.slices import digest_of
from fencepost.model.analysis.symmetry import Interchangeable, Symmetry, anywhere, symmetry_of
from fencepost.model.counts import count_of
from fencepost.model.kernel.compiler.packing import Packing
from fencepost.model.kernel.compiler.permutations import MOST, Orbits
from fencepost.model.kernel.compiler.store import product
from fencepost.model.kernel.search.results import Represented, Result, represented
from fencepost.model.language import Protocol
from fencepost.model.terms.values import Condition
from fencepost.properties.vocabulary import Property


@dataclass(frozen=True)
class Reduction:
    """The symmetry of a protocol and of properties of it, and its compiled form, None if there is none.

    ``observed`` are the properties that a search is to observe: a ``sometimes`` that speaks of particular members is there said
    of any members, which comes to the same. ``left`` are the ``leads_to``, which a search with symmetry cannot decide.
    """

    symmetry: Symmetry
    orbits: Orbits | None
    observed: tuple[Property, ...]
    left: tuple[Property, ...]
    reporter: Reporter

    @classmethod
    def of(cls, protocol: Protocol, properties: Iterable[Property], reporter: Reporter) -> Reduction:
        """Proves what symmetry there is of a protocol, or of a slice that decides the properties; ModelError if a ``sometimes``
        speaks of too many particular members."""
        chosen = tuple(properties)
        proved = _proved(protocol, _formulas(chosen), reporter)
        used = proved.within(MOST)
        if not used.classes:
            return cls(proved, None, chosen, (), reporter)

        def of_any(goal: Property) -> Property:
            return replace(goal, formula=anywhere(protocol, used, goal.formula))

        observed = tuple(of_any(p) if p.kind == "sometimes" else p for p in chosen if p.kind != "leads_to")
        left = tuple(p for p in chosen if p.kind == "leads_to")
        return cls(proved, Orbits(Packing(protocol.variables), used), observed, left, reporter)

    @property
    def canonical(self) -> int:
        """The address that the search asks for."""
        return self.orbits.canonical if self.orbits else 0

    def represented(self, result: Result, workers: int | None) -> Represented | None:
        """What the states that a search visited stand for, or None if that is just themselves."""
        if self.orbits is None:
            return None
        return represented(result, self.orbits.stabiliser, self.orbits.order, workers, self.reporter.counting)

    def undecided(self) -> tuple[Verdict, ...]:
        """The verdicts on what is left: among states that stand for others nobody is seen to wait."""
        why = "symmetry hides who waits forever: check this without --symmetry"
        return tuple(Verdict(p, "inconclusive", "exhaustive", {}, why) for p in self.left)

    def notes(self, result: Result, represented: Represented | None) -> tuple[str, ...]:
        """What there is to say of it after a search: what is interchangeable, what that saved, and what is not and why."""
        if self.orbits is None or represented is None:
            notes = ["symmetry: no members are interchangeable, so every state was visited"]
        else:
            classes = " and ".join(map(str, self.orbits.symmetry.classes))
            visited = sum(result.level_sizes)
            transitions = f" with {count_of(represented.transitions, 'transition')}" if result.outcome == "exhausted" else ""
            factor = represented.states / max(visited, 1)
            stand_in = count_of(visited, "state")
            notes = [
                f"symmetry: {classes} interchangeable ({self._permutations()})",
                f"symmetry: {stand_in} stand for {represented.states:,}{transitions}; reduction factor {factor:.1f}",
            ]
        return (*notes, *(f"symmetry: {obstacle}" for obstacle in self.symmetry.obstacles))

    def _permutations(self) -> str:
        used, proved = self.orbits.order if self.orbits else 1, self.symmetry.order
        return f"{used:,} permutations" + (f" of {proved:,}, which would take too long for each state" if used < proved else "")


def _proved(protocol: Protocol, formulas: Mapping[str, Condition], reporter: Reporter) -> Symmetry:
    """The symmetry of a protocol and formulas, which an earlier process may have proved of the same."""

    def proved() -> bytes:
        symmetry = symmetry_of(protocol, formulas, reporter.proving)
        classes = [(each.universe.name, each.members) for each in symmetry.classes]
        return json.dumps((classes, symmetry.obstacles)).encode()

    what = "symmetry", digest_of(protocol, formulas.values()), list(formulas)
    classes, obstacles = json.loads(product(what, proved))
    of_members = (Interchangeable(protocol.universes[name], tuple(members)) for name, members in classes)
    return Symmetry(tuple(of_members), tuple(obstacles))


def _formulas(properties: Iterable[Property]) -> dict[str, Condition]:
    """What must not tell members apart, under the names that an obstacle is to have."""
    formulas = {}
    for p in properties:
        if p.kind not in ("sometimes", "leads_to"):
            formulas[f"property {p.name}"] = p.formula
            if p.premise is not None:
                formulas[f"the premise of property {p.name}"] = p.premise
    return formulas
