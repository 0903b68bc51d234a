"""Weighted walks on Spark: a row for each chunk of walks, whoever makes it. Rows that are kept add up over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession

from fencepost.checks.engines.odds.sampling import CHUNK, Sums
from fencepost.checks.odds.solving import Drawer, Recipe, Solver, Walker
from fencepost.checks.odds.ways import Way
from fencepost.model.odds.numbers import MS_PER_YEAR, Numbers

_ROW = pa.schema(
    [
        ("chunk", pa.int64()),
        ("walks", pa.int64()),
        ("score", pa.float64()),
        ("squares", pa.float64()),
        ("steps", pa.int64()),
        ("hits", pa.int64()),
    ]
)
_SPARKS = "chunk long, walks long, score double, squares double, steps long, hits long"
_TASKS_PER_CORE = 4
PER_YEAR = f"""SELECT way, sum(walks) AS walks, sum(hits) AS hits, {MS_PER_YEAR:.0f} * avg AS per_year,
       {MS_PER_YEAR:.0f} * 1.959964 * sqrt((sum(squares) / sum(walks) - avg * avg) / sum(walks)) AS half
FROM (SELECT *, sum(score) OVER (PARTITION BY way) / sum(walks) OVER (PARTITION BY way) AS avg FROM walks)
GROUP BY way, avg"""
"""Of rows that are kept, as the view ``walks``: incidents per year, of one topic or set of bookies, and half the interval."""


def on_spark(spark: SparkSession, out: str | None = None) -> Walker:
    """Makes walks on that session: the same sums as in one process, in the same order.

    With ``out``, a folder or a URL, the rows are kept there as Parquet, by way and seed. Spark raises AnalysisException if it
    has some of both already.
    """

    def walked(recipe: Recipe, seed: int, count: int) -> list[Sums]:
        chunks = -(-count // CHUNK)
        tasks = min(chunks, _TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
        rows = spark.range(0, chunks, 1, tasks).mapInArrow(partial(_rows, recipe, seed, count), _SPARKS)
        if out is not None:
            folder = f"{out.rstrip('/')}/way={recipe.way.name}/seed={seed}"
            rows.write.parquet(folder)
            rows = spark.read.parquet(folder)
        found = sorted(rows.collect(), key=lambda row: int(row.chunk))
        return [Sums(row.score, row.squares, row.steps, row.hits) for row in found]

    return walked


def _rows(recipe: Recipe, seed: int, count: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    walks = None
    for batch in batches:
        walks = walks or recipe.walks()
        found = list[tuple[float, ...]]()
        for chunk in batch.column("id").to_pylist():
            first, end = chunk * CHUNK, min((chunk + 1) * CHUNK, count)
            found.append((chunk, end - first, *walks.of(seed, first, end)))
        columns = list(zip(*found, strict=True)) or [()] * len(_ROW)
        yield pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(columns, _ROW, strict=True)], schema=_ROW)


def draws_on_spark(spark: SparkSession, changed: Mapping[str, Way]) -> Drawer:
    """Solves draws on that session, each as in one process; ``changed`` has other instances of ways, by their names."""

    def drawn(way: Way, draws: Sequence[Numbers], together: bool) -> list[float]:
        tasks = min(len(draws), _TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
        solved = partial(_solved, changed, way, draws, together)
        rows = spark.range(0, len(draws), 1, tasks).mapInArrow(solved, "draw long, found double").collect()
        return [float(row.found) for row in sorted(rows, key=lambda row: int(row.draw))]

    return drawn


def _solved(
    changed: Mapping[str, Way], way: Way, draws: Sequence[Numbers], together: bool, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    solver = Solver(1, changed)
    for batch in batches:
        numbers = batch.column("id").to_pylist()
        found = [solver.per_year(way, draws[number], together=together) for number in numbers]
        yield pa.RecordBatch.from_pydict({"draw": numbers, "found": found})
