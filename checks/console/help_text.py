"""The help of a command in the width of the terminal: prose is filled; what does not fit beside an example goes below it."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

WIDEST = 100
"""Columns of the help on a wide terminal: longer lines are hard to read."""

ROW = re.compile(r" +(?P<left>\S.*?)(?: {2,}(?P<right>\S.*))?")
"""A line of a table: what it is about, and what is said of it."""
DEEP = 12
"""Columns before a line that goes on with what is said in the line above."""
CONTINUED = " \\"
"""How a line of a command ends that goes on in the next one."""
WORDS = re.compile(r"""-\S+(?: (?!-)(?:"[^"]*"|'[^']*'|\S)+)?|(?:"[^"]*"|'[^']*'|\S)+""")
"""What a command is broken between: an option with its value, or a word, which may be quoted."""
RIGHT = 32
"""Columns that are left at least for what is said in a row."""
LEAST = 11
"""Columns that a text has on any terminal, as ``argparse`` has it."""


class HelpFormatter(argparse.HelpFormatter):
    """The form of every help."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(shutil.get_terminal_size().columns, WIDEST) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return folded(text, width)


@dataclass
class Row:
    """A row of a table: the words at its left, and what is said of them."""

    left: str
    right: list[str] = field(default_factory=list)


def folded(text: str, width: int) -> str:
    """The text in lines of at most so many columns: a run of lines that are not indented is prose, others are a table."""
    lines = list[str]()
    for indented, several in groupby(text.splitlines(), lambda line: line.startswith(" ") if line else None):
        block = list(several)
        if indented is None or (indented and max(map(len, block)) <= width):
            lines += block
        elif indented:
            lines += _table(block, width)
        else:
            lines += textwrap.wrap(" ".join(block), max(width, LEAST), break_on_hyphens=False)
    return "\n".join(lines)


def _table(block: list[str], width: int) -> Iterator[str]:
    """The rows with two columns, as wide as what fits at the left; what is said of a longer one is in the next line."""
    rows = _rows(block)
    fitting = [len(row.left) for row in rows if row.right and len(row.left) + 4 <= width - RIGHT]
    column = max(fitting, default=4) + 4
    for row in rows:
        said = textwrap.wrap(" ".join(row.right), max(width - column, LEAST), break_on_hyphens=False)
        if said and len(row.left) + 4 <= column:
            yield f"  {row.left:<{column - 2}}{said.pop(0)}"
        else:
            yield from _broken(row.left, width)
        yield from (f"{'':{column}}{line}" for line in said)


def _rows(block: list[str]) -> list[Row]:
    rows = list[Row]()
    for line in block:
        if rows and len(line) - len(line.lstrip()) >= DEEP:
            rows[-1].right.append(line.strip())
        elif (found := ROW.fullmatch(line)) and rows and rows[-1].left.endswith(CONTINUED):
            rows[-1].left = f"{rows[-1].left.removesuffix(CONTINUED)} {found['left']}"
        elif found:
            rows.append(Row(found["left"], [found["right"]] if found["right"] else []))
    return rows


def _broken(command: str, width: int) -> Iterator[str]:
    """A command in as many lines as it needs, as a shell takes them."""
    line = " "
    for words in WORDS.findall(command):
        if len(line) + len(words) + 1 + len(CONTINUED) > width and line.strip():
            yield f"{line}{CONTINUED}"
            line = " " * 5
        line = f"{line} {words}"
    yield line
