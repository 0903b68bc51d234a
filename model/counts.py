"""Counts and lists in words: the one place that makes a plural, of everything that is printed."""

from __future__ import annotations

from collections.abc import Sequence

VOWELS = "aeiou"


def listed(names: Sequence[str]) -> str:
    """Several in words: a; a and b; a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def count_of(number: int, what: str) -> str:
    """A number of things, ``what`` being one of them: 1 bookie, 3 bookies, 2 entries."""
    if number == 1:
        return f"1 {what}"
    plural = f"{what[:-1]}ies" if what[-1] == "y" and what[-2] not in VOWELS else f"{what}s"
    return f"{number:,} {plural}"
