"""The runs to look at, a typical one and the worst: made once more, under the baseline too, and written down."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fencepost.checks.policy.comparison.judgement import Judgement
from fencepost.checks.policy.comparison.paired import Difference
from fencepost.checks.policy.text import timeline
from fencepost.model.balance.simulation.measures import MEASURES, Measures, measures
from fencepost.model.balance.simulation.run import Run
from fencepost.model.counts import count_of
from fencepost.traces.comparison.comparison import Contender
from fencepost.traces.files.writing import write_text

WORST = "worst"
"""The folder of their files within that of the comparison."""
TYPICAL_IN = "imbalance"


class NotRepeatable(Exception):
    """A run came out otherwise when it was made once more; the message says which policy is to blame."""


@dataclass(frozen=True)
class Shown:
    """A run that is shown: under the baseline and under a proposed policy, and the file that has its actions.

    ``worst_in`` are the measures in which it is the policy's worst, those that are worse first; none of a typical run.
    """

    number: int
    contender: Contender
    worst_in: tuple[str, ...]
    baseline: Run
    proposed: Run
    file: Path

    @property
    def title(self) -> str:
        """Which run it is, and why it is shown."""
        if not self.worst_in:
            return f"Run {self.number}: a typical one of {self.contender.name}, by its difference in {TYPICAL_IN}"
        return f"Run {self.number}: the worst of {self.contender.name} in {', '.join(self.worst_in)}"


def shown_runs(
    judgement: Judgement, progress: Callable[[int, int], None] = lambda done, of: None, should_stop: Callable[[], bool] = bool
) -> list[Shown]:
    """Of every proposed policy the worst run of every measure, and a typical run; each written to a file.

    Those that are the worst of what gets worse come first, then the typical one.

    Raises NotRepeatable if one has other measures than before, OSError if it cannot be written.
    """
    wanted: dict[tuple[str, int], list[Difference]] = {}
    for contender in judgement.proposed if judgement.runs else ():
        own = [difference for difference in judgement.of(contender) if difference.worst is not None]
        for difference in (difference for difference in own if difference.verdict == "worse"):
            wanted.setdefault((contender.name, difference.worst or 0), []).append(difference)
        wanted.setdefault((contender.name, typical_run(judgement, contender)), [])
        for difference in (difference for difference in own if difference.verdict != "worse"):
            wanted.setdefault((contender.name, difference.worst or 0), []).append(difference)
    again: dict[tuple[str, int], Run] = {}

    def run_of(contender: Contender, number: int) -> Run:
        key = (contender.name, number)
        if key not in again:
            again[key] = judgement.comparison.simulated(number, contender)
            _require_same(judgement, contender, number, measures(again[key]))
        return again[key]

    shutil.rmtree(judgement.folder / WORST, ignore_errors=True)
    runs = []
    for done, ((name, number), reasons) in enumerate(wanted.items()):
        if should_stop():
            break
        contender = next(c for c in judgement.proposed if c.name == name)
        both = run_of(judgement.baseline, number), run_of(contender, number)
        place = judgement.comparison.contenders.index(contender)
        file = judgement.folder / WORST / f"{place}-{_slug(name)}-run-{number:05d}.txt"
        shown = Shown(number, contender, tuple(d.measure.name for d in reasons), *both, file)
        write_text(file, trace_text(judgement, shown))
        runs.append(shown)
        progress(done + 1, len(wanted))
    return runs


def trace_text(judgement: Judgement, shown: Shown) -> str:
    """What was done in a run under both policies, minute by minute, and its measures."""
    comparison = judgement.comparison
    seed = comparison.seed_of(shown.number)
    lines = [
        f"run {shown.number} of {comparison.runs}, {comparison.scenario.name}, {comparison.hours:g} h, seed {seed}",
        shown.title,
        "",
        f"{'measure':<18}{judgement.baseline.name:>24}{shown.contender.name:>24}  unit",
    ]
    one, other = measures(shown.baseline).as_dict(), measures(shown.proposed).as_dict()
    present = [name for name in MEASURES if one[name] == one[name]]
    lines += [f"{name:<18}{one[name]:>24.6g}{other[name]:>24.6g}  {MEASURES[name].unit}" for name in present]
    for contender, run in ((shown.contender, shown.proposed), (judgement.baseline, shown.baseline)):
        lines += ["", f"{contender.name}: {count_of(len(run.actions), 'action')}", *timeline(run)]
    return "\n".join(lines) + "\n"


def typical_run(judgement: Judgement, contender: Contender) -> int:
    """The run whose difference is the median of all, or next below it."""
    apart = judgement.values(contender)[TYPICAL_IN] - judgement.values(judgement.baseline)[TYPICAL_IN]
    return int(np.argsort(apart, kind="stable")[(len(apart) - 1) // 2])


def _require_same(judgement: Judgement, contender: Contender, number: int, again: Measures) -> None:
    for name, value in again.as_dict().items():
        before = judgement.values(contender)[name][number]
        if value != before and not (value != value and before != before):
            raise NotRepeatable(
                f"{contender.name}: run {number} made once more has {name} {value:g}, not {before:g}: the policy is not a "
                "function of what it is handed; look for chance, clocks, or state that outlives a round"
            )


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", Path(name).name).strip("-")[:40]
