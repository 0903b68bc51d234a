"""What makes success suspicious: it may rest on nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

import z3

from fencepost.model.language import Action, Location
from fencepost.properties.vocabulary import Suite

Kind = Literal["never-enabled", "never-changes", "never-met", "never-happens", "never-needed", "never-broken", "from-nothing"]


@dataclass(frozen=True)
class Suspicion:
    """A reason to doubt a success: of what ``kind`` it is, in one sentence, and where its subject is written.

    An action is ``never-enabled`` in any reachable state, or ``never-happens`` by proof; a family of variables that an
    action could change ``never-changes``; the premise of a property is ``never-met``, or what is given for a theorem holds
    ``from-nothing``; a lemma is ``never-needed`` by the proof that it is part of; a property is ``never-broken`` by a mutant.
    """

    kind: Kind
    subject: str
    text: str
    location: Location

    def __str__(self) -> str:
        return self.text


def frozen(suite: Suite, constant: Collection[str]) -> Iterator[tuple[str, Action]]:
    """The families whose variables have never changed, each with an action that could change one, from where they begin.

    ``constant`` are the names of the variables that have not. An action that only puts a variable back to how it begins, as it
    is where this instance leaves out what would change it, could not; nor could one that the lemmas keep from it.
    """
    protocol = suite.protocol
    still = [v for v in protocol.variables if v.name in constant]
    changing = {v.family for v in protocol.variables if v.name not in constant}
    solver = z3.SimpleSolver()
    solver.add(*(v.domain.within(v.term) for v in protocol.variables), *(lemma.formula for lemma in suite.lemmas))
    solver.add(*(z3.Or([v.term == v.domain.literal(raw) for raw in v.initial]) for v in still))
    for family in dict.fromkeys(v.family for v in still if v.family not in changing):
        for action in protocol.actions:
            new = [term != v.term for v, term in action.updates.items() if v.family == family]
            if new and solver.check(action.guard, z3.Or(new)) != z3.unsat:
                yield family, action
                break
