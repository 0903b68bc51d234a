"""What ``fencepost check`` is asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.console.options import NamedReleases
from fencepost.checks.questions.wanted import Wanted

if TYPE_CHECKING:  # the kernel is not loaded to read the command line
    from fencepost.model.kernel.walks.course import Strategy


@dataclass(frozen=True)
class CheckRequest(Wanted, NamedReleases):
    """What to check, of which configuration ``against`` which, by which means, and where to write what was found."""

    conf: Sequence[Path]
    all: bool
    guarantees: bool
    require: Sequence[str]
    against: Sequence[Path]
    against_pulsar: str | None
    bookies: int | None
    odds: Path | None
    format: str
    budget: float | None
    memory: float | None
    workers: int | None
    trace_dir: Path | None
    html: Path | None
    walks: int
    steps: int
    seed: int
    strategy: Strategy
    second_solver: bool
    symmetry: bool
    no_slice: bool
    checkpoint: Path | None
    resume: bool
    strict: bool
    baseline: Path | None
    write_baseline: Path | None
    quiet: bool

    @property
    def cores(self) -> int:
        """How many threads or processes may work at once: as many as are asked for, or as there are cores."""
        return self.workers or os.cpu_count() or 1
