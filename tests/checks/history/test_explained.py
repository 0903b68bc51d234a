"""``conform log --tables`` as it runs by itself: what has a run, and what has none, with its trace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.files.itf import read
from tests.checks.history.made import log_line
from tests.checks.history.test_parts import LOGS
from tests.command import in_one_process

REFUSED = "Write attempt on fenced/deleted ledger 8 by client /10.0.0.8:40000"


@pytest.mark.long
@pytest.mark.xdist_group("spark")
def test_bundles_and_ledgers_are_explained_each_by_its_protocol(tmp_path: Path) -> None:
    source, tables, out = tmp_path / "source", str(tmp_path / "tables"), tmp_path / "unexplained"
    source.mkdir()
    shutil.copy(LOGS / "broker-5.0.1.log", source)
    (source / "bookie-1.log").write_text(log_line(1, REFUSED), "utf-8")
    here = ["--master", "local[2]", "--quiet"]
    made, units, ledgers = in_one_process(
        ["ingest", source, "--out", tables, "--cluster-name", "prod", *here],
        ["conform", "log", "service_unit", "--tables", tables, *here, "--set", "store=metadata"],
        ["conform", "log", "ledger", "--tables", tables, *here, "--set", "entries=1", "--out", out],
    )
    assert made.returncode == 0, made.stderr
    assert (units.returncode, units.stdout) == (0, "1 subject of service_unit: 1 explained\n"), units.stderr
    assert ledgers.returncode == 12, ledgers.stderr
    lines = ledgers.stdout.splitlines()
    assert lines[0] == "1 subject of ledger: 1 unexplained"
    assert lines[1].startswith("8: unexplained: file:")
    assert lines[1].endswith("bookie-1.log:1: refused at bookie-1")
    trace, _ = read(out / "ledger-8.itf.json", PROTOCOLS)
    assert trace.steps == (), "nothing explains the first line"
