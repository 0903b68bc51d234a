"""``fencepost trace``: trace files, shown and replayed."""

from __future__ import annotations

import sys
from pathlib import Path

from checks.verdicts import ExitStatus
from properties.protocols import PROTOCOLS
from traces.itf import TraceFileError, read
from traces.replay import replay_on
from traces.text import show


def show_file(path: Path, *, full: bool) -> ExitStatus:
    """Prints a trace; 150 if the file cannot be read."""
    try:
        trace, protocol = read(path, PROTOCOLS)
    except TraceFileError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.INPUT
    properties = {p.name: p for p in PROTOCOLS[trace.protocol].suite(protocol).properties}
    violated = properties.get(trace.violated or "")
    print(show(trace, protocol, meaning=violated.doc if violated else "", full=full, colour=sys.stdout.isatty()), end="")
    return ExitStatus.HOLDS


def replay_file(path: Path) -> ExitStatus:
    """Replays a trace and prints the outcome; 75 if it does not replay, 150 if the file cannot be read."""
    try:
        trace, protocol = read(path, PROTOCOLS)
    except TraceFileError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.INPUT
    outcome = replay_on(trace, protocol, PROTOCOLS[trace.protocol].suite(protocol))
    print(outcome)
    return ExitStatus.HOLDS if outcome.replays else ExitStatus.EVALUATION
