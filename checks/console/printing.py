"""What is printed, in which of the formats of a command, and what the user's terminal can show of it.

It is text: control characters of names and texts that come from files are spelled out, as ``\\x1b``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, TypeVar

from fencepost.checks.console.progress import LINE_AGAIN
from fencepost.traces.wording.styles import STYLES

_ACTS = "\x00-\x08\x0b-\x1f\x7f-\x9f"  # on a terminal
_TURNS = "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the direction of writing
_BYTES = "\ud800-\udfff"  # of names that are not UTF-8
_CONTROL = re.compile(f"({'|'.join(map(re.escape, STYLES))})|[{_ACTS}{_TURNS}{_BYTES}]")


class Spelling:
    """A stream that passes nothing on that its terminal would act upon but our own styles and the progress's line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._styled = stream, stream.isatty()

    def write(self, text: str) -> int:
        again = LINE_AGAIN if self._styled and text.startswith(LINE_AGAIN) else ""
        self._stream.write(again + _CONTROL.sub(self._spelled, text[len(again) :]))
        return len(text)

    def _spelled(self, found: re.Match[str]) -> str:
        if found[1] is None or not self._styled:
            return "".join(repr(character)[1:-1] for character in found[0])
        return found[1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def spelled() -> Iterator[None]:
    """Within it standard output and standard error are such streams; one that is closed stays so."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (stream and Spelling(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def width() -> int:
    """The columns to fill: those of the terminal up to 140, 120 where there is none."""
    return min(shutil.get_terminal_size((120, 24)).columns, 140)


def screen() -> int:
    """The columns of what is to fit on one screen: those of a terminal, at most 80 where it is read elsewhere."""
    return width() if sys.stdout.isatty() else min(width(), 80)


def colour() -> bool:
    """Whether to print in colour: on a terminal that has some, unless the user sets NO_COLOR (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


Printed = TypeVar("Printed")


def in_format(name: str, **formats: Callable[[], Printed]) -> Printed:
    """What the format of that name makes, of a table that has an entry for each; a name that it does not have is a KeyError."""
    return formats[name]()
