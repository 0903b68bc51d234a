"""A session of Spark for the tables of a history, and what it may fail with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from fencepost.checks.history.tables import Tables
from fencepost.properties.registry import RegistryError
from fencepost.traces.exploration.places import Place, Remote
from fencepost.traces.exploration.session import spark_session

SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
    "spark.sql.execution.arrow.maxBytesPerBatch": "64m",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.shuffle.partitions": "16",
}
"""Batches that fit in a worker's memory; files that do not depend on how many executors there are."""


@contextmanager
def history_session(master: str, settings: Sequence[str] = ()) -> Iterator[SparkSession]:
    """A session; ``settings`` are Spark's own, as NAME=VALUE. Raises SparkError, RegistryError."""
    with spark_session(master, {**SETTINGS, **spark_settings(settings)}) as spark:
        yield spark


def spark_settings(settings: Sequence[str]) -> Mapping[str, str]:
    """Settings of Spark by name. Raises RegistryError for one that is none."""
    pairs = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.startswith("spark."):
            raise RegistryError(f"{setting!r} is not of the form spark.NAME=VALUE")
        pairs[name] = value
    return pairs


def tables_at(spark: SparkSession, folder: Path | str) -> Tables:
    """The tables of a folder, or at a URL."""
    place: Place = Remote(spark, folder) if isinstance(folder, str) else folder
    return Tables(spark, place)
