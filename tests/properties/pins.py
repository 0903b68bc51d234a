"""What is pinned of each protocol, in the tables of its ``test_safety.py``, which a test over all of them and the pages read.

COUNTS has the states, transitions and depth of each instance for CI, CONTROLS the negative controls that it violates and in how
many steps, EXPLAINED the suspicions that a page explains, CAUGHT which properties each bug violates first and in how many
steps. DEEP and DEEP_BUGS name the instances and bugs that only the deep run searches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry

HERE = Path(__file__).parent

SLOW_TO_BUILD = ("cluster", "service_unit", "service_unit_migration", "topic")
"""Protocols whose instances take most of a second to build: of their bugs the first step has one each."""


@dataclass(frozen=True)
class Pins:
    """The tables of one protocol; they are optional except for the first three."""

    entry: Entry
    counts: Mapping[str, tuple[int, int, int]]
    caught: Mapping[str, tuple[set[str], int | None]]
    controls: Mapping[str, Mapping[str, int]]
    explained: Mapping[str, Collection[str]]
    deep: Collection[str]
    deep_bugs: Collection[str]


def pins(protocol: str) -> Pins:
    """The pins of a protocol. Raises AttributeError if one of its tables is missing."""
    tables = import_module(f"tests.properties.{protocol}.test_safety")
    return Pins(
        PROTOCOLS[protocol],
        tables.COUNTS,
        tables.CAUGHT,
        tables.CONTROLS,
        getattr(tables, "EXPLAINED", {}),
        getattr(tables, "DEEP", ()),
        getattr(tables, "DEEP_BUGS", ()),
    )


PINNED = {name: pins(name) for name in PROTOCOLS if (HERE / name / "test_safety.py").exists()}
