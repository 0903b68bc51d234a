"""What a run of walks found: Spark SQL over its Parquet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Row, SparkSession

from fencepost.traces.exploration.explore import SLICES, complete
from fencepost.traces.exploration.folder import FolderError, check
from fencepost.traces.exploration.places import Place, located
from fencepost.traces.exploration.run import Run
from fencepost.traces.exploration.spark_digests import digests_in

TABLES = {
    "violations": """
        SELECT slice, found.walk, found.property, found.length, found.actions
        FROM slices LATERAL VIEW explode(violations) AS found""",
    "violating": """
        SELECT slice, counted.property, counted.walks FROM slices LATERAL VIEW explode(violating) AS counted""",
    "coverage": """
        SELECT slice, counted.action, counted.enabled, counted.taken, counted.possible
        FROM slices LATERAL VIEW explode(coverage) AS counted""",
    "values": """
        SELECT slice, found.variable, found.value FROM slices LATERAL VIEW explode(`values`) AS found""",
    "met": """
        SELECT slice, found.property, found.what FROM slices LATERAL VIEW explode(met) AS found""",
    "states": """
        SELECT slice, sampled.fingerprint, sampled.visits FROM slices LATERAL VIEW explode(states) AS sampled""",
}
"""The tables of a run beside ``slices``, a view each."""

_VIOLATED = """
    SELECT property, walks, shortest.length, shortest.walk, shortest.actions
    FROM (SELECT property, sum(walks) AS walks FROM violating GROUP BY property)
    JOIN (SELECT property, min_by(struct(length, walk, actions), struct(length, walk)) AS shortest
          FROM violations GROUP BY property) USING (property)
    ORDER BY property"""
_COVERAGE = """
    SELECT action, bool_or(enabled) AS enabled, sum(taken) AS taken, sum(possible) AS possible FROM coverage GROUP BY action"""
_VALUES = "SELECT variable, sort_array(collect_set(value)) AS seen FROM `values` GROUP BY variable"
_MET = "SELECT DISTINCT property, what FROM met ORDER BY property"
_TOTALS = """
    SELECT count(*) AS slices, sum(walks) AS walks, sum(steps) AS steps, sum(stuck) AS stuck,
    sum(looked_at) AS looked_at FROM slices"""
_SAMPLE = """
    SELECT count(*) AS distinct, count_if(visits = 1) AS once
    FROM (SELECT fingerprint, sum(visits) AS visits FROM states GROUP BY fingerprint)"""
_GROWTH = """
    SELECT walks, sum(coalesce(new, 0)) OVER (ORDER BY slice) AS distinct
    FROM (SELECT slice, sum(walks) OVER (ORDER BY slice) AS walks FROM slices)
    LEFT JOIN (SELECT first AS slice, count(*) AS new
               FROM (SELECT fingerprint, min(slice) AS first FROM states GROUP BY fingerprint) GROUP BY first)
    USING (slice) ORDER BY slice"""


@dataclass(frozen=True)
class Violated:
    """A property that walks violate: how many, and the shortest of them (the one with the smallest number, if several)."""

    property: str
    walks: int
    length: int
    walk: int
    actions: tuple[str, ...]


@dataclass(frozen=True)
class Covered:
    """An action: whether it was enabled anywhere, how many steps it made, and in what share of the states that were looked at
    it was enabled."""

    enabled: bool
    taken: int
    share: float


@dataclass(frozen=True)
class Report:
    """What the complete rounds of a run say.

    ``coverage`` tells of each action; ``values`` of each variable the values that it had in the states that were looked at,
    ``looked_at`` how many these are; ``met`` has the goals that were reached, premises that were met and
    controls that were violated, by kind. ``distinct`` estimates how many states were visited, with one standard deviation in
    ``error`` (0: they were counted), ``unseen`` the probability that the next state visited is new (None: no state was
    sampled). ``growth`` has, slice by slice, the walks so far and the distinct states, estimated, that they visited.
    """

    run: Run
    walks: int
    steps: int
    stuck: int
    violated: tuple[Violated, ...]
    looked_at: int
    coverage: dict[str, Covered]
    values: dict[str, tuple[str, ...]]
    met: dict[str, frozenset[str]]
    distinct: int
    error: int
    unseen: float | None
    growth: tuple[tuple[int, int], ...]


def tables(spark: SparkSession, run: Run, folder: Place) -> None:
    """Makes the tables of a run, as far as it is complete, known to Spark SQL by their names.

    Raises FolderError if no round is complete, or one is damaged.
    """
    rounds = complete(run, folder)
    if not rounds:
        raise FolderError(f"{folder} has no complete round yet: there is nothing to report")
    check(rounds, run.text, digests_in(spark, folder))
    paths = [located(one) for one in rounds]
    spark.read.option("basePath", located(folder / SLICES)).parquet(*paths).createOrReplaceTempView("slices")
    for name, query in TABLES.items():
        spark.sql(query).createOrReplaceTempView(name)


def report(spark: SparkSession, run: Run, folder: Place) -> Report:
    """Reads a run's folder. Raises FolderError if there is nothing in it to report."""
    tables(spark, run, folder)

    def rows(query: str) -> Sequence[Row]:
        return spark.sql(query).collect()

    (totals,) = rows(_TOTALS)
    (sample,) = rows(_SAMPLE)
    scale = 1 << run.bits
    met = rows(_MET)
    visits = totals.walks + totals.steps
    return Report(
        run=run,
        walks=totals.walks,
        steps=totals.steps,
        stuck=totals.stuck,
        violated=tuple(Violated(r.property, r.walks, r.length, r.walk, tuple(r.actions)) for r in rows(_VIOLATED)),
        looked_at=totals.looked_at,
        coverage={r.action: Covered(r.enabled, r.taken, r.possible / totals.looked_at) for r in rows(_COVERAGE)},
        values={r.variable: tuple(r.seen) for r in rows(_VALUES)},
        met={what: frozenset(r.property for r in met if r.what == what) for what in ("reached", "premise", "control")},
        distinct=sample.distinct * scale,
        error=round(scale * math.sqrt(sample.distinct * (1 - 1 / scale))),
        unseen=min(1.0, sample.once * scale / visits) if sample.distinct else None,
        growth=tuple((r.walks, r.distinct * scale) for r in rows(_GROWTH)),
    )
