"""What a Spark task does in an exhaustive search: states of a level in, their successors or what is to tell of them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program
from fencepost.model.kernel.search.expansion import DEADLOCKS, TRANSITIONS, Tally
from fencepost.model.kernel.search.pieces import Pieces, buckets_of, new_states, predecessors
from fencepost.properties.observed import Observed
from fencepost.traces.exploration.levelwise import finds_of
from fencepost.traces.exploration.run import Run
from fencepost.traces.exploration.stretches import Worker

if TYPE_CHECKING:
    from pyspark.sql import Row

SURVEY = """
    transitions long, stuck long, enabled array<long>, seen array<long>, seen_steps array<long>,
    found array<struct<row: int, state: array<long>, action: long>>"""
"""What a task tells of its states: a row."""

BUCKET = "bucket"
"""The column that says which task a state is for."""

_BATCH_ROWS = 1 << 16
_KNOWN_ROWS = 1 << 18


def columns(words: int) -> list[str]:
    """The columns of a state: its packed words, as signed numbers of 64 bits."""
    return [f"w{word}" for word in range(words)]


def schema(words: int) -> str:
    """The states of a level, as Spark writes them."""
    return ", ".join(f"{name} long not null" for name in columns(words))


def sorted_by_bucket(words: int) -> str:
    """States on their way to the task of their bucket."""
    return f"{BUCKET} int not null, {schema(words)}"


def files_of(level: Path, bucket: int) -> list[Path]:
    """The files with a level's states of one bucket: Spark numbers the files of a job by the tasks that write them."""
    return sorted(level.glob(f"part-{bucket:05d}*.parquet"))


def expanding(run: Run, buckets: int) -> Worker:
    """The function for ``mapInArrow`` from states to their successors, each at least once, with their buckets."""
    return partial(_successors, run, buckets)


def sifting(levels: Sequence[Path]) -> Worker:
    """The function for ``mapInArrow`` from states of one bucket, some of them several times, to those that are in none of these
    levels, each once, in order."""
    return partial(_sifted, levels)


def surveying(run: Run) -> Worker:
    """The function for ``mapInArrow`` from states to a row that tells of the steps from them."""
    return partial(_survey, run)


def tracing(run: Run, target: tuple[int, ...]) -> Worker:
    """The function for ``mapInArrow`` from states to the smallest of them that ``target`` is a successor of."""
    return partial(_predecessor, run, target)


def tally_of(observed: Observed, row: Row) -> Tally:
    """What a task told of its states, as the kernel counts it."""
    tally = Tally.of(Program.of(observed.kernel), finds_of(observed).rows)
    tally.counters[TRANSITIONS], tally.counters[DEADLOCKS] = row["transitions"], row["stuck"]
    tally.enabled[:] = row["enabled"]
    tally.seen[:], tally.seen_steps[:] = unsigned(row["seen"]), unsigned(row["seen_steps"])
    for find in row["found"]:
        tally.found_state[find["row"]] = unsigned(find["state"])
        tally.found_action[find["row"]] = find["action"]
    return tally


def unsigned(words: Iterable[int]) -> Words:
    """Words that Spark holds as signed numbers."""
    return np.array(list(words), dtype=np.int64).view(np.uint64)


def signed(words: Words) -> list[int]:
    """Words as the signed numbers that Spark holds."""
    return [int(word) for word in np.ascontiguousarray(words).view(np.int64)]


def _successors(run: Run, buckets: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    observed = run.observed()
    for piece in Pieces(observed.kernel, finds_of(observed)).successors(_pieces(batches)):
        for start in range(0, len(piece), _BATCH_ROWS):
            rows = piece[start : start + _BATCH_ROWS]
            bucket = pa.array(buckets_of(rows, buckets), pa.int32())
            yield pa.RecordBatch.from_arrays([bucket, *_arrays(rows)], [BUCKET, *columns(observed.kernel.words)])


def _sifted(levels: Sequence[Path], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    buckets, pieces = set[int](), list[Words]()
    for batch in batches:
        buckets.update(batch.column(BUCKET).unique().to_pylist())
        pieces += _pieces([batch.drop_columns([BUCKET])])
    for bucket in buckets:  # one, or none: Spark gives each task the states of its bucket
        states = new_states(pieces, _known(levels, bucket))
        for start in range(0, len(states), _BATCH_ROWS):
            rows = states[start : start + _BATCH_ROWS]
            yield pa.RecordBatch.from_arrays(_arrays(rows), columns(states.shape[1]))


def _known(levels: Sequence[Path], bucket: int) -> Iterator[Words]:
    for level in levels:
        for file in files_of(level, bucket):
            with pq.ParquetFile(file) as opened:
                yield from _pieces(opened.iter_batches(_KNOWN_ROWS))


def _arrays(rows: Words) -> list[pa.Array]:
    return [pa.array(column) for column in np.ascontiguousarray(rows.view(np.int64).T)]


def _survey(run: Run, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    observed = run.observed()
    pieces = Pieces(observed.kernel, finds_of(observed))
    for _ in pieces.successors(_pieces(batches)):
        pass
    tally = pieces.worker
    row = {
        "transitions": int(tally.counters[TRANSITIONS]),
        "stuck": int(tally.counters[DEADLOCKS]),
        "enabled": tally.enabled.tolist(),
        "seen": signed(tally.seen),
        "seen_steps": signed(tally.seen_steps),
        "found": [
            {"row": row, "state": signed(tally.found_state[row]), "action": int(action)}
            for row, action in enumerate(tally.found_action)
            if action >= 0
        ],
    }
    yield pa.RecordBatch.from_pylist([row], schema=_SURVEY)


def _predecessor(run: Run, target: tuple[int, ...], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    kernel = run.observed().kernel
    before = predecessors(kernel, _pieces(batches), np.array(target, dtype=np.uint64))
    yield pa.RecordBatch.from_arrays(_arrays(before), columns(kernel.words))


def _pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[Words]:
    for batch in batches:
        yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns]).view(np.uint64)


_SURVEY = pa.schema(
    {
        "transitions": pa.int64(),
        "stuck": pa.int64(),
        **dict.fromkeys(("enabled", "seen", "seen_steps"), pa.list_(pa.int64())),
        "found": pa.list_(pa.struct({"row": pa.int32(), "state": pa.list_(pa.int64()), "action": pa.int64()}.items())),
    }
)
