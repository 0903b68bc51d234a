"""What ``fencepost explore`` is asked for, and what its help teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fencepost.checks.commands.tree import EXIT_STATUS, Command
from fencepost.checks.console.numbers import positive, whole
from fencepost.checks.console.options import Bugs, NamedReleases, Quiet, Set, Steps, Strategies, number, seed
from fencepost.checks.console.requests import Argument, Option, local_or_url

EXPLORE = """Explores a protocol by random walks on Spark. --exhaustive visits all states instead, level by level, even if they
exceed one machine's memory: on its disk, without Spark, unless --master names one. Walks run on this machine unless it does.

A state costs Spark 18 microseconds of a core, and this machine's disk 1.4 to 2.2. So --exhaustive --master is worth it with
more than eight times the cores of this machine, or when 9 bytes a state do not fit on its disk. Up to some two million
states it gains nothing: the driver makes these itself, in 64 MiB.

A violation that a walk finds is certain. Walks that find none prove nothing. The same seed gives the same walks, and the
same rows in DIR, on any number of machines. The same command resumes a run that was cut short. `report` prints what DIR has
so far, and `trace` shows any of its walks."""

EXPLORE_EXAMPLES = """examples:
  fencepost explore ledger --walks 1000000 --out found           a million walks of up to 100 steps
  fencepost explore ledger --bug closes_at_lac --walks 100000 --stop-on-first --out broken
  fencepost explore ledger --set entries=3 recoverers=2 --exhaustive --out everything
  fencepost explore ledger --set entries=3 recoverers=2 --exhaustive --master spark://host:7077 --out /shared/all
  fencepost explore ledger --walks 10000000000 --master spark://host:7077 --out /shared/found
  fencepost explore ledger --walks 10000000000 --master spark://host:7077 --out s3a://bucket/found
  fencepost explore ledger --walks 100000 --out found --tables tables --sampled 2000
                                                                 and a row a walk, and a row a step, of 2,000 of them
  fencepost explore report found --plots plots                   violations, coverage, what is unseen
  fencepost explore trace broken --walk 1905                     one walk, step by step
"""

EVERY_CORE = "local[*]"
"""Spark's master unless one is named: all cores of this machine."""


@dataclass(frozen=True, kw_only=True)
class ExploreRequest(NamedReleases):
    """The protocol to explore, or ``report`` or ``trace`` with the folder of a run; how, where, and what to write."""

    subject: Annotated[str, Argument("what to explore; or report, or trace", "PROTOCOL")]
    folder: Annotated[
        Path | str | None, Argument("the run to report on, or to take a walk from", "DIR", parse=local_or_url)
    ] = None
    out: Annotated[
        Path | str | None,
        Option(
            "the folder of the run, with --master also a URL (of a trace: the ITF file to write)",
            "DIR",
            local_or_url,
            writes="any",
        ),
    ] = None
    walks: Annotated[int, number("number of walks")] = 1_000_000
    steps: Steps = 100
    seed: Annotated[int, seed("the walks")] = 0
    strategy: Strategies = "held"
    set: Set = ()
    bug: Bugs = ()
    exhaustive: Annotated[bool, Option("visit every state, level by level, instead of walking")] = False
    memory: Annotated[
        float | None,
        Option("memory of --exhaustive for what it knows; beyond that it reads it from disk (default: 4)", "GIB", positive),
    ] = None
    stop_on_first: Annotated[bool, Option("end with the first violation that is not expected")] = False
    master: Annotated[
        str | None,
        Option("Spark's master (default: local[*], all cores of this machine; --exhaustive: no Spark)", "URL"),
    ] = None
    spark_conf: Annotated[Sequence[str], Option("a setting of Spark; may be repeated", "NAME=VALUE")] = ()
    tables: Annotated[
        Path | str | None,
        Option("also write walks and their steps as rows of these tables, for SQL", "DIR", local_or_url, writes="folder"),
    ] = None
    sampled: Annotated[int, number("how many walks --tables takes, evenly spread")] = 1000
    walk: Annotated[int | None, Option("which walk to trace", "N", whole(0))] = None
    whole: Annotated[bool, Option("trace the walk unshrunk")] = False
    plots: Annotated[Path | None, Option("write the report's plots there, as SVG files", "DIR", writes="folder")] = None
    quiet: Quiet = False

    @property
    def spark_settings(self) -> dict[str, str]:
        """The settings of Spark by name. Raises RegistryError for one that is none."""
        from fencepost.properties.registry import RegistryError  # which loads the language

        settings = {}
        for setting in self.spark_conf:
            name, equals, value = setting.partition("=")
            if not equals or not name.startswith("spark."):
                raise RegistryError(f"{setting!r} is not of the form spark.NAME=VALUE")
            settings[name] = value
        return settings


COMMAND = Command(
    ExploreRequest,
    "explore.run:run",
    EXPLORE,
    f"{EXPLORE_EXAMPLES}\n{EXIT_STATUS}",
    usage="fencepost explore PROTOCOL --out DIR [OPTION ...]\n"
    "       fencepost explore report DIR [--plots DIR]\n"
    "       fencepost explore trace DIR --walk N [--whole] [--out FILE]",
)
