"""The arguments of ``fencepost releases``."""

from __future__ import annotations

import argparse

from fencepost.checks.commands.releases.request import DiffRequest, ListRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.options import Commands, add_command, add_format, add_quiet
from fencepost.checks.engines.results.verdicts import ExitStatus

RELEASES = """Lists the releases of Pulsar, BookKeeper and Kafka that the protocols mirror. For each it says what was read in
its code, what was run on its classes, and what was not."""

EXAMPLES = """examples:
  fencepost releases                          what was read and run of each release
  fencepost releases diff 5.0.0-M1 5.0.1      what there is to read in the second
  fencepost releases diff 5.0.1 5.0.2         of a release that nobody has read
  fencepost releases diff 5.0.1 build/jars    of your own build"""

DIFF = """Compares two releases by the bytecode of each method that an action or a known bug names, and of what that method
calls in its class. It lists what to read in the second release: methods that are gone, that changed, or whose callees did, with
the actions and bugs that stand on them, those with bugs first. A bug whose methods are all the same is still there.

Line numbers, names of variables and numbers that the compiler gives are left out of the comparison. A release is named by its
number, also one that is not modelled, or by a folder with its jars. The command needs a JDK and Maven, which fetches the jars
once."""

STATUS = """exit status: 0 compared, 2 wrong usage, 153 no Java or no Maven, or no such release"""


def add_releases(commands: Commands) -> None:
    """Adds the command and its verb."""
    helps = "which releases are modelled, and what changed between two"
    releases = add_command(commands, "releases", helps, RELEASES, EXAMPLES)
    add_format(releases)
    releases.set_defaults(command=_releases)
    words = releases.add_subparsers(metavar="diff")
    diff = add_command(words, "diff", "what there is to read in a release", DIFF, STATUS)
    diff.add_argument("first", metavar="FIRST", help="a release that was read")
    diff.add_argument("second", metavar="SECOND", help="another release, or a folder with its jars")
    add_format(diff)
    add_quiet(diff)
    diff.set_defaults(command=_diff)


def _releases(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.releases.run import run

    return run(request_of(ListRequest, options))


def _diff(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.releases.diff import run

    return run(request_of(DiffRequest, options))
