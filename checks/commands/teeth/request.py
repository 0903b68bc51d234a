"""What ``fencepost teeth`` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.checks.console.options import NamedReleases


@dataclass(frozen=True)
class TeethRequest(NamedReleases):
    """Whose mutants, and which of them; in which instances, with which properties; which score is enough."""

    protocols: Sequence[str]
    size: str | None
    set: Sequence[str]
    mutant: Sequence[str]
    property: Sequence[str]
    sample: int | None
    seed: int
    all: bool
    least: float
    format: str
    states: int
    memory: float
    workers: int | None
    quiet: bool
