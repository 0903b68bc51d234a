"""Every help fits the terminal, and its examples can be copied from it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest

from fencepost.checks.commands.arguments import COMMANDS
from fencepost.checks.commands.tree import Group
from fencepost.checks.console.help_text import WIDEST, folded


def _parsers(group: Group, name: str) -> Iterator[argparse.ArgumentParser]:
    yield group.parser(name)
    for word, entry in group.by_name.items():
        if isinstance(node := entry.node, Group):
            yield from _parsers(node, f"{name} {word}")
        else:
            yield node.parser(name if entry.is_argument else f"{name} {word}")


@pytest.mark.parametrize("columns", [80, 200])
def test_no_line_of_any_help_is_wider_than_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    parsers = list(_parsers(COMMANDS, "fencepost"))
    assert len(parsers) > 40
    wide = {
        (parser.prog, line)
        for parser in parsers
        for line in parser.format_help().splitlines()
        if len(line) > min(columns, WIDEST)
    }
    assert wide == set()


def test_an_example_is_whole_where_it_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    several = 0
    for parser in _parsers(COMMANDS, "fencepost"):
        written = re.sub(r" \\\n +", " ", parser.epilog or "")
        shown = re.sub(r" \\\n +", " ", parser.format_help())
        for example in re.findall(r"^  (fencepost \S.*?)(?: {2,}.*)?$", written, re.MULTILINE):
            assert f"  {example}" in shown
            several += 1
    assert several > 100


def test_what_is_said_of_a_row_stays_beside_it() -> None:
    rows = ["  run --one            a short one", "  run --conf broker.conf --against old.conf --all  one that is long"]
    text = "\n".join(["examples:", *rows])
    assert folded(text, 48).splitlines() == [
        "examples:",
        "  run --one  a short one",
        "  run --conf broker.conf --against old.conf \\",
        "      --all",
        "             one that is long",
    ]


def test_a_table_that_fits_and_the_lines_between_paragraphs_are_left_alone() -> None:
    text = "A first line.\nA second one.\n\nverbs:\n  show  print it\n  pin   keep it\n\nAn end."
    assert folded(text, 48) == text.replace("line.\nA", "line. A")


def test_a_quoted_argument_is_not_broken() -> None:
    assert '"add(b1, e0)"' in folded('examples:\n  fencepost trace explain broken.itf.json --step 6 --action "add(b1, e0)"', 40)
