"""Weighted walks on Spark are those of one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fencepost.checks.engines.odds.guide import factors_of
from fencepost.checks.engines.odds.sampling import CHUNK, estimate
from fencepost.checks.odds.solving import Recipe, Solver, in_threads, repair_of
from fencepost.checks.odds.ways import WAYS
from fencepost.model.odds.numbers import published

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    from fencepost.traces.exploration.session import spark_session

    with spark_session("local[2]", light=True) as session:
        yield session


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_makes_the_same_walks(spark: SparkSession) -> None:
    from fencepost.checks.odds.on_spark import on_spark

    way, numbers, count = WAYS["disks"], published(), 5 * CHUNK + 3
    factors = factors_of(Solver(1).cycles(way), numbers, repair=repair_of(way, numbers))
    recipe = Recipe(way, numbers, factors)
    there, here = on_spark(spark)(recipe, 9, count), in_threads(1)(recipe, 9, count)
    assert there == here
    assert estimate(there, count).hits > 100


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_solves_the_same_draws(spark: SparkSession) -> None:
    from fencepost.checks.odds.on_spark import draws_on_spark

    way = WAYS["disks"]
    draws = [published().times("disk_losses", factor) for factor in (0.5, 1.0, 3.0)]
    there, here = draws_on_spark(spark, {})(way, draws, False), Solver(1).all_per_year(way, draws, False)
    assert there == here
    assert there[0] < there[1] < there[2]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_what_is_kept_adds_up_by_sql(spark: SparkSession, tmp_path: Path) -> None:
    """Walks of two seeds are one estimate; the same seed is not taken twice."""
    from pyspark.errors import AnalysisException

    from fencepost.checks.odds.on_spark import PER_YEAR, on_spark

    recipe, count, out = Recipe(WAYS["disks"], published(), {}), 2 * CHUNK + 3, (tmp_path / "walks").as_uri()
    walker = on_spark(spark, out)
    sums = [each for seed in (1, 2) for each in walker(recipe, seed, count)]
    spark.read.parquet(out).createOrReplaceTempView("walks")
    (row,) = spark.sql(PER_YEAR).collect()
    whole = estimate(sums, 2 * count)
    assert (row.way, row.walks, row.hits) == ("disks", 2 * count, whole.hits)
    assert row.per_year == pytest.approx(whole.per_year)
    assert row.half == pytest.approx(whole.half)
    with pytest.raises(AnalysisException, match="already exists"):
        walker(recipe, 2, count)
