"""``fencepost play``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.explorer.content import content
from tests.command import fencepost

OWN = '''"""Two lamps."""

from fencepost import Not, OneOf, Protocol, Suite


def lamps(bugs: tuple[str, ...] = ()) -> Protocol:
    """Two lamps, one of which may be lit."""
    p = Protocol("lamps")
    lit = p.flag("lit", per=p.universe("lamp", 2), init=OneOf((False, True)))

    @p.step(by="l", l=p.universes["lamp"])
    def switch(l: int):
        """It is switched on."""
        return Not(lit[l]), {lit[l]: True}

    return p


def properties(p: Protocol) -> Suite:
    return Suite(p)
'''


def data_in(page: Path) -> Any:
    (data,) = re.findall(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(data)


@pytest.mark.long
def test_a_page_of_an_instance_as_a_release_behaves(tmp_path: Path) -> None:
    out = tmp_path / "pages" / "election.html"
    run = fencepost("play", "election", "--pulsar", "4.0.8", "--set", "brokers=2", "--html", out, "--quiet")
    assert (run.returncode, run.stdout) == (0, f"page: {out}\n"), run.stderr
    data = data_in(out)
    (trace, bug), (model, _) = data["traces"], data["models"]
    assert data["guide"]["bug"]["trace"] == 1
    assert bug["name"] == f"known bug: {data['guide']['bug']['name']}"
    assert bug["steps"]
    assert (trace["name"], trace["steps"], trace["model"]) == ("initial state", [], 0)
    assert model["parameters"]["brokers"] == 2
    assert model["parameters"]["leads"] == "confirmed"
    assert {action["name"] for action in model["actions"]} >= {"propose", "confirm"}


def test_a_bug_is_played_in_the_instance_that_shows_it(tmp_path: Path) -> None:
    entry = PROTOCOLS["election"]
    bug, shown = next((bug, shown) for bug, shown in entry.shown_by.items() if shown)
    out = tmp_path / "broken.html"
    assert fencepost("play", "election", "--bug", bug, "--html", out).returncode == 0
    (model,) = data_in(out)["models"]
    assert model["bugs"] == [bug]
    assert model["parameters"].items() >= shown.items()


def test_a_protocol_of_ones_own_begins_in_each_initial_state(tmp_path: Path) -> None:
    file, out = tmp_path / "lamps.py", tmp_path / "lamps.html"
    file.write_text(OWN, encoding="utf-8")
    assert fencepost("play", file, "--html", out).returncode == 0
    data = data_in(out)
    assert [trace["start"] for trace in data["traces"]] == [["0", "0"], ["0", "1"], ["1", "0"], ["1", "1"]]
    assert [trace["name"] for trace in data["traces"]] == [
        f"initial state: lit[l0] {one}, lit[l1] {other}" for one in ("no", "yes") for other in ("no", "yes")
    ]


def test_of_many_initial_states_the_first_are_in_the_page(tmp_path: Path) -> None:
    file, out = tmp_path / "lamps.py", tmp_path / "lamps.html"
    file.write_text(OWN.replace('"lamp", 2', '"lamp", 5'), encoding="utf-8")
    run = fencepost("play", file, "--html", out)
    assert (run.returncode, run.stdout) == (0, f"page: {out} (of 32 initial states the first 16)\n")
    assert len(data_in(out)["traces"]) == 16


def test_a_message_of_nobody_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "lamps.py"
    file.write_text(OWN.replace('by="l", ', 'by="l", hears="guest", '), encoding="utf-8")
    run = fencepost("play", file, "--html", tmp_path / "lamps.html")
    assert run.returncode != 0
    assert "lamps.py:" in run.stderr
    assert "lamps: action switch: hears='guest' is neither an actor nor the store" in run.stderr


def test_what_cannot_be_played_is_told(tmp_path: Path) -> None:
    run = fencepost("play", "elections")
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "did you mean election" in run.stderr
    run = fencepost("play", tmp_path / "missing.py")
    assert (run.returncode, run.stderr.count("\n")) == (150, 1)
    assert fencepost("play", "election", "--html", "page.txt").returncode == 2


@pytest.mark.long
def test_a_model_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.checks.commands.pages.content", lambda *asked, **named: content(*asked, **named, largest=10))
    out = tmp_path / "alone.html"
    run = fencepost("play", "election", "--set", "brokers=2", "--html", out)
    assert run.returncode == 20
    assert "without their model" in run.stderr
    assert data_in(out)["models"] == []
