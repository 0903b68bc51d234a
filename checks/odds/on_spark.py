"""Weighted walks on Spark: a row for each chunk of walks, whoever makes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession

from fencepost.checks.engines.odds.sampling import CHUNK, Sums
from fencepost.checks.odds.solving import Recipe, Walker

_ROW = pa.schema(
    [("chunk", pa.int64()), ("score", pa.float64()), ("squares", pa.float64()), ("steps", pa.int64()), ("hits", pa.int64())]
)
_SPARKS = "chunk long, score double, squares double, steps long, hits long"
_TASKS_PER_CORE = 4


def on_spark(spark: SparkSession) -> Walker:
    """Makes walks on that session: the same sums as in one process, in the same order."""

    def walked(recipe: Recipe, seed: int, count: int) -> list[Sums]:
        chunks = -(-count // CHUNK)
        tasks = min(chunks, _TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
        rows = spark.range(0, chunks, 1, tasks).mapInArrow(partial(_rows, recipe, seed, count), _SPARKS).collect()
        return [Sums(row.score, row.squares, row.steps, row.hits) for row in sorted(rows, key=lambda row: row.chunk)]

    return walked


def _rows(recipe: Recipe, seed: int, count: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    walks = None
    for batch in batches:
        walks = walks or recipe.walks()
        found = list[tuple[int, Sums]]()
        for chunk in batch.column("id").to_pylist():
            found.append((chunk, walks.of(seed, chunk * CHUNK, min((chunk + 1) * CHUNK, count))))
        columns = [[chunk for chunk, _ in found], *([sums[place] for _, sums in found] for place in range(4))]
        yield pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(columns, _ROW, strict=True)], schema=_ROW)
