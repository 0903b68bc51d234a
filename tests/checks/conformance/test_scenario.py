"""A run on real code as a Maven project of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.checks.conformance.bookkeeper.ledger import LedgerAdapter
from fencepost.checks.conformance.bookkeeper.target import start
from fencepost.checks.conformance.scenario import NotSeenError, Scenario, restarts, scenario, unseen, write_project
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.real import tools
from tests.command import fencepost

pytestmark = pytest.mark.xdist_group("real bookkeeper")

ENTRY = PROTOCOLS["ledger"]
BUG = "master_key_with_entries_only"
SMALL: dict[str, Value] = {"bookies": 2, "ensemble": 2, "write_quorum": 2, "entries": 1, "crashes": 1}
FORGOTTEN = ["recover(r0)", "fence_unheard(r0, b0)", "crash(b0)"]


@pytest.fixture(scope="module")
def adapter() -> Iterator[LedgerAdapter]:
    tools()
    with start(Asked("4.18.0", "db")) as adapter:
        yield adapter


def taken(adapter: LedgerAdapter, labels: list[str], violated: str, bug: str = BUG) -> Scenario:
    protocol = ENTRY.build(SMALL, (bug,) if bug else ())
    return scenario(protocol, labels, adapter, ENTRY.suite(protocol).named(violated))


def test_the_project_has_every_step_and_what_was_seen(adapter: LedgerAdapter, tmp_path: Path) -> None:
    recording = taken(adapter, FORGOTTEN, "fence_is_kept")
    assert recording.taken == (*FORGOTTEN, "restart(b0)")
    assert recording.end["bookies"]["b0"] == recording.end["bookies"]["b0"] | {"up": True, "fenced": False}
    files = write_project(recording, tmp_path)
    test = (tmp_path / "src/test/java/fencepost/FenceIsKeptTest.java").read_text(encoding="utf-8")
    assert re.findall(r'run\.step\("([^"]+)"', test) == list(recording.taken)
    assert "// 4. The bookie comes back with its data, unless its disk is lost." in test
    (end,) = re.findall(r"run\.mustNotEndWith\((.*?),\n +\"fence_is_kept is violated: ", test, re.DOTALL)
    shown = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', end)).replace("'", '"')
    assert json.loads(shown) == recording.end
    pom = ElementTree.fromstring((tmp_path / "pom.xml").read_text(encoding="utf-8"))
    names = [element.text for element in pom.iter() if element.tag.endswith("artifactId")]
    assert names[:3] == ["scenario", "bookkeeper-server", "junit-jupiter"]
    assert recording.ingredients.sources
    for source in recording.ingredients.sources:
        (copy,) = [file for file in files if file.name == source.name]
        assert copy.read_text(encoding="utf-8") == source.read_text(encoding="utf-8")


def test_what_the_code_does_not_do_is_not_written(adapter: LedgerAdapter) -> None:
    with pytest.raises(NotSeenError, match="differs after 4 steps, at restart"):
        taken(adapter, FORGOTTEN, "fence_is_kept", bug="")
    with pytest.raises(NotSeenError, match="not covered"):
        taken(adapter, ["restart(b0)"], "fence_is_kept")


def test_a_property_of_what_is_not_observed_has_no_witness(adapter: LedgerAdapter) -> None:
    protocol = ENTRY.build(SMALL)
    visible, hidden = (ENTRY.suite(protocol).named(name) for name in ("fence_is_kept", "nothing_is_invented"))
    assert unseen(protocol, visible, adapter) == []
    assert unseen(protocol, hidden, adapter) == ["sent"]
    with pytest.raises(NotSeenError, match="nothing_is_invented speaks of what is not observed: sent"):
        scenario(protocol, FORGOTTEN, adapter, hidden)


def test_what_is_down_is_started() -> None:
    kernel = Kernel(ENTRY.build(SMALL | {"crashes": 2}))
    assert restarts(kernel, ["crash(b1)", "crash(b0)"]) == ["restart(b0)", "restart(b1)"]
    assert restarts(kernel, ["crash(b1)", "restart(b1)"]) == []
    assert restarts(kernel, ["restart(b1)"]) == []


def lost(folder: Path) -> Path:
    assert fencepost("check", "ledger", "--bug", BUG, "--trace-dir", folder, "--quiet").returncode == 12
    (file,) = folder.glob("*.itf.json")
    return file


@pytest.mark.deep
def test_maven_runs_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    ran = fencepost("trace", "java", lost(tmp_path), "--out", project, "--quiet")
    assert ran.returncode == 0, ran
    readme = (project / "README.md").read_text(encoding="utf-8")
    assert re.search(r"`BookieImpl\.fenceLedger` \(BookieImpl\.java:\d+\)", readme)
    assert fencepost("trace", "java", lost(tmp_path), "--out", project).returncode == 2  # it is there

    def maven() -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        return subprocess.run(
            [tools().mvn, "-B", "test"], cwd=project, env=environment, capture_output=True, text=True, check=False
        )

    failing = maven()
    assert failing.returncode != 0
    assert "fence_is_kept is violated: A bookie never takes a fence back." in failing.stdout
    assert "Tests run: 1, Failures: 1, Errors: 0, Skipped: 0" in failing.stdout
    test = project / "src/test/java/fencepost/FenceIsKeptTest.java"
    test.write_text(test.read_text(encoding="utf-8").replace("'fenced': false", "'fenced': true"), encoding="utf-8")
    skipped = maven()
    assert skipped.returncode == 0, skipped.stdout
    assert "Tests run: 1, Failures: 0, Errors: 0, Skipped: 1" in skipped.stdout
