"""The arguments of ``fencepost conform``."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.console.numbers import whole
from fencepost.checks.console.options import Commands, add_command, add_defect, add_format, add_quiet, add_seed, add_set
from fencepost.checks.engines.verdicts import ExitStatus

DESCRIPTION = """Holds a protocol against the code that it mirrors: the model chooses the steps, the real Java classes of a
release take them, and after each step what can be observed, and the requests that are outstanding, are compared.

The first time it fetches the release's jars (by Maven, checked against pinned checksums) and compiles its harness; both are
kept in the user's cache. A difference is shrunk and shown as a run; --trace-dir writes it as a trace file, and --trace takes
the steps of one. Differences that are known have names; the others are finds. It needs a JDK, 17 or newer, and Maven."""

EXAMPLES = """examples:
  fencepost conform ledger                                  200 random runs on the usual release
  fencepost conform ledger --release 4.17.3 --runs 10000
  fencepost conform ledger --trace run.itf.json             one run, step by step
  fencepost conform election --release 4.2.4                Pulsar's leader election, over a ZooKeeper server
  fencepost conform ledger --defect closes_at_lac           is a mistake in the model noticed?

exit status: 0 no difference but such as are known, 12 a difference, 20 interrupted, 2 wrong usage, 75 no step was taken,
  150 the trace cannot be read, 153 no Java or no Maven, or the harness failed"""


def add_conform(commands: Commands) -> None:
    """Adds the command to those of ``fencepost``."""
    conform = add_command(commands, "conform", "a protocol held against the real code", DESCRIPTION, EXAMPLES)
    add = conform.add_argument
    add("target", metavar="TARGET", help="what is held against its code: ledger or election")
    add("--release", metavar="R", help="of the real code (default: the first that the target is tried with)")
    add("--runs", type=whole(1), default=200, metavar="N", help="how many random runs (default: 200)")
    add("--steps", type=whole(1), default=60, metavar="K", help="steps that are chosen in a run, at most (default: 60)")
    add_seed(conform, "the runs")
    add("--trace", type=Path, metavar="FILE", help="take the steps of a trace file instead")
    add("--storage", metavar="KIND", help="of the bookies: db (Pulsar's, the default), sorted or interleaved")
    add_set(conform)
    add_defect(conform)
    add("--trace-dir", type=Path, metavar="DIR", help="write each difference there, as an ITF file")
    add_format(conform, "junit")
    add_quiet(conform)
    conform.set_defaults(command=_conform)


def _conform(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.conform import run

    return run(options)
