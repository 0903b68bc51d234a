"""Walks by the billion on Spark: what they came to, and any of them step by step."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.commands.explore.request import EVERY_CORE, ExploreRequest
from fencepost.checks.console.printing import colour, width
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import VIOLATED, ExitStatus
from fencepost.model.counts import count_of
from fencepost.model.kernel.walks.walks import WalkProgress
from fencepost.properties.observed import Observed
from fencepost.traces.exploration.explore import News, complete, explore
from fencepost.traces.exploration.places import Place, Remote
from fencepost.traces.exploration.report import Report, Violated, report
from fencepost.traces.exploration.run import Run, read
from fencepost.traces.exploration.session import spark_session
from fencepost.traces.exploration.stretches import trace_of_walk
from fencepost.traces.files.itf import write
from fencepost.traces.shrinking.shrinking import shrink
from fencepost.traces.wording.text import show

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def walk(explored: Run, asked: ExploreRequest, folder: Path | str) -> ExitStatus:
    """Makes the walks that the folder does not have yet, and prints what all of them came to."""
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
    with _working(explored, asked, folder) as (spark, place):
        ready = time.monotonic() - started
        with interruptible() as interrupt:
            outcome = explore(
                spark,
                explored,
                place,
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
            if not complete(explored, place):
                print("no round is complete yet, so nothing is claimed")
                return ExitStatus.INCONCLUSIVE
        summary = report(spark, explored, place)
        if asked.tables is not None and outcome == "complete":
            _tell(spark, explored, asked, asked.tables)
    print(text(summary, observed, _named(folder, asked), width=width()), end="")
    print(f"# {took:.1f} s, after {ready:.1f} s for Spark to start")
    status = _status(summary)
    return ExitStatus.INCONCLUSIVE if outcome == "interrupted" and status is ExitStatus.HOLDS else status


def _tell(spark: SparkSession, explored: Run, asked: ExploreRequest, folder: Path | str) -> None:
    """Writes walks and steps as rows of tables. Raises FolderError."""
    from fencepost.checks.history.session import tables_at
    from fencepost.checks.history.walks import keep_walks

    tables = tables_at(spark, folder)
    with tables.held():
        rows = keep_walks(tables, explored, str(asked.out), asked.sampled)
    print(f"{folder}: {count_of(rows['walks'], 'new walk')}, {count_of(rows['steps'], 'new step')}")


@contextmanager
def _working(explored: Run, asked: ExploreRequest, folder: Path | str) -> Iterator[tuple[SparkSession, Place]]:
    """A session, and the folder, held for the run: one of this machine before Spark starts, one at a URL by its means."""
    with ExitStack() as stack:
        if isinstance(folder, Path):
            stack.enter_context(explored.held(folder))
        spark = stack.enter_context(_session(asked))
        place = folder if isinstance(folder, Path) else Remote(spark, folder)
        if isinstance(place, Remote):
            stack.enter_context(explored.held(place))
        yield spark, place


def _named(folder: Path | str, asked: ExploreRequest) -> Path | str:
    """The folder as the next command names it."""
    return folder if isinstance(folder, Path) else f"{folder} --master '{asked.master}'"


def _session(asked: ExploreRequest) -> AbstractContextManager[SparkSession]:
    return spark_session(asked.master or EVERY_CORE, asked.spark_settings, light=True)


def read_there(url: str, asked: ExploreRequest) -> Run:
    """The run whose folder is at a URL."""
    with _session(asked) as spark:
        return read(Remote(spark, url))


def report_there(url: str, asked: ExploreRequest) -> ExitStatus:
    """Prints what the walks of a folder at a URL came to, as far as they are made."""
    with _session(asked) as spark:
        place = Remote(spark, url)
        summary = report(spark, read(place), place)
    return _reported(summary, asked, url)


def report_on(explored: Run, asked: ExploreRequest, folder: Path) -> ExitStatus:
    """Prints what the walks of a folder came to, as far as they are made."""
    with _session(asked) as spark:
        summary = report(spark, explored, folder)
    return _reported(summary, asked, folder)


def _reported(summary: Report, asked: ExploreRequest, folder: Path | str) -> ExitStatus:
    print(text(summary, summary.run.observed(), _named(folder, asked), width=width()), end="")
    if asked.plots is not None:
        from fencepost.traces.exploration.plots import write_plots

        for path in write_plots(summary, asked.plots):
            print(f"plot: {path}")
    return _status(summary)


def show_walk(explored: Run, number: int, asked: ExploreRequest) -> ExitStatus:
    """Prints a walk; one that violates a property is shrunk unless all of it is asked for."""
    trace = trace_of_walk(explored, number)
    suite = explored.observed().suite
    if trace.violated is not None and not asked.whole:
        reporter = Reporter(quiet=asked.quiet)
        reporter.begin(f"shrinking walk {number}")
        with interruptible() as interrupt:
            shrunk = shrink(trace, suite, progress=reporter.searching, should_stop=interrupt)
        reporter.end()
        trace = shrunk.trace
    violated = next((p for p in suite.properties if p.name == trace.violated), None)
    print(show(trace, suite.protocol, violated=violated, width=width(), colour=colour()), end="")
    if isinstance(asked.out, Path):
        write(trace, suite.protocol, asked.out)
        print(f"trace: {asked.out}")
    return ExitStatus.HOLDS


def _status(summary: Report) -> ExitStatus:
    observed = summary.run.observed()
    kinds = {p.name: p.kind for p in observed.suite.properties}
    statuses = {VIOLATED.get(kinds[violated.property], ExitStatus.SAFETY) for violated in unexpected(summary, observed)}
    return next((s for s in (ExitStatus.SAFETY, ExitStatus.DEADLOCK) if s in statuses), ExitStatus.HOLDS)


def text(report: Report, observed: Observed, folder: Path | str, *, width: int = 120) -> str:
    """What the walks found and how far they went; what is estimated or sampled says so."""
    run = report.run
    sampled = f"{report.walks:,} of {count_of(run.walks, 'walk')}, {count_of(report.steps, 'step')}"
    lines = [heading(report), f"  sampled: {sampled}; {_stuck(report)}"]
    lines += _violations(report, observed, folder, width)
    for word, what, wanted in (("not reached", "reached", observed.goals), ("no premise met", "premise", observed.premises)):
        lines += _wrapped(word, (p.name for p in wanted.values() if p.name not in report.met[what]), width)
    lines += _wrapped("never enabled", sorted(a for a, covered in report.coverage.items() if not covered.enabled), width)
    lines += _wrapped("never taken", sorted(a for a, c in report.coverage.items() if c.enabled and not c.taken), width)
    constant = [variable for variable, seen in report.values.items() if len(seen) == 1]
    order = [variable.name for variable in observed.kernel.protocol.variables]
    looked_at = f"in the {count_of(report.looked_at, 'state')} that were looked at for that: "
    lines += _wrapped("never changed", sorted(constant, key=order.index), width, looked_at)
    lines += ["", *_estimates(report), "", *_coverage(report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def heading(report: Report) -> str:
    """What was explored."""
    run = report.run
    bugs = f" with {', '.join(run.bugs)}" if run.bugs else ""
    parameters = " ".join(f"{name}={value}" for name, value in run.parameters.items())
    walks = f"{run.strategy} walks of up to {count_of(run.steps, 'step')}"
    return f"{run.protocol}{bugs}: {parameters}; {walks}, seed {run.seed}"


def unexpected(report: Report, observed: Observed) -> list[Violated]:
    """The violations that are not those of negative controls."""
    controls = {p.name for p in observed.states.values() if p.strict}
    return [violation for violation in report.violated if violation.property not in controls]


def _stuck(report: Report) -> str:
    return f"{count_of(report.stuck, 'walk')} ended where no action is possible"


def _violations(report: Report, observed: Observed, folder: Path | str, width: int) -> list[str]:
    meaning = {p.name: p.doc.splitlines()[0] for p in observed.suite.properties}
    lines = []
    for violation in unexpected(report, observed):
        walks = count_of(violation.walks, "walk")
        sentence = f"{violation.property}: {meaning[violation.property]}"
        sentence += f" (on {walks}; the shortest has {count_of(violation.length, 'step')})"
        lines += _entry("violated", sentence, width)
        lines.append(f"{'':17}fencepost explore trace {folder} --walk {violation.walk}")
    quiet = [p.name for kind in (observed.states, observed.steps, observed.may_end) for p in kind.values() if not p.strict]
    violated = {violation.property for violation in report.violated}
    lines += _wrapped("not violated", [name for name in quiet if name not in violated], width)
    return lines + _wrapped("expected", sorted(report.met["control"]), width)


def _estimates(report: Report) -> list[str]:
    scale = report.run.bits
    if not scale:
        states = f"{report.distinct:,} distinct states visited (counted)"
    else:
        states = (
            f"about {report.distinct:,} distinct states visited (estimate, standard deviation {report.error:,}: "
            f"one state in {1 << scale:,} was kept)"
        )
    unseen = "too few states to estimate what is unseen"
    if report.unseen is not None:
        unseen = f"the next state visited is a new one with probability {report.unseen:.2g} (estimate of Good and Turing)"
    halves = _half(report)
    growth = f"the second half of the walks visited {halves:.1%} of these states first" if halves is not None else ""
    return [f"  {line}" for line in (states, unseen, growth) if line]


def _half(report: Report) -> float | None:
    """The share of the states that the second half of the walks was the first to visit."""
    last = report.growth[-1]
    before = [states for walks, states in report.growth if 2 * walks <= last[0]]
    return 1 - before[-1] / last[1] if before and last[1] else None


def _coverage(report: Report) -> list[str]:
    actions = sorted(report.coverage.items(), key=lambda item: (item[1].taken, item[0]))
    width = max(len(action) for action, _ in actions)
    lines = [f"  {'action':<{width}}  {'steps taken':>15}  {'enabled in (sampled)':>20}"]
    return lines + [f"  {action:<{width}}  {covered.taken:>15,}  {covered.share:>20.2%}" for action, covered in actions]


def _wrapped(word: str, names: Iterable[str], width: int, before: str = "") -> list[str]:
    text = ", ".join(names)
    return _entry(word, before + text, width) if text else []


def _entry(word: str, text: str, width: int) -> list[str]:
    head = f"  {word:<15}"
    return textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False)
