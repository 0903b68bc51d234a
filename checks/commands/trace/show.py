"""``fencepost trace show``: prints what a trace file has, for people. Nothing is run for it: ``trace replay`` does that."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from fencepost.checks.commands.trace.request import ShowRequest
from fencepost.checks.console.printing import colour, width
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.files.itf import read
from fencepost.traces.trace import Trace
from fencepost.traces.wording.text import actors, show


def run(asked: ShowRequest) -> ExitStatus:
    """Prints the trace. Raises InputError and TraceFileError."""
    protocols = protocols_with(asked.protocol)
    trace, protocol = read(asked.file, protocols)
    known = actors(protocol)
    if asked.actor is not None and asked.actor not in known:
        print(f"fencepost: nobody in {trace.protocol} is named {asked.actor!r}: {', '.join(known)}", file=sys.stderr)
        return ExitStatus.USAGE
    print(shown(trace, protocols[trace.protocol].suite(protocol), actor=asked.actor, full=asked.full), end="")
    return ExitStatus.HOLDS


def shown(trace: Trace, suite: Suite, *, actor: str | None = None, full: bool = False) -> str:
    """A trace as a terminal shows it, with the runs of parts below the steps that they explain."""
    below = {}
    if actor is None and any("." in variable.name for variable in suite.protocol.variables):  # made of parts
        from fencepost.checks.questions.bugs.part_runs import runs_below  # which loads the kernel

        below = runs_below(trace, suite.protocol)
    violated = violated_of(trace, suite)
    return show(trace, suite.protocol, violated=violated, actor=actor, full=full, width=width(), colour=colour(), below=below)


def violated_of(trace: Trace, suite: Suite) -> Property | None:
    """The property that the trace says it violates, if there is one."""
    return next((p for p in suite.properties if p.name == trace.violated), None)


def protocols_with(own: Path | None) -> Mapping[str, Entry]:
    """All protocols by name, with those of a file of one's own, which is run. Raises InputError if it cannot be used."""
    if own is None:
        return PROTOCOLS
    from fencepost.checks.inputs.own_protocols import own_protocols

    return {**PROTOCOLS, **{entry.name: entry for entry in own_protocols(own, PROTOCOLS)}}
