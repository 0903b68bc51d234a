"""What the odds of some ways come to: rows of three kinds, each with what it rests on; and remedies by what they close."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fencepost.checks.engines.odds.sampling import Estimate
from fencepost.checks.engines.odds.transitions import InstanceError
from fencepost.checks.odds.solving import Drawer, Effect, Solver, Walker, interval
from fencepost.checks.odds.ways import BOUNDED, Fleet, Way, ways
from fencepost.checks.questions.answers.remedies import Remedy
from fencepost.model.bookkeeper.ledger.bugs import BUGS as OF_LEDGERS
from fencepost.model.odds.numbers import Numbers, published
from fencepost.model.pulsar.topic.bugs import BUGS as OF_TOPICS
from fencepost.properties.protocols import PROTOCOLS

NEGLIGIBLE = 1e-6
"""Incidents per year, of all topics, below which a way cannot matter: less than one in a million years."""
_MOST = 4
_WEIGHTLESS = 0.05
_TAIL = 5.0
_ISSUES = re.compile(r"^(\w*#\d+, )*\w*#\d+: ")

Kind = Literal["frequency", "undecided", "negligible"]


@dataclass(frozen=True)
class Rest:
    """A number on which a row rests: its value, and what doubling it makes of the answer."""

    name: str
    value: float
    unit: str
    meaning: str
    source: str
    is_guess: bool
    doubled: float


@dataclass(frozen=True)
class Row:
    """A way with its odds.

    ``kind`` is ``frequency`` if more than the model stands behind it, ``negligible`` if it happens less than once in a million
    years even at its upper end, else ``undecided``. ``per_year`` is the median number of incidents of all topics, of which
    nine tenths are from ``low`` to ``high``; ``alone`` that by independent faults. All are 0 where no instance tells.
    ``walked`` is what weighted walks estimate for ``alone``, if they were asked for; ``share`` the probability of a loss, given
    the event of the way.
    """

    name: str
    what: str
    kind: Kind
    way: Way | None = None
    per_year: float = 0.0
    low: float = 0.0
    high: float = 0.0
    alone: float = 0.0
    rests: tuple[Rest, ...] = ()
    states: int = 0
    walked: Estimate | None = None
    share: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Odds:
    """Rows of each kind in the order of their upper ends: frequencies, what is not decided, what cannot matter."""

    rows: tuple[Row, ...]
    fleet: Fleet
    numbers: Numbers

    def of(self, kind: Kind) -> list[Row]:
        """The rows of a kind."""
        return [row for row in self.rows if row.kind == kind]

    @property
    def per_year(self) -> tuple[float, float]:
        """From and to how many incidents a year the frequencies come to."""
        rows = self.of("frequency")
        return sum(row.low for row in rows), sum(row.high for row in rows)


@dataclass(frozen=True)
class Means:
    """How odds are computed: the solver, how many draws of the numbers make an interval (0: by their effects), how many
    weighted walks there are besides, the seed of both, who makes the walks and who solves the draws. ``tell`` hears of which
    way they are being computed, ``should_stop`` whether to leave the others out."""

    solver: Solver
    draws: int = 0
    walks: int = 0
    seed: int = 0
    walker: Walker | None = None
    drawer: Drawer | None = None
    tell: Callable[[str], None] = lambda _: None
    should_stop: Callable[[], bool] = lambda: False


def odds_of(names: Iterable[str], numbers: Numbers, fleet: Fleet, means: Means) -> Odds:
    """The odds of ways by their names; of one that has no instance with clocks nothing is claimed."""
    known, rows, names = ways(fleet), list[Row](), list(names)
    for name in names:
        if means.should_stop():
            break
        means.tell(name)
        if name in known:
            rows.append(row_of(known[name], numbers, fleet, means))
        elif name in BOUNDED:
            rows.append(_bounded(name, names, numbers, fleet, means))
        else:
            rows.append(Row(name, _what(name), "undecided", notes=("no instance of it has clocks",)))
    order: Sequence[Kind] = ("frequency", "undecided", "negligible")
    return Odds(tuple(sorted(rows, key=lambda row: (order.index(row.kind), -row.high, row.name))), fleet, numbers)


def row_of(way: Way, numbers: Numbers, fleet: Fleet, means: Means) -> Row:
    """The odds of one way, with faults that come together if that makes them larger."""
    solver, units = means.solver, fleet.units(way)
    try:
        alone = solver.per_year(way, numbers) * units
        together = solver.per_year(way, numbers, together=True) * units if way.together else alone
    except InstanceError as error:
        return Row(way.name, _what(way.name), "undecided", way, notes=(str(error),))
    by_both = together > alone
    effects = solver.effects(way, numbers, together=by_both)
    middle, low, high = _interval(way, numbers, together, effects, units, means, by_both)
    most = sorted(effects, key=lambda effect: (-effect.weight, effect.name))
    rests = [_rest(numbers, effect) for effect in most if effect.weight > _WEIGHTLESS or effect.doubled > 1 + _WEIGHTLESS]
    kind: Kind = "negligible" if high < NEGLIGIBLE else "frequency" if way.decided else "undecided"
    states = solver.cycles(way).states
    walks = means.walks if way.aftermath is None else 0
    walked = solver.walked(way, numbers, walks, means.seed, means.walker).scaled(units) if walks else None
    share = solver.share(way, numbers) if way.given else 0.0
    about, found = (way.name, _what(way.name), kind, way), (middle, low, high, alone)
    return Row(*about, *found, tuple(rests[:_MOST]), states, walked, share, _notes(way, effects, numbers))


def _bounded(name: str, names: Sequence[str], numbers: Numbers, fleet: Fleet, means: Means) -> Row:
    """The row of a way that needs another one first: it is no more frequent than that, if that is among the ways."""
    by, needs = BOUNDED[name]
    if by not in names:
        return Row(name, _what(name), "undecided", notes=(f"it needs {needs}, and no other way here is one",))
    bound = row_of(ways(fleet)[by], numbers, fleet, means)
    notes = (f"it needs {needs}, as by {by}, and is no more frequent than that",)
    return Row(name, _what(name), "undecided", None, bound.per_year, 0.0, bound.high, bound.alone, notes=notes)


def _interval(
    way: Way, numbers: Numbers, found: float, effects: Sequence[Effect], units: int, means: Means, together: bool
) -> tuple[float, float, float]:
    """The median and the ends of the interval: by the effects, or from draws of the numbers."""
    if not means.draws:
        lower, upper = interval(effects)
        return found, found * lower, found * upper
    generator, draws = np.random.default_rng([means.seed, *way.name.encode()]), list[Numbers]()
    deviations = {name: math.log(numbers.of(name).factor) / 1.6449 for name in (effect.name for effect in effects)}
    for _ in range(means.draws):
        shifts = generator.standard_normal(len(deviations))
        some = numbers
        for (name, deviation), shift in zip(deviations.items(), shifts, strict=True):
            some = some.times(name, math.exp(deviation * shift))
        draws.append(some)
    solve = means.drawer or means.solver.all_per_year
    drawn = [each * units for each in solve(way, draws, together)]
    low, middle, high = (float(x) for x in np.percentile(drawn, [_TAIL, 50.0, 100.0 - _TAIL]))
    return middle, low, high


def _rest(numbers: Numbers, effect: Effect) -> Rest:
    number = numbers.of(effect.name)
    value = numbers[effect.name]
    return Rest(effect.name, value, number.unit, number.meaning, number.source, number.is_guess, effect.doubled)


def _notes(way: Way, effects: Sequence[Effect], numbers: Numbers) -> tuple[str, ...]:
    """What is to be said of an answer besides; also of laws that an exact solution does not know."""
    by_law = [each.name for each in effects if numbers.of(each.name).law != published().of(each.name).law]
    laws = f"solved as if {', '.join(by_law)} had the usual law: --walks N takes the one that is given" if by_law else ""
    return tuple(filter(None, (way.only, way.condition, way.missing, laws)))


def _what(name: str) -> str:
    """What a way is, in the plain sentence of the bug, or in the words of the model."""
    plain = (entry.bugs[name].plain for entry in PROTOCOLS.values() if name in entry.bugs)
    texts = {**OF_LEDGERS, **OF_TOPICS, "disks": "Every disk with a copy of an entry is lost before one is copied again"}
    return next(filter(None, plain), "").rstrip(".") or _ISSUES.sub("", texts.get(name, name))


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
