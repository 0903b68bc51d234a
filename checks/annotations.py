"""A run as annotations of GitHub Actions: lines of the log that mark a place in the source."""

from __future__ import annotations

from collections.abc import Iterable

from checks.failures import Judged, place_of


def as_annotations(verdicts: Iterable[Judged]) -> str:
    """A workflow command for each verdict that is not as it should be: an error, or a warning where nothing is known."""
    return "".join(_annotation(row) for row in verdicts if row.failed)


def _annotation(row: Judged) -> str:
    location = row.verdict.property.location
    fields = {"file": place_of(location), "line": str(location.line), "title": row.headline}
    told = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in fields.items())
    return f"::{'warning' if row.open else 'error'} {told}::{_escaped(row.text)}\n"


def _escaped(text: str, also: str = "") -> str:
    """The text with what would end a workflow command, or one of its fields, in percent notation."""
    for character in ("%", "\r", "\n", *also):
        text = text.replace(character, f"%{ord(character):02X}")
    return text
