"""The requests of ``fencepost releases``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ListRequest:
    """The releases that are modelled, in this format."""

    format: str


@dataclass(frozen=True)
class DiffRequest:
    """Two releases, by their numbers or by folders with their jars."""

    first: str
    second: str
    format: str
    quiet: bool
