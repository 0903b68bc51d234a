"""Remedies by odds: how often at most that happens which each of them closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fencepost.checks.odds.answering import Odds
from fencepost.checks.questions.answers.changes import Remedy


@dataclass(frozen=True)
class Weighed:
    """A remedy, and the upper end of how often a year the ways happen that it closes; ``unknown`` of them have no figure."""

    remedy: Remedy
    high: float
    unknown: int


def weighed(remedies: Sequence[Remedy], names: Mapping[object, str], odds: Odds) -> list[Weighed]:
    """The remedies, that first which closes what may happen most often. What two of them close counts for both. ``names`` are
    those of ways, by the keys by which remedies close them."""
    highs = {row.name: row.high for row in odds.rows}
    found = list[Weighed]()
    for each in remedies:
        closes = [highs.get(names.get(way, ""), 0.0) for way in each.closes]
        found.append(Weighed(each, sum(closes), closes.count(0.0)))
    return sorted(found, key=lambda each: -each.high)
