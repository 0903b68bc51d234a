"""``fencepost trace html``: a page to explore traces in a browser."""

from __future__ import annotations

import sys

from fencepost.checks.commands.pages import write_recordings
from fencepost.checks.commands.trace.request import HtmlRequest
from fencepost.checks.commands.trace.show import protocols_with
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.bugs.part_runs import runs_below
from fencepost.traces.explorer.content import Recording
from fencepost.traces.files.itf import read
from fencepost.traces.replay import replay_on

SUFFIX = ".itf.json"


def run(asked: HtmlRequest) -> ExitStatus:
    """Writes the page of trace files; 75 if one does not replay, since what it says is not so.

    Raises InputError and TraceFileError.
    """
    names = [path.name.removesuffix(SUFFIX) for path in asked.files]
    if len(set(names)) < len(names):
        names = [str(path) for path in asked.files]
    protocols, recordings = protocols_with(asked.protocol), []
    for name, path in zip(names, asked.files, strict=True):
        trace, protocol = read(path, protocols)
        suite = protocols[trace.protocol].suite(protocol)
        outcome = replay_on(trace, protocol, suite)
        if not outcome.replays:
            print(f"fencepost: {path}: {outcome}", file=sys.stderr)
            return ExitStatus.EVALUATION
        recordings.append(Recording(name, trace, suite, runs_below(trace, protocol)))
    first = asked.files[0]
    out = asked.out or first.with_name(first.name.removesuffix(SUFFIX) + ".html")
    write_recordings(out, recordings, Reporter(quiet=asked.quiet))
    print(f"page: {out}")
    return ExitStatus.HOLDS
