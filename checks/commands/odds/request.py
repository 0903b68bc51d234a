"""What ``fencepost odds`` is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class OddsRequest:
    """The ways by ``names``, or all of a protocol, or all; ``set`` changes the instance of one.

    ``conf`` and ``numbers`` have an operator's settings and measurements; ``topics`` and ``bookies`` are how many. ``draws`` is
    how many draws of the numbers make an interval, ``walks`` how many weighted walks there are besides. With ``metrics``, and
    the name ``measure``, numbers are read from there instead.
    """

    names: Sequence[str]
    set: Sequence[str]
    conf: Sequence[Path]
    numbers: Path | None
    topics: int | None
    bookies: int | None
    draws: int
    walks: int
    seed: int
    metrics: Sequence[Path]
    format: str
    workers: int | None
    quiet: bool
