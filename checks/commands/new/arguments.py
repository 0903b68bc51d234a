"""The arguments of ``fencepost new`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.new.request import NewRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.options import Commands, add_command
from fencepost.checks.engines.results.verdicts import ExitStatus

NEW = """Writes a protocol of your own to start from: a model, its properties, the instances to check and a known bug, in
NAME.py, and a test of it, in test_NAME.py. Both pass as they are. Replace the example line by line, and check after each."""

EXAMPLES = """examples:
  fencepost new lease                       lease.py and test_lease.py in this folder
  fencepost check lease.py                  check it
  fencepost check lease.py --bug taken_blindly
  pytest test_lease.py                      the same in your own test suite
  fencepost new lease --out protocols       in another folder

exit status: 0 written, 2 wrong usage, 153 a file is there already, or cannot be written"""


def add_new(commands: Commands) -> None:
    """Adds the command."""
    new = add_command(commands, "new", "the skeleton of a protocol of your own", NEW, EXAMPLES)
    new.add_argument("name", metavar="NAME", help="of the protocol: lower-case letters, digits and underscores")
    new.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="where to write it (default: this folder)")
    new.set_defaults(command=_new)


def _new(asked: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.new.run import run

    return run(request_of(NewRequest, asked))
