"""``fencepost policy compare``: makes the runs, judges them, shows the worst."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable

import pyarrow as pa

from fencepost.checks.commands.policy.request import CompareRequest
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.comparison.contenders import contenders
from fencepost.checks.policy.comparison.in_processes import Lost, in_processes
from fencepost.checks.policy.comparison.judgement import Judgement
from fencepost.checks.policy.comparison.now import Beside
from fencepost.checks.policy.comparison.paired import Tolerance, Tolerances
from fencepost.checks.policy.comparison.supposing import require_possible
from fencepost.checks.policy.comparison.text import as_json, text
from fencepost.checks.policy.comparison.worst import NotRepeatable, shown_runs
from fencepost.checks.policy.strategies import keep_input
from fencepost.checks.policy.text import shortened
from fencepost.checks.policy.usage import WrongUsage
from fencepost.checks.policy.world import world
from fencepost.model.balance.simulation.measures import MEASURES
from fencepost.model.balance.user_policy import PolicyFault
from fencepost.model.counts import count_of
from fencepost.model.language.mistakes import guess
from fencepost.traces.comparison.compare import Make, Outcome, Progress, compare, complete, here
from fencepost.traces.comparison.comparison import Comparison
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.files.writing import write_text


class _NoSpark(Exception):
    """Spark cannot be started, or gives up; the message says why in a line."""


STATUS = {
    FolderError: ExitStatus.INPUT,
    Lost: ExitStatus.SYSTEM,
    _NoSpark: ExitStatus.SYSTEM,
    NotRepeatable: ExitStatus.EVALUATION,
}
FEW_RUNS = 20
"""Up to N runs starting processes takes longer than it saves."""


def compare_policies(asked: CompareRequest) -> ExitStatus:
    """Compares; returns the exit status."""
    policies, notes = contenders(asked.against, asked.conf, asked.pulsar)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    try:
        if asked.history is not None:
            from fencepost.checks.commands.policy.backtest import backtest

            return backtest(asked, policies, asked.history)
        comparison = Comparison(policies, world(asked, policies[0].manager.conf), asked.runs, asked.hours, asked.seed)
        return judged(asked, comparison, lambda reporter: _outcome_of(comparison, asked, reporter))
    except (FolderError, Lost, _NoSpark, NotRepeatable) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return STATUS[type(error)]


def judged(
    asked: CompareRequest,
    comparison: Comparison,
    outcome_by: Callable[[Reporter], Outcome],
    happened: Callable[[pa.Table], Beside] | None = None,
) -> ExitStatus:
    """Makes the runs of a comparison, judges and shows them; ``happened`` has what is known beside them."""
    tolerances = _tolerances(asked.tolerance)
    for policy in comparison.contenders:
        require_possible(policy, comparison.scenario)
    reporter = Reporter(quiet=asked.quiet, stream=sys.stderr)
    with comparison.held(asked.out):
        outcome = outcome_by(reporter)
        rows = complete(comparison, asked.out)
        beside = happened(rows) if happened is not None and len(rows) else None
        judgement = Judgement(comparison, rows, outcome, tolerances, asked.confidence, asked.out, asked.strict, beside)
        if outcome == "fault":
            return _fault(judgement)
        reporter.begin("the worst runs")
        with interruptible() as interrupt:
            shown = shown_runs(judgement, lambda done, of: reporter.telling(f"{done} of {of} made once more"), interrupt)
        reporter.end()
    if asked.html is not None:
        from fencepost.checks.policy.comparison.page import page

        write_text(asked.html, page(judgement, shown))
        print(f"page: {asked.html}", file=sys.stderr)
    report = in_format(
        asked.format,
        text=lambda: shortened(text(judgement, shown), comparison.scenario.brokers),
        json=lambda: as_json(judgement, shown),
    )
    print(report, end="")
    return judgement.status


def _outcome_of(comparison: Comparison, asked: CompareRequest, reporter: Reporter) -> Outcome:
    def outcome_by(make: Make) -> Outcome:
        return made_by(make, comparison, asked, reporter)

    reporter.begin(f"{comparison.scenario.name}, {count_of(comparison.runs, 'run')}")
    if asked.master is not None:
        outcome = _on_spark(asked.master, outcome_by, quiet=asked.quiet)
    else:
        outcome = outcome_by(in_processes if asked.runs > FEW_RUNS else here)
    reporter.end()
    return outcome


def made_by(make: Make, comparison: Comparison, asked: CompareRequest, reporter: Reporter) -> Outcome:
    """Makes the runs in this way, and tells how far it is."""

    def tell(progress: Progress) -> None:
        if progress.rate:
            hours, left = progress.rate * comparison.hours, (progress.of - progress.done) / progress.rate
            done = f"{progress.done:,} of {progress.of:,} simulations"
            reporter.telling(f"{done}, {hours:,.3g} simulated hours/s, about {left:.0f} s left")

    with interruptible() as interrupt:  # only now: Spark has a handler of its own
        return compare(make, comparison, asked.out, should_stop=interrupt, progress=tell)


def _on_spark(master: str, compared: Callable[[Make], Outcome], *, quiet: bool) -> Outcome:
    from fencepost.traces.comparison.on_spark import on_spark
    from fencepost.traces.exploration.java import SparkError
    from fencepost.traces.exploration.session import spark_session

    started = time.monotonic()
    try:
        with spark_session(master, light=True) as spark:
            if not quiet:
                print(f"# {time.monotonic() - started:.1f} s for Spark to start", file=sys.stderr)
            return compared(on_spark(spark))
    except SparkError as error:
        raise _NoSpark(str(error)) from error


def _fault(judgement: Judgement) -> ExitStatus:
    """Asks the policy once more what it failed on, and keeps that; raises what it raises."""
    failed = next(row for row in judgement.rows.select(["run", "policy", "fault"]).to_pylist() if row["fault"])
    contender = next(c for c in judgement.comparison.contenders if c.name == failed["policy"])
    try:
        judgement.comparison.simulated(failed["run"], contender)
    except PolicyFault as fault:
        keep_input(fault, judgement.folder / "fault.json")
        fault.add_note(f"in run {failed['run']} of {contender.name}")
        raise
    raise NotRepeatable(f"{contender.name}: {failed['fault']}, in run {failed['run']}, but not when it was made once more")


def _tolerances(given: Iterable[str]) -> Tolerances:
    general, named = Tolerances().general, {}
    for item in given:
        name, equals, amount = item.rpartition("=")
        if equals and name not in MEASURES:
            known = f"{guess(name, MEASURES)}; there are {', '.join(MEASURES)}"
            raise WrongUsage(f"--tolerance {item}: there is no measure {name!r}{known}")
        tolerance = _tolerance(item, amount)
        if equals:
            named[name] = tolerance
        else:
            general = tolerance
    return Tolerances(general, named)


def _tolerance(item: str, amount: str) -> Tolerance:
    is_share = amount.endswith("%")
    try:
        value = float(amount.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not value >= 0 or (is_share and value == float("inf")):
        raise WrongUsage(f"--tolerance {item}: {amount!r} is no amount; write 10%, or 3, or inf for any")
    return Tolerance(value / 100 if is_share else value, is_share)
