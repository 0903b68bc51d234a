"""Remedies by odds: the order is by the ways that each closes, not by how many."""

from __future__ import annotations

from fencepost.checks.odds.answering import Odds, Row
from fencepost.checks.odds.ways import Fleet
from fencepost.checks.odds.weighing import weighed
from fencepost.checks.questions.answers.changes import Remedy
from fencepost.checks.reports.odds import changes_as_text
from fencepost.model.odds.numbers import published
from fencepost.model.releases import Releases

RELEASES = Releases.of("4.2.4")
NAMES = ("first", "second", "third", "fourth")


def remedy(says: str, *closed: str) -> Remedy:
    return Remedy("setting", says, {}, RELEASES, closes=frozenset(closed))


def test_a_remedy_of_one_frequent_way_comes_before_one_of_two_rare_ones() -> None:
    highs = (2.0, 1e-6, 1e-4, 0.0)
    rows = tuple(Row(name, name, "undecided", high=high) for name, high in zip(NAMES, highs, strict=True))
    odds = Odds(rows, Fleet(), published())
    two, one, none = remedy("a=1", *NAMES[1:3]), remedy("b=2", NAMES[0], NAMES[3]), remedy("c=3", NAMES[3])
    found = weighed([two, none, one], dict(zip(NAMES, NAMES, strict=True)), odds)
    assert [each.remedy for each in found] == [one, two, none]
    assert changes_as_text(found, 100) == (
        "Change first, by odds:\n"
        "  1  b=2: closes what happens up to 2 times a year, and 1 way without a figure\n"
        "  2  a=1: closes what happens at most once in 9,900 years\n"
        "  3  c=3: closes what has no figure\n"
    )
    assert changes_as_text([], 100) == ""
