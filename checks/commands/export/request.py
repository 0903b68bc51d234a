"""What ``fencepost export`` is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.console.options import NamedReleases
from fencepost.checks.questions.wanted import Wanted


@dataclass(frozen=True)
class ExportRequest(Wanted, NamedReleases):
    """What to write, in which format, and the folder to write it to."""

    format: str
    out: Path
    quiet: bool
