"""``fencepost explore``: walks by the billion, or all states, on Spark; what was found, and the trace of any walk."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from fencepost.checks.commands.explore.request import ExploreRequest
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.terminal import colour, width
from fencepost.checks.console.unread import chosen_aloud
from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.engines.results.verdicts import VIOLATED, ExitStatus, exit_status
from fencepost.checks.engines.search.exhaustive import searched
from fencepost.checks.reports.explore_report import text, unexpected
from fencepost.checks.reports.report import closing
from fencepost.checks.reports.report import text as verdicts_text
from fencepost.model.counts import count_of
from fencepost.model.kernel.walks.walks import WalkProgress
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, RegistryError, find
from fencepost.traces.exploration.explore import News, complete, explore
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.exploration.java import JavaError
from fencepost.traces.exploration.report import Report, report
from fencepost.traces.exploration.run import Run, VersionError, read
from fencepost.traces.exploration.search import SEARCH_SETTINGS, search
from fencepost.traces.exploration.session import SparkError, spark_session
from fencepost.traces.exploration.stretches import trace_of_walk
from fencepost.traces.files.itf import write
from fencepost.traces.shrinking.shrinking import shrink
from fencepost.traces.wording.text import show


def run(asked: ExploreRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    try:
        if asked.subject == "report":
            return _report(_folder(asked), asked)
        if asked.subject == "trace":
            return _trace(_folder(asked), asked)
        return _explore(asked)
    except (FolderError, VersionError) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.INPUT
    except (JavaError, SparkError) as error:
        disks = f"; the disk of {asked.out or asked.folder} is full, or that of Spark's own files (spark.local.dir)"
        where = disks if "No space left on device" in str(error) else ""
        print(f"fencepost: {error}{where}", file=sys.stderr)
        return ExitStatus.SYSTEM


def _folder(asked: ExploreRequest) -> Path:
    if asked.folder is None:
        raise RegistryError(f"explore {asked.subject} needs the folder of a run: fencepost explore {asked.subject} DIR")
    return asked.folder


def _explore(asked: ExploreRequest) -> ExitStatus:
    if asked.folder is not None or asked.out is None:
        raise RegistryError("explore needs a folder for its results: fencepost explore PROTOCOL --out DIR")
    explored = _asked_for(asked)
    if asked.exhaustive:
        return _exhaust(explored, asked, asked.out)
    observed = explored.observed()
    expected = frozenset(p.name for p in observed.states.values() if p.strict)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"{explored.protocol}, {count_of(explored.walks, 'walk')}")

    def news(first: News) -> None:
        reporter.end()
        if not asked.quiet and first.property not in expected:
            length = count_of(first.length, "step")
            print(f"# {first.property} is violated, by walk {first.walk} in {length}", file=sys.stderr, flush=True)

    started = time.monotonic()
    with explored.held(asked.out), spark_session(asked.master, _settings(asked), light=True) as spark:
        ready = time.monotonic() - started
        with interruptible() as interrupt:
            outcome = explore(
                spark,
                explored,
                asked.out,
                stop_on_first=asked.stop_on_first,
                expected=expected,
                should_stop=interrupt,
                progress=lambda at: reporter.walking(WalkProgress(at.walks, at.steps, at.rate), explored.walks),
                news=news,
            )
        reporter.end()
        took = time.monotonic() - started - ready
        if outcome == "interrupted":
            print("interrupted: the rounds that are complete are kept, and the same command goes on with the others")
            if not complete(explored, asked.out):
                print("no round is complete yet, so nothing is claimed")
                return ExitStatus.INCONCLUSIVE
        summary = report(spark, explored, asked.out)
    print(text(summary, observed, asked.out, width=width()), end="")
    print(f"# {took:.1f} s, after {ready:.1f} s for Spark to start")
    status = _status(summary)
    return ExitStatus.INCONCLUSIVE if outcome == "interrupted" and status is ExitStatus.HOLDS else status


def _asked_for(asked: ExploreRequest) -> Run:
    entry = find(asked.subject, PROTOCOLS)
    shown = {name: value for defect in asked.defect for name, value in entry.shown_by.get(defect, {}).items()}
    releases = chosen_aloud(asked)
    behaviour = entry.behaviour(releases) if releases else {}
    protocol = entry.build({**behaviour, **shown, **entry.settings(asked.set)}, asked.defect)
    wanted = Run(
        protocol=entry.name,
        parameters=dict(protocol.parameters),
        defects=protocol.active,
    )
    if not asked.exhaustive:
        wanted = replace(wanted, walks=asked.walks, steps=asked.steps, seed=asked.seed, strategy=asked.strategy)
    return replace(wanted, fingerprint=wanted.observed().kernel.fingerprint)


def _report(folder: Path, asked: ExploreRequest) -> ExitStatus:
    explored = read(folder)
    if not explored.walks:
        return _exhaust(explored, asked, folder, is_reported=True)
    observed = explored.observed()
    with spark_session(asked.master, _settings(asked), light=True) as spark:
        summary = report(spark, explored, folder)
    print(text(summary, observed, folder, width=width()), end="")
    if asked.plots is not None:
        from fencepost.traces.exploration.plots import write_plots

        for path in write_plots(summary, asked.plots):
            print(f"plot: {path}")
    return _status(summary)


def _exhaust(explored: Run, asked: ExploreRequest, folder: Path, *, is_reported: bool = False) -> ExitStatus:
    """Searches all states, or goes on; of a folder that is only reported on, prints how far it is."""
    entry = find(explored.protocol, PROTOCOLS)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(explored.protocol)
    started = time.monotonic()
    with explored.held(folder), spark_session(asked.master, {**SEARCH_SETTINGS, **_settings(asked)}) as spark:
        ready = time.monotonic() - started
        with interruptible() as interrupt:
            result = search(
                spark,
                explored,
                folder,
                should_stop=(lambda: True) if is_reported else interrupt,
                progress=reporter.searching,
            )
            reporter.end()
            findings = searched(explored.observed(), result)
    protocol = explored.observed().suite.protocol
    checked = Checked(entry, Instance("on Spark", explored.parameters), protocol, findings)
    status = exit_status(findings.verdicts)
    print(verdicts_text(checked, width=width(), colour=colour()), end="")
    print(f"# {ready:.1f} s for Spark to start; {result.bytes_in_use / max(result.distinct, 1):.1f} bytes a state in {folder}")
    if result.outcome == "interrupted" and not is_reported:
        print("interrupted: the levels that are complete are kept, and the same command goes on with the others")
    print(closing([checked], status))
    return status


def _status(summary: Report) -> ExitStatus:
    observed = summary.run.observed()
    kinds = {p.name: p.kind for p in observed.suite.properties}
    statuses = {VIOLATED.get(kinds[violated.property], ExitStatus.SAFETY) for violated in unexpected(summary, observed)}
    return next((s for s in (ExitStatus.SAFETY, ExitStatus.DEADLOCK) if s in statuses), ExitStatus.HOLDS)


def _trace(folder: Path, asked: ExploreRequest) -> ExitStatus:
    explored = read(folder)
    if not explored.walks:
        raise RegistryError(f"{folder} holds an exhaustive search, whose report shows its traces: explore report {folder}")
    if asked.walk is None or not 0 <= asked.walk < explored.walks:
        raise RegistryError(f"explore trace needs a walk from 0 to {explored.walks - 1}: --walk N")
    trace = trace_of_walk(explored, asked.walk)
    suite = explored.observed().suite
    if trace.violated is not None and not asked.whole:
        reporter = Reporter(quiet=asked.quiet)
        reporter.begin(f"shrinking walk {asked.walk}")
        with interruptible() as interrupt:
            shrunk = shrink(trace, suite, progress=reporter.searching, should_stop=interrupt)
        reporter.end()
        trace = shrunk.trace
    violated = next((p for p in suite.properties if p.name == trace.violated), None)
    print(show(trace, suite.protocol, violated=violated, width=width(), colour=colour()), end="")
    if asked.out is not None:
        write(trace, suite.protocol, asked.out)
        print(f"trace: {asked.out}")
    return ExitStatus.HOLDS


def _settings(asked: ExploreRequest) -> dict[str, str]:
    settings = {}
    for setting in asked.spark_conf:
        name, equals, value = setting.partition("=")
        if not equals or not name.startswith("spark."):
            raise RegistryError(f"{setting!r} is not of the form spark.NAME=VALUE")
        settings[name] = value
    return settings
