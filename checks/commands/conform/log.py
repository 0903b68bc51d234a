"""``fencepost conform log``: is there a run of a protocol that explains the log of a real system?"""

from __future__ import annotations

from fencepost.checks.commands.conform.request import LogRequest
from fencepost.checks.conformance.logs.events import Log, LogError, events_of, read_log, read_mapping
from fencepost.checks.conformance.logs.explanation import Explanation, explain
from fencepost.checks.console.formats import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.terminal import width
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.reports.log_report import as_json, text
from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, RegistryError, find
from fencepost.traces.files.itf import write


def run(asked: LogRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    entry = find(asked.protocol, PROTOCOLS)
    log = read_log(asked.file)
    meaning = read_mapping(asked.mapping) if asked.mapping else None
    protocol = _instance(entry, log, asked)
    events = events_of(log, protocol, meaning)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"{entry.name}, {asked.file.name}")
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
        text=lambda: text(kernel, explanation, asked.file, asked.out, width=width()),
        json=lambda: as_json(kernel, explanation, asked.file, status, asked.out),
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
