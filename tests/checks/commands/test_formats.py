"""The formats of a command: one table, which the command line has, and which refuses what it does not know."""

from __future__ import annotations

import argparse
import re

import pytest

from fencepost.checks.commands.arguments import whole_line
from fencepost.checks.commands.check.formats import ANNOTATED, DOCUMENTS, TEXT
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.conform import formats as conform
from fencepost.checks.console.printing import in_format
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.reports.documents import Refusal
from tests.command import ROOT

REFUSAL = Refusal("nothing can be read", ExitStatus.INPUT)


def _choices(*words: str) -> list[str]:
    """What --format takes after these words of a command."""
    parser = whole_line()
    for word in words:
        (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
        parser = commands.choices[word]
    return next(list(action.choices or ()) for action in parser._actions if action.dest == "format")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_document_has_an_option(name: str) -> None:
    assert CheckRequest().__getattribute__(name) is None


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_document_has_a_refusal(name: str) -> None:
    assert "nothing can be read" in DOCUMENTS[name].refusal(REFUSAL)


def test_a_refusal_is_read_beside_standard_error() -> None:
    assert TEXT.refusal(REFUSAL) == ""
    assert ANNOTATED.refusal(REFUSAL) == "::error title=the input cannot be used::nothing can be read\n"


def test_a_document_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        DOCUMENTS["yaml"]


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
