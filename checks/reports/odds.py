"""The odds of the ways to lose a message, for people and as data, and as drawings in a page."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from fencepost.checks.engines.odds.sampling import Estimate
from fencepost.checks.odds.answering import NEGLIGIBLE, Odds, Rest, Row, Weighed
from fencepost.checks.odds.ways import Counted
from fencepost.model.counts import count_of
from fencepost.model.odds.numbers import Numbers
from fencepost.traces.pages.markup import Html, html, joined

_ASKS = "How often is an acknowledged message lost?"
COUNTED: Mapping[Counted, str] = {
    "creation_fails": "failed creations of a ledger",
    "list_slowly": "updates of the list that outlast the time-out",
    "terminate": "terminations",
    "expire": "lost sessions of an owner",
    "recover": "recoveries by a rival",
}
"""The events that can be counted, by the actions of ways."""
_COUNTABLE = 1e-6
"""A share that is smaller than that nobody can count."""
_SURE = 1.5
"""By how much faults that come together must raise the odds before the odds of independent ones get a line."""


def as_text(odds: Odds, width: int) -> str:
    """The answer for a person: the frequencies, what is not decided, and what cannot matter."""
    lines = _wrapped(f"{_ASKS}  ", _headline(odds), width)
    for number, row in enumerate(odds.of("frequency"), 1):
        lines += _wrapped(f"{number:>3}  ", f"{row.what}: {how_often(row)}", width)
        for line in _about(row, odds):
            lines += _wrapped("     ", line, width)
    undecided, negligible = odds.of("undecided"), odds.of("negligible")
    if undecided:
        lines += _wrapped("", "Not decided by rates, the highest upper end first:", width)
    for row in undecided:
        lines += _wrapped("  -  ", f"{row.what}: {how_often(row)}", width)
        for line in _about(row, odds):
            lines += _wrapped("     ", line, width)
    if negligible:
        lines += _wrapped(
            "", "Cannot matter: less than once in a million years, by faults that are independent and together:", width
        )
    for row in negligible:
        lines += _wrapped("  -  ", f"{row.what}: {how_often(row)}", width)
        for line in _about(row, odds):
            lines += _wrapped("     ", line, width)
    return "\n".join(lines) + "\n"


def changes_as_text(remedies: Sequence[Weighed], width: int) -> str:
    """What to change first by odds: the remedies in the order of how often at most that happens which they close."""
    lines = ["Change first, by odds:"] if remedies else []
    for number, each in enumerate(remedies, 1):
        often = f"what happens {_at_most(each.high)}" if each.high > 0 else "what has no figure"
        also = f", and {count_of(each.unknown, 'way')} without a figure" if each.high > 0 and each.unknown else ""
        lines += _wrapped(f"{number:>3}  ", f"{each.remedy.says}: closes {often}{also}", width)
    return "".join(f"{line}\n" for line in lines)


def _headline(odds: Odds) -> str:
    counts = {kind: len(odds.of(kind)) for kind in ("frequency", "undecided", "negligible")}
    low, high = odds.per_year
    parts = [f"{_once(low, high)}, by {count_of(counts['frequency'], 'way')}" if counts["frequency"] else ""]
    parts += [f"{counts['undecided']} not decided by rates" if counts["undecided"] else ""]
    parts += [f"{counts['negligible']} that cannot matter" if counts["negligible"] else ""]
    told = "; ".join(filter(None, parts))
    return f"{told[0].upper()}{told[1:]}. For {odds.fleet}." if told else f"No way is known. For {odds.fleet}."


def _once(low: float, high: float) -> str:
    return (
        f"about once in {_years(1 / high)} to {_years(1 / low)} years"
        if high < 1
        else f"{_times(low)} to {_times(high)} times a year"
    )


def frequency(per_year: float) -> str:
    """A frequency as people say it."""
    if per_year <= 0:
        return "never"
    if per_year < 1e-9:
        return "less than once in a billion years"
    return f"about {_times(per_year)} times a year" if per_year >= 1 else f"about once in {_years(1 / per_year)} years"


def _between(row: Row) -> str:
    return (
        f"{_years(1 / row.high)} to {_years(1 / row.low)}"
        if row.high < 1
        else f"{_times(row.low)} to {_times(row.high)} a year"
    )


def how_often(row: Row) -> str:
    """How often a way happens, as far as its kind of row goes: only a frequency has a number of years."""
    if row.kind == "frequency":
        return f"{frequency(row.per_year)} ({_between(row)})"
    return _at_most(row.high)


def _at_most(high: float) -> str:
    if high <= 0:
        return "no figure"
    if high < 1e-9:
        return "less than once in a billion years"
    if high >= 1:
        return "up to once a year" if high < 1.5 else f"up to {_times(high)} times a year"
    return f"at most once in {_years(1 / high)} years"


def _years(years: float) -> str:
    """Two digits of a number of years, in words where they are many."""
    rounded = float(f"{years:.2g}")
    if rounded >= 1e9:
        return "more than a billion"
    return f"{rounded / 1e6:g} million" if rounded >= 1e6 else f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def _times(per_year: float) -> str:
    return f"{float(f'{per_year:.2g}'):,.0f}" if per_year >= 10 else f"{per_year:.2g}"


def _about(row: Row, odds: Odds) -> Iterator[str]:
    """What there is to know of a row: what it rests on, what of it is guessed, and what stands behind it."""
    if row.way is not None and row.way.decided and row.kind == "frequency":
        yield f"behind it: {row.way.decided}"
    yield from row.notes
    if row.per_year > _SURE * row.alone > 0:
        together = odds.numbers.of("together")
        kind = "a guess" if together.is_guess else "measured"
        share = f"1 in {1 / together.value:,.3g} brings another fault along ({kind})"
        yield f"by independent faults {frequency(row.alone)}; of faults {share}"
    if row.way is not None and row.way.given and row.share > _COUNTABLE:
        yield f"of {COUNTED[row.way.given]} {_share(row.share)} loses a message, by independent faults"
    if row.walked is not None:
        yield _walked(row.walked, ", where no connection is throttled" if row.way and row.way.throttled else "")
    if row.rests:
        yield f"rests on {', '.join(_rest(rest) for rest in row.rests)}"
    guesses = [rest for rest in row.rests if rest.is_guess and rest.unit != "1"]
    if row.kind == "undecided" and guesses:
        yield f"to decide it, measure {guesses[0].name}: {guesses[0].meaning}"


def _share(share: float) -> str:
    """A probability in words: one in so many."""
    return f"one in {float(f'{1 / share:.2g}'):,.15g}" if share < 0.5 else f"{share:.0%}".replace("%", " %")


def _walked(walked: Estimate, where: str) -> str:
    """What walks estimate, with the half width of its interval; ``where`` is the part that they walk."""
    if walked.hits == 0:
        return f"no loss in {count_of(walked.walks, 'weighted walk')}"
    width = f"{walked.half / walked.per_year:.1%}".replace("%", " %")
    found = f"{count_of(walked.walks, 'weighted walk')} of {count_of(walked.steps, 'step')}, {walked.hits:,} with a loss"
    return f"sampled{where}: {walked.per_year:.3g} a year by independent faults, within {width} (95 %); {found}"


def _rest(rest: Rest) -> str:
    """A number on which a row rests, in words."""
    guess = "guess; " if rest.is_guess else ""
    return f"{rest.name} {_quantity(rest.value, rest.unit)} ({guess}doubled: x{rest.doubled:.2g})"


def _quantity(value: float, unit: str) -> str:
    """A number with its unit, in the largest unit of time that it has one of."""
    if unit != "ms":
        return f"{value:,.4g}{ {'/year': ' a year', '/s': '/s', '1': '', 'messages': ' messages'}[unit] }"
    for name, ms in (("days", 86_400_000.0), ("h", 3_600_000.0), ("min", 60_000.0), ("s", 1_000.0)):
        if value >= ms:
            return f"{value / ms:,.3g} {name}"
    return f"{value:.3g} ms"


def _wrapped(indent: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=" " * min(len(indent), 5)) or [indent]


def as_data(odds: Odds) -> dict[str, object]:
    """The same as data: rates are incidents a year of all topics."""
    return {
        "topics": odds.fleet.topics,
        "bookies": odds.fleet.bookies,
        "negligible_below": NEGLIGIBLE,
        "ways": [_row_as_data(row) for row in odds.rows],
        "numbers": {name: _number_as_data(odds.numbers, name) for name in _named(odds.rows)},
    }


def as_json(odds: Odds) -> str:
    """The data as JSON."""
    return json.dumps(as_data(odds), indent=2) + "\n"


def _row_as_data(row: Row) -> dict[str, object]:
    about = {"name": row.name, "what": row.what, "kind": row.kind, "per_year": row.per_year, "low": row.low, "high": row.high}
    rests = [{"number": rest.name, "doubled": rest.doubled} for rest in row.rests]
    behind = row.way.decided if row.way is not None else ""
    return {
        **about,
        "independent": row.alone,
        "given": row.way.given if row.way is not None else "",
        "share": row.share,
        "walked": None if row.walked is None else _walked_as_data(row.walked),
        "rests_on": rests,
        "states": row.states,
        "behind": behind,
        "notes": list(row.notes),
    }


def _walked_as_data(walked: Estimate) -> dict[str, object]:
    found = {"per_year": walked.per_year, "half_width": walked.half}
    return {**found, "walks": walked.walks, "steps": walked.steps, "hits": walked.hits}


def _named(rows: Sequence[Row]) -> list[str]:
    return sorted({rest.name for row in rows for rest in row.rests})


def numbers_as_text(numbers: Numbers, width: int) -> str:
    """The table of numbers for a person: each with its value, the factor within which it is certain, and its source."""
    lines = list[str]()
    for name in numbers:
        number = numbers.of(name)
        parts = " + ".join(part if times == 1 else f"{times:g} {part}" for part, times in (number.parts or {}).items())
        within = "" if parts else f", within {number.factor:g}" if number.factor > 1 else ", as given"
        lines += _wrapped("", f"{name}: {_quantity(numbers[name], number.unit)}{within}", width)
        lines += _wrapped("    ", number.meaning, width)
        source = parts or number.source
        lines += _wrapped("    ", f"guess: {source}" if number.is_guess else source, width)
    return "\n".join(lines) + "\n"


def numbers_as_json(numbers: Numbers) -> str:
    """The table of numbers as JSON."""
    return json.dumps({name: _number_as_data(numbers, name) for name in numbers}, indent=2) + "\n"


def _number_as_data(numbers: Numbers, name: str) -> dict[str, object]:
    number = numbers.of(name)
    about = {"value": numbers[name], "unit": number.unit, "factor": number.factor, "meaning": number.meaning}
    return {**about, "source": number.source, "is_guess": number.is_guess}


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


def _as_factor(factor: float) -> str:
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
        said = html('<text x="{}" y="{}">{}</text>', f"{_WIDTH - 70:.1f}", f"{y + 11:.1f}", _as_factor(rest.doubled))
        yield joined([name, shape, said])
