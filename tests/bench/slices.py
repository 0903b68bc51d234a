"""Measures how much smaller the slice of a property is than its protocol. Run by ``make bench``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.search import search
from fencepost.model.language import Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.slices import DECIDED, slice_for
from fencepost.properties.vocabulary import Suite
from tests.bench.bench import show

HEADINGS = ["slices", "properties", "for example", "states", "of the slice", "fewer"]


def main() -> None:
    """Prints a row for each slice of each protocol's first instance."""
    rows = [HEADINGS]
    for entry in PROTOCOLS.values():
        instance = entry.sizes["ci"][0]
        suite = entry.suite(entry.build(instance.parameters))
        rows += _rows(f"{entry.name}, {instance.name}", suite)
    print()
    show(rows)
    print("slices: those of the properties of states, of steps and of situations; properties that see everything are left out.")


def _rows(name: str, suite: Suite) -> Iterator[list[str]]:
    slices: dict[tuple[str, ...], tuple[Protocol, list[str]]] = {}
    for prop in suite.properties:
        if prop.kind in DECIDED and (part := slice_for(suite.protocol, [prop])) is not suite.protocol:
            slices.setdefault(tuple(v.name for v in part.variables), (part, []))[1].append(prop.name)
    states = search(Kernel(suite.protocol)).distinct if slices else 0
    for part, properties in slices.values():
        left = search(Kernel(part)).distinct
        yield [name, str(len(properties)), properties[0], f"{states:,}", f"{left:,}", f"{states / left:.1f}x"]


if __name__ == "__main__":
    main()
