"""Odds as drawings: ways by frequency with their intervals on a logarithmic axis, and what doubling a number does, as bars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fencepost.checks.odds.answering import NEGLIGIBLE, Odds, Rest, Row
from fencepost.checks.reports.odds import how_often
from fencepost.traces.pages.markup import Html, html, joined

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 700.0, 20.0, 20.0, 22.0, 24.0
_LEAST = 1e-12
"""Incidents a year that are the left end of the axis, at least."""
_BAR, _BARS = 14.0, 3.0
"""The height of a bar; the power of two that fills half of the width, at most."""
_NAMES = 190.0


def odds_section(odds: Odds) -> Html:
    """The section of a page, with a drawing of the ways that have a figure, and the numbers that decide each of them."""
    rows = sorted((row for row in odds.rows if row.high > 0), key=lambda row: (-row.high, row.name))
    if not rows:
        return Html()
    listed = joined(_listed(number, row) for number, row in enumerate(rows, 1))
    meaning = "Full: a frequency; hollow: not decided by rates, or cannot matter. Bars: what doubling a number does."
    about = html('<p class="quiet">Incidents a year for {}: the interval of 90 %, and the median. {}</p>', odds.fleet, meaning)
    return html('<section id="odds"><h2>How often?</h2>{}{}<ol>{}</ol></section>', about, _axis(rows), listed)


def _axis(rows: Sequence[Row]) -> Html:
    ends = [max(value, _LEAST) for row in rows for value in (row.low or row.high, row.high)]
    low, high = math.floor(math.log10(min(*ends, NEGLIGIBLE))), math.ceil(math.log10(max(ends)))
    scale = (_WIDTH - _LEFT - _RIGHT) / (high - low)

    def x(per_year: float) -> float:
        return _LEFT + (math.log10(max(per_year, 10.0**low)) - low) * scale

    bottom = _TOP + _ROW * len(rows)
    ticks = joined(_tick(x(10.0**power), bottom, power) for power in range(low, high + 1))
    limit = _line((x(NEGLIGIBLE), _TOP - 6), (x(NEGLIGIBLE), bottom), "limit")
    marks = joined(_interval(number, row, x(row.low), x(row.per_year), x(row.high)) for number, row in enumerate(rows, 1))
    label = "Ways by how often they lose a message, with intervals, on a logarithmic axis of incidents a year"
    size = html('viewBox="0 0 {} {}"', f"{_WIDTH:.0f}", f"{bottom + 6:.0f}")
    return html('<svg class="odds" role="img" aria-label="{}" {}>{}{}{}</svg>', label, size, ticks, limit, marks)


def _line(begin: tuple[float, float], end: tuple[float, float], kind: str) -> Html:
    places = (f"{place:.1f}" for place in (begin[0], end[0], begin[1], end[1]))
    return html('<line x1="{}" x2="{}" y1="{}" y2="{}" class="{}"/>', *places, kind)


def _tick(x: float, bottom: float, power: int) -> Html:
    line = _line((x, _TOP - 6), (x, bottom), "tick")
    names = {0: "1", 1: "10", 2: "100", -1: "1/10", -2: "1/100"}
    said = names.get(power, f"10^{power}") if power % 2 == 0 or abs(power) < 2 else ""
    return joined([line, html('<text x="{}" y="12" class="scale">{}</text>', f"{x:.1f}", said)])


def _interval(number: int, row: Row, low: float, middle: float, high: float) -> Html:
    y = _TOP + _ROW * (number - 0.5)
    kind = "frequency" if row.kind == "frequency" else "other"
    line = _line((low, y), (max(high, low + 1), y), kind)
    mark = '<circle cx="{}" cy="{}" r="4" class="{}"><title>{}</title></circle>'
    dot = html(mark, f"{middle:.1f}", f"{y:.1f}", kind, row.name)
    place = (low - 6, "end") if low > _LEFT + 18 else (high + 6, "start")
    text = html('<text x="{}" y="{}" text-anchor="{}">{}</text>', f"{place[0]:.1f}", f"{y + 4:.1f}", place[1], number)
    return joined([line, dot, text])


def _listed(number: int, row: Row) -> Html:
    bars = joined(_bars(row.rests)) if row.rests else Html()
    height = max(len(row.rests) * (_BAR + 4), 1)
    label = f"What doubling each number does to way {number}"
    template = '<svg class="odds effects" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>'
    drawn = html(template, label, f"{_WIDTH:.0f}", height, bars)
    return html("<li><p>{}: {}</p>{}</li>", row.what, how_often(row), drawn if row.rests else Html())


def _times(factor: float) -> str:
    """A factor, also a large or a small one, in few characters."""
    if factor >= 100:
        return f"x{float(f'{factor:.2g}'):,.0f}"
    return f"x1/{float(f'{1 / factor:.2g}'):,.0f}" if 0 < factor < 0.01 else f"x{factor:.2g}"


def _bars(rests: Sequence[Rest]) -> Iterator[Html]:
    """To the right what makes it more frequent, to the left what makes it rarer, by powers of two."""
    middle = (_NAMES + _WIDTH - 80) / 2
    half = middle - _NAMES
    for place, rest in enumerate(rests):
        power = min(max(math.log2(max(rest.doubled, 1e-9)), -_BARS), _BARS)
        y, length = place * (_BAR + 4), abs(power) / _BARS * half
        begin = middle if power >= 0 else middle - length
        name = html('<text x="0" y="{}">{}{}</text>', f"{y + 11:.1f}", rest.name, " (guess)" if rest.is_guess else "")
        kind = "more" if power >= 0 else "less"
        shape = html(
            '<rect x="{}" y="{}" width="{}" height="{}" class="{}"/>', f"{begin:.1f}", f"{y:.1f}", f"{length:.1f}", _BAR, kind
        )
        said = html('<text x="{}" y="{}">{}</text>', f"{_WIDTH - 70:.1f}", f"{y + 11:.1f}", _times(rest.doubled))
        yield joined([name, shape, said])
