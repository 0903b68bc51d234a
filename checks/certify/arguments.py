"""The arguments of ``fencepost certify`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.console.numbers import positive
from fencepost.checks.console.options import Commands, add_command, add_quiet
from fencepost.checks.engines.results.verdicts import ExitStatus

CERTIFY = """Checks the certificate of a proof, which `fencepost check --by induction --certificate DIR` has written.

Every file must be as it was, every lemma and property must be asked about, and Z3 and cvc5 must each answer that no obligation
can be false. That is done by code of its own, and by each solver in a process of its own, from the text alone."""

EXAMPLES = """examples:
  fencepost check ledger --set entries=1 --by induction --certificate proof
  fencepost certify proof/ledger-as-set"""


def add_certify(commands: Commands) -> None:
    """Adds the command."""
    certify = add_command(commands, "certify", "whether a certificate of a proof is one, by two solvers", CERTIFY, EXAMPLES)
    certify.add_argument("folder", type=Path, metavar="DIR", help="the certificate of one instance")
    helps = "what a solver may take for one script (default: 300)"
    certify.add_argument("--seconds", type=positive, default=300.0, metavar="SECONDS", help=helps)
    add_quiet(certify)
    certify.set_defaults(command=_certify)


def _certify(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.certify.command import run

    return run(options)
