"""``fencepost conform log``: is there a run of a protocol that explains the log of a real system?"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

from fencepost.checks.commands.conform.request import LogRequest
from fencepost.checks.conformance.logs.events import Log, LogError, events_of, read_log, read_mapping
from fencepost.checks.conformance.logs.explanation import Explanation, explain
from fencepost.checks.conformance.logs.mismatch import alternatives, possible, why_not
from fencepost.checks.console.extras import SPARK, require
from fencepost.checks.console.printing import in_format, width
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, RegistryError, find
from fencepost.traces.files.itf import write
from fencepost.traces.printable import printable


def run(asked: LogRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    if asked.tables is not None:
        if asked.file is not None or asked.mapping is not None:
            raise RegistryError("--tables has the lines, and what they mean: leave FILE and --mapping out")
        require(SPARK, "conform log --tables")
        from fencepost.checks.commands.conform.tables import run as explain_each

        return explain_each(asked, asked.tables)
    if asked.file is None:
        raise RegistryError("conform log needs a FILE, or --tables DIR")
    return _explained(asked, asked.file)


def _explained(asked: LogRequest, file: Path) -> ExitStatus:
    entry = find(asked.protocol, PROTOCOLS)
    log = read_log(file)
    meaning = read_mapping(asked.mapping) if asked.mapping else None
    protocol = _instance(entry, log, asked)
    events = events_of(log, protocol, meaning)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"{entry.name}, {file.name}")
    count = len(events.events)
    with interruptible() as interrupt:
        explanation = explain(
            kernel := Kernel(protocol),
            events,
            limit=asked.limit,
            progress=lambda done, states: reporter.telling(
                f"{done:,} of {count_of(count, 'event')}, {count_of(states, 'state')} possible"
            ),
            should_stop=interrupt,
        )
    reporter.end()
    if asked.out:
        write(explanation.run, protocol, asked.out)
    status = _status(explanation)
    report = in_format(
        asked.format,
        text=lambda: text(kernel, explanation, file, asked.out, width=width()),
        json=lambda: as_json(kernel, explanation, file, status, asked.out),
    )
    print(report, end="")
    return status


def _status(explanation: Explanation) -> ExitStatus:
    if explanation.stopped:
        return ExitStatus.INCONCLUSIVE
    return ExitStatus.HOLDS if explanation.whole else ExitStatus.SAFETY


def _instance(entry: Entry, log: Log, asked: LogRequest) -> Protocol:
    if log.protocol not in (None, entry.name):
        raise LogError(f"{log.path}: is a log of {log.protocol}, not of {entry.name}")
    if log.parameters is not None:
        if asked.set or asked.bug:
            raise RegistryError(f"{log.path} has its own parameters and bugs: leave --set and --bug out")
        return entry.build(log.parameters, log.bugs)
    return entry.build(entry.settings(asked.set), asked.bug or log.bugs)


FORMAT = 1
_LINES = 5
"""Lines of the log that are named at most."""


def text(kernel: Kernel, explanation: Explanation, log: Path, out: Path | None = None, *, width: int = 120) -> str:
    """The report for a person."""
    fold = textwrap.TextWrapper(width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    events, unseen = len(explanation.events.events), explanation.unobserved_steps
    run = f"a run of {kernel.protocol.name} of {count_of(len(explanation.run.steps), 'step')}, {unseen} of them not in the log"
    lines = []
    if explanation.whole:
        lines.append(f"{log}: {count_of(events, 'event')}, explained by {run}")
    else:
        event = explanation.next
        assert event is not None
        why = explanation.stopped or f"no run of {kernel.protocol.name} explains this"
        lines.append(f"{log}:{event.line}: {printable(event.what)}: {why}")
        lines.append(f"  explained: the first {explanation.explained:,} of {count_of(events, 'event')}, by {run}")
        lines.append(f"  possible there: {count_of(len(explanation.possible), 'state')}")
        for name, shown in possible(kernel, explanation.possible).items():
            lines += [f"  {line}" for line in fold.wrap(f"{name} {alternatives(shown)}")]
        if not explanation.stopped:
            lines += [f"  {line}" for line in why_not(kernel, explanation, width - 2)]
    lines.append(f"  possible at once: at most {count_of(explanation.widest, 'state')}")
    names = list(dict.fromkeys(kernel.actions[n].name for n in explanation.events.unobserved))
    lines += fold.wrap(f"assumed unobserved: {', '.join(names) or 'nothing'}")
    if explanation.events.unmatched:
        some = ", ".join(map(str, explanation.events.unmatched[:_LINES]))
        more = ", ..." if len(explanation.events.unmatched) > _LINES else ""
        lines.append(f"  lines without a match: {some}{more}")
    if out:
        lines.append(f"run: {out}")
    return "\n".join(lines) + "\n"


def as_json(kernel: Kernel, explanation: Explanation, log: Path, status: ExitStatus, out: Path | None = None) -> str:
    """The report for programs."""
    event = explanation.next
    content: dict[str, object] = {
        "format": FORMAT,
        "protocol": kernel.protocol.name,
        "parameters": dict(kernel.protocol.parameters),
        "bugs": list(kernel.protocol.active),
        "log": str(log),
        "exit_status": int(status),
        "events": len(explanation.events.events),
        "explained": explanation.explained,
        "stopped": explanation.stopped or None,
        "steps": [step.action for step in explanation.run.steps],
        "unobserved_steps": explanation.unobserved_steps,
        "widest": explanation.widest,
        "unobserved": list(dict.fromkeys(kernel.actions[n].name for n in explanation.events.unobserved)),
        "unmatched_lines": list(explanation.events.unmatched),
        "next": None,
        "run": str(out) if out else None,
    }
    if event is not None:
        content["next"] = {
            "line": event.line,
            "what": event.what,
            "steps": None if event.steps is None else [kernel.actions[n].label for n in event.steps],
            "possible_states": len(explanation.possible),
            "possible": {name: list(shown) for name, shown in possible(kernel, explanation.possible).items()},
            "why": [] if explanation.stopped else why_not(kernel, explanation, 120),
        }
    return json.dumps(content, indent=1) + "\n"
