"""One session of Spark for the tests of histories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fencepost.checks.history.ingesting import Ingested

Ingest = Callable[..., "Ingested"]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark, in one JVM for all; marked as of the group ``spark`` they ask for it in one worker of xdist."""
    from fencepost.checks.history.session import SETTINGS
    from fencepost.traces.exploration.session import spark_session

    few = {"spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false"}
    with spark_session("local[2]", {**SETTINGS, **few}, light=True) as session:
        yield session


@pytest.fixture
def ingest(spark: SparkSession, tmp_path: Path) -> Ingest:
    """Ingests sources into ``tmp_path/tables``."""
    from fencepost.checks.history.ingesting import Reader, ingest
    from fencepost.checks.history.sources import Sources
    from fencepost.checks.history.tables import Tables

    def ingested(*sources: Path, zone: str = "UTC", out: str = "tables") -> Ingested:
        tables = Tables(spark, tmp_path / out)
        with tables.held():
            return ingest(tables, Sources(spark, [str(source) for source in sources]), Reader("prod", zone))

    return ingested
