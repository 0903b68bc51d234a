"""The folder of the tables: old versions are read, what is damaged is named, and a batch counts whole or not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fencepost.traces.exploration.folder import FolderError
from tests.checks.history.conftest import Ingest
from tests.checks.history.made import write_snapshots

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_tables_of_the_first_version_are_read_beside_those_of_the_second(
    spark: SparkSession, ingest: Ingest, tmp_path: Path
) -> None:
    """The first version of loads had neither the limits of a network nor the time that a broker says."""
    from fencepost.checks.history.schema import LOADS
    from fencepost.checks.history.tables import Tables
    from fencepost.model import sealed

    tables = Tables(spark, tmp_path / "tables")
    then = [column.name for column in LOADS.columns if column.since == 1]
    cells = dict.fromkeys(then) | {"time": datetime(2026, 10, 1, tzinfo=UTC), "broker": "old:8080", "cpu": 7.0}
    types = {"timestamp": pa.timestamp("us", tz="UTC"), "string": pa.string(), "double": pa.float64(), "bigint": pa.int64()}
    schema = pa.schema([(column.name, types[column.type]) for column in LOADS.columns if column.since == 1])
    file = "version=1/batch=00000/cluster=prod/day=2026-10-01/part-0.parquet"
    with tables.held():
        (tmp_path / "tables" / "loads" / file).parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist([cells], schema=schema), tmp_path / "tables" / "loads" / file)
        (tmp_path / "tables" / "batches").mkdir()
        length = (tmp_path / "tables" / "loads" / file).stat().st_size
        sealed.write(
            tmp_path / "tables" / "batches" / "00000.json", {"tables": {"loads": {"version": 1, "files": {file: length}}}}
        )
    ingest(*write_snapshots(tmp_path / "source", 1, 4, range(1)))
    tables.require()
    rows = tables.rows("loads").where("bundle IS NULL").orderBy("time").collect()
    assert [(row["broker"], row["cpu"], row["bandwidth_in_limit"], str(row["day"])) for row in rows] == [
        ("old:8080", 7.0, None, "2026-10-01"),
        ("broker-1:8080", pytest.approx(rows[1]["cpu"]), 1.25e9, "2026-11-02"),
    ]


def test_a_newer_version_than_is_known_is_refused(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    from fencepost.checks.history.tables import Tables
    from fencepost.model import sealed

    ingest(*write_snapshots(tmp_path / "source", 1, 4, range(1)))
    record = tmp_path / "tables" / "batches" / "00000.json"
    content = sealed.unsealed(record.read_bytes())
    content["tables"]["loads"]["version"] = 9
    sealed.write(record, content)
    with pytest.raises(FolderError, match="loads has version 9, and this Fencepost reads up to 2"):
        Tables(spark, tmp_path / "tables").rows("loads")


def test_a_truncated_file_and_one_that_is_gone_are_named(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    from fencepost.checks.history.tables import Tables

    ingest(*write_snapshots(tmp_path / "source", 1, 4, range(1)))
    tables = Tables(spark, tmp_path / "tables")
    tables.require()
    (file,) = (tmp_path / "tables" / "loads").rglob("*.parquet")
    content = file.read_bytes()
    file.write_bytes(content[:-8])
    with pytest.raises(
        FolderError, match=rf"loads/version=2/batch=00000/.*{file.name} has not its {len(content):,} bytes: restore it"
    ):
        tables.require()
    file.unlink()
    with pytest.raises(FolderError, match=rf"{file.name} is missing: restore it"):
        tables.require()
    with pytest.raises(FolderError, match="nothing has no tables: fencepost ingest SOURCE --out"):
        Tables(spark, tmp_path / "nothing").require()


def test_what_a_killed_run_left_does_not_count_and_is_written_anew(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    """The rows are there, and the record of the batch is not: so a kill leaves it."""
    files = write_snapshots(tmp_path / "source", 1, 4, range(0, 10, 5))
    ingest(files[0])
    before = _digests(tmp_path / "tables")
    (tmp_path / "tables" / "batches" / "00000.json").unlink()
    (tmp_path / "tables" / "run.lock").unlink()
    from fencepost.checks.history.tables import Tables

    assert Tables(spark, tmp_path / "tables").rows("loads").count() == 0
    assert ingest(files[0]).rows["loads"] == 5
    assert _digests(tmp_path / "tables") == before


def test_a_url_is_a_folder_too(spark: SparkSession, tmp_path: Path) -> None:
    from fencepost.checks.history.ingesting import Reader, ingest
    from fencepost.checks.history.session import tables_at
    from fencepost.checks.history.sources import Sources

    write_snapshots(tmp_path / "source", 1, 4, range(1))
    tables = tables_at(spark, f"file://{tmp_path}/there")
    with tables.held():
        came = ingest(tables, Sources(spark, [f"file://{tmp_path}/source"]), Reader("prod"))
    assert came.rows["loads"] == 5
    tables.require()
    assert tables.rows("loads").count() == 5


def _digests(folder: Path) -> list[tuple[str, int]]:
    """Each file of Parquet by its folder and content; Spark draws their names."""
    return sorted((file.parent.relative_to(folder).as_posix(), hash(file.read_bytes())) for file in folder.rglob("*.parquet"))


def test_the_record_of_a_batch_knows_every_file(ingest: Ingest, tmp_path: Path) -> None:
    ingest(*write_snapshots(tmp_path / "source", 2, 8, range(2)))
    folder = tmp_path / "tables"
    record = json.loads((folder / "batches" / "00000.json").read_text("utf-8"))["content"]["tables"]
    known = {f"{name}/{file}": length for name, table in record.items() for file, length in table["files"].items()}
    assert known == {file.relative_to(folder).as_posix(): file.stat().st_size for file in folder.rglob("*.parquet")}


def test_one_cluster_that_has_all_rows_is_written_by_several_tasks(
    ingest: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fencepost.checks.history import ingesting

    files = write_snapshots(tmp_path / "source", 12, 48, range(2))
    monkeypatch.setattr(ingesting, "TASK", sum(file.stat().st_size for file in files) // 4)
    assert ingest(*files).rows["loads"] == 120
    (day,) = (tmp_path / "tables" / "loads").rglob("day=*")
    rows = [pq.read_metadata(file).num_rows for file in day.glob("*.parquet")]
    assert sum(rows) == 120
    assert len(rows) > 2
    assert max(rows) <= 60
