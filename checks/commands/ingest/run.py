"""``fencepost ingest``: the files of a cluster into tables, and what has to be known of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fencepost.checks.commands.ingest.request import IngestRequest
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.history.ingesting import Ingested, Reader, ingest
from fencepost.checks.history.session import history_session, tables_at
from fencepost.checks.history.sources import Sources
from fencepost.model.counts import count_of
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.exploration.java import SparkError
from fencepost.traces.exploration.places import PlaceError

TOLD = ("loads", "decisions", "events", "rates", "settings")


def run(asked: IngestRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    missing = next((source for source in asked.sources if _is_missing(source)), None)
    if missing is not None:
        print(f"fencepost: {missing}: there is no such file or folder", file=sys.stderr)
        return ExitStatus.INPUT
    reporter, started = Reporter(quiet=asked.quiet, stream=sys.stderr), time.monotonic()
    try:
        with history_session(asked.master, asked.spark_conf) as spark:
            tables = tables_at(spark, asked.out)
            reporter.begin(f"ingest into {asked.out}")
            with tables.held(), interruptible() as interrupt:  # only now: Spark has a handler of its own
                sources = Sources(spark, [_located(source) for source in asked.sources])
                reader = Reader(asked.cluster_name, asked.zone)

                def so_far(batch: int, batches: int, share: float) -> None:
                    reporter.telling(f"batch {batch} of {batches}, {100 * share:.0f} % of the tasks that Spark knows of")

                came = ingest(tables, sources, reader, so_far, interrupt)
            reporter.end()
    except (FolderError, PlaceError) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.INPUT
    except SparkError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.SYSTEM
    print(told(replace(came, notes=[*passed_over(asked.sources), *came.notes]), str(asked.out)), end="")
    if not asked.quiet:
        seconds = time.monotonic() - started
        print(f"# {came.rows['loads'] / seconds:,.0f} loads a second, with Spark's start", file=sys.stderr)
    return ExitStatus.INCONCLUSIVE if came.stopped else ExitStatus.HOLDS


def told(came: Ingested, folder: str) -> str:
    """What came of it, for a person."""
    left = came.files - came.read
    unchanged = f", {left:,} are as they were" if left else ""
    lines = [f"{count_of(came.files, 'file')}: {came.read:,} read{unchanged}"]
    lines.append("rows: " + ", ".join(f"{came.rows[name]:,} {name}" for name in TOLD))
    lines += [f"  {note}" for note in came.notes]
    if came.rows["quarantine"]:
        lines.append(
            f"what was not read, or no table takes: {count_of(came.rows['quarantine'], 'row')} of the table quarantine"
        )
    if came.stopped:
        lines.append("stopped: the rounds that are complete are kept, and the same command goes on with the others")
    return "\n".join([*lines, f"tables: {folder}"]) + "\n"


def passed_over(sources: Sequence[str]) -> Iterator[str]:
    """A line for each source with files that Spark does not list; of a URL nobody lists them."""
    for source in (Path(source) for source in sources if "://" not in source):
        inside = [path for path in source.rglob("*") if path.is_file()] or [source]
        names = {path: path.relative_to(source).parts or (path.name,) for path in inside}
        hidden = [path for path in inside if any(name.startswith(("_", ".")) for name in names[path])]
        if hidden:
            count = count_of(len(hidden), "file")
            yield f"{min(hidden)}: begins with _ or ., {count} in all that Spark does not list: rename it"


def _is_missing(source: str) -> bool:
    return "://" not in source and not any(letter in source for letter in "*?[{") and not Path(source).exists()


def _located(source: str) -> str:
    return source if "://" in source else str(Path(source).resolve())
