"""Numbers on the command line of ``fencepost policy``, each with the range that it must be in."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

LONGEST_HOURS = 10_000


def whole(least: int) -> Callable[[str], int]:
    """A whole number from ``least`` on."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        return int(text)

    return parse


def _number(what: str, fits: Callable[[float], bool]) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not fits(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return value

    return parse


hours = _number(f"a time in hours, from a minute to {LONGEST_HOURS}", lambda value: 1 / 60 <= value <= LONGEST_HOURS)
percent = _number("a percentage above 0", lambda value: 0 < value <= 1000)
share = _number("between 0 and 1", lambda value: 0 < value < 1)
