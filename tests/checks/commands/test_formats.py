"""The formats of a check: one table, which the command line has, and which refuses what it does not know."""

from __future__ import annotations

import argparse

import pytest

from fencepost.checks.commands.arguments import _parser
from fencepost.checks.commands.check.formats import FORMATS
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.reports.refusal import Refusal


def _choices(command: str) -> list[str]:
    (commands,) = (action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction))
    return next(list(action.choices or ()) for action in commands.choices[command]._actions if action.dest == "format")


def test_the_command_line_has_the_formats_of_the_table() -> None:
    assert _choices("check") == list(FORMATS)


def test_a_format_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        FORMATS["yaml"]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_a_refusal_or_is_read_beside_standard_error(name: str) -> None:
    refusal = FORMATS[name].refusal(Refusal("nothing can be read", ExitStatus.INPUT))
    assert ("nothing can be read" in refusal) == (name != "text")
