"""The text that a person reads along, and one table of the documents that a run can write.

A document has an option of the same name. Reports are loaded only when a format is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.checks.console.printing import colour, screen, width
from fencepost.checks.reports.finished import FinishedRun

if TYPE_CHECKING:
    from fencepost.checks.reports.documents import Refusal


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
    from fencepost.checks.reports.in_short import last_line

    messages = "".join(f"{line}\n" for line in run.messages)
    return f"{_body(run)}{messages}{annotations}{last_line(run)}\n"


def _body(run: FinishedRun) -> str:
    """What there is to say before the last line, and was not printed yet."""
    from fencepost.checks.reports.in_short import known_bugs, suspicious_lines

    if run.opening is not None:
        from fencepost.checks.reports.sheet import second_screen, sheet

        if run.whole or run.alone:
            return f"{sheet(run, width=width() if run.whole else screen(), colour=colour())}\n"
        return f"{second_screen(run, width=screen(), colour=colour())}\n"
    lines = [] if run.whole else known_bugs(run.everything, width())
    lines += suspicious_lines(doubt for doubt in run.suspicious if not (run.whole and doubt.instance))
    return "".join(f"{line}\n" for line in lines)


def _annotated(run: FinishedRun) -> str:
    from fencepost.checks.reports.documents import as_annotations

    return _text(run, as_annotations(run))


def _junit(run: FinishedRun) -> str:
    from fencepost.checks.reports.documents import as_junit

    return as_junit(run)


def _sarif(run: FinishedRun) -> str:
    from fencepost.checks.reports.sarif import as_sarif

    return as_sarif(run)


def _json(run: FinishedRun) -> str:
    from fencepost.checks.reports.report import as_json

    return as_json(run)


def _markdown(run: FinishedRun) -> str:
    from fencepost.checks.reports.documents import as_markdown

    return as_markdown(run)


TEXT = Format(True, _text, lambda refusal: "")  # a refusal is on standard error
ANNOTATED = Format(True, _annotated, lambda refusal: refusal.as_annotation())
DOCUMENTS: Mapping[str, Format] = {
    "json": Format(False, _json, lambda refusal: refusal.as_json()),
    "junit": Format(False, _junit, lambda refusal: refusal.as_junit()),
    "sarif": Format(False, _sarif, lambda refusal: refusal.as_sarif()),
    "markdown": Format(False, _markdown, lambda refusal: refusal.as_markdown()),
}
"""The documents by the names of their options; a name that is not here is a KeyError."""
