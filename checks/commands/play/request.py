"""What ``fencepost play`` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.console.options import NamedReleases


@dataclass(frozen=True)
class PlayRequest(NamedReleases):
    """The protocol to play with, in which instance, and the page to write."""

    protocol: str
    set: Sequence[str]
    bug: Sequence[str]
    html: Path | None
    quiet: bool
