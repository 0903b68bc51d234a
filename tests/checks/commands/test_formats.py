"""The formats of a command: one table, which the command line has, and which refuses what it does not know."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace

import pytest

from fencepost.checks.cli import main
from fencepost.checks.commands.arguments import whole_line
from fencepost.checks.commands.check.formats import FORMATS
from fencepost.checks.commands.conform import formats as conform
from fencepost.checks.console.formats import in_format
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.reports.refusal import Refusal
from tests.command import ROOT


def _choices(*words: str) -> list[str]:
    """What --format takes after these words of a command."""
    parser = whole_line()
    for word in words:
        (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
        parser = commands.choices[word]
    return next(list(action.choices or ()) for action in parser._actions if action.dest == "format")


def test_the_command_line_has_the_formats_of_the_table() -> None:
    assert _choices("check") == list(FORMATS)


def test_a_format_is_one_entry_of_the_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As CONTRIBUTING has it: with the module of its report a format takes two files."""
    monkeypatch.setitem(FORMATS, "bell", replace(FORMATS["json"], refusal=lambda refusal: f"ding: {refusal.message}\n"))
    assert main(["check", "legder", "--format", "bell"]) == ExitStatus.USAGE
    assert capsys.readouterr().out.startswith("ding: ")


def test_a_format_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        FORMATS["yaml"]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_a_refusal_or_is_read_beside_standard_error(name: str) -> None:
    refusal = FORMATS[name].refusal(Refusal("nothing can be read", ExitStatus.INPUT))
    assert ("nothing can be read" in refusal) == (name != "text")


def test_the_command_line_has_the_formats_of_a_target() -> None:
    assert _choices("conform", "ledger") == list(conform.FORMATS)


def test_a_format_that_conform_does_not_have_is_an_error() -> None:
    with pytest.raises(KeyError):
        conform.FORMATS["sarif"]


def test_an_answer_has_the_formats_that_it_names() -> None:
    assert in_format("json", text=lambda: "lines", json=lambda: "{}") == "{}"
    with pytest.raises(KeyError):
        in_format("junit", text=lambda: "lines", json=lambda: "{}")


def test_no_command_asks_which_format_it_is() -> None:
    """A comparison has an else, which would print something for a format that nobody wrote."""
    modules = (ROOT / "checks").rglob("*.py")
    asking = [module.name for module in modules if re.search(r"\.format\s*([!=]=|in\b)", module.read_text(encoding="utf-8"))]
    assert asking == []
