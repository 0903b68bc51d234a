"""A release that is added to the table, as docs/how-to/add-a-release.md says: one row, of which nobody has read anything.

A copy of the tree gets the row. Nothing that is said of the other releases may change, and what is said of the new one is that
it is unread.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("new release")]

TABLE = Path("model") / "releases.py"
ROWS = {
    "between": ("4.0.8", '    Release("pulsar", "4.1.3", bookkeeper="4.17.9", zookeeper="3.9.4"),\n'),
    "newest": ("5.0.1", '    Release("pulsar", "5.1.0", bookkeeper="4.17.9", zookeeper="3.9.5", held=True),\n'),
}
"""The pretended releases, each with the release that it comes after."""

BOOKKEEPER = ("4.17.3", '    Release("bookkeeper", "4.17.9"),\n')
"""What they ship."""

TELL = """
import json, sys
from fencepost.model import releases
from fencepost.model.balance import configuration
from fencepost.model.pulsar.stores import stores_of
from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.settings.load_manager import STRICT
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance

told = {"policies": list(configuration.RELEASES), "strict": list(STRICT), "releases": {}}
told["later"] = releases.Releases.of("99.0.0").pulsar
told["held"] = {name: list(target.releases) for name, target in TARGETS.items()}
names = {"pulsar": ["LeaderElectionImpl"], "bookkeeper": ["LedgerHandle"], "kafka": []}
for name, text in releases.ONLY_IN.items():
    names[releases.release(text.split()[0].rstrip(",")).project].append(name)
for number in (*releases.PULSAR, *releases.BOOKKEEPER):
    is_pulsar = number in releases.PULSAR
    both = releases.Releases.of(number if is_pulsar else None, None if is_pulsar else number)
    project = "pulsar" if is_pulsar else "bookkeeper"
    told["releases"][number] = {
        "stores": stores_of(both.pulsar),
        "bugs": {name: entry.bugs_of(both) for name, entry in PROTOCOLS.items()},
        "unread": {name: [d for d, h in entry.bugs.items() if number in h.unread] for name, entry in PROTOCOLS.items()},
        "behaviour": {name: entry.refusal(both) or entry.behaviour(both) for name, entry in PROTOCOLS.items()},
        "mirrors": [n for n in names[project] if number in releases.mirrored_in(n, project).has],
    }
print(json.dumps(told))
"""


def with_rows(folder: Path, *rows: tuple[str, str]) -> Path:
    """A copy of the tree whose table has some rows more, each after the row of a release."""
    for floor in ("model", "properties", "traces", "checks"):
        shutil.copytree(ROOT / floor, folder / floor, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "fencepost", folder / "fencepost", symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    lines = (folder / TABLE).read_text(encoding="utf-8").splitlines(keepends=True)
    for after, row in rows:
        (place,) = (number for number, line in enumerate(lines) if line.startswith("    Release(") and f', "{after}"' in line)
        lines.insert(place + 1, row)
    (folder / TABLE).write_text("".join(lines), encoding="utf-8")
    return folder


def ran(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in a tree."""
    command, environment = [sys.executable, *arguments], {"PYTHONPATH": str(tree), "PATH": "", "COLUMNS": "160"}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


@cache
def description(tree: Path) -> dict[str, Any]:
    """What a tree says of its releases."""
    run = ran(tree, "-c", TELL)
    assert run.returncode == 0, run.stderr
    document: dict[str, Any] = json.loads(run.stdout)
    return document


@pytest.fixture(scope="module", params=ROWS)
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A copy of the tree with a new release of both systems, and the number of that of Pulsar."""
    row = ROWS[request.param]
    return with_rows(tmp_path_factory.mktemp("tree"), row, BOOKKEEPER), row[1].split('"')[3]


def test_nothing_is_said_otherwise_of_the_other_releases(tree: tuple[Path, str]) -> None:
    before, after = description(ROOT), description(tree[0])
    new = {tree[1], "4.17.9"}
    assert {number: after["releases"][number] for number in after["releases"] if number not in new} == before["releases"]
    assert after["policies"] == before["policies"]
    assert after["later"] == before["later"], "a release that is not modelled is answered by one that was read"
    assert [number for number in after["strict"] if number not in new] == before["strict"]
    assert {name: [each for each in held if each not in new] for name, held in after["held"].items()} == before["held"]


def test_the_new_release_is_unread(tree: tuple[Path, str]) -> None:
    releases = description(tree[0])["releases"]
    for number, project in ((tree[1], "pulsar"), ("4.17.9", "bookkeeper")):
        release, of_another = releases[number], releases["4.2.4" if project == "pulsar" else "4.17.3"]
        every = {name: names for name, names in release["unread"].items() if names}
        assert every
        assert not any(release["bugs"][name] for name in every)
        assert set(every) >= {name for name, names in of_another["bugs"].items() if names} & set(every)
        assert release["mirrors"] == []


def test_it_behaves_as_the_release_before_it(tree: tuple[Path, str]) -> None:
    releases = description(tree[0])["releases"]
    before = {"4.1.3": "4.0.8", "5.1.0": "5.0.1"}[tree[1]]
    assert releases[tree[1]]["behaviour"] == releases[before]["behaviour"]


RUN = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from fencepost.checks.cli import main

answers = []
for command in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(command)
    answers.append((status, out.getvalue(), err.getvalue()))
print(json.dumps(answers))
"""
PROOF = ("unload", "--by", "induction", "--set", "brokers=1", "expiries=0", "crashes=0", "disconnects=0", "--quiet")


def test_answers_say_so(tree: tuple[Path, str]) -> None:
    folder, number = tree
    of_it = ("--pulsar", number)
    commands = [
        ["list"],
        ["list", "election", "--bugs"],
        ["check", *PROOF, *of_it],
        ["play", "unload", "--set", "brokers=1", *of_it, "--html", str(folder / "unload.html"), "--quiet"],
        ["policy", "check", *of_it],
    ]
    run = ran(folder, "-c", RUN, json.dumps(commands))
    assert run.returncode == 0, run.stderr
    (_, listed, _), (_, table, _), (status, checked, _), (_, _, aloud), (refused, _, why) = json.loads(run.stdout)
    assert f"{number} (which ships BookKeeper 4.17.9)" in listed
    assert f"unread: whether {number}, 4.17.9 has known bugs\n" in listed
    rows = [line for line in table.splitlines()[3:] if line]
    assert rows
    assert all("unread" in row for row in rows)
    assert f"\nunread: known bugs that Pulsar {number} may have: unload 11\n" in checked
    assert (status, checked.rstrip()[-9:]) == (20, "(exit 20)")
    assert f"; unread: known bugs that Pulsar {number} may have: metadata_store 4, " in aloud
    assert refused == 2, "its policies are unread"
    assert "the policies are those of 2.10.1, 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1" in why
