"""The runs of a comparison on Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from fencepost.traces.comparison.compare import Interrupted, Make
from fencepost.traces.comparison.comparison import Comparison
from fencepost.traces.comparison.rows import SPARK_ROW, worker
from fencepost.traces.exploration.explore import watched

_TASKS_PER_CORE = 4


def on_spark(spark: SparkSession) -> Make:
    """Makes runs on that session. Raises SparkError where Spark gives up."""

    def make(
        comparison: Comparison, runs: range, target: Path, should_stop: Callable[[], bool], tell: Callable[[int], None]
    ) -> None:
        count = len(comparison.contenders)
        tasks = min(len(runs) * count, _TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
        numbers = spark.range(runs.start * count, runs.stop * count, 1, tasks)
        rows = numbers.mapInArrow(worker(comparison), SPARK_ROW)
        place = str(target.resolve())  # the folder that Spark's JVM began in may be another one
        total = len(runs) * count

        def job() -> None:
            rows.write.mode("overwrite").parquet(place)

        if not watched(spark, target.name, job, should_stop, lambda share: tell(int(share * total))):
            raise Interrupted

    return make
