"""The arguments of ``fencepost certify`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.certify.request import CertifyRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.numbers import positive
from fencepost.checks.console.options import Commands, add_command, add_quiet
from fencepost.checks.engines.results.verdicts import ExitStatus

CERTIFY = """Checks the certificate of a proof that `fencepost check --by induction --certificate DIR` has written.

The obligations are generated again from the installed model, and every file must be the same, byte by byte. Then Z3 and cvc5,
each in its own process, must confirm from the text alone that no obligation can be false."""

EXAMPLES = """examples:
  fencepost check ledger --set entries=1 --by induction --certificate proof
  fencepost certify proof/ledger-as-set"""


def add_certify(commands: Commands) -> None:
    """Adds the command."""
    certify = add_command(commands, "certify", "check the certificate of a proof with two solvers", CERTIFY, EXAMPLES)
    certify.add_argument("folder", type=Path, metavar="DIR", help="the certificate of one instance")
    helps = "time limit of a solver for one script (default: 300)"
    certify.add_argument("--timeout", type=positive, default=300.0, metavar="SECONDS", help=helps)
    model = certify.add_mutually_exclusive_group()
    model.add_argument(
        "--protocol", type=Path, metavar="FILE", help="the file of your own protocol, if the certificate is of one"
    )
    helps = "check only the formulas, not whether they are the model's: for another version, or without the protocol"
    model.add_argument("--as-it-stands", action="store_true", help=helps)
    add_quiet(certify)
    certify.set_defaults(command=_certify)


def _certify(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.certify.run import run

    return run(request_of(CertifyRequest, options))
