"""Odds as drawings: where intervals and bars are."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from fencepost.checks.odds.answering import Odds, Rest, Row
from fencepost.checks.odds.ways import Fleet
from fencepost.checks.reports.odds import odds_section
from fencepost.model.odds.numbers import published

RESTS = (
    Rest("repair", 1.0, "ms", "", "", True, 2.0),
    Rest("inactive", 1.0, "ms", "", "", False, 0.25),
    Rest("life_after_loss", 1.0, "ms", "", "", True, 570.0),
)
ONE = Row("one", "A & B", "frequency", None, 1e-2, 1e-3, 1e-1, 1e-2, RESTS)
OTHER = Row("other", "C", "undecided", None, 1e-5, 0.0, 1e-4)
NEVER = Row("never", "D", "undecided")


def drawn(*rows: Row) -> str:
    return odds_section(Odds(rows, Fleet(), published()))


def test_an_interval_is_as_long_as_its_logarithm() -> None:
    text = drawn(OTHER, ONE, replace(ONE, name="two", low=1e-4, high=1.0))
    lines = re.findall(r'<line x1="([\d.]+)" x2="([\d.]+)" y1="[\d.]+" y2="[\d.]+" class="frequency"', text)
    wide, narrow = (float(end) - float(begin) for begin, end in lines)
    assert wide == pytest.approx(2 * narrow, abs=0.3)
    middles = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"[^>]*class="frequency"', text)]
    assert middles[0] == middles[1] == pytest.approx(sum(map(float, lines[1])) / 2, abs=0.1)


def test_bars_are_powers_of_two_to_either_side_and_end_somewhere() -> None:
    text = drawn(ONE)
    bars = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+" class="(more|less)"', text)
    (right, one, more), (left, two, less), (_, most, _) = bars
    assert (more, less) == ("more", "less")
    assert float(two) == pytest.approx(2 * float(one), abs=0.2)
    assert float(left) + float(two) == pytest.approx(float(right), abs=0.2)
    assert float(most) == pytest.approx(3 * float(one), abs=0.3)
    assert re.findall(r">(x[^<]+)<", text) == ["x2", "x0.25", "x570"]


def test_ways_come_by_their_upper_end_and_those_without_a_figure_do_not() -> None:
    text = drawn(NEVER, OTHER, ONE)
    assert text.index("A &amp; B: about once in 100 years") < text.index("C: at most once in 10,000 years")
    assert "D:" not in text
    assert drawn(NEVER) == ""
    assert text == drawn(OTHER, ONE, NEVER)
