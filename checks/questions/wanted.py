"""What is wanted of a check, in the words of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """Which protocols, or all; in which instances, by their size or by parameters that are ``set``, with which bugs and of
    ``any`` number of what; which properties, or all; by which engine, or by the strongest."""

    protocols: Sequence[str]
    set: Sequence[str]
    size: str | None
    bug: Sequence[str]
    property: Sequence[str]
    by: str | None
    any: Sequence[str]
