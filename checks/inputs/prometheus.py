"""What Prometheus writes: its text format, as processes answer it at ``/metrics`` and Prometheus at ``/federate``; OpenMetrics,
as ``promtool tsdb dump-openmetrics`` prints it; and the JSON with which it answers ``query_range``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fencepost.checks.inputs.input_files import InputError, Place, read_text

_SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][\w:]*)\s*(?:\{(?P<labels>.*)\})?\s+(?P<value>[^\s{}]+)(?:\s+(?P<time>-?\d+(?:\.\d+)?))?", re.ASCII
)
_LABEL = re.compile(r'\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)', re.ASCII)
_ESCAPED = re.compile(r"\\(.)")
_MILLISECONDS = 1e11
"""A time from which on is in milliseconds since 1970: as seconds it is after the year 5138."""


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
        sample = sample_of(text, number)
        if sample is None:
            place = Place(path, number)
            raise InputError(f"{place}: is not a sample in Prometheus' text format: {text[:60]!r}", place)
        yield sample


def sample_of(text: str, number: int) -> Sample | None:
    """The sample in a line of the text format or of OpenMetrics, whose times are in seconds; None if it is none."""
    match = _SAMPLE.fullmatch(text)
    value = _number(match["value"]) if match else None
    if match is None or value is None:
        return None
    labels = {key: _ESCAPED.sub(_unescaped, written) for key, written in _LABEL.findall(match["labels"] or "")}
    return Sample(number, match["name"], labels, value, _milliseconds(float(match["time"] or 0)))


def samples_of_range(answer: Mapping[str, Any]) -> Iterator[Sample]:
    """The samples in an answer to ``query_range``, which is a matrix; ValueError, KeyError or TypeError if it is none.

    The ``line`` of a sample is the number of its series, from 1.
    """
    if answer["status"] != "success" or answer["data"]["resultType"] != "matrix":
        raise ValueError("is no matrix: export it by /api/v1/query_range")
    for number, series in enumerate(answer["data"]["result"], start=1):
        labels = dict(series["metric"])
        name = labels.pop("__name__", "")
        if not name:
            raise ValueError(f"series {number} has no name: ask for the metric itself, without rate() or sum() around it")
        for time, value in series["values"]:
            yield Sample(number, name, labels, float(value), _milliseconds(float(time)))


def _milliseconds(time: float) -> int:
    return round(time if abs(time) >= _MILLISECONDS else time * 1000)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _unescaped(escape: re.Match[str]) -> str:
    return "\n" if escape[1] == "n" else escape[1]
