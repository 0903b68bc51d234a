"""Rows of odds: of which kind they are, what they rest on, and how they are told."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import get_args

import pytest

from fencepost.checks.odds.answering import Means, Odds, Row, odds_of, weighed
from fencepost.checks.odds.ways import WAYS, Counted, Fleet
from fencepost.checks.questions.answers.remedies import Remedy
from fencepost.checks.reports.odds import COUNTED, as_json, as_text, changes_as_text, frequency
from fencepost.model.odds.numbers import MS_PER_YEAR, published
from fencepost.model.releases import Releases
from tests.checks.odds.solver import SOLVER

pytestmark = pytest.mark.xdist_group("odds")
NUMBERS = published()
MEANS = Means(SOLVER)
DISKS = 2 * NUMBERS["disk_losses"] ** 2 * NUMBERS["repair"] / MS_PER_YEAR


def told(*names: str, numbers: object = NUMBERS, fleet: Fleet = Fleet(), means: Means = MEANS) -> Odds:  # noqa: B008
    return odds_of(names, numbers, fleet, means)  # type: ignore[arg-type]


def only(odds: Odds) -> Row:
    (row,) = odds.rows
    return row


def test_what_the_textbook_has_is_a_frequency_of_all_pairs() -> None:
    row = only(told("disks"))
    assert row.kind == "frequency"
    assert row.per_year == pytest.approx(45 * DISKS, rel=1e-3)
    assert row.low < row.per_year < row.high
    assert [rest.name for rest in row.rests] == ["disk_losses", "repair"]
    assert [rest.is_guess for rest in row.rests] == [False, True]


def test_three_copies_are_of_sets_of_three_and_rarer() -> None:
    """The third disk has to go within one repair of both: 6 nu^3 T^2 of a set, against 2 nu^2 T of a pair."""
    row, pairs = only(told("disks", fleet=Fleet(copies=3))), only(told("disks"))
    nu_t = NUMBERS["disk_losses"] * NUMBERS["repair"] / MS_PER_YEAR
    assert row.per_year / pairs.per_year == pytest.approx(math.comb(10, 3) / 45 * 3 * nu_t, rel=1e-3)
    assert row.kind == "negligible"


def test_more_topics_lose_more_often() -> None:
    few, many = (only(told("terminated_reopened", fleet=Fleet(topics=n))) for n in (100, 300))
    assert many.per_year == pytest.approx(3 * few.per_year, rel=1e-9)
    assert few.kind == many.kind == "undecided"


def test_a_number_that_makes_a_way_rare_makes_it_negligible() -> None:
    row = only(told("terminated_reopened", numbers=NUMBERS.given("terminations", 1e-6)))
    assert row.kind == "negligible"
    assert "Cannot matter" in as_text(told("terminated_reopened", numbers=NUMBERS.given("terminations", 1e-6)), 120)


def test_what_needs_another_way_is_at_most_as_frequent() -> None:
    odds = told("close_error_ignored", "fence_checked_apart")
    bounded = next(row for row in odds.rows if row.name == "close_error_ignored")
    assert bounded.high == next(row for row in odds.rows if row.name == "fence_checked_apart").high
    assert bounded.kind == "undecided"
    assert "as by fence_checked_apart, and is no more frequent than that" in bounded.notes[0]
    alone = only(told("close_error_ignored"))
    assert (alone.high, alone.notes) == (0.0, ("it needs a fence that does not hold, and no other way here is one",))


def test_of_a_way_without_an_instance_nothing_is_claimed() -> None:
    row = only(told("event_lost"))
    assert (row.kind, row.per_year, row.high) == ("undecided", 0.0, 0.0)
    assert "no figure" in as_text(told("event_lost"), 120)


def test_what_would_decide_it_is_named_and_guesses_are_called_so() -> None:
    text = as_text(told("terminated_reopened"), 200)
    assert "to decide it, measure terminations: terminations of one topic" in text
    assert "terminations 0.01 a year (guess; doubled: x2)" in text


def test_draws_give_the_same_interval_twice_and_about_that_of_the_effects() -> None:
    drawn = [only(told("disks", means=replace(MEANS, draws=300, seed=4))) for _ in range(2)]
    assert drawn[0] == drawn[1]
    plain = only(told("disks"))
    assert math.log(drawn[0].high / plain.high) == pytest.approx(0, abs=0.4)
    assert math.log(drawn[0].low / plain.low) == pytest.approx(0, abs=0.4)


@pytest.mark.long
def test_rows_come_by_kind_and_upper_end_whatever_the_order_asked() -> None:
    names = ("disks", "terminated_reopened", "master_key_with_entries_only", "removed_producer_publishes")
    one, other = told(*names), told(*reversed(names))
    assert one == other
    assert [row.kind for row in one.rows] == ["frequency", "frequency", "undecided", "negligible"]
    assert as_json(one) == as_json(other)


def test_as_data_every_number_that_counts_has_its_source() -> None:
    data = json.loads(as_json(told("disks")))
    assert data["topics"] == 100
    assert data["ways"][0]["name"] == "disks"
    assert "Backblaze" in data["numbers"]["disk_losses"]["source"]
    assert data["numbers"]["repair"]["is_guess"] is True


def test_events_that_can_be_counted_have_words() -> None:
    assert set(COUNTED) == set(get_args(Counted)) == {way.given for way in WAYS.values()} - {""}


def test_an_interruption_keeps_what_is_known() -> None:
    told_of = list[str]()
    means = Means(SOLVER, tell=told_of.append, should_stop=lambda: bool(told_of))
    assert [row.name for row in told("disks", "terminated_reopened", means=means).rows] == ["disks"]


@pytest.mark.parametrize(
    ("per_year", "words"),
    [
        (0.0, "never"),
        (3.0, "about 3 times a year"),
        (0.01, "about once in 100 years"),
        (2e-7, "about once in 5 million years"),
        (1e-12, "less than once in a billion years"),
    ],
)
def test_frequencies_in_words(per_year: float, words: str) -> None:
    assert frequency(per_year) == words


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
