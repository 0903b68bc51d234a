"""Suspicions about a run that succeeded: of each of its instances, and of all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.teeth.pinned import idle_properties
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.vocabulary import Property


@dataclass(frozen=True)
class Doubt:
    """A suspicion about a protocol: in one of the instances of a run, or (``instance`` is empty) in none of them otherwise.

    ``strict`` says that it keeps the run from succeeding, ``accepted`` the reason with which a baseline accepts it.
    """

    protocol: str
    instance: str
    suspicion: Suspicion
    strict: bool
    accepted: str | None = None

    @property
    def place(self) -> str:
        """Of what it is said."""
        return f"{self.protocol}, {self.instance}" if self.instance else self.protocol

    def __str__(self) -> str:
        return f"{self.place}: {self.suspicion}"


def doubts(everything: Sequence[Checked], *, strict: bool) -> list[Doubt]:
    """All suspicions of a run: those of the instances in their order, then those of each protocol as a whole."""
    all_doubts = [Doubt(c.entry.name, c.instance.name, s, strict) for c in everything for s in c.suspicions]
    for name in dict.fromkeys(c.entry.name for c in everything):
        mine = [c for c in everything if c.entry.name == name]
        all_doubts += [Doubt(name, "", suspicion, strict) for suspicion in (*_never_needed(mine), *_never_broken(name, mine))]
    return all_doubts


def _never_needed(instances: Sequence[Checked]) -> Iterator[Suspicion]:
    """Lemmas that no proof of the run needs."""
    proofs = [c.unneeded for c in instances if c.unneeded is not None]
    names = [{lemma.name for lemma in unneeded} for unneeded in proofs]
    for lemma in proofs[0] if proofs else ():
        if all(lemma.name in theirs for theirs in names):
            yield Suspicion("never-needed", lemma.name, f"no proof needs the lemma {lemma.name}", lemma.location)


def _never_broken(name: str, instances: Sequence[Checked]) -> Iterator[Suspicion]:
    """Properties of the run that no mutant of the protocol violates, as it was pinned."""
    idle = idle_properties(name)
    properties: dict[str, Property] = {v.property.name: v.property for c in instances for v in c.verdicts}
    for prop in (prop for prop in properties.values() if prop.name in idle):
        yield Suspicion("never-broken", prop.name, f"no mutant violates {prop.name}", prop.location)
