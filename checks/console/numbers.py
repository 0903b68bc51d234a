"""Numbers on the command line, each with the range that it must be in."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime

LONGEST_HOURS = 10_000

MANY = 2**62
"""Counts and seeds lie below it; the walks reckon with them in 64 bits."""


def whole(least: int) -> Callable[[str], int]:
    """A whole number from ``least`` on."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        if value >= MANY:
            raise argparse.ArgumentTypeError(f"{text!r} is 2^62 or more")
        return value

    return parse


def written_hash(text: str) -> int:
    """A number as hashes are written: hexadecimal after ``0x``, else decimal. Raises ValueError."""
    if not re.fullmatch("0[xX][0-9a-fA-F]+|[0-9]+", text):
        raise ValueError(f"{text!r} is not a hash")
    return int(text, 16 if text[:2] in ("0x", "0X") else 10)


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


positive = _number("a positive number", lambda value: 0 < value < math.inf)
hours = _number(f"a time in hours, from a minute to {LONGEST_HOURS}", lambda value: 1 / 60 <= value <= LONGEST_HOURS)
percent = _number("a percentage above 0", lambda value: 0 < value <= 1000)
score = _number("a percentage from 0 to 100", lambda value: 0 <= value <= 100)
share = _number("between 0 and 1", lambda value: 0 < value < 1)


def window(text: str) -> float:
    """A length in hours: 6h, 30m, or a number of hours."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in ("h", "m", "d") else (text, "h")
    value = positive(number) * {"m": 1 / 60, "h": 1.0, "d": 24.0}[unit]
    if value * 60 < 1 or value * 60 != int(value * 60):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of minutes")
    return value


def moment(text: str) -> int:
    """Seconds since 1970 of a day or a time, in UTC unless it names its zone."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write such as 2026-11-01 or 2026-11-01T06:00") from None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())
