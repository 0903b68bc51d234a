"""Numbers of a cluster from weeks of its metrics: the same as of one scrape, of what was counted and usual in all that time."""

from __future__ import annotations

import json

from pyspark.sql import functions as F

from fencepost.checks.history.tables import Tables
from fencepost.checks.inputs.prometheus import Sample
from fencepost.checks.odds.measuring import Measurements, told_by

_RISES = "'_(count|sum|bucket|total)$'"
_OF_NOW = ("process_start_time_seconds", "uptime", "global_sessions")


def measured_in(tables: Tables, cluster: str | None = None) -> Measurements:
    """What the table rates tells. Raises InputError if there is nothing in it, or several clusters.

    Of a metric that only rises, such as a count, a series counts by how much it rose from its first sample on, and from zero
    again after each restart of its process; of one that says how things are by the last sample, of any other by its mean.
    """
    missing = "has no rates: ingest an export of Prometheus with the metrics of brokers and bookies"
    rows = tables.rows("rates").where(F.col("cluster") == tables.cluster_of("rates", cluster, missing))
    series = ["process", "metric", "labels"]
    rise = "value - lag(value) OVER (PARTITION BY process, metric, labels ORDER BY time)"
    by_series = rows.withColumn("rise", F.expr(f"IF({rise} < 0, value, {rise})")).groupBy(*series).agg(
        F.sum("rise").alias("rose"), F.avg("value").alias("usual"), F.max_by("value", "time").alias("last"),
        F.max(F.unix_timestamp("time")).alias("when"),
    )  # fmt: skip
    of_now = ", ".join(f"'{name}'" for name in _OF_NOW)
    value = F.expr(
        f"CASE WHEN metric RLIKE {_RISES} THEN coalesce(rose, last) WHEN metric IN ({of_now}) THEN last ELSE usual END"
    )
    collected = by_series.select(*series, value.alias("value"), "when").orderBy(*series).collect()
    by_process = dict[str, list[Sample]]()
    for row in collected:
        sample = Sample(0, str(row["metric"]), json.loads(row["labels"]), float(row["value"]), int(row["when"]) * 1000)
        by_process.setdefault(str(row["process"]), []).append(sample)
    return told_by(by_process, {})
