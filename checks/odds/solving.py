"""The odds of a way: solved exactly, with the numbers that decide them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fencepost.checks.engines.odds.cycles import Cycles
from fencepost.checks.engines.odds.incidents import incidents
from fencepost.checks.engines.odds.transitions import transitions
from fencepost.checks.odds.ways import OVERLAP, Way
from fencepost.model.odds.numbers import MS_PER_YEAR, Numbers, published
from fencepost.properties.protocols import PROTOCOLS

_LEAST = 1e-300


class Solver:
    """Solves ways; the graph of each is made once, whatever the numbers."""

    def __init__(self, workers: int | None = None, changed: Mapping[str, Way] | None = None) -> None:
        """``changed`` has other instances of ways, by their names."""
        self._workers, self._changed = workers, changed or {}
        self._cycles: dict[str, Cycles] = {}

    def cycles(self, way: Way) -> Cycles:
        """The cycles of a way's instance. Raises what ``transitions`` raises."""
        way = self._changed.get(way.name, way)
        key = f"{way.name} {sorted(way.parameters.items())}"
        if key not in self._cycles:
            p = PROTOCOLS[way.protocol].build(dict(way.parameters), way.bugs)
            p = way.narrowed(p) if way.narrowed is not None else p
            whole = transitions(p, published(), way.lost, way.opens, workers=self._workers)
            self._cycles[key] = Cycles.of(whole, published(), way.opens, lead=way.lead, outages=way.outages)
        return self._cycles[key]

    def per_year(self, way: Way, numbers: Numbers, *, together: bool = False) -> float:
        """Incidents per year of one topic, or of whatever the way is of; ``together``: with faults that come at once."""
        if takes_rivals(way):
            rivals = self.per_year(OVERLAP, numbers)
            numbers = numbers.given("rival_recoveries", rivals)
        struck = numbers
        for name in way.together if together else ():
            at_once = numbers["together"] * MS_PER_YEAR / numbers["life_after_loss"]
            struck = struck.given(name, max(numbers[name], at_once))
        repair = {"": 0.0, "repair": 1 / numbers["repair"], "rollovers": numbers["rollovers"] / MS_PER_YEAR}[way.repaired]
        cycles = self.cycles(way)
        found = incidents(cycles, numbers, repair=repair, struck=struck if struck is not numbers else None)
        return found.per_year * way.times * _share(way, numbers)

    def uses(self, way: Way, *, together: bool = False) -> list[str]:
        """The numbers that the odds of a way may depend on."""
        taken = {action.takes for action in self.cycles(way).actions}
        names = {part for name in taken for part in published().parts_of(name)}
        names |= {"outages", "outage", "outage_fails"} if way.outages else set()
        names |= {way.repaired} - {""}
        names |= {"rollovers"} if way.share else set()
        names |= {"together", "life_after_loss"} if together and way.together else set()
        if takes_rivals(way):
            names = (names - {"rival_recoveries"}) | set(self.uses(OVERLAP))
        return sorted(names)

    def effects(self, way: Way, numbers: Numbers, *, together: bool = False) -> list[Effect]:
        """What each number that the odds may depend on does to them."""
        found = self.per_year(way, numbers, together=together)

        def times(name: str, by: float) -> float:
            value = numbers[name] * by
            value = min(value, 1.0) if numbers.of(name).unit == "1" else value
            return self.per_year(way, numbers.given(name, value), together=together) / found if found > 0 else 1.0

        def effect(name: str) -> Effect:
            factor = numbers.of(name).factor
            return Effect(
                name, times(name, 2.0), *((times(name, factor), times(name, 1 / factor)) if factor > 1 else (1.0, 1.0))
            )

        return [effect(name) for name in self.uses(way, together=together)]


@dataclass(frozen=True)
class Effect:
    """By what factor the odds change if a number doubles, and if it is at the upper or the lower end of what is certain."""

    name: str
    doubled: float
    upper: float
    lower: float

    @property
    def weight(self) -> float:
        """How much of the interval is due to it."""
        return max(abs(math.log(max(side, _LEAST))) for side in (self.upper, self.lower))


def takes_rivals(way: Way) -> bool:
    """Whether it begins with a rival's recovery of the ledger, whose rate is that of another way."""
    return way.protocol == "ledger" and way.parameters.get("recoverers", 1) != 0


def _share(way: Way, numbers: Numbers) -> float:
    if not way.share:
        return 1.0
    return min(
        1.0, numbers["rollovers"] / (numbers["messages"] / 1000.0 * MS_PER_YEAR)
    )  # a ledger is empty until a message comes


def interval(effects: Iterable[Effect]) -> tuple[float, float]:
    """The factors to the lower and to the upper end of what holds nine tenths of the answer.

    Each number is lognormal within its own factor; what it does at either end of that adds up in squares of logarithms.
    """
    squares = [0.0, 0.0]
    for effect in effects:
        for side in (effect.upper, effect.lower):
            squares[side > 1] += math.log(max(side, _LEAST)) ** 2
    return math.exp(-math.sqrt(squares[0])), math.exp(math.sqrt(squares[1]))
