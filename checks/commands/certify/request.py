"""What ``fencepost certify`` is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CertifyRequest:
    """The folder of a certificate, the file of its protocol if that is a user's own, and what a solver may take."""

    folder: Path
    timeout: float
    protocol: Path | None
    as_it_stands: bool
    quiet: bool
