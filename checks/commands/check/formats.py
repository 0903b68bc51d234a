"""What a check came to, the text that a person reads along, and one table of the documents that a run can write.

A document has an option of the same name. Reports are loaded only when a format is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.console.terminal import colour, screen, width
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, run_status, severest
from fencepost.checks.questions.baseline import Comparison, Doubt
from fencepost.model.releases import Releases

if TYPE_CHECKING:
    from fencepost.checks.reports.failures import Configured, Judged
    from fencepost.checks.reports.guarantees import Opening
    from fencepost.checks.reports.refusal import Refusal


@dataclass(frozen=True)
class FinishedRun:
    """A run that has ended: what was found, what a configuration guarantees, the trace files by the verdict's place among all,
    what is suspicious, how it differs from a baseline, the settings that it is about. ``is_part`` says that something was left
    out; ``unsettled`` is what there was no time for.

    A text has the ``notes`` and every property if it is ``whole``, else the ``remarks`` and a line for each protocol. A person
    reads the ``messages`` besides. Of a run that asked for guarantees ``alone`` nothing else was checked.
    """

    releases: Releases | None
    notes: Sequence[str]
    is_part: bool
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


@dataclass(frozen=True)
class Format:
    """How a check prints what it came to.

    ``run`` is the document of a run that has ended, or, where the format ``is_for_people`` who read along, what was not printed
    yet; ``refusal`` is why nothing was checked.
    """

    is_for_people: bool
    run: Callable[[FinishedRun], str]
    refusal: Callable[[Refusal], str]


def _text(run: FinishedRun, annotations: str = "") -> str:
    messages = "".join(f"{line}\n" for line in run.messages)
    return f"{_body(run)}{messages}{annotations}{_closing(run)}\n"


def _body(run: FinishedRun) -> str:
    """What there is to say before the last line, and was not printed yet."""
    from fencepost.checks.reports.in_short import known_bugs, suspicious_lines

    if run.opening is not None:
        from fencepost.checks.reports.sheet import second_screen, sheet

        told = run.opening, run.everything, run.suspicious
        if run.whole or run.alone:
            return f"{sheet(*told, run.notes, whole=run.whole, width=width(), colour=colour())}\n"
        return f"{second_screen(*told, run.remarks, width=screen(), colour=colour())}\n"
    lines = [] if run.whole else known_bugs(run.everything, width())
    lines += suspicious_lines(doubt for doubt in run.suspicious if not (run.whole and doubt.instance))
    return "".join(f"{line}\n" for line in lines)


def _closing(run: FinishedRun) -> str:
    """The last line."""
    from fencepost.checks.reports.report import closing

    outdated = run.comparison is not None and run.comparison.differs
    if run.opening is not None and (run.alone or run.opening.answers):
        from fencepost.checks.reports.decisions import closing_of_configuration

        return closing_of_configuration(run.opening, run.everything, run.status, outdated=outdated)
    return closing(run.everything, run.status, run.suspicious, outdated=outdated)


def _annotated(run: FinishedRun) -> str:
    from fencepost.checks.reports.documents import as_annotations

    return _text(run, as_annotations(_judged(run), run.suspicious, run.opening))


def _judged(run: FinishedRun) -> Iterator[Judged]:
    from fencepost.checks.reports.failures import judged

    return judged(run.everything, run.files, run.configured)


def _junit(run: FinishedRun) -> str:
    from fencepost.checks.reports.documents import as_junit

    return as_junit(_judged(run), run.status, [*run.notes, *_changes(run.opening)], run.suspicious, run.opening)


def _sarif(run: FinishedRun) -> str:
    from fencepost.checks.reports.sarif import as_sarif

    return as_sarif(_judged(run), run.status, [*run.notes, *_changes(run.opening)], run.suspicious, run.opening)


def _json(run: FinishedRun) -> str:
    from fencepost.checks.reports.report import as_json

    return as_json(run.everything, run.status, run.notes, run.files, run.suspicious, run.releases, run.comparison, run.opening)


def _markdown(run: FinishedRun) -> str:
    from fencepost.checks.reports.documents import as_markdown

    return as_markdown(run.opening, _judged(run), run.status, _closing(run))


def _changes(opening: Opening | None) -> list[str]:
    """What another configuration changes in known bugs and in the balancing of load."""
    from fencepost.checks.reports.changes import heading, sentences, verdict
    from fencepost.checks.reports.decisions import decisions, stops

    bugs, policy = (opening.bugs, opening.policy) if opening else (None, None)
    changed = [heading(bugs), verdict(bugs), *sentences(bugs)] if bugs else []
    decided = [*decisions(opening), *stops(opening)] if opening else []
    return [*decided, *changed, *([*policy.sentences, *policy.commands] if policy else [])]


TEXT = Format(True, _text, lambda refusal: "")  # a refusal is on standard error
ANNOTATED = Format(True, _annotated, lambda refusal: refusal.as_annotation())
DOCUMENTS: Mapping[str, Format] = {
    "json": Format(False, _json, lambda refusal: refusal.as_json()),
    "junit": Format(False, _junit, lambda refusal: refusal.as_junit()),
    "sarif": Format(False, _sarif, lambda refusal: refusal.as_sarif()),
    "markdown": Format(False, _markdown, lambda refusal: refusal.as_markdown()),
}
"""The documents by the names of their options; a name that is not here is a KeyError."""
