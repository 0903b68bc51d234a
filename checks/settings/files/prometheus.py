"""Prometheus' text format, as processes answer it at ``/metrics`` and Prometheus at ``/federate``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.settings.files.input_files import InputError, Place, read_text

_SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][\w:]*)\s*(?:\{(?P<labels>.*)\})?\s+(?P<value>[^\s{}]+)(?:\s+(?P<time>-?\d+))?", re.ASCII
)
_LABEL = re.compile(r'\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)', re.ASCII)
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True)
class Sample:
    """A line of the format: where it is, a name, its labels, a value, and milliseconds since 1970 or 0."""

    line: int
    name: str
    labels: Mapping[str, str]
    value: float
    time: int


def samples(path: Path) -> Iterator[Sample]:
    """The samples of a file, in order, also those that are infinite or NaN. InputError for a line that is none."""
    for number, line in enumerate(read_text(path, "metrics in Prometheus' text format").splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _SAMPLE.fullmatch(text)
        value = _number(match["value"]) if match else None
        if match is None or value is None:
            place = Place(path, number)
            raise InputError(f"{place}: is not a sample in Prometheus' text format: {text[:60]!r}", place)
        labels = {key: _ESCAPED.sub(_unescaped, written) for key, written in _LABEL.findall(match["labels"] or "")}
        yield Sample(number, match["name"], labels, value, int(match["time"] or 0))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _unescaped(escape: re.Match[str]) -> str:
    return "\n" if escape[1] == "n" else escape[1]
