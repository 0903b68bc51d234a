"""Clocks that differ: those of brokers among themselves, and those of files that were written in another time zone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

AHEAD = 5.0
"""Seconds by which a clock may differ without a note."""
BEHIND = 20 * 60.0
"""Seconds by which a report may be old: a broker writes one in each loadBalancerReportUpdateMaxIntervalMinutes, 15."""
_QUARTER = 15 * 60.0
"""What the offsets of time zones are multiples of, in seconds."""
_CLOSE = 60.0


def clocks(frames: Mapping[str, DataFrame]) -> Iterator[str]:
    """A line for each clock among these rows that differs.

    A broker's clock is ahead if its reports say a time after that of the snapshot which has them. Processes that log one and
    the same change of a record log it at about the same time.
    """
    if "loads" in frames:
        reports = frames["loads"].where("bundle IS NULL AND reported IS NOT NULL")
        ages = reports.selectExpr("broker AS who", "CAST(reported AS double) - CAST(time AS double) AS apart")
        yield from _differences(ages, f"apart > {AHEAD} OR apart < -{BEHIND}", "the snapshot's", "report")
    if "events" not in frames:
        return
    events = (
        frames["events"]
        .where("event = 'handled'")
        .selectExpr("process AS who", "CAST(time AS double) AS moment", "cluster", "subject", "fields.state", "fields.version")
    )
    change = "PARTITION BY cluster, subject, state, version"
    shared = events.selectExpr(
        "who",
        f"moment - median(moment) OVER ({change}) AS apart",
        f"min(who) OVER ({change}) <> max(who) OVER ({change}) AS shared",
    )
    yield from _differences(shared.where("shared"), f"abs(apart) > {AHEAD}", "the others'", "line")


def later_than_files(frames: Mapping[str, DataFrame], files: DataFrame) -> Iterator[str]:
    """A line for each log with rows that are later than its file was written last, which nothing but a clock explains.

    The last of them says by how much: it may have been written as the file was.
    """
    logged = [frames[name].select("source", "time") for name in ("events", "decisions") if name in frames]
    if not logged:
        return
    rows = reduce(DataFrame.unionByName, logged)
    ages = rows.join(F.broadcast(files.select("source", "modified")), "source").selectExpr(
        "source AS who", "CAST(time AS double) - CAST(modified AS double) AS apart"
    )
    later = f"apart > {AHEAD}"
    yield from _differences(ages.where(later), later, "the file's own time", "line", F.max)


def _differences(
    ages: DataFrame, differs: str, whose: str, what: str, of_all: Callable[[str], Column] = F.median
) -> Iterator[str]:
    by_clock = ages.groupBy("who").agg(of_all("apart").alias("apart"), F.count(F.lit(1)).alias("n"))
    for row in by_clock.where(differs).orderBy("who").limit(20).collect():
        seconds, count = float(row["apart"]), int(row["n"])
        way = "ahead of" if seconds > 0 else "behind"
        quarters = abs(seconds) / _QUARTER
        is_zone = quarters >= 1 - _CLOSE / _QUARTER and abs(quarters - round(quarters)) * _QUARTER <= _CLOSE
        hint = ", as another time zone is: see --zone" if is_zone else ""
        yield f"clock: {row['who']} is {_long(abs(seconds))} {way} {whose}, in {count:,} {what}{'s' if count > 1 else ''}{hint}"


def _long(seconds: float) -> str:
    return f"{seconds / 3600:.4g} h" if seconds >= 3600 else f"{seconds / 60:.4g} min" if seconds >= 120 else f"{seconds:.4g} s"
