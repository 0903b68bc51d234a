"""An instance and what was established of it."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.checks.engines.results.findings import Findings
from fencepost.model.language import Protocol
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.theorems import Theory


@dataclass(frozen=True)
class Checked:
    """An instance and what was established of it."""

    entry: Entry | Theory
    instance: Instance
    protocol: Protocol
    findings: Findings


class PropertyError(Exception):
    """A property that the instance does not have; the message lists those that it has."""
