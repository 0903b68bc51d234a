"""The arguments of ``fencepost check`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.check.formats import FORMATS
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.exit_status import EXIT_STATUS
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.numbers import positive, whole
from fencepost.checks.console.options import (
    UNNAMED,
    Commands,
    Once,
    add_budget,
    add_bug,
    add_command,
    add_conf,
    add_format,
    add_page,
    add_quiet,
    add_releases,
    add_set,
    add_size,
    add_traces,
    add_walks,
    add_workers,
)
from fencepost.checks.engines.results.verdicts import ExitStatus

CHECK = """Checks protocols and prints a verdict on each of their properties.

Without --set, --conf or --bug the instances of a size are checked (ci, unless --size says otherwise). --conf takes the
instance from a cluster's broker.conf; --set changes parameters of whatever is checked; --bug switches a known bug on, in
a small instance in which it shows. `fencepost list ledger` shows parameters, sizes, properties and bugs.

--pulsar and --bookkeeper name the releases that a cluster runs (with --conf the newest, unless named). The check then also
searches for the known bugs of these releases, and shows the shortest run to each, its impact, and the release that fixes
it."""

EXAMPLES = """examples:
  fencepost check                                     all protocols at the size for continuous integration
  fencepost check --conf broker.conf                  what a cluster with these settings guarantees
  fencepost check --conf new.conf --against old.conf  which guarantees get weaker, with a run for each
  fencepost check --conf broker.conf --pulsar 5.0.0-M1 --against-pulsar 4.2.4  what an upgrade changes
  fencepost check --conf broker.conf --guarantees --require 'disks>=1' --require 'bookies_down>=1'
                                                      fail if it guarantees less, and say what to change
  fencepost check --conf broker.conf --pulsar 4.0.8   the known bugs that affect you with that release
  fencepost check ledger --set bookies=4 changes=1    an instance of your own
  fencepost check ledger --bug recovery_reads_do_not_fence --property no_truncation
                                                      the shortest way to lose an acknowledged entry
  fencepost check my_protocol.py --set clients=3      a protocol of your own, with the same options
  fencepost check --conf broker.conf --baseline accepted.json
                                                      fail only on findings that nobody has accepted
"""


def add_check(commands: Commands) -> None:
    """Adds the command."""
    check = add_command(commands, "check", "a verdict on each property", CHECK, f"{EXAMPLES}\n{EXIT_STATUS}")
    add = check.add_argument
    helps = "what to check: names, or files of your own protocols, such as my_protocol.py (default: all)"
    add("protocols", nargs="*", metavar="PROTOCOL", help=helps)
    add_conf(check, "take the settings from a broker.conf, an environment file, Helm values or a ConfigMap (-: standard input)")
    helps = "check only the guarantees; --all prints the shortest run that exceeds each"
    add("--all", action="store_true", help="print everything: each property, each run, the settings that were read")
    add("--guarantees", action="store_true", help=helps)
    helps = "fail if less is guaranteed (exit 16), whatever else is checked"
    add("--require", action="append", default=[], metavar="NAME>=N", help=helps)
    helps = "fail if less is guaranteed than with this file (exit 15)"
    add("--against", type=Path, action="append", default=[], metavar="FILE", help=helps)
    helps = "compare with this release of Pulsar: which known bugs go and come, and what is guaranteed less (exit 15)"
    add("--against-pulsar", action=Once, metavar="RELEASE", help=helps)
    helps = "number of bookies in the cluster (default: ensemble size + 1)"
    add("--bookies", type=whole(1), action=Once, metavar="N", help=helps)
    helps = "print how often a message is lost, in each way, with the numbers in the table [odds] of FILE if it is named"
    add("--odds", nargs="?", const=UNNAMED, type=Path, action=Once, metavar="FILE", help=helps)
    add_releases(check, "behave as this release of Pulsar, and search for its known bugs")
    add_set(check)
    add_size(check)
    helps = "the engine (default: the strongest that terminates)"
    add("--by", choices=("exhaustive", "walks", "induction"), help=helps)
    add_bug(check)
    add("--property", action="append", default=[], metavar="NAME", help="check only this property; may be given several times")
    add_format(check, FORMATS)
    add_budget(check)
    helps = "memory of an exhaustive search (default: 4; of one question of a configuration 0.5)"
    add("--memory", type=positive, metavar="GIB", help=helps)
    add_workers(check)
    add_traces(check, "write the traces of violated properties there, as ITF files")
    add_page(check, "write a page to explore these traces in a browser")
    add_walks(check, 100_000, "number of walks of --by walks")
    helps = "prove it by induction for any number of these: entries, bookies, recoverers (ledger), brokers (ownership), ..."
    add("--any", nargs="+", action="extend", default=[], metavar="NAME", help=helps)
    add("--second-solver", action="store_true", help="have cvc5 confirm every obligation that Z3 discharges")
    add("--symmetry", action="store_true", help="explore one representative of symmetric states")
    add("--no-slice", action="store_true", help="search all of a protocol, not only what the named properties can see")
    add("--checkpoint", type=Path, metavar="DIR", help="keep the levels of an exhaustive search there")
    add("--resume", action="store_true", help="go on from what --checkpoint DIR holds")
    add("--strict", action="store_true", help="fail on suspicious successes (exit 10)")
    helps = "fail only on findings missing from FILE, or on entries that no longer occur"
    add("--baseline", type=Path, action=Once, metavar="FILE", help=helps)
    add("--write-baseline", type=Path, action=Once, metavar="FILE", help="write the current findings to FILE and exit 0")
    add_quiet(check)
    check.set_defaults(command=_check)


def _check(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.check.run import run

    return run(request_of(CheckRequest, options))
