"""Where commands write their pages: of some runs, of the violations of a check, and of a configuration."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.questions.bugs.part_runs import runs_below
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.reports.report_page import report_page
from fencepost.model.releases import Releases
from fencepost.properties.registry import Entry
from fencepost.traces.explorer.content import LARGEST, Recording, content
from fencepost.traces.explorer.guide import Guide
from fencepost.traces.explorer.page import page
from fencepost.traces.files.writing import write_text


def write_page(everything: Sequence[Checked], path: Path, reporter: Reporter, releases: Releases | None = None) -> bool:
    """Writes the page of every violated property of a run, also of the expected ones, and of its bugs; False if there is
    none, and no page.

    Raises OSError if it cannot be written.
    """
    recordings = list(violations(everything, releases))
    if recordings:
        write_recordings(path, recordings, reporter)
    return bool(recordings)


def write_report(run: FinishedRun, path: Path, reporter: Reporter) -> list[Path]:
    """Writes the page of a configuration, and beside it the one of the runs, if there are any; returns what was written.

    Raises OSError if they cannot be written.
    """
    assert run.opening is not None, "it is of a configuration"
    runs = path.with_name(f"{path.stem}-runs{path.suffix}")
    recordings = [*beyond(run.opening), *violations(run.everything, run.opening.now.cluster.releases)]
    if recordings:
        write_recordings(runs, recordings, reporter)
    write_text(path, report_page(run, runs.name if recordings else ""))
    return [path, runs] if recordings else [path]


def default_page(folder: Path | None) -> Path:
    """Where a page without a name goes: to the traces, if they are written to a folder."""
    return (folder or Path()) / "fencepost.html"


def write_recordings(path: Path, recordings: Sequence[Recording], reporter: Reporter, guide: Guide | None = None) -> bool:
    """Writes the page of these runs, which may begin with a ``guide``; False, with a message, if one of them is there without
    its model.

    Raises OSError if it cannot be written.
    """
    reporter.begin(f"writing {path.name}")
    data = content(recordings, reporter.telling, guide=guide)
    text = page(recordings, data=data)
    reporter.end()
    write_text(path, text)
    traces = data["traces"]
    assert isinstance(traces, list)
    whole = all(trace["model"] is not None for trace in traces)
    if not whole:
        limit = f"{LARGEST // 1_000_000} MB"
        print(f"fencepost: {path} has traces without their model, which would be larger than {limit}", file=sys.stderr)
    return whole


def beyond(opening: Opening) -> Iterator[Recording]:
    """Of each guarantee the run in which one event more breaks it."""
    for row in opening.now.rows:
        if row.failure is not None and isinstance(row.failure.checked.entry, Entry):
            trace, protocol = row.failure.verdict.run, row.failure.checked.protocol
            suite, below = row.failure.checked.entry.suite(protocol), runs_below(trace, protocol, opening.now.cluster.releases)
            yield Recording(f"{row.guarantee.name}: {row.failure.events} too many", trace, suite, below)


def violations(everything: Iterable[Checked], releases: Releases | None = None) -> Iterator[Recording]:
    """The run of every violated property, also of the expected ones, and of the bugs; of these releases are the runs of a
    ledger that explain a step."""
    for checked in everything:
        if not isinstance(checked.entry, Entry):  # a theory has no runs
            continue
        suite = checked.entry.suite(checked.protocol)
        instance = ", ".join([checked.entry.name, checked.instance.name, *checked.protocol.active])
        for verdict in checked.verdicts:
            if verdict.trace is not None and verdict.refuted:
                below = runs_below(verdict.run, checked.protocol, releases)
                yield Recording(f"{verdict.property.name} ({instance})", verdict.trace, suite, below)
