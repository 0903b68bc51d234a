"""The odds of a way: solved exactly, with the numbers that decide them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fencepost.checks.engines.odds.aftermath import Event, loss_given
from fencepost.checks.engines.odds.cycles import Cycles
from fencepost.checks.engines.odds.guide import factors_of
from fencepost.checks.engines.odds.incidents import often, solved
from fencepost.checks.engines.odds.sampling import CHUNK, Estimate, Factors, Sums, Walks, estimate
from fencepost.checks.engines.odds.transitions import Transitions, transitions
from fencepost.checks.odds.ways import OVERLAP, Way
from fencepost.model.language import Protocol
from fencepost.model.odds.numbers import MS_PER_YEAR, Numbers, published
from fencepost.properties.protocols import PROTOCOLS

THROTTLED = ("throttled_unfencing", "throttled_forgetting", "throttled_reading")
"""Durations that a throttled connection has of its own."""
_LEAST = 1e-300


class Solver:
    """Solves ways; the graph of each is made once, whatever the numbers."""

    def __init__(self, workers: int | None = None, changed: Mapping[str, Way] | None = None) -> None:
        """``changed`` has other instances of ways, by their names."""
        self._workers, self._changed = workers, changed or {}
        self._cycles: dict[str, Cycles] = {}
        self._after: dict[str, Transitions] = {}

    def cycles(self, way: Way) -> Cycles:
        """The cycles of a way's instance. Raises what ``transitions`` raises."""
        way = self._changed.get(way.name, way)
        key = f"{way.name} {sorted(way.parameters.items())}"
        if key not in self._cycles:
            whole = transitions(instance(way), published(), way.lost, way.opens, workers=self._workers)
            self._cycles[key] = Cycles.of(whole, published(), way.opens, lead=way.lead, outages=way.outages)
        return self._cycles[key]

    def per_year(self, way: Way, numbers: Numbers, *, together: bool = False) -> float:
        """Incidents per year of one topic, or of whatever the way is of; ``together``: with faults that come at once."""
        numbers = self.with_rivals(way, numbers)
        struck = numbers
        for name in way.together if together else ():
            at_once = numbers["together"] * MS_PER_YEAR / numbers["life_after_loss"]
            struck = struck.given(name, max(numbers[name], at_once))
        cycles, repair = self.cycles(way), repair_of(way, numbers)
        solution = solved(cycles, numbers, repair=repair, struck=struck if struck is not numbers else None)
        found = solution.incidents.per_year
        if way.aftermath is not None:
            found = often(cycles, solution, way.given) * self.share_after(way, numbers)
        elif way.throttled is not None:
            part = throttled(numbers)
            found = (1.0 - part) * found + part * often(cycles, solution, way.given) * self.share_throttled(way, numbers)
        return found * way.times * _share(way, numbers)

    def all_per_year(self, way: Way, draws: Sequence[Numbers], together: bool) -> list[float]:
        """The same with each of several draws of the numbers."""
        return [self.per_year(way, numbers, together=together) for numbers in draws]

    def with_rivals(self, way: Way, numbers: Numbers) -> Numbers:
        """The numbers with the rate of a rival's recoveries, if the way begins with one."""
        return numbers.given("rival_recoveries", self.per_year(OVERLAP, numbers)) if takes_rivals(way) else numbers

    def walked(self, way: Way, numbers: Numbers, count: int, seed: int, walker: Walker | None = None) -> Estimate:
        """The same from so many weighted walks of the instance, by independent faults; each further message that an incident
        loses counts. The instance that the way has unless it is changed is solved, and guides them. ``walker`` makes them, in
        this process unless it says otherwise."""
        numbers, began = self.with_rivals(way, numbers), time.monotonic()
        usual = Solver(self._workers).cycles(way)
        factors = factors_of(usual, numbers, repair=repair_of(way, numbers))
        recipe = Recipe(self._changed.get(way.name, way), numbers, factors)
        sums = (walker or in_threads(self._workers))(recipe, seed, count)
        found = estimate(sums, min(count, len(sums) * CHUNK), time.monotonic() - began)
        return found.scaled(way.times * _share(way, numbers))

    def share(self, way: Way, numbers: Numbers) -> float:
        """The probability that a message is lost, given the event of the way (``given``), by independent faults."""
        numbers = self.with_rivals(way, numbers)
        solution = solved(self.cycles(way), numbers, repair=repair_of(way, numbers))
        events = often(self.cycles(way), solution, way.given)
        return min(self.per_year(way, numbers) / events, 1.0) if events > 0 else 0.0

    def share_throttled(self, way: Way, numbers: Numbers) -> float:
        """The same where the connection is throttled as the event happens, so that the next messages wait in its socket."""
        assert way.throttled is not None
        slow = {name: numbers[f"throttled_{name}"] for name in ("unfencing", "forgetting")}
        event = Event(way.given, before="roll_over", held=1, reading="throttled_reading", next="task")
        return self._given(way, way.throttled(instance(way)), numbers.instead(slow), event)

    def share_after(self, way: Way, numbers: Numbers) -> float:
        """The same by the way's aftermath."""
        assert way.aftermath is not None
        return self._given(way, instance(way), numbers, way.aftermath)

    def _given(self, way: Way, p: Protocol, numbers: Numbers, event: Event) -> float:
        if way.name not in self._after:
            exponential = published().by_law("exponential")
            self._after[way.name] = transitions(p, exponential, way.lost, way.opens, workers=self._workers)
        return loss_given(self._after[way.name], numbers, way.opens, event)

    def uses(self, way: Way, *, together: bool = False) -> list[str]:
        """The numbers that the odds of a way may depend on."""
        taken = {action.takes for action in self.cycles(way).actions}
        names = {part for name in taken for part in published().parts_of(name)}
        names |= {"outages", "outage", "outage_fails"} if way.outages else set()
        names |= {way.repaired} - {""}
        names |= {"rollovers"} if way.share else set()
        names |= {"pending_limit", *THROTTLED} if way.throttled is not None else set()
        names |= {"together", "life_after_loss"} if together and way.together else set()
        if takes_rivals(way):
            names = (names - {"rival_recoveries"}) | set(self.uses(OVERLAP))
        return sorted(names)

    def effects(self, way: Way, numbers: Numbers, *, together: bool = False) -> list[Effect]:
        """What each number that the odds may depend on does to them."""
        found = self.per_year(way, numbers, together=together)

        def times(name: str, by: float) -> float:
            return self.per_year(way, numbers.times(name, by), together=together) / found if found > 0 else 1.0

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


