"""A comparison is made: round after round of runs into Parquet, each round complete or not there."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fencepost.traces.comparison.comparison import Comparison
from fencepost.traces.comparison.rows import ROW, row, table
from fencepost.traces.exploration.folder import check, is_kept, keep
from fencepost.traces.files.writing import naming

Outcome = Literal["complete", "fault", "interrupted"]

RUNS = "runs.parquet"
_ROUNDS = "rounds"


@dataclass(frozen=True)
class Progress:
    """How far a comparison is: simulations done of all, and how many a second in this session."""

    done: int
    of: int
    rate: float


class Interrupted(Exception):
    """A round was given up."""


Make = Callable[[Comparison, range, Path, Callable[[], bool], Callable[[int], None]], None]
"""Makes these runs into a folder, asks whether to stop, and says how many simulations are done.

Raises Interrupted if it is to stop.
"""


def compare(
    make: Make,
    comparison: Comparison,
    folder: Path,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> Outcome:
    """Makes the runs that the folder does not have yet, and gathers all in one file.

    There is no round after one in which a user's policy failed. ``should_stop`` ends the comparison with the round that is
    under way left out. Raises FolderError if a round that was kept is damaged, and what ``make`` raises.
    """
    count = len(comparison.contenders)
    there = complete(comparison, folder)
    started, before = time.monotonic(), len(there)
    outcome: Outcome = "fault" if _has_fault(there) else "complete"
    for runs in comparison.rounds(before // count) if outcome == "complete" else ():
        target = _round(folder, runs.start)

        def tell(done: int) -> None:
            simulated = runs.start * count + done  # noqa: B023
            rate = (simulated - before) / max(time.monotonic() - started, 1e-9)
            progress(Progress(simulated, comparison.runs * count, rate))

        shutil.rmtree(target, ignore_errors=True)
        try:
            make(comparison, runs, target, should_stop, tell)
            keep([target], comparison.text)
        except Interrupted:
            outcome = "interrupted"
            break
        if _has_fault(_read(target)):
            outcome = "fault"
            break
    _gather(comparison, folder)
    return outcome


def here(
    comparison: Comparison, runs: range, target: Path, should_stop: Callable[[], bool], tell: Callable[[int], None]
) -> None:
    """Makes runs one after the other in this process."""
    rows = []
    for run in runs:
        for contender in comparison.contenders:
            if should_stop():
                raise Interrupted
            rows.append(row(comparison, run, contender))
            tell(len(rows))
    write(rows, target)


def write(rows: Iterable[dict[str, object]], target: Path) -> None:
    """Writes the rows of some runs into a folder."""
    target.mkdir(parents=True)
    with naming(target):
        pq.write_table(table(rows), target / "part-0.parquet")


def complete(comparison: Comparison, folder: Path) -> pa.Table:
    """The rows of the complete rounds up to the first that is not, by run and, within it, in the order of the policies.

    Of a folder that has more runs than the comparison they are the first ones. Raises FolderError if one is damaged.
    """
    tables = [ROW.empty_table()]
    done = 0
    while done < comparison.runs and is_kept(_round(folder, done)):
        check([_round(folder, done)], comparison.text)
        tables.append(_read(_round(folder, done)))
        done += len(tables[-1]) // len(comparison.contenders)
    rows = pa.concat_tables(tables)
    rows = rows.filter(pc.less(rows["run"], comparison.runs))
    order = pc.index_in(rows["policy"], pa.array([contender.name for contender in comparison.contenders]))
    return rows.append_column("order", order).sort_by([("run", "ascending"), ("order", "ascending")]).drop_columns("order")


def _round(folder: Path, first: int) -> Path:
    """Where the round is kept that begins with a run."""
    return folder / _ROUNDS / f"first={first:06d}"


def _read(target: Path) -> pa.Table:
    return pq.read_table(target, schema=ROW, partitioning=None)


def _has_fault(rows: pa.Table) -> bool:
    return bool(rows["fault"].null_count < len(rows))


def _gather(comparison: Comparison, folder: Path) -> None:
    draft = folder / f"{RUNS}.part"
    with naming(folder / RUNS):
        pq.write_table(complete(comparison, folder), draft)
    draft.replace(folder / RUNS)
