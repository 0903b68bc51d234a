"""``fencepost conform bookies-killed``: an entry that is confirmed and lost, with real processes."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from fencepost.checks.conformance.bookkeeper.killed_bookies import Killed, killed
from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.java_side.toolchain import ToolchainError
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus

FORMAT = 1


def run(asked: argparse.Namespace) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"bookkeeper {asked.release}")
    try:
        found = killed(asked.release, entry_first=asked.entry_first, telling=reporter.telling)
    except (ToolchainError, SessionError) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.SYSTEM
    finally:
        reporter.end()
    status = ExitStatus.SAFETY if found.lost else ExitStatus.HOLDS
    if asked.format == "json":
        print(json.dumps({"format": FORMAT, "exit_status": int(status), "lost": found.lost, **asdict(found)}, indent=1))
    else:
        print(text(found), end="")
    return status


def text(found: Killed) -> str:
    """What was seen, for a person."""
    add = f"e{found.confirmed} is confirmed" if found.confirmed is not None else f"is refused: {found.refused}"
    lines = [
        f"bookkeeper {found.release}: three bookies and ZooKeeper, each a process",
        f"  recovery closes the ledger at {found.closed_at}",
        "  kill -9 of the three bookies; they start again",
        f"  the old writer's add: {add}",
        f"  the ledger is closed at {found.closed_at_after}",
        f"a confirmed entry is lost: e{found.confirmed}" if found.lost else "no confirmed entry is lost",
    ]
    return "\n".join(lines) + "\n"