def instance(way: Way) -> Protocol:
    """The protocol of a way's instance."""
    p = PROTOCOLS[way.protocol].build(dict(way.parameters), way.bugs)
    return way.narrowed(p) if way.narrowed is not None else p


def throttled(numbers: Numbers) -> float:
    """The probability that a connection is throttled as an outage ends: so many messages are pending since a rollover met it.

    The rest of an outage of an exponential law is as long as a whole one.
    """
    return math.exp(-numbers["pending_limit"] / (numbers["messages"] / 1000.0 * numbers["outage"]))


def repair_of(way: Way, numbers: Numbers) -> float:
    """The rate, per ms, at which latent damage is undone."""
    return {"": 0.0, "repair": 1 / numbers["repair"], "rollovers": numbers["rollovers"] / MS_PER_YEAR}[way.repaired]


@dataclass(frozen=True)
class Recipe:
    """All that weighted walks of a way are made of; another process can make them of it."""

    way: Way
    numbers: Numbers
    factors: Factors

    def walks(self) -> Walks:
        """The walks. Raises what ``Walks`` raises."""
        way = self.way
        cycles = {"lead": way.lead, "outages": way.outages}
        repair = repair_of(way, self.numbers)
        return Walks(instance(way), self.numbers, way.lost, way.opens, **cycles, repair=repair, factors=self.factors)


Walker = Callable[[Recipe, int, int], list[Sums]]
"""Makes so many walks of a recipe with a seed, and returns the sums of their chunks, in order."""


Drawer = Callable[[Way, Sequence[Numbers], bool], list[float]]
"""Solves a way with each of several draws of the numbers, in order; whether with faults that come at once."""


def in_threads(workers: int | None) -> Walker:
    """Makes walks in this process."""
    return lambda recipe, seed, count: recipe.walks().all(seed, count, workers=workers)


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
