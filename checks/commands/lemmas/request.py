"""What ``fencepost lemmas`` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.console.options import NamedReleases


@dataclass(frozen=True)
class LemmasRequest(NamedReleases):
    """The property of a protocol to prove, in which instances, with how long clauses, and where to write the lemmas."""

    protocol: str
    property: str
    set: Sequence[str]
    size: str | None
    bug: Sequence[str]
    literals: int
    seed: int
    out: Path | None
    format: str
    budget: float | None
    memory: float
    workers: int | None
    quiet: bool
