"""What the lines of a unit or a ledger mean in a protocol: parts, each of which one run of an instance is to explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fencepost.checks.conformance.logs.events import Meaning
from fencepost.properties.registry import Value

Row: TypeAlias = Mapping[str, str]
"""A row of the table events, with its fields beside its columns."""


@dataclass(frozen=True)
class Part:
    """Lines that follow one another: what each says in the words of ``meaning``, and the place of its row.

    ``parameters`` are those of the instance that follow from the lines. ``logs_all`` is whether each step that a line can mean
    is logged; otherwise all of them may also happen without a line.
    """

    meaning: Meaning
    parameters: Mapping[str, Value]
    lines: Sequence[tuple[int, Mapping[str, object]]]
    logs_all: bool
