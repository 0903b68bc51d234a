"""What ``ingest`` prints: also the files that Spark does not even list."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.spark
def test_files_that_are_not_listed_are_told(tmp_path: Path) -> None:
    from fencepost.checks.commands.ingest.run import passed_over

    for name in ("_a.log", "b.log", ".git/c.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (line,) = passed_over([str(tmp_path)])
    assert line == f"{tmp_path}/.git/c.log: begins with _ or ., 2 files in all that Spark does not list: rename it"
    assert list(passed_over([str(tmp_path / "b.log"), "s3a://bucket/_logs"])) == []
    (line,) = passed_over([str(tmp_path / "_a.log")])
    assert line.startswith(f"{tmp_path}/_a.log: begins with _ or ., 1 file in all")
