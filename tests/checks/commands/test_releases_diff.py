"""``fencepost releases`` and ``releases diff``: the comparison of two releases finds the fixes that the tables have."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fencepost.checks.conformance.java_side.comparing import project_of, standing
from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.java_side.mirrors import classes_of
from fencepost.checks.reports.bugs_on_code import compared
from fencepost.model.releases import RELEASES, ReleaseError
from fencepost.properties.protocols import PROTOCOLS
from tests.checks.conformance.real import tools
from tests.command import fencepost


def test_each_release_is_listed_with_what_is_known_of_it() -> None:
    listed = json.loads(fencepost("releases", "--format", "json").stdout)["releases"]
    assert [(each["project"], each["number"]) for each in listed] == [(row.project, row.number) for row in RELEASES]
    assert all(each["has"] + each["lacks"] + each["unread"] > 0 for each in listed)
    by_number = {each["number"]: each for each in listed}
    assert by_number["5.0.0-M1"]["has"] > by_number["5.0.1"]["has"]
    text = fencepost("releases").stdout
    assert "BookKeeper 4.17.4\n  read " in text
    assert "  not   its jars are not served: only sources were read\n" in text
    assert by_number["1.0.2"]["findings"] == ["missed-bounce"]
    assert "\n  run   1 finding shown on it: missed-bounce\n  not   no bug was replayed on its classes\n" in text


def test_two_releases_are_of_the_project_of_which_one_is_modelled() -> None:
    assert project_of("5.0.1", "5.0.2") == "pulsar"
    assert project_of("jars", "4.18.0") == "bookkeeper"
    with pytest.raises(ReleaseError, match=r"neither 9\.1 nor 9\.2 is modelled"):
        project_of("9.1", "9.2")
    with pytest.raises(ReleaseError, match=r"4\.18\.0 and 5\.0\.1 are of different projects"):
        project_of("4.18.0", "5.0.1")


def test_what_stands_on_a_method_is_named_with_its_protocol() -> None:
    stands = standing("pulsar", PROTOCOLS.values())["ManagedLedgerImpl.asyncTerminate"]
    assert "topic: terminate" in stands.actions
    assert stands.bugs == ("topic: terminated_reopened", "topic: terminate_without_mutex")


def test_each_bug_of_a_release_names_its_methods() -> None:
    newest = {"pulsar": "5.0.1", "bookkeeper": "4.18.2", "kafka": "3.9.2"}
    nameless = [
        f"{entry.name}: {name}"
        for entry in PROTOCOLS.values()
        for name, bug in entry.bugs.items()
        if entry.project and newest[entry.project] in bug.present and not bug.methods
    ]
    assert nameless == []


def diff(first: str, second: str) -> dict[str, Any]:
    tools()
    run = fencepost("releases", "diff", first, second, "--format", "json", "--quiet")
    assert run.returncode == 0, run.stderr
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


@pytest.mark.parametrize(("first", "second"), [("5.0.0-M1", "5.0.1"), ("4.18.0", "4.18.2"), ("3.9.1", "3.9.2")])
@pytest.mark.xdist_group("real bytecode")
def test_the_comparison_and_the_tables_agree(first: str, second: str) -> None:
    answer = diff(first, second)
    outcomes = {of["method"]: (of["outcome"], of["callees_changed"]) for of in answer["methods"]}
    entries = [entry for entry in PROTOCOLS.values() if entry.project == answer["project"]]
    bugs = {f"{entry.name}: {name}": bug for entry in entries for name, bug in entry.bugs.items()}
    assert all(outcomes[method][0] != "nowhere" for bug in bugs.values() for method in bug.methods if first in bug.present)
    same = {name for name, bug in bugs.items() if bug.methods and all(outcomes[m] == ("same", []) for m in bug.methods)}
    assert set(answer["still_there_unread"]) == {name for name in same if first in bugs[name].present}
    gone = {name for name, bug in bugs.items() if first in bug.present and second not in bug.present}
    fixed = {name for name in gone if " as Pulsar " not in bugs[name].fixed}  # by who uses it
    assert not fixed & same, "fixed, and nothing that it names has changed"
    assert bool(fixed) == (second == "5.0.1")
    assert all((first in bugs[name].present) == (second in bugs[name].present) for name in same)
    changed = {of["method"] for of in answer["methods"] if (of["outcome"], of["callees_changed"]) != ("same", [])}
    rows = {
        f"{entry.name}: {row.bug}": (row.first, row.release, row.changed)
        for entry in entries
        for row in compared(entry.name).values()
    }
    mine = {name: bug.methods for name, bug in bugs.items() if first in bug.present and bug.methods}
    assert rows == {name: (first, second, tuple(m for m in of if m in changed)) for name, of in mine.items()}


@pytest.mark.xdist_group("real bytecode")
def test_a_folder_of_jars_is_compared_like_a_release(tmp_path: Path) -> None:
    for jar in jars(classes_of("bookkeeper", "4.18.2"), tools()):
        shutil.copy(jar, tmp_path)
    own, released = diff("4.18.0", str(tmp_path)), diff("4.18.0", "4.18.2")
    assert own["second"] == str(tmp_path)
    assert own["methods"] == released["methods"]
    assert own["to_read"] == released["to_read"] != []


@pytest.mark.xdist_group("real bytecode")
def test_a_release_with_itself_has_nothing_to_read() -> None:
    answer = diff("4.18.0", "4.18.0")
    assert answer["to_read"] == []
    assert answer["still_there_unread"]


def test_what_is_no_release_is_not_recorded(tmp_path: Path) -> None:
    run = fencepost("releases", "diff", "4.18.0", "4.18.9", "--record", "--quiet")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "fencepost: --record keeps what was found of releases that were read: name two of these\n"


def test_what_is_no_release_is_told() -> None:
    run = fencepost("releases", "diff", "9.1", "9.2")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "fencepost: neither 9.1 nor 9.2 is modelled: nothing says whose releases they are\n"


@pytest.mark.xdist_group("real bytecode")
def test_a_folder_without_jars_is_told(tmp_path: Path) -> None:
    run = fencepost("releases", "diff", "4.18.0", str(tmp_path), "--quiet")
    assert (run.returncode, run.stdout, run.stderr) == (2, "", f"fencepost: {tmp_path} has no jars\n")
