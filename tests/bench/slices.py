"""Measures how much smaller the slice of a property is than its protocol, on the instances for CI. Run by ``make bench``."""

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

HEADINGS = ["slices", "properties", "for example", "states", "of the slice", "fewer", "us a state", "of the slice"]


def main() -> None:
    """Prints a row for each instance and each slice of it."""
    rows = [HEADINGS]
    for entry in PROTOCOLS.values():
        for instance in entry.sizes["ci"]:
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
    states, each = _searched(suite.protocol)
    for part, properties in slices.values():
        slice_states, cost = _searched(part)
        counts = str(len(properties)), properties[0], f"{states:,}", f"{slice_states:,}", f"{states / slice_states:.1f}x"
        yield [name, *counts, f"{each:.2f}", f"{cost:.2f}"]


def _searched(protocol: Protocol) -> tuple[int, float]:
    """The reachable states, and the microseconds that each takes on one thread, at best."""
    results = [search(Kernel(protocol), workers=1) for _ in range(2)]
    return results[0].distinct, 1e6 * min(result.seconds for result in results) / results[0].distinct


if __name__ == "__main__":
    main()
