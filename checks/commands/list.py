"""``fencepost list``: what can be checked."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.options import Commands, add_command
from fencepost.checks.engines.results.verdicts import ExitStatus

LIST = """Lists what can be checked: protocols and theories. Each has its parameters with their defaults (--set changes them),
the instances of each size, and the properties by kind. Then come the actions, with the methods of Pulsar or BookKeeper that
they mirror, and the bugs. --bugs shows which releases have which bug. --java finds the actions of a method."""

LIST_EXAMPLES = """examples:
  fencepost list             everything
  fencepost list ledger      one protocol
  fencepost list election --bugs
                             which release introduced each bug, and which fixes it
  fencepost list --java sendAddSuccessCallbacks
                             where a method of the real system is mirrored"""


@dataclass(frozen=True)
class ListRequest:
    """The protocols, or all; only their ``bugs``; or the actions that mirror a method in ``java``."""

    protocols: Sequence[str]
    bugs: bool
    java: str | None


def add_list(commands: Commands) -> None:
    """Adds the command."""
    helps = "the protocols, their parameters, sizes, properties and bugs"
    listing = add_command(commands, "list", helps, LIST, LIST_EXAMPLES)
    helps = "the protocols, or files with protocols of your own (default: all)"
    listing.add_argument("protocols", nargs="*", metavar="PROTOCOL", help=helps)
    listing.add_argument("--bugs", action="store_true", help="only the bugs, with the releases that have them")
    listing.add_argument("--defects", action="store_true", dest="bugs", help=argparse.SUPPRESS)  # as it was spelled before
    listing.add_argument("--java", metavar="NAME", help="which actions mirror a method, by a part of its Class.method")
    listing.set_defaults(command=_list)


def _list(options: argparse.Namespace) -> ExitStatus:
    return run(request_of(ListRequest, options))


def run(request: ListRequest) -> ExitStatus:
    """Prints what the request asks for."""
    from fencepost.checks.reports.listing import bugs, listing, mirrored  # loads every protocol

    shown = bugs if request.bugs else listing
    print(mirrored(request.java) if request.java else shown(request.protocols), end="")
    return ExitStatus.HOLDS
