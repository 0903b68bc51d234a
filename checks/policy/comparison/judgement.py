"""What a comparison comes to: the differences, the runs that show the worst of them, and the exit status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.comparison.now import Beside, now
from fencepost.checks.policy.comparison.paired import Difference, Tolerances, Values, differences
from fencepost.model.balance.simulation.measures import MEASURES
from fencepost.model.counts import count_of
from fencepost.traces.comparison.compare import Outcome
from fencepost.traces.comparison.comparison import Comparison, Contender


@dataclass(frozen=True)
class Judgement:
    """A comparison, the rows of its complete runs, and what is asked of them."""

    comparison: Comparison
    rows: pa.Table
    outcome: Outcome
    tolerances: Tolerances
    confidence: float
    folder: Path
    strict: bool = False
    happened: Beside | None = None

    @cached_property
    def now(self) -> Beside | None:
        """What is known beside the simulations: what happened, or the snapshot with which the runs begin, if there is one."""
        return self.happened or now(self.comparison)

    @property
    def runs(self) -> int:
        """How many runs are complete, under all policies."""
        return len(self.rows) // len(self.comparison.contenders)

    @property
    def baseline(self) -> Contender:
        """What the others are compared with."""
        return self.comparison.contenders[0]

    @property
    def proposed(self) -> tuple[Contender, ...]:
        """The other policies."""
        return self.comparison.contenders[1:]

    def values(self, contender: Contender) -> dict[str, Values]:
        """The measures of a policy, each with a value for each run; NaN where a run has none."""
        own = self._own(contender)
        return {name: own[name].to_numpy().astype(np.float64) for name in MEASURES}

    def _own(self, contender: Contender) -> pa.Table:
        place = self.comparison.contenders.index(contender)
        return self.rows.take(np.arange(place, len(self.rows), len(self.comparison.contenders)))

    @cached_property
    def differences(self) -> list[Difference]:
        """Every measure of every proposed policy against the baseline."""
        if not self.runs:
            return []
        others = {contender.name: self.values(contender) for contender in self.proposed}
        return differences(list(MEASURES.values()), self.values(self.baseline), others, self.tolerances, self.confidence)

    def of(self, contender: Contender) -> list[Difference]:
        """The differences of one proposed policy."""
        return [difference for difference in self.differences if difference.policy == contender.name]

    def by_measure(self) -> list[list[Difference]]:
        """The differences of all policies, measure by measure."""
        grouped = ([d for d in self.differences if d.measure.name == name] for name in MEASURES)
        return [group for group in grouped if group]

    def violating(self, contender: Contender) -> list[int]:
        """The runs in which something was done under a policy that the protocols do not allow."""
        counts = self._own(contender)["violations"].to_pylist()
        return [run for run, count in enumerate(counts) if count]

    @property
    def status(self) -> ExitStatus:
        """12 if something is worse than tolerated, or violates a protocol.

        Else 20 if not all runs were made, they are too few or, where that is asked for strictly, something may yet be worse.
        """
        verdicts = {difference.verdict for difference in self.differences}
        if "worse" in verdicts or any(map(self.violating, self.comparison.contenders)):
            return ExitStatus.SAFETY
        if self.outcome != "complete" or not verdicts or "too few runs" in verdicts:
            return ExitStatus.INCONCLUSIVE
        if self.strict and any(difference.may_be_worse for difference in self.differences):
            return ExitStatus.INCONCLUSIVE
        return ExitStatus.HOLDS


def same_in_every_run(differences: Iterable[Difference]) -> bool:
    """Whether no run tells the policies apart."""
    return not any(difference.lower or difference.higher for difference in differences)


def sentence(judgement: Judgement, contender: Contender) -> str:
    """The verdict on a policy, in words."""
    by: dict[str, list[str]] = {}
    for difference in judgement.of(contender):
        verdict = "within tolerance" if difference.is_tolerated else difference.verdict
        by.setdefault(verdict, []).append(difference.measure.name)
    violating = judgement.violating(contender)
    parts = [f"violates the protocols in {count_of(len(violating), 'run')}, first in run {violating[0]}"] if violating else []
    parts += [f"{verdict} in {', '.join(by[verdict])}" for verdict in ("worse", "better") if verdict in by]
    if "too few runs" in by:
        parts.append(f"not judged in {', '.join(by['too few runs'])}: too few runs")
    if "differs" in by:
        parts.append(f"other, neither better nor worse, in {', '.join(by['differs'])}")
    if "within tolerance" in by:
        parts.append(f"within tolerance in {', '.join(by['within tolerance'])}")
    if not parts:
        parts = ["no difference shown"] if by else ["nothing to compare: no run is complete"]
    elif "no difference" in by:
        parts.append(f"no difference shown in {len(by['no difference'])} measures")
    return f"{contender.name} against {judgement.baseline.name}: {'; '.join(parts)}"
