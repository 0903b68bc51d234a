"""An instance, the properties that are asked about, and what was established of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.checks.engines.results.findings import Findings
from fencepost.model.language import Protocol
from fencepost.model.language.mistakes import guess
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.theorems import Theory
from fencepost.properties.vocabulary import Property, Suite


@dataclass(frozen=True)
class Checked:
    """An instance and what was established of it."""

    entry: Entry | Theory
    instance: Instance
    protocol: Protocol
    findings: Findings


class PropertyError(Exception):
    """A property that the instance does not have; the message lists those that it has."""


def chosen_of(suite: Suite, names: Sequence[str]) -> list[Property]:
    """The properties of these names, all of them if there are none; PropertyError for one that the instance does not have."""
    known = {p.name: p for p in suite.properties}
    for name in names:
        if name not in known:
            meant = guess(name, known)
            raise PropertyError(f"{suite.protocol.name} has no property {name!r}{meant} here; it has {', '.join(known)}")
    return [known[name] for name in names] or list(suite.properties)
