"""A line that nobody can read takes no memory of a driver that is the executor too, and has little more than Spark needs."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.checks.history.made import log_line
from tests.checks.history.test_ingesting import UNLOAD
from tests.command import in_a_process

MIB = 1 << 20


@pytest.mark.long
@pytest.mark.xdist_group("spark")
def test_a_line_of_100_mb_is_named_by_a_driver_of_512_mib(tmp_path: Path) -> None:
    """In a process of its own: were the line read, its JVM would fall."""
    log = tmp_path / "source" / "broker-1.log"
    log.parent.mkdir()
    with log.open("w", encoding="utf-8") as file:
        file.write(log_line(1, UNLOAD.format("a/b/0x1_0x2")) + '{"message": "')
        file.writelines("x" * MIB for _ in range(100))
        file.write('"}\n' + log_line(2, UNLOAD.format("a/b/0x2_0x3")) + '{"message": 3}\n')
    options = ["--cluster-name", "prod", "--master", "local[2]", "--spark-conf", "spark.driver.memory=512m", "--quiet"]
    ran = in_a_process("ingest", log.parent, "--out", tmp_path / "tables", *options)
    assert ran.returncode == 0, ran.stderr
    found = pq.read_table(tmp_path / "tables" / "quarantine", columns=["line", "reason"]).to_pylist()
    assert sorted((row["line"], row["reason"]) for row in found) == [
        (2, "is longer than 64 Ki characters"),
        (4, "is no line of a log: has no message"),
    ]
    decisions = pq.read_table(tmp_path / "tables" / "decisions", columns=["bundle"]).to_pylist()
    assert sorted(row["bundle"] for row in decisions) == ["a/b/0x1_0x2", "a/b/0x2_0x3"]
