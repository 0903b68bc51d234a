"""``fencepost explore``: walks by the billion on Spark, what they found, and the trace of any of them."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

from checks.explore_report import text, unexpected
from checks.progress import Reporter, interruptible
from checks.verdicts import VIOLATED, ExitStatus
from model.kernel.walks import WalkProgress
from properties.protocols import PROTOCOLS
from properties.registry import RegistryError, find
from traces.exploration.explore import News, explore
from traces.exploration.java import JavaError
from traces.exploration.report import Report, report
from traces.exploration.run import FolderError, Run, VersionError, read
from traces.exploration.session import SparkError, spark_session
from traces.exploration.stretches import trace_of_walk
from traces.itf import write
from traces.text import show


def run(asked: argparse.Namespace) -> ExitStatus:
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
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.SYSTEM


def _folder(asked: argparse.Namespace) -> Path:
    if asked.folder is None:
        raise RegistryError(f"explore {asked.subject} needs the folder of a run: fencepost explore {asked.subject} DIR")
    return Path(asked.folder)


def _explore(asked: argparse.Namespace) -> ExitStatus:
    if asked.folder is not None or asked.out is None:
        raise RegistryError("explore needs a folder for what it finds: fencepost explore PROTOCOL --out DIR")
    explored = _asked_for(asked)
    observed = explored.observed()
    expected = frozenset(p.name for p in observed.states.values() if p.strict)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"{explored.protocol}, {explored.walks:,} walks")

    def news(first: News) -> None:
        reporter.end()
        if not asked.quiet and first.property not in expected:
            print(f"# {first.property} is violated, by walk {first.walk} in {first.length} steps", file=sys.stderr, flush=True)

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
                progress=lambda told: reporter.walking(WalkProgress(told.walks, told.steps, told.rate), explored.walks),
                news=news,
            )
        reporter.end()
        took = time.monotonic() - started - ready
        if outcome == "interrupted":
            print("interrupted: the rounds that are complete are kept, and the same command goes on with the others")
        made = report(spark, explored, asked.out)
    print(text(made, observed, asked.out, width=_width()), end="")
    print(f"# {took:.1f} s, after {ready:.1f} s for Spark to start")
    status = _status(made)
    return ExitStatus.INCONCLUSIVE if outcome == "interrupted" and status is ExitStatus.HOLDS else status


def _asked_for(asked: argparse.Namespace) -> Run:
    entry = find(asked.subject, PROTOCOLS)
    shown = {name: value for defect in asked.defect for name, value in entry.shown_by.get(defect, {}).items()}
    protocol = entry.build({**shown, **entry.settings(asked.set)}, asked.defect)
    made = Run(
        protocol=entry.name,
        parameters=dict(protocol.parameters),
        defects=protocol.active,
        walks=asked.walks,
        steps=asked.steps,
        seed=asked.seed,
        swarm=asked.swarm,
    )
    return replace(made, fingerprint=made.observed().kernel.fingerprint)


def _report(folder: Path, asked: argparse.Namespace) -> ExitStatus:
    explored = read(folder)
    observed = explored.observed()
    with spark_session(asked.master, _settings(asked), light=True) as spark:
        made = report(spark, explored, folder)
    print(text(made, observed, folder, width=_width()), end="")
    if asked.plots is not None:
        from traces.exploration.plots import write_plots

        for path in write_plots(made, asked.plots):
            print(f"plot: {path}")
    return _status(made)


def _status(made: Report) -> ExitStatus:
    observed = made.run.observed()
    kinds = {p.name: p.kind for p in observed.suite.properties}
    found = {VIOLATED.get(kinds[violated.property], ExitStatus.SAFETY) for violated in unexpected(made, observed)}
    return next((s for s in (ExitStatus.SAFETY, ExitStatus.DEADLOCK) if s in found), ExitStatus.HOLDS)


def _trace(folder: Path, asked: argparse.Namespace) -> ExitStatus:
    explored = read(folder)
    if asked.walk is None or not 0 <= asked.walk < explored.walks:
        raise RegistryError(f"explore trace needs a walk from 0 to {explored.walks - 1}: --walk N")
    trace = trace_of_walk(explored, asked.walk)
    suite = explored.observed().suite
    meaning = next((p.doc for p in suite.properties if p.name == trace.violated), "")
    print(show(trace, suite.protocol, meaning=meaning, width=_width(), colour=sys.stdout.isatty()), end="")
    if asked.out is not None:
        write(trace, suite.protocol, asked.out)
        print(f"trace: {asked.out}")
    return ExitStatus.HOLDS


def _settings(asked: argparse.Namespace) -> dict[str, str]:
    settings = {}
    for setting in asked.spark_conf:
        name, equals, value = setting.partition("=")
        if not equals or not name.startswith("spark."):
            raise RegistryError(f"{setting!r} is not of the form spark.NAME=VALUE")
        settings[name] = value
    return settings


def _width() -> int:
    return min(shutil.get_terminal_size((120, 24)).columns, 140)
