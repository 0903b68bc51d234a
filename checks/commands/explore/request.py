"""What ``fencepost explore`` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.console.options import NamedReleases
from fencepost.properties.registry import RegistryError

if TYPE_CHECKING:  # the kernel is not loaded to read the command line
    from fencepost.model.kernel.walks.course import Strategy


EVERY_CORE = "local[*]"
"""Spark's master unless one is named: all cores of this machine."""


@dataclass(frozen=True)
class ExploreRequest(NamedReleases):
    """The protocol to explore, or ``report`` or ``trace`` with the folder of a run; how, where, and what to write."""

    subject: str
    folder: Path | None
    out: Path | None
    walks: int
    steps: int
    seed: int
    strategy: Strategy
    set: Sequence[str]
    bug: Sequence[str]
    exhaustive: bool
    memory: float | None
    stop_on_first: bool
    master: str | None
    spark_conf: Sequence[str]
    walk: int | None
    whole: bool
    plots: Path | None
    quiet: bool

    @property
    def spark_settings(self) -> dict[str, str]:
        """The settings of Spark by name. Raises RegistryError for one that is none."""
        settings = {}
        for setting in self.spark_conf:
            name, equals, value = setting.partition("=")
            if not equals or not name.startswith("spark."):
                raise RegistryError(f"{setting!r} is not of the form spark.NAME=VALUE")
            settings[name] = value
        return settings
