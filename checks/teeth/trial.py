"""One instance puts mutants to the test: which of them it tells from the protocol, and which of these its properties notice."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.engines.solvers.workers import spread
from fencepost.checks.teeth.mutation import UNFAIR, Mistake, Spoiled, mutants
from fencepost.checks.teeth.switched_mutants import Batch, alone, claims, differences, rearranged
from fencepost.model.analysis.obligations import prove_domains
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import search
from fencepost.model.language import ModelError, Protocol
from fencepost.model.terms.values import Condition
from fencepost.properties.observed import Observed
from fencepost.properties.registry import Entry, Instance

BATCH = 24
"""Mutants that are compiled together: with more, most of the time goes into code that none but one of them runs."""


@dataclass(frozen=True)
class Kill:
    """How a mutant was noticed: in which instance, by which engine and which of the properties, in how many steps.

    The first property is the one that is shown. Where what an action writes leaves a variable's domain, there is none; where
    success is suspicious as it is not without the mutant, the suspicions stand in their place.
    """

    instance: str
    by: str
    properties: tuple[str, ...] = ()
    steps: int | None = None


@dataclass(frozen=True)
class Tried:
    """What came of one mutant in one instance: it was killed, or else it was not, or (``cut_short``) that is not known."""

    kill: Kill | None = None
    cut_short: bool = False


class Trial:
    """An instance with its mutants."""

    def __init__(self, entry: Entry, instance: Instance, budget: Budget) -> None:
        self.entry, self.instance, self.budget = entry, instance, budget
        self.protocol = entry.build(instance.parameters)
        self.mutants: Mapping[Mistake, Spoiled] = mutants(entry, instance.parameters, self.protocol)
        self.states = 0
        self.usual: frozenset[str] = frozenset()
        self.met: frozenset[Mistake] = frozenset(self.mutants)

    def check(self, should_stop: Callable[[], bool]) -> None:
        """Raises ModelError if the protocol itself is not as it should be: then its mutants tell nothing."""
        if should_stop():
            return
        suite = self.entry.suite(self.protocol)
        findings = exhaust(Observed.of(suite, claims(suite)), self.budget, should_stop=should_stop)
        self.usual = frozenset(map(str, findings.suspicions))
        kill = self._judged(findings).kill
        if kill is not None:
            name = f"{self.entry.name}, {self.instance.name}"
            raise ModelError(f"{name}: {kill.properties[0]} does not hold without any mutation; see fencepost check")

    def count(self, should_stop: Callable[[], bool]) -> None:
        """Searches the protocol as it is, to know of how many states it is."""
        self._where(differences, [], should_stop)

    def explore(self, mistakes: Collection[Mistake], should_stop: Callable[[], bool]) -> None:
        """From here on there are only these mutants. Searches the protocol as it is for states in which they do something else;
        if it cannot search all of them, every mutant counts as one that does."""
        self.mutants = {mistake: spoiled for mistake, spoiled in self.mutants.items() if mistake in mistakes}
        self.met = self._where(differences, list(self.mutants), should_stop)

    def rearranging(self, mistakes: Sequence[Mistake], should_stop: Callable[[], bool]) -> frozenset[Mistake]:
        """Of these mutants those that have other steps than the protocol, whichever of their actions takes them."""
        return self._where(rearranged, mistakes, should_stop) if mistakes else frozenset()

    def _where(
        self, formula: Callable[[Protocol, Spoiled], Condition], mistakes: Sequence[Mistake], should_stop: Callable[[], bool]
    ) -> frozenset[Mistake]:
        """The mutants of which the formula holds in some reachable state of the protocol, as far as that is known."""
        formulas = []
        for mistake in mistakes:
            if should_stop():
                return frozenset(mistakes)
            formulas.append(formula(self.protocol, self.mutants[mistake]))
        kernel = Kernel(self.protocol, formulas)
        limits = Limits(memory=self.budget.memory)
        result = search(kernel, workers=self.budget.workers, limits=limits, should_stop=should_stop)
        self.states = result.distinct
        seen = set(result.seen)
        return frozenset(m for number, m in enumerate(mistakes) if number in seen or result.outcome != "exhausted")

    def try_all(
        self,
        mistakes: Sequence[Mistake],
        properties: Collection[str] | None,
        workers: int | None,
        progress: Callable[[int], None],
        should_stop: Callable[[], bool],
    ) -> dict[Mistake, Tried]:
        """Checks each of these mutants as any protocol is checked, all claims of its suite or those named; without those that
        were not tried because ``should_stop`` said so. ``progress`` is told how many are done."""
        batches = [mistakes[start : start + BATCH] for start in range(0, len(mistakes), BATCH)]

        def work(task: int) -> dict[Mistake, Tried]:
            return self._try(batches[task], properties, should_stop)

        def tell(done: int, count: int) -> None:
            progress(min(done * BATCH, len(mistakes)))

        results = spread(len(batches), workers, lambda: work, progress=tell, should_stop=should_stop)
        return {mistake: tried for some in results if some is not None for mistake, tried in some.items()}

    def _try(
        self, mistakes: Sequence[Mistake], properties: Collection[str] | None, should_stop: Callable[[], bool]
    ) -> dict[Mistake, Tried]:
        within = [mistake for mistake in mistakes if self.stays_in_domain(mistake)]
        tried = {mistake: Tried(Kill(self.instance.name, "domains")) for mistake in mistakes if mistake not in within}
        if not within:
            return tried
        for mistake in (mistake for mistake in within if mistake.change == UNFAIR):  # no switch makes an action fair
            if not should_stop():
                tried[mistake] = self._judged(exhaust(self._alone(mistake, properties), self.budget, should_stop=should_stop))
        within = [mistake for mistake in within if mistake.change != UNFAIR]
        if not within:
            return tried
        batch = Batch(self.entry, self.instance, [self.mutants[mistake] for mistake in within], properties)
        for number, mistake in enumerate(within):
            batch.choose(number)
            findings = exhaust(batch.observed, self.budget, should_stop=should_stop)
            if should_stop():
                break
            tried[mistake] = self._judged(findings)
        return tried

    def _alone(self, mistake: Mistake, properties: Collection[str] | None) -> Observed:
        suite = alone(self.entry, self.instance, self.mutants[mistake])
        return Observed.of(suite, [p for p in claims(suite) if properties is None or p.name in properties])

    def stays_in_domain(self, mistake: Mistake) -> bool:
        """Whether the mutant keeps every variable in its domain, which every check demands first."""
        spoiled = copy.copy(self.protocol)
        spoiled.actions = list(self.mutants[mistake].values())
        try:
            prove_domains(spoiled)
        except ModelError:
            return False
        return True

    def _judged(self, findings: Findings) -> Tried:
        failed = [v for v in findings.verdicts if v.failure not in (ExitStatus.HOLDS, ExitStatus.INCONCLUSIVE)]
        if not failed:
            unusual = tuple(suspicion for s in findings.suspicions if (suspicion := str(s)) not in self.usual)
            if unusual:
                return Tried(Kill(self.instance.name, "suspicion", unusual))
            return Tried(cut_short=any(v.failure == ExitStatus.INCONCLUSIVE for v in findings.verdicts))
        failed.sort(key=_steps)
        shown = failed[0]
        steps = shown.reach.get("steps")
        return Tried(
            Kill(self.instance.name, shown.by, tuple(v.property.name for v in failed), None if steps is None else int(steps))
        )


def _steps(verdict: Verdict) -> float:
    return float(verdict.reach.get("steps", "inf"))
