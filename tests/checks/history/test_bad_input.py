"""Bad input by the commands that a user types: each is in one line of what is printed, and holds up nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.checks.history.conftest import Ingest
from tests.checks.history.made import BEGIN, log_line, write_snapshots
from tests.checks.history.test_ingesting import BUNDLE, CHANNEL, UNLOAD
from tests.command import in_one_process

HERE = ["--master", "local[2]", "--spark-conf", "spark.sql.shuffle.partitions=2", "--quiet"]


def bad(folder: Path) -> Path:
    """Good files, and of each kind of bad ones one."""
    write_snapshots(folder, 2, 8, range(0, 60, 10))
    for name in ("broker-1.log", "copy-1.log"):
        (folder / name).write_text(log_line(1, UNLOAD.format(BUNDLE)), "utf-8")
    for number, hours in ((2, 0), (3, 0), (4, 2)):
        broker = f"broker-{number}:8080"
        lines = [log_line(10 * n + 60 * hours, CHANNEL.format(broker, "Owned", BUNDLE, n), zone="") for n in range(3)]
        (folder / f"broker-{number}.log").write_text("".join(lines), "utf-8")
    (folder / "new.om").write_text(f'pulsar_bundle_new{{instance="b"}} 1 {BEGIN.timestamp()}\n# EOF\n', "utf-8")
    (folder / "cut.parquet").write_bytes(b"PAR1" + bytes(range(200)))
    for file in folder.iterdir():
        os.utime(file, (BEGIN.timestamp() + 86_400,) * 2)
    return folder


@pytest.mark.long
@pytest.mark.xdist_group("spark")
def test_each_kind_of_bad_input_is_said_in_a_line(ingest: Ingest, tmp_path: Path) -> None:
    source, tables, damaged = bad(tmp_path / "source"), tmp_path / "other", tmp_path / "tables"
    ingest(*write_snapshots(tmp_path / "good", 1, 4, range(1)))
    (file,) = (damaged / "loads").rglob("*.parquet")
    length = file.stat().st_size
    os.truncate(file, length // 2)
    compared = ["--against", "ThresholdShedder", "--conf", "UniformLoadShedder", "--out", tmp_path / "found"]
    ran, refused = in_one_process(
        ["ingest", source, "--out", tables, "--cluster-name", "prod", *HERE],
        ["policy", "compare", "--history", damaged, *compared, *HERE],
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.replace(f"file:{source}/", "").splitlines() == [
        "13 files: 13 read",
        "rows: 60 loads, 1 decisions, 9 events, 0 rates, 0 settings",
        "  copy-1.log: was read already, perhaps under another name: it adds nothing",
        "  cut.parquet: its last line has no end, and is left for the next time",
        "  clock: broker-4:8080 is 2 h ahead of the others', in 3 lines, as another time zone is: see --zone",
        "  cut.parquet:1: is Parquet, which is no source: name what it was made of, or read it with Spark",
        "  new.om:1: pulsar_bundle_new: no unit of it is known",
        "what was not read, or no table takes: 2 rows of the table quarantine",
        f"tables: {tables}",
    ]
    assert (refused.returncode, refused.stdout) == (150, "")
    assert refused.stderr == f"fencepost: {file} has not its {length:,} bytes: restore it from a copy, or ingest again\n"
