"""What each verb of ``fencepost trace`` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TraceRequest:
    """The trace file that a verb is about."""

    file: Path


@dataclass(frozen=True)
class ShowRequest(TraceRequest):
    """Print it: with the whole initial state, or only what concerns an actor."""

    full: bool
    actor: str | None


@dataclass(frozen=True)
class ReplayRequest(TraceRequest):
    """Take its steps again."""


@dataclass(frozen=True)
class DiffRequest(TraceRequest):
    """Compare it with another."""

    other: Path


@dataclass(frozen=True)
class ExplainRequest(TraceRequest):
    """Why an action cannot happen after a step, the last unless named."""

    step: int | None
    action: str


@dataclass(frozen=True)
class DiagramRequest(TraceRequest):
    """Draw it, and write that to a file or print it."""

    format: str
    out: Path | None


@dataclass(frozen=True)
class NeighbourhoodRequest(DiagramRequest):
    """Draw what is around it, up to so many steps and states."""

    radius: int
    limit: int


@dataclass(frozen=True)
class ShrinkRequest(TraceRequest):
    """Make it shorter, with its parameters as they are or with smaller ones."""

    out: Path | None
    keep_instance: bool
    quiet: bool


@dataclass(frozen=True)
class PinRequest(TraceRequest):
    """Write a test of it to a folder, and what the test is to expect."""

    out: Path
    expect: str | None


@dataclass(frozen=True)
class JavaRequest(TraceRequest):
    """Write it as a Maven project for a release of the real code, and for a storage of its bookies."""

    out: Path
    release: str | None
    storage: str | None
    quiet: bool


@dataclass(frozen=True)
class HtmlRequest:
    """Write the page of some trace files."""

    files: Sequence[Path]
    out: Path | None
    quiet: bool
