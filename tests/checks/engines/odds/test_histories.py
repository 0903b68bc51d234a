"""Cycles against whole histories: a plain simulation of a larger instance, which knows of no phases and no cycles."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from fencepost.checks.engines.odds.cycles import Cycles
from fencepost.checks.engines.odds.incidents import incidents
from fencepost.checks.engines.odds.transitions import Transitions, rates_of, transitions
from fencepost.checks.odds.ways import Way
from fencepost.model.odds.clocks import Kind
from fencepost.model.odds.numbers import MS_PER_YEAR, Numbers, published
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.topic.losses import message_is_lost

LATE = Way("late", "cluster", {"messages": 3, "capacity": 4, "rolls": 0}, message_is_lost, 1, ("confirm_late",))
"""An entry is confirmed beyond the end of its closed ledger: a weak move of the stand-in, which loses a message often."""


def reached(way: Way) -> Transitions:
    p = PROTOCOLS[way.protocol].build(dict(way.parameters), way.bugs)
    return transitions(p, published(), way.lost, way.opens, workers=1)


class Histories:
    """Runs of an instance from its beginning: the traffic by its rates and, at a random moment of it, one fault."""

    def __init__(self, t: Transitions, numbers: Numbers) -> None:
        clocks, rates = rates_of(t.actions, numbers)
        self.t, self.rates, self.kinds = t, rates.tolist(), [clock.kind for clock in clocks]
        self.faults = [clock.rate if clock.kind == Kind.FAULT else 0.0 for clock in clocks]
        self.lost = t.older  # with the last message: any of them

    def edges(self, state: int) -> list[tuple[int, int, float]]:
        span = range(int(self.t.rows[state]), int(self.t.rows[state + 1]))
        return [(int(self.t.targets[e]), int(self.t.codes[e]), float(self.t.weights[e])) for e in span]

    def score(self, dice: random.Random) -> float:
        """Faults per ms at the moment of the fault if a message is lost afterwards, else 0.

        The first message has come and gone; the moment is one of the next messages' time, which passes at the rate of arrivals.
        """
        state, came, struck, weight = 0, 0, False, 0.0
        while True:
            if self.lost[state]:
                return weight
            usual = [(t, c, self.rates[c] * w) for t, c, w in self.edges(state) if self.kinds[c] in (Kind.STEP, Kind.ARRIVAL)]
            arrivals = sum(rate for _, c, rate in usual if self.kinds[c] == Kind.ARRIVAL)
            strikes = arrivals if not struck and came > 0 else 0.0
            if not struck and came > 0:  # a message waits for the fault: time is measured in arrivals
                usual = [(t, c, rate) for t, c, rate in usual if self.kinds[c] != Kind.ARRIVAL]
            whole = sum(rate for *_, rate in usual) + strikes
            if whole <= 0.0:
                return 0.0
            level = dice.random() * whole
            if level < strikes:
                faults = [(t, self.faults[c] * w) for t, c, w in self.edges(state) if self.faults[c] > 0]
                if not faults:
                    return 0.0
                struck, weight = True, sum(rate for _, rate in faults)
                state = dice.choices([t for t, _ in faults], [rate for _, rate in faults])[0]
                continue
            target, code, _ = usual[dice.choices(range(len(usual)), [rate for *_, rate in usual])[0]]
            state, came = target, came + (self.kinds[code] == Kind.ARRIVAL)


@pytest.mark.deep
@pytest.mark.parametrize(("rate", "messages"), [(0.3, 6), (1.0, 7)])
def test_three_messages_in_cycles_are_a_long_history(rate: float, messages: int) -> None:
    numbers = published().given("messages", rate)
    cycles = Cycles.of(reached(LATE), published(), 1)
    exact = incidents(cycles, numbers).per_year
    longer: Mapping[str, int] = {**LATE.parameters, "messages": messages, "capacity": messages + 1}  # type: ignore[dict-item]
    histories = Histories(reached(replace(LATE, parameters=longer, opens=messages - 1)), numbers)
    dice, count = random.Random(3), 20_000
    scores: Sequence[float] = [histories.score(dice) * MS_PER_YEAR for _ in range(count)]
    mean = math.fsum(scores) / count
    half = 1.96 * math.sqrt(sum((s - mean) ** 2 for s in scores)) / count
    assert half < 0.1 * mean
    assert abs(mean - exact) < 2 * half
