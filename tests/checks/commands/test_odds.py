"""``fencepost odds``, run as a user runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT, fencepost

pytestmark = pytest.mark.xdist_group("odds")


def test_one_way_is_told_with_what_it_rests_on() -> None:
    ran = fencepost("odds", "disks", "--quiet", "--workers", "1")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "About once in 11,000 to 390,000 years, by 1 way. For 100 topics on 10 bookies." in " ".join(ran.stdout.split())
    assert "behind it: the textbook" in ran.stdout
    assert "repair 6 h (guess; doubled: x2)" in ran.stdout


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A file of numbers, and what is printed as data with it and with walks."""
    numbers = tmp_path_factory.mktemp("odds") / "odds.toml"
    numbers.write_text("[odds]\ntopics = 7\ndisk_losses = 0.02\n")
    ran = fencepost(
        *("odds", "disks", "--numbers", numbers, "--bookies", "3", "--walks", "20000"),
        *("--format", "json", "--workers", "2", "--quiet"),
    )
    return numbers, json.loads(ran.stdout)


def test_numbers_settings_and_a_fleet_come_together(walked: tuple[Path, dict[str, Any]]) -> None:
    numbers, data = walked
    assert (data["topics"], data["bookies"]) == (7, 3)
    assert data["numbers"]["disk_losses"] == {
        "value": 0.02,
        "unit": "/year",
        "factor": 1.0,
        "meaning": "lost disks of one bookie",
        "source": f"{numbers}:3",
        "is_guess": False,
    }


def test_walks_are_beside_the_exact_answer(walked: tuple[Path, dict[str, Any]]) -> None:
    (way,) = walked[1]["ways"]
    assert abs(way["walked"]["per_year"] - way["independent"]) < 3 * way["walked"]["half_width"] < way["independent"]


def test_every_field_is_in_the_reference(walked: tuple[Path, dict[str, Any]]) -> None:
    _, data = walked
    (section,) = re.findall(r"^## Odds\n(.*?)(?=^## |\Z)", (ROOT / "docs/reference/json.md").read_text("utf-8"), re.M | re.S)
    (way,) = data["ways"]
    inner = {*way["walked"], *way["rests_on"][0], *data["numbers"]["repair"]}
    assert {*data, *way, *inner} <= set(re.findall(r"`(\w+)`", section))


def test_an_instance_can_be_changed(walked: tuple[Path, dict[str, Any]]) -> None:
    numbers, data = walked
    asked = ("--numbers", numbers, "--bookies", "3", "--set", "entries=4", "--format", "json", "--workers", "1", "--quiet")
    (usual,), (larger,) = data["ways"], json.loads(fencepost("odds", "disks", *asked).stdout)["ways"]
    assert larger["states"] > usual["states"]
    assert larger["per_year"] == pytest.approx(usual["per_year"], rel=0.01)


def test_a_chain_is_written_for_other_tools(tmp_path: Path) -> None:
    ran = fencepost("odds", "disks", "--prism", tmp_path / "chains", "--workers", "1", "--quiet")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "chains" / "disks.prism").read_text().count("ctmc") == 1
    assert (tmp_path / "chains" / "disks.props").read_text() == 'P=? [ F "lost" ]\n'


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("disk",), 2, "fencepost: there is no way 'disk' (did you mean disks?); there are removed_producer_publishes"),
        (("mesure",), 2, "fencepost: there is no way 'mesure' (did you mean measure?); there are removed_producer_publishes"),
        (("election",), 2, "fencepost: no way to lose a message has an instance of election: name topic, cluster or ledger"),
        (("topic", "--set", "messages=5"), 2, "fencepost: --set is of one way: name it"),
        (("measure",), 2, "fencepost: measure needs --metrics FILE"),
        (("disks", "--metrics", "x"), 2, "fencepost: --metrics is for measure"),
        (("disks", "--master", "local[1]"), 2, "fencepost: --master is for walks and draws: add --walks N, or --draws N"),
        (("disks", "--numbers", "nowhere.toml"), 150, "fencepost: nowhere.toml: there is no such file"),
        (("disks", "--set", "entrees=4"), 2, "entries"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], status: int, message: str) -> None:
    ran = fencepost("odds", *arguments, "--quiet")
    assert ran.returncode == status
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert ran.stdout == ""


@pytest.mark.parametrize("arguments", [("ledger",), ("--conf", "docs/examples/broker.conf", "--guarantees")])
def test_odds_of_a_check_are_of_a_configuration_as_a_whole(arguments: tuple[str, ...]) -> None:
    ran = fencepost("check", *arguments, "--odds")
    assert ran.returncode == 2
    assert ran.stderr == "fencepost: --odds is of a configuration as a whole: fencepost check --conf broker.conf --odds\n"


@pytest.mark.long
def test_every_way_that_a_check_finds_has_a_row() -> None:
    ran = fencepost("check", "--conf", "docs/examples/broker.conf", "--odds", "--json", "-", "--quiet")
    data = json.loads(ran.stdout)["guarantees"]
    lost = next(answer for answer in data["answers"] if answer["question"] == "lost")
    assert {way["name"] for way in lost["ways"]} == {way["name"] for way in data["odds"]["ways"]}
    assert {way["kind"] for way in data["odds"]["ways"]} == {"frequency", "undecided", "negligible"}
    assert all(way["notes"] or way["rests_on"] for way in data["odds"]["ways"])


def test_measure_prints_a_table(tmp_path: Path) -> None:
    metrics = tmp_path / "broker.prom"
    metrics.write_text('pulsar_rate_in{topic="persistent://t/n/a"} 50\n')
    ran = fencepost("odds", "measure", "--metrics", metrics)
    assert ran.returncode == 0
    assert ran.stdout.startswith(
        "[odds]\ntopics = 1\n# pulsar_rate_in of the topics\nmessages = { per_second = 50, factor = 1.2 }\n"
    )


def test_the_numbers_are_listed_with_their_sources(tmp_path: Path) -> None:
    ran = fencepost("odds", "numbers", "--conf", "docs/examples/broker.conf")
    assert ran.returncode == 0
    assert "repair: 6 h, within 3" in ran.stdout
    assert "managedLedgerMaxLedgerRolloverTimeMinutes=240 (docs/examples/broker.conf:" in ran.stdout
    data = json.loads(fencepost("odds", "numbers", "--format", "json").stdout)
    assert data["disk_losses"]["unit"] == "/year"


def test_the_help_has_the_kinds_of_rows() -> None:
    help_text = fencepost("odds", "--help").stdout
    assert "There are three kinds of rows" in help_text
    assert "fencepost odds measure --metrics" in help_text
