"""Bugs as data: a file of them is read once, and what it cannot mean is an error with its line."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import pytest

from fencepost.model.language import Not, Protocol
from fencepost.properties.bug_files import BugFileError, bugs_in, unknown_names
from fencepost.properties.bugs import Avoidance, Bug, OutOfReach
from fencepost.properties.conditions import condition
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite
from tests.command import ROOT


def lamp(*, switches: int = 1, dimmed: bool = False, colour: str = "red", bugs: Iterable[str] = ()) -> Protocol:
    """A lamp that is switched on."""
    parameters = {"switches": switches, "dimmed": dimmed, "colour": colour}
    p = Protocol("lamp", parameters=parameters, bugs={"sticks": "it stays dark"}, active=bugs)
    on = p.flag("on")

    @p.step(by="somebody")
    def press() -> object:
        """It is switched on."""
        return Not(on), {on: not p.has("sticks")}

    return p


def properties(p: Protocol) -> Suite:
    suite = Suite(p)

    @suite.step
    def shines() -> object:
        """It shines when it was pressed."""
        return p.next.on

    return suite


WHOLE = """
project = "pulsar"

[sticks]
upstream = ["#1"]
releases = "4.0.8, not 4.2.4"
only = { colour = ["red", "blue"] }
applies = "switches > 1 and not dimmed"
avoided_by = { setting = "lamp=off", overridden_by = "the policy of a room", remains = { order = "two at once" } }
shown_by = { switches = 2 }
out_of_reach = { why = "it is dark", by = "by `a test`", on = ["4.0.8"] }
"""


def read(tmp_path: Path, text: str) -> Bug:
    file = tmp_path / "bugs.toml"
    file.write_text(text, encoding="utf-8")
    return bugs_in(file, lamp)["sticks"]


def test_a_file_has_all_that_is_known(tmp_path: Path) -> None:
    avoided_by = Avoidance("lamp=off", "the policy of a room", {"order": "two at once"})
    assert read(tmp_path, WHOLE) == Bug(
        "pulsar",
        ("#1",),
        releases="4.0.8, not 4.2.4",
        only={"colour": ("red", "blue")},
        applies="switches > 1 and not dimmed",
        avoided_by=avoided_by,
        shown_by={"switches": 2},
        out_of_reach=OutOfReach("it is dark", "by `a test`", ("4.0.8",)),
    )
    assert avoided_by.where_it_avoids() == "lamp=off, unless the policy of a room says otherwise"
    assert str(avoided_by) == "lamp=off, unless the policy of a room says otherwise (it does not avoid two at once)"
    assert (avoided_by.avoids("lost"), avoided_by.avoids("order")) == (True, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[sticks]\ncost = 'much'", ":1: sticks: cost: there is no such field (did you mean costs?)"),
        ("\n[sticks]\nshown_by = { switch = 2 }", ":2: sticks: shown_by: the protocol has no parameter 'switch'"),
        ("[sticks]\nshown_by = { switches = true }", ":1: sticks: shown_by: switches is as 1 is, not True"),
        ("[sticks]\nonly = { colour = [1] }", ":1: sticks: only: colour is as 'red' is, not 1"),
        ("[sticks]\napplies = 'lit'", ":1: sticks: applies: the protocol has no parameter 'lit'"),
        ("[sticks]\napplies = 'switches.real'", ":1: sticks: 'switches.real' is no condition: it has a Attribute"),
        ("[sticks]\nproject = 'pulsar'\nreleases = '1.0'", ":1: sticks: '1.0' names 1.0, which is none of"),
        ("[sticks]\nproject = 'zoo'", ":1: sticks: project: Input should be 'pulsar', 'bookkeeper', 'kafka' or ''"),
        ("[sticks]\nsame_as = 'ledger'", ":1: sticks: same_as: ledger has no bug sticks"),
        ("[sticks]\nsame_as = 'torch'", ":1: sticks: same_as: torch has no bug sticks"),
        ("costs = 'much'\n[sticks]", ": costs belongs into the table of a bug: only project stands before them"),
        ("[sticks", ": is no TOML: "),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BugFileError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'bugs.toml'}{message}")


def test_nothing_is_read_before_somebody_looks(tmp_path: Path) -> None:
    bugs = bugs_in(tmp_path / "none.toml", lamp)
    with pytest.raises(BugFileError, match=r"none.toml: cannot be read as a file of bugs"):
        len(bugs)


def test_a_bug_that_another_protocol_has_is_written_once() -> None:
    ours, theirs = PROTOCOLS["unload"].bugs["deletion_sent_again"], PROTOCOLS["ownership"].bugs["deletion_sent_again"]
    assert (ours.costs, ours.releases, ours.allows) == (theirs.costs, theirs.releases, theirs.allows)
    assert PROTOCOLS["ledger"].bugs["idle_flush_skips_headers"].run == ""
    assert PROTOCOLS["bookie"].bugs["idle_flush_skips_headers"].run != ""


@pytest.mark.parametrize(
    ("bug", "unknown"),
    [
        ({"sticks": Bug(shown_by={"switches": 1}, harm="shines")}, []),
        ({"stick": Bug()}, ["stick: the model has no such switch"]),
        ({"sticks": Bug(harm="glows")}, ["sticks: lamp has no property glows"]),
        ({"sticks": Bug(allows=("cut",))}, ["sticks: there is no weak move cut"]),
        ({"sticks": Bug(unfair=("left",))}, ["sticks: there is no weak move left"]),
    ],
)
def test_names_that_a_protocol_does_not_have(bug: dict[str, Bug], unknown: list[str]) -> None:
    entry = Entry(
        name="lamp",
        summary="a lamp",
        function=lamp,
        suite=properties,
        sizes={"ci": (Instance("one", {}),)},
        bugs=bug,
    )
    assert list(unknown_names(entry)) == unknown


@pytest.mark.long
def test_a_check_that_needs_no_bugs_reads_none() -> None:
    program = "import sys; from fencepost.checks.cli import main; "
    program += "main(['check', 'election', '--set', 'brokers=2', '--quiet']); "
    program += "print(sorted({'pydantic', 'tomllib'} & sys.modules.keys()))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_every_field_is_documented() -> None:
    page = (ROOT / "docs" / "how-to" / "add-a-bug.md").read_text(encoding="utf-8").partition("## The fields")[2]
    assert {field.name for field in fields(Bug)} <= set(re.findall(r"`(\w+)", page))


def test_conditions() -> None:
    assert condition("").holds({})
    both = condition("ensemble > write_quorum and store in ('zk', 'etcd')")
    assert both.names == {"ensemble", "write_quorum", "store"}
    assert both.holds({"ensemble": 3, "write_quorum": 2, "store": "zk"})
    assert not both.holds({"ensemble": 2, "write_quorum": 2, "store": "zk"})
    assert not both.holds({"ensemble": 3, "write_quorum": 2, "store": "oxia"})
    for text in ("a +", "__import__('os')", "a if b else c", "[a]"):
        with pytest.raises(ValueError, match="is no condition"):
            condition(text)
