"""What ``--require`` asks of the guarantees: that a number is so large, at least."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.model.language.mistakes import guess

TOGETHER: Mapping[str, tuple[str, ...]] = {"bookies_down": ("writing", "reading", "recovery")}
"""Names for several guarantees at once, each of which is required."""

NAMES = ("disks", "disks_after_change", *TOGETHER["bookies_down"], "recoveries", "restarts", "changes", "wiped")
"""The guarantees that can be required, in the order in which they are reported."""


@dataclass(frozen=True)
class Requirement:
    """The guarantees of these names must be of so many events, at least; ``text`` is how it was written."""

    text: str
    names: tuple[str, ...]
    least: int


def requirement(text: str) -> Requirement:
    """The requirement that is written as ``NAME>=N``; ArgumentTypeError, with the remedy, if it is none."""
    found = re.fullmatch(r"\s*(\w+)\s*>=\s*([0-9]{1,4})\s*", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME>=N, such as disks>=1")
    name, least = found[1], int(found[2])
    known = (*NAMES, *TOGETHER)
    if name not in known:
        meant = guess(name, known)
        raise argparse.ArgumentTypeError(f"there is no guarantee {name!r}{meant}; there is {', '.join(known)}")
    return Requirement(f"{name}>={least}", TOGETHER.get(name, (name,)), least)
