"""What ``fencepost new`` is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class NewRequest:
    """The name of the protocol, and the folder to write it to."""

    name: str
    out: Path
