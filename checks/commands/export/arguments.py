"""The arguments of ``fencepost export`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.export.request import ExportRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.options import Commands, add_bug, add_command, add_quiet, add_releases, add_set, add_size
from fencepost.checks.engines.results.verdicts import ExitStatus

EXPORT = """Writes a protocol for other tools.

tla: a TLA+ module with its actions, invariants and temporal properties, and the configuration files to run it in TLC. It has
the same reachable states, transitions and properties as the protocol here, and is meant to be read.

smt2: the proof by induction as SMT-LIB 2 scripts: one for the initial states, one for what the invariant implies, and one for
each action. If the proof holds, any bit-vector solver answers every (check-sat) with unsat. index.json names the obligations
of each script in their order.

--set, --size and --bug choose instances as for check, and --property what is written of their properties. Several instances
get a folder each."""

EXAMPLES = """examples:
  fencepost export election --set brokers=3 --format tla --out tla
  java -cp tla2tools.jar tlc2.TLC -config tla/Election.cfg tla/Election.tla
                                                           the same states, searched by TLC
  fencepost export ledger --bug closes_at_lac --format tla --out broken
  fencepost export ledger --set entries=3 --format smt2 --out smt
  fencepost export ledger --property no_truncation --format tla --out one
                                                           one property, and all actions
  z3 smt/001-implied.smt2                                  do the lemmas imply the properties?"""


def add_export(commands: Commands) -> None:
    """Adds the command."""
    export = add_command(commands, "export", "protocols and proofs for other tools: TLC and SMT solvers", EXPORT, EXAMPLES)
    add = export.add_argument
    add("protocols", nargs="+", metavar="PROTOCOL", help="what to write")
    add("--format", choices=("tla", "smt2"), required=True, help="the format: TLA+ or SMT-LIB")
    add_set(export)
    add_releases(export)
    add_size(export)
    add_bug(export)
    helps = "write only this property, and the lemmas that its proof takes; may be given several times"
    add("--property", action="append", default=[], metavar="NAME", help=helps)
    add("--out", type=Path, required=True, metavar="DIR", help="the folder to write to")
    add_quiet(export)
    export.set_defaults(command=_export, by=None, any=[])


def _export(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.export.run import run

    return run(request_of(ExportRequest, options))
