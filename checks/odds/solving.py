"""The odds of a way: solved exactly, with the numbers that decide them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fencepost.checks.engines.odds.cycles import Cycles
from fencepost.checks.engines.odds.incidents import incidents
from fencepost.checks.engines.odds.transitions import transitions
from fencepost.checks.odds.ways import OVERLAP, Way
from fencepost.model.odds.numbers import MS_PER_YEAR, Numbers, published
from fencepost.properties.protocols import PROTOCOLS

_STEP = 1.2
"""By what factor a number is changed to see what it decides."""


class Solver:
    """Solves ways; the graph of each is made once, whatever the numbers."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers
        self._cycles: dict[str, Cycles] = {}

    def cycles(self, way: Way) -> Cycles:
        """The cycles of a way's instance. Raises what ``transitions`` raises."""
        if way.name not in self._cycles:
            p = PROTOCOLS[way.protocol].build(dict(way.parameters), way.bugs)
            whole = transitions(p, published(), way.lost, way.opens, workers=self._workers)
            self._cycles[way.name] = Cycles.of(whole, published(), way.opens, lead=way.lead, outages=way.outages)
        return self._cycles[way.name]

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
        return found.per_year * _share(way, numbers)

    def uses(self, way: Way, *, together: bool = False) -> list[str]:
        """The numbers that the odds of a way may depend on."""
        taken = {action.takes for action in self.cycles(way).whole.actions}
        names = {part for name in taken for part in published().parts_of(name)}
        names |= {"outages", "outage", "outage_fails"} if way.outages else set()
        names |= {way.repaired} - {""}
        names |= {"rollovers"} if way.share else set()
        names |= {"together", "life_after_loss"} if together and way.together else set()
        if takes_rivals(way):
            names = (names - {"rival_recoveries"}) | set(self.uses(OVERLAP))
        return sorted(names)

    def elasticities(self, way: Way, numbers: Numbers, *, together: bool = False) -> dict[str, float]:
        """By what power of each number the odds go, near these numbers: 1 says that doubling it doubles them."""
        found = {}
        for name in self.uses(way, together=together):
            sides = [numbers.given(name, numbers[name] * by) for by in (_STEP, 1 / _STEP)]
            up, down = (self.per_year(way, side, together=together) for side in sides)
            found[name] = math.log(up / down) / (2 * math.log(_STEP)) if up > 0 and down > 0 else 0.0
        return found


def takes_rivals(way: Way) -> bool:
    """Whether it begins with a rival's recovery of the ledger, whose rate is that of another way."""
    return way.protocol == "ledger" and way.parameters.get("recoverers", 1) != 0


def _share(way: Way, numbers: Numbers) -> float:
    if not way.share:
        return 1.0
    return min(
        1.0, numbers["rollovers"] / (numbers["messages"] / 1000.0 * MS_PER_YEAR)
    )  # a ledger is empty until a message comes


def spread(powers: Mapping[str, float], numbers: Numbers) -> float:
    """The factor up and down within which nine tenths of the answer are, if each number is lognormal within its own factor."""
    return math.exp(math.sqrt(sum((power * math.log(numbers.of(name).factor)) ** 2 for name, power in powers.items())))
