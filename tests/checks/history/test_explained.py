"""``conform log --tables`` as it runs by itself: what has a run, and what has none, with its trace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.files.itf import read
from tests.checks.history.made import log_line
from tests.checks.history.test_on_a_cluster import fencepost
from tests.checks.history.test_units import LOGS

REFUSED = "Write attempt on fenced/deleted ledger 8 by client /10.0.0.8:40000"


@pytest.mark.long
@pytest.mark.xdist_group("spark")
def test_bundles_and_ledgers_are_explained_each_by_its_protocol(tmp_path: Path) -> None:
    source, tables, out = tmp_path / "source", str(tmp_path / "tables"), tmp_path / "unexplained"
    source.mkdir()
    shutil.copy(LOGS / "broker-5.0.1.log", source)
    (source / "bookie-1.log").write_text(log_line(1, REFUSED), "utf-8")
    made = fencepost("ingest", str(source), "--out", tables, "--cluster-name", "prod", "--master", "local[2]", "--quiet")
    assert made.returncode == 0, made.stderr
    where = ["--tables", tables, "--master", "local[2]", "--quiet"]
    units = fencepost("conform", "log", "service_unit", *where, "--set", "store=metadata")
    assert (units.returncode, units.stdout) == (0, "1 subject of service_unit: 1 explained\n"), units.stderr
    ledgers = fencepost("conform", "log", "ledger", *where, "--set", "entries=1", "--out", str(out))
    assert ledgers.returncode == 12, ledgers.stderr
    lines = ledgers.stdout.splitlines()
    assert lines[0] == "1 subject of ledger: 1 unexplained"
    assert lines[1].startswith("8: unexplained: file:")
    assert lines[1].endswith("bookie-1.log:1: refused at bookie-1")
    trace, _ = read(out / "ledger-8.itf.json", PROTOCOLS)
    assert trace.steps == (), "nothing explains the first line"
