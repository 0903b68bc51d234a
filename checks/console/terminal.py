"""What the user's terminal can show."""

from __future__ import annotations

import os
import shutil
import sys


def width() -> int:
    """The columns to fill: those of the terminal up to 140, 120 where there is none."""
    return min(shutil.get_terminal_size((120, 24)).columns, 140)


def screen() -> int:
    """The columns of what is to fit on one screen: those of a terminal, at most 80 where it is read elsewhere."""
    return width() if sys.stdout.isatty() else min(width(), 80)


def colour() -> bool:
    """Whether to print in colour: on a terminal that has some, unless the user sets NO_COLOR (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
