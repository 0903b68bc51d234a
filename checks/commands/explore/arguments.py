"""The arguments of ``fencepost explore`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.exit_status import EXIT_STATUS
from fencepost.checks.commands.explore.request import ExploreRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.numbers import positive, whole
from fencepost.checks.console.options import (
    Commands,
    add_bug,
    add_command,
    add_quiet,
    add_releases,
    add_set,
    add_walks,
)
from fencepost.checks.engines.results.verdicts import ExitStatus

EXPLORE = """Explores a protocol by random walks on Spark. --exhaustive visits all states instead, level by level, even if they
exceed one machine's memory: on its disk, without Spark, unless --master names one. Walks run on this machine unless it does.

A violation that a walk finds is certain. Walks that find none prove nothing. The same seed gives the same walks, and the
same rows in DIR, on any number of machines. The same command resumes a run that was cut short. `report` prints what DIR has
so far, and `trace` shows any of its walks."""

EXPLORE_EXAMPLES = """examples:
  fencepost explore ledger --walks 1000000 --out found           a million walks of up to 100 steps
  fencepost explore ledger --bug closes_at_lac --walks 100000 --stop-on-first --out broken
  fencepost explore ledger --set entries=3 recoverers=2 --exhaustive --out everything
  fencepost explore ledger --set entries=3 recoverers=2 --exhaustive --master spark://host:7077 --out /shared/all
  fencepost explore ledger --walks 10000000000 --master spark://host:7077 --out /shared/found
  fencepost explore report found --plots plots                   violations, coverage, what is unseen
  fencepost explore trace broken --walk 1905                     one walk, step by step
"""


def add_explore(commands: Commands) -> None:
    """Adds the command."""
    explore = add_command(
        commands,
        "explore",
        "random walks by the billion on Spark, or all states on disk",
        EXPLORE,
        f"{EXPLORE_EXAMPLES}\n{EXIT_STATUS}",
        usage="fencepost explore PROTOCOL --out DIR [OPTION ...]\n"
        "       fencepost explore report DIR [--plots DIR]\n"
        "       fencepost explore trace DIR --walk N [--whole] [--out FILE]",
    )
    add = explore.add_argument
    add("subject", metavar="PROTOCOL", help="what to explore; or report, or trace")
    add("folder", nargs="?", type=Path, metavar="DIR", help="the run to report on, or to take a walk from")
    add("--out", type=Path, metavar="DIR", help="the folder of the run (of a trace: the ITF file to write)")
    add_walks(explore, 1_000_000, "number of walks")
    add_set(explore)
    add_releases(explore)
    add_bug(explore)
    add("--exhaustive", action="store_true", help="visit every state, level by level, instead of walking")
    helps = "memory of --exhaustive for what it knows; beyond that it reads it from disk (default: 4)"
    add("--memory", type=positive, metavar="GIB", help=helps)
    add("--stop-on-first", action="store_true", help="end with the first violation that is not expected")
    add("--master", metavar="URL", help="Spark's master (default: local[*], all cores of this machine; --exhaustive: no Spark)")
    add("--spark-conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark; may be repeated")
    add("--walk", type=whole(0), metavar="N", help="which walk to trace")
    add("--whole", action="store_true", help="trace the walk unshrunk")
    add("--plots", type=Path, metavar="DIR", help="write the report's plots there, as SVG files")
    add_quiet(explore)
    explore.set_defaults(command=_explore)


def _explore(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.explore.run import run

    return run(request_of(ExploreRequest, options))
