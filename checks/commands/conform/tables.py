"""``fencepost conform log PROTOCOL --tables``: an explanation of each ledger's or bundle's lines, on Spark."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from fencepost.checks.commands.conform.request import LogRequest
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.history.explaining import Question, as_json, explained, keep
from fencepost.checks.history.session import history_session, tables_at
from fencepost.model.counts import count_of
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import find
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.exploration.java import SparkError
from fencepost.traces.exploration.places import PlaceError
from fencepost.traces.files.writing import write_text

SHOWN = 20
"""Subjects that are named at most; all are in the table."""


def run(asked: LogRequest, folder: Path | str) -> ExitStatus:
    """Explains what the tables have; returns the exit status."""
    reporter = Reporter(quiet=asked.quiet, stream=sys.stderr)
    settings = find(asked.protocol, PROTOCOLS).settings(asked.set)
    question = Question(asked.protocol, settings, tuple(asked.bug), asked.limit)
    try:
        with history_session(asked.master, asked.spark_conf) as spark:
            tables = tables_at(spark, folder)
            tables.require()
            reporter.begin(f"{asked.protocol}, {folder}")
            verdicts = explained(tables, question).persist()
            counts = Counter({str(row["verdict"]): int(row["count"]) for row in verdicts.groupBy("verdict").count().collect()})
            with tables.held():
                keep(tables, verdicts)
            others = verdicts.where("verdict <> 'explained'").orderBy("cluster", "subject").limit(SHOWN).collect()
            reporter.end()
    except (FolderError, PlaceError) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.INPUT
    except SparkError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.SYSTEM
    if not counts:
        print(f"fencepost: {folder}: has no events of {asked.protocol}: ingest logs of bookies and brokers", file=sys.stderr)
        return ExitStatus.EVALUATION
    lines = [
        f"{count_of(counts.total(), 'subject')} of {asked.protocol}: "
        + ", ".join(f"{n:,} {v}" for v, n in sorted(counts.items()))
    ]
    for row in others:
        lines.append(f"{row['subject']}: {row['verdict']}: {row['next'] or row['why']}")
        lines += [f"  {line.strip()}" for line in str(row["why"]).splitlines()[:3] if row["next"]]
        if asked.out is not None and row["trace"]:
            file = asked.out / f"{asked.protocol}-{str(row['subject']).replace('/', '_')}.itf.json"
            write_text(file, row["trace"])
            lines.append(f"  run as far as it goes: {file}")
    rows = [row.asDict() for row in others]
    print(in_format(asked.format, text=lambda: "\n".join(lines) + "\n", json=lambda: as_json(rows)), end="")
    if counts["unexplained"]:
        return ExitStatus.SAFETY
    return ExitStatus.INCONCLUSIVE if counts["inconclusive"] + counts["unreadable"] else ExitStatus.HOLDS
