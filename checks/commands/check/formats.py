"""The formats of ``fencepost check``: the text that a person reads along, and one table of the documents that a run can write.

A document has an option of the same name. Reports are loaded only when a format is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.checks.console.terminal import colour, width

if TYPE_CHECKING:
    from fencepost.checks.commands.check.finished_run import FinishedGuarantees, FinishedRun
    from fencepost.checks.reports.guarantees import Opening
    from fencepost.checks.reports.refusal import Refusal


@dataclass(frozen=True)
class Format:
    """How a check prints what it came to.

    ``run`` is the document of a run that has ended, or, where the format ``is_for_people`` who read along, what was not printed
    yet. ``guarantees`` are those of a configuration alone; ``refusal`` is why nothing was checked.
    """

    is_for_people: bool
    run: Callable[[FinishedRun], str]
    guarantees: Callable[[FinishedGuarantees], str]
    refusal: Callable[[Refusal], str]


def _end(run: FinishedRun, annotations: str = "") -> str:
    from fencepost.checks.reports.report import closing

    outdated = run.comparison is not None and run.comparison.differs
    messages = "".join(f"{line}\n" for line in run.messages)
    end = closing(run.everything, run.status, run.suspicious, outdated=outdated)
    if run.opening is not None and run.opening.answers and not outdated:
        from fencepost.checks.reports.front import closing as closing_of_cluster

        end = closing_of_cluster(run.opening, run.status)
    return f"{_body(run)}{messages}{annotations}{end}\n"


def _body(run: FinishedRun) -> str:
    """What there is to say before the last line, and was not printed yet."""
    from fencepost.checks.reports.in_short import known_bugs, suspicious_lines

    if run.opening is not None:
        from fencepost.checks.reports.sheet import sheet

        if not run.whole:
            from fencepost.checks.reports.sheet import second_screen

            return (
                f"{second_screen(run.opening, run.everything, run.suspicious, run.remarks, width=width(), colour=colour())}\n"
            )
        notes = run.notes
        shown = sheet(run.opening, run.everything, run.suspicious, notes, whole=run.whole, width=width(), colour=colour())
        return f"{shown}\n"
    lines = [] if run.whole else known_bugs(run.everything, width())
    lines += suspicious_lines(doubt for doubt in run.suspicious if not (run.whole and doubt.instance))
    return "".join(f"{line}\n" for line in lines)


def _end_on_github(run: FinishedRun) -> str:
    from fencepost.checks.reports.annotations import as_annotations
    from fencepost.checks.reports.failures import judged

    short = run.opening.shortfalls if run.opening else ()
    return _end(run, as_annotations(judged(run.everything, run.files, run.configured), run.suspicious, short))


def _guarantees(run: FinishedGuarantees, annotations: str = "") -> str:
    from fencepost.checks.reports.report import closing_of_guarantees
    from fencepost.checks.reports.sheet import sheet

    shown = sheet(run.opening, notes=run.notes, whole=run.whole, width=width())
    return f"{shown}\n{annotations}{closing_of_guarantees(run.opening, run.status)}\n"


def _guarantees_on_github(run: FinishedGuarantees) -> str:
    from fencepost.checks.reports.annotations import as_annotations

    return _guarantees(run, as_annotations((), shortfalls=run.opening.shortfalls))


def _junit(run: FinishedRun) -> str:
    from fencepost.checks.reports.failures import judged
    from fencepost.checks.reports.junit import as_junit

    return as_junit(judged(run.everything, run.files, run.configured), run.status, run.notes, run.suspicious, run.opening)


def _guarantees_as_junit(run: FinishedGuarantees) -> str:
    from fencepost.checks.reports.junit import as_junit

    return as_junit((), run.status, [*run.notes, *_changes(run.opening)], opening=run.opening)


def _sarif(run: FinishedRun) -> str:
    from fencepost.checks.reports.failures import judged
    from fencepost.checks.reports.sarif import as_sarif

    return as_sarif(judged(run.everything, run.files, run.configured), run.status, run.notes, run.suspicious, run.opening)


def _guarantees_as_sarif(run: FinishedGuarantees) -> str:
    from fencepost.checks.reports.sarif import as_sarif

    return as_sarif((), run.status, [*run.notes, *_changes(run.opening)], opening=run.opening)


def _json(run: FinishedRun) -> str:
    from fencepost.checks.reports.report import as_json

    return as_json(run.everything, run.status, run.notes, run.files, run.suspicious, run.releases, run.comparison, run.opening)


def _guarantees_as_json(run: FinishedGuarantees) -> str:
    from fencepost.checks.reports.report import as_json

    return as_json([], run.status, run.notes, {}, releases=run.opening.now.cluster.releases, opening=run.opening)


def _markdown(run: FinishedRun) -> str:
    from fencepost.checks.reports.failures import judged
    from fencepost.checks.reports.markdown import as_markdown
    from fencepost.checks.reports.report import closing

    rows = judged(run.everything, run.files, run.configured)
    return as_markdown(run.opening, rows, run.status, closing(run.everything, run.status, run.suspicious))


def _guarantees_as_markdown(run: FinishedGuarantees) -> str:
    from fencepost.checks.reports.markdown import as_markdown
    from fencepost.checks.reports.report import closing_of_guarantees

    return as_markdown(run.opening, (), run.status, closing_of_guarantees(run.opening, run.status))


def _changes(opening: Opening) -> list[str]:
    from fencepost.checks.reports.bug_change import heading, sentences, verdict

    bugs, policy = opening.bugs, opening.policy
    changed = [heading(bugs), verdict(bugs), *sentences(bugs)] if bugs else []
    return [*changed, *([*policy.sentences, *policy.commands] if policy else [])]


TEXT = Format(True, _end, _guarantees, lambda refusal: "")  # a refusal is on standard error
ANNOTATED = Format(True, _end_on_github, _guarantees_on_github, lambda refusal: refusal.as_annotation())
DOCUMENTS: Mapping[str, Format] = {
    "json": Format(False, _json, _guarantees_as_json, lambda refusal: refusal.as_json()),
    "junit": Format(False, _junit, _guarantees_as_junit, lambda refusal: refusal.as_junit()),
    "sarif": Format(False, _sarif, _guarantees_as_sarif, lambda refusal: refusal.as_sarif()),
    "markdown": Format(False, _markdown, _guarantees_as_markdown, lambda refusal: refusal.as_markdown()),
}
"""The documents by the names of their options; a name that is not here is a KeyError."""
