"""What ``fencepost teeth`` said of the protocols as they are, kept so that every check can look at it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TypedDict

PINNED = Path(__file__).with_name("pinned.json")


class Pinned(TypedDict):
    """What was said of a protocol, as far as it is asked for here."""

    idle: list[str]


@cache
def pinned() -> dict[str, Pinned]:
    """For each protocol: the instances, how many mutants came to which end, who survives, and which properties were noticed
    to be violated by some mutant, which only by a bug, and which by neither."""
    read: dict[str, Pinned] = json.loads(PINNED.read_text(encoding="utf-8"))
    return read


def idle_properties(protocol: str) -> frozenset[str]:
    """The properties that neither a mutant nor a bug of the protocol violates; none of a protocol that is not pinned."""
    return frozenset(pinned()[protocol]["idle"]) if protocol in pinned() else frozenset()
