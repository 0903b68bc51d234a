"""Exhaustive search on Spark: level by level, each written to Parquet; what is new in a level, each bucket of states tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search.expansion import Tally
from fencepost.model.kernel.search.paths import plain
from fencepost.model.kernel.search.pieces import buckets_of
from fencepost.model.kernel.search.results import Finds, Limits, Progress
from fencepost.traces.exploration.explore import watched
from fencepost.traces.exploration.folder import FolderError, check, keep
from fencepost.traces.exploration.levels import (
    BUCKET,
    SURVEY,
    columns,
    expanding,
    schema,
    sifting,
    sorted_by_bucket,
    surveying,
    tally_of,
    tracing,
    unsigned,
)
from fencepost.traces.exploration.levelwise import HEAD, Levels, LevelSearch, Searched
from fencepost.traces.exploration.run import Run
from fencepost.traces.exploration.spark_digests import on_spark
from fencepost.traces.files.writing import naming

SEARCH_SETTINGS = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4", "spark.sql.adaptive.enabled": "false"}
"""What Spark is told for a search unless the caller says otherwise; the buckets are as many as partitions are shuffled into."""


def search(
    spark: SparkSession,
    run: Run,
    folder: Path,
    *,
    head: Limits = HEAD,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Progress], None] = lambda at: None,
) -> Searched:
    """Visits all reachable states, or goes on where the folder's search was cut off; ends with the level of a violation.

    The driver makes the first levels by itself, within the limits of the ``head``. ``should_stop`` ends the search after the
    last complete level. Raises SparkError, FolderError if its states are damaged.
    """
    return LevelSearch(SparkLevels(spark, run, folder), folder, head, should_stop, progress).result()


class SparkLevels(Levels):
    """Levels as Parquet, made by Spark's tasks."""

    files = "*.parquet"

    def __init__(self, spark: SparkSession, run: Run, folder: Path) -> None:
        super().__init__(run, folder, int(str(spark.conf.get("spark.sql.shuffle.partitions"))))
        self.spark = spark

    def check(self, depth: int) -> None:
        errors = list[FolderError]()

        def job() -> None:
            try:
                check([self.at(d) for d in range(depth + 1)], self.run.text, on_spark(self.spark))
            except FolderError as error:
                errors.append(error)

        watched(self.spark, "levels so far", job, lambda: False, lambda share: None)
        if errors:
            raise errors[0]

    def begin(self, depth: int, states: Words) -> None:
        self.at(depth).mkdir(parents=True)
        names, buckets = columns(self.kernel.words), buckets_of(states, self.buckets)
        for bucket in range(self.buckets):
            rows = np.ascontiguousarray(states[buckets == bucket].view(np.int64).T)
            table = pa.Table.from_arrays([pa.array(column) for column in rows], names)
            file = self.at(depth) / f"part-{bucket:05d}.parquet"
            with naming(file):
                pq.write_table(table, file)
        keep([self.at(depth)], self.run.text)

    def step(
        self, depth: int, finds: Finds, should_stop: Callable[[], bool], tell: Callable[[float], None]
    ) -> list[Tally] | None:
        tallies = list[Tally]()

        def job() -> None:
            tallies.extend(self._survey(depth - 1))
            self._extend(depth)

        return tallies if watched(self.spark, f"level {depth}", job, should_stop, tell) else None

    def size(self, depth: int) -> int:
        return sum(pq.read_metadata(file).num_rows for file in self.at(depth).glob(self.files))

    def before(self, depth: int, state: tuple[int, ...]) -> tuple[int, ...]:
        rows = self._level(depth).mapInArrow(tracing(self.run, state), schema(self.kernel.words)).collect()
        return min(plain(unsigned(row)) for row in rows)

    def _level(self, depth: int) -> DataFrame:
        return self.spark.read.parquet(str(self.at(depth)))

    def _extend(self, depth: int) -> None:
        # few tasks: each makes a state once, however many ways lead there, so fewer of them are shuffled
        few = self._level(depth - 1).coalesce(self.spark.sparkContext.defaultParallelism)
        reached = few.mapInArrow(expanding(self.run, self.buckets), sorted_by_bucket(self.kernel.words))
        known = [self.at(d) for d in range(depth)]
        sifted = reached.repartitionById(self.buckets, BUCKET).mapInArrow(sifting(known), schema(self.kernel.words))
        sifted.write.mode("overwrite").parquet(str(self.at(depth)))
        keep([self.at(depth)], self.run.text, on_spark(self.spark))

    def _survey(self, depth: int) -> list[Tally]:
        """What the tasks tell of the steps from this level."""
        rows = self._level(depth).mapInArrow(surveying(self.run), SURVEY).collect()
        return [tally_of(self.run.observed(), row) for row in rows]
