"""A run that has ended, as every report takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, run_status, severest
from fencepost.checks.questions.baseline import Comparison, Doubt
from fencepost.model.releases import Releases

if TYPE_CHECKING:
    from fencepost.checks.reports.failures import Configured
    from fencepost.checks.reports.guarantees import Opening


@dataclass(frozen=True)
class FinishedRun:
    """A run that has ended: what was found, what a configuration guarantees, the trace files by the verdict's place among all,
    what is suspicious, how it differs from a baseline, the settings that it is about. ``is_part`` says that something was left
    out; ``unsettled`` is what there was no time for.

    A text has the ``notes`` and every property if it is ``whole``, else the ``remarks`` and a line for each protocol. A person
    reads the ``messages`` besides. Of a run that asked for guarantees ``alone`` nothing else was checked.
    """

    releases: Releases | None = None
    notes: Sequence[str] = ()
    is_part: bool = False
    everything: Sequence[Checked] = ()
    opening: Opening | None = None
    files: Mapping[int, Path] = field(default_factory=dict)
    suspicious: Sequence[Doubt] = ()
    comparison: Comparison | None = None
    configured: Configured | None = None
    whole: bool = True
    remarks: Sequence[str] = ()
    messages: Sequence[str] = ()
    unsettled: Sequence[Checked] = ()
    alone: bool = False

    @property
    def is_outdated(self) -> bool:
        """Whether it differs from the baseline that was given."""
        return self.comparison is not None and self.comparison.differs

    @property
    def status(self) -> ExitStatus:
        """What the run tells its caller. A baseline that is out of date is an assumption that does not hold, unless all that is
        new are bugs, which have a status of their own."""
        statuses = set[ExitStatus]() if self.alone else {run_status(checked.verdicts for checked in self.everything)}
        if self.opening is not None:
            statuses.add(self.opening.status)
            changes = (self.opening.bugs, *(change for _, change in self.opening.changed_namespaces))
            if any(change is not None and change.felt for change in changes):
                statuses.add(ExitStatus.KNOWN_BUG)
        if any(doubt.strict for doubt in self.suspicious):
            statuses.add(ExitStatus.ASSUMPTION)
        baseline = self.comparison
        if baseline is not None and (baseline.gone or any(key.verdict != "known bug" for key in baseline.new)):
            statuses.add(ExitStatus.ASSUMPTION)
        status = severest(statuses)
        return ExitStatus.INCONCLUSIVE if self.is_part and status in (ExitStatus.HOLDS, ExitStatus.EVALUATION) else status
