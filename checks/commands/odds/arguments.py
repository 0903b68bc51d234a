"""The arguments of ``fencepost odds`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.odds.request import OddsRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.extras import ODDS, require
from fencepost.checks.console.numbers import whole
from fencepost.checks.console.options import (
    Commands,
    Once,
    add_command,
    add_conf,
    add_format,
    add_quiet,
    add_seed,
    add_set,
    add_workers,
)
from fencepost.checks.engines.results.verdicts import ExitStatus

HELP = """Computes how often an acknowledged message is lost: in each way that is known, from the protocols that check searches,
with how long steps take and how often faults happen.

There are three kinds of rows. A frequency has more than the model behind it: a count on real code, or the textbook. What cannot
matter happens less than once in a million years, even at the upper end of its interval. The others are not decided by rates:
they have an upper end, and the number to measure. Nine tenths of an answer are within its interval, if each number is within
its factor. Numbers that nobody has published are called guesses.

--numbers is a TOML file with the measurements of a cluster in a table [odds]. measure writes such a table from metrics."""

EXAMPLES = """examples:
  fencepost odds                              every way, for 100 topics on 10 bookies
  fencepost odds disks                        one way
  fencepost odds topic --topics 400           those of one protocol
  fencepost odds --conf broker.conf --numbers odds.toml
                                              with the settings and the measurements of a cluster
  fencepost odds disks --draws 300            an interval from draws of the numbers
  fencepost odds terminated_reopened --walks 1000000
                                              the same from weighted walks
  fencepost odds measure --metrics bookie.prom --metrics broker.prom
                                              numbers from what Prometheus scrapes"""


def add_odds(commands: Commands) -> None:
    """Adds the command."""
    odds = add_command(commands, "odds", "how often an acknowledged message is lost, and what decides it", HELP, EXAMPLES)
    add = odds.add_argument
    helps = "the ways, by the names of their bugs, or a protocol (default: all); or measure"
    add("names", nargs="*", metavar="NAME", help=helps)
    add_set(odds, "parameters of the instance, if one way is named")
    add_conf(odds, "a broker.conf, whose durations replace the published ones")
    add("--numbers", type=Path, action=Once, metavar="FILE", help="a TOML file with the numbers of a cluster in a table [odds]")
    add("--topics", type=whole(1), metavar="N", help="how many topics (default: 100)")
    add("--bookies", type=whole(2), metavar="N", help="how many bookies (default: 10)")
    helps = "draw the numbers N times, each within its factor, for the interval (default: by the effect of each)"
    add("--draws", type=whole(20), default=0, metavar="N", help=helps)
    helps = "besides, estimate by N weighted walks, which need no graph: with --set of an instance that is too large for one"
    add("--walks", type=whole(1), default=0, metavar="N", help=helps)
    add_seed(odds, "the draws and the walks")
    helps = "with measure: a file in the format that Prometheus scrapes; may be given several times"
    add("--metrics", type=Path, action="append", default=[], metavar="FILE", help=helps)
    add_format(odds)
    add_workers(odds)
    add_quiet(odds)
    odds.set_defaults(command=_odds)


def _odds(options: argparse.Namespace) -> ExitStatus:
    require(ODDS, "odds")
    from fencepost.checks.commands.odds.run import run

    return run(request_of(OddsRequest, options))
