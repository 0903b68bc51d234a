"""What the user's terminal can show."""

from __future__ import annotations

import shutil


def width() -> int:
    """The columns to fill: those of the terminal up to 140, 120 where there is none."""
    return min(shutil.get_terminal_size((120, 24)).columns, 140)
