"""A run as annotations of GitHub Actions: lines of the log that mark a place in the source."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.checks.questions.doubt import Doubt
from fencepost.checks.questions.judging import Shortfall
from fencepost.checks.reports.failures import Judged, as_in_repository, place_of
from fencepost.checks.reports.guarantees import why
from fencepost.checks.settings.files.input_files import Place
from fencepost.model.language import Location


def as_annotations(verdicts: Iterable[Judged], suspicious: Iterable[Doubt] = (), shortfalls: Iterable[Shortfall] = ()) -> str:
    """A workflow command for each verdict that is not as it should be, each guarantee that falls short, at the line of the
    setting, and each suspicion: an error, or a warning where nothing is known, or the run succeeds nevertheless."""
    short = "".join(_shortfall(s) for s in shortfalls)
    rows = "".join(_annotation(row) for row in verdicts if row.failed)
    return short + rows + "".join(_at(doubt.strict, doubt.suspicion.location, "suspicious", str(doubt)) for doubt in suspicious)


def _shortfall(shortfall: Shortfall) -> str:
    return command(shortfall.kind != "open", as_in_repository(shortfall.place), shortfall.headline, why(shortfall))


def _annotation(row: Judged) -> str:
    return command(not row.open, row.place, row.headline, row.text)


def _at(is_error: bool, location: Location, title: str, text: str) -> str:
    return command(is_error, place_of(location), title, text)


def command(is_error: bool, place: Place | None, title: str, text: str) -> str:
    """The workflow command that marks a line of a file, the file where no line is to blame, or nothing without a place."""
    fields = {} if place is None else {"file": place.file.as_posix()} | ({"line": str(place.line)} if place.line else {})
    fields["title"] = title
    parameters = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in fields.items())
    return f"::{'error' if is_error else 'warning'} {parameters}::{_escaped(text)}\n"


def _escaped(text: str, also: str = "") -> str:
    """The text with what would end a workflow command, or one of its fields, in percent notation."""
    for character in ("%", "\r", "\n", *also):
        text = text.replace(character, f"%{ord(character):02X}")
    return text
