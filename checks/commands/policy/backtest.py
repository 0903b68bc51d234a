"""``fencepost policy compare --history``: the same on the windows of a cluster's history, which Spark reads."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from fencepost.checks.commands.policy.compare import judged, made_by
from fencepost.checks.commands.policy.request import CompareRequest
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.history.backtest import Backtest, History
from fencepost.checks.history.happened import REPORTED, Happened
from fencepost.checks.history.session import history_session, tables_at
from fencepost.checks.policy.comparison.paired import Values
from fencepost.checks.policy.usage import WrongUsage
from fencepost.traces.comparison.compare import Outcome
from fencepost.traces.comparison.comparison import Contender
from fencepost.traces.exploration.java import SparkError
from fencepost.traces.exploration.places import PlaceError

OF_A_WORLD = ("snapshot", "rates", "brokers", "bundles", "namespaces", "topics_per_bundle", "load")


def backtest(asked: CompareRequest, policies: tuple[Contender, ...], folder: Path | str) -> ExitStatus:
    """Compares on each window. Raises WrongUsage, InputError, FolderError."""
    given = next((name for name in OF_A_WORLD if getattr(asked, name) is not None), None)
    if given is not None:
        raise WrongUsage(f"--{given.replace('_', '-')} describes a world; with --history the tables do")
    try:
        with history_session(asked.master or "local[*]", asked.spark_conf) as spark:
            tables = tables_at(spark, folder)
            tables.require()
            history = History.of(tables, asked.window, asked.begin, asked.end, asked.cluster_name)
            if history.left_out:
                print(f"note: {history.left_out} windows have too few reports, and are left out", file=sys.stderr)
            comparison = Backtest.of(history, policies, asked.seed)

            def happened(rows: pa.Table) -> Happened:
                return _happened(comparison, rows, asked.confidence)

            def outcome(reporter: Reporter) -> Outcome:
                reporter.begin(f"{comparison.scenario.name}, {comparison.runs} windows of {asked.window:g} h")
                made = made_by(comparison.make, comparison, asked, reporter)
                reporter.end()
                return made

            return judged(asked, comparison, outcome, happened)
    except PlaceError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.INPUT
    except SparkError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.SYSTEM


def _happened(comparison: Backtest, rows: pa.Table, confidence: float) -> Happened:
    """What happened in the windows that are complete, beside each policy."""
    count = len(comparison.contenders)
    runs = len(rows) // count
    values = {name: own[:runs] for name, own in comparison.happened(comparison.contenders[0].manager.conf).items()}
    simulated = dict[str, dict[str, Values]]()
    for place, contender in enumerate(comparison.contenders):
        own = rows.take(np.arange(place, len(rows), count))
        simulated[contender.name] = {name: own[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in REPORTED}
    return Happened(values, simulated, confidence)
