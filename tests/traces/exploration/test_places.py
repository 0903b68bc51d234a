"""Runs at URLs: a file system of Hadoop's own, and one under another scheme whose paths are of no machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from fencepost.traces.exploration.explore import SLICES, News, explore
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.exploration.places import PlaceError, Remote
from fencepost.traces.exploration.report import report
from fencepost.traces.exploration.run import Run, read
from tests.command import fencepost
from tests.traces.exploration.searches import with_a_bit_flipped

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.spark]
RUN = Run("ledger", {"entries": 1}, ("closes_at_lac",), walks=640, steps=50, seed=1)
MOUNT = "fs.viewfs.mounttable.elsewhere.link./runs"


@pytest.fixture(params=["file", "viewfs"])
def place(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Iterator[tuple[Remote, Path]]:
    """A folder at a URL, and where it is on this machine, which nothing but this test knows for the second scheme."""
    context: Any = spark.sparkContext
    if request.param == "viewfs":
        context._jsc.hadoopConfiguration().set(MOUNT, tmp_path.as_uri())
        yield Remote(spark, "viewfs://elsewhere/runs/one"), tmp_path / "one"
        context._jsc.hadoopConfiguration().unset(MOUNT)
    else:
        yield Remote(spark, (tmp_path / "one").as_uri()), tmp_path / "one"


def rows(folder: Path) -> list[dict[str, Any]]:
    return sorted(pq.read_table(folder / SLICES, partitioning=None).to_pylist(), key=lambda row: row["slice"])


def test_walks_are_written_sealed_resumed_and_reported_at_a_url(
    spark: SparkSession, place: tuple[Remote, Path], tmp_path: Path
) -> None:
    there, here = place
    asked, heard = iter([False, True]), list[News]()
    with (
        RUN.held(there),
        pytest.raises(FolderError, match=r"in use by process \d+ of .*remove .*run\.lock if it"),
        RUN.held(there),
    ):
        pass
    with RUN.held(there):
        assert explore(spark, RUN, there, should_stop=lambda: next(asked, True)) == "interrupted"
    with RUN.held(there):
        assert explore(spark, RUN, there, news=heard.append) == "complete"
    assert not (here / "run.lock").exists()
    assert read(there) == RUN
    wanted = tmp_path / "wanted"
    news = list[News]()
    assert explore(spark, RUN, wanted, news=news.append) == "complete"
    assert (rows(here), heard) == (rows(wanted), news)
    assert report(spark, RUN, there) == report(spark, RUN, wanted)
    (first, *_) = sorted((here / SLICES / "round=00000").glob("part-*"))
    first.write_bytes(with_a_bit_flipped(first.read_bytes()))
    for crc in here.rglob(".*.crc"):  # else Hadoop's own checksum of a local file is faster
        crc.unlink()
    with pytest.raises(FolderError, match="is damaged: its content does not fit its checksum"):
        report(spark, RUN, there)


def test_another_run_is_not_mixed_in(spark: SparkSession, place: tuple[Remote, Path]) -> None:
    there, _ = place
    with RUN.held(there):
        pass
    with pytest.raises(FolderError, match=r"belongs to another run \(seed is 1 there, 2 here\)"), ExitStack() as stack:
        stack.enter_context(Run(**{**vars(RUN), "seed": 2}).held(there))
    with pytest.raises(FolderError, match="is not empty and holds no run"), RUN.held(there / ".."):
        pass


def test_a_scheme_that_spark_has_no_file_system_for_is_named(spark: SparkSession) -> None:
    with pytest.raises(PlaceError, match=r"nowhere://bucket/runs: .*No FileSystem for scheme"):
        Remote(spark, "nowhere://bucket/runs")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ledger", "--out", "s3a://bucket/runs"), "s3a://bucket/runs is a URL, which Spark reaches: add --master"),
        (("ledger", "--exhaustive", "--master", "local[1]", "--out", "s3a://b/c"), "--exhaustive reads all levels before"),
        (("report", "s3a://bucket/runs"), "add --master"),
        (("trace", "found", "--walk", "1", "--out", "s3a://bucket/t"), "a trace is a file of this machine"),
    ],
)
def test_what_no_url_is_for_is_refused_in_a_line(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    run = fencepost("explore", *words, folder=tmp_path)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert message in run.stderr
    assert list(tmp_path.iterdir()) == []
