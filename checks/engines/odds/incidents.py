"""How often a message is lost, exactly: what may come of a cycle, backward; how often a disturbance meets the traffic, forward.

Incidents per year are the rate of messages times a sum over disturbed states: how much of the time the system is in one, times
the probability that the message that comes then is lost. A message sees the time average, because arrivals are Poisson (Wolff,
Operations Research 30, 1982). To the first order in the rates of faults that average is the mean time spent in the state after
a fault at rest, times the rate of that fault. Where a message is lost the disturbance does not go on, so that an incident
counts once however many messages it loses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fencepost.checks.engines.odds.cycles import Cycles
from fencepost.checks.engines.odds.linear import Floats
from fencepost.checks.engines.odds.transitions import rates_of
from fencepost.model.kernel.walks.law import IN, LEAD, ON, PRE, STIRRED
from fencepost.model.odds.numbers import MS_PER_YEAR, Numbers

_TINY = 1e-300


@dataclass(frozen=True)
class Incidents:
    """Incidents per year in which an acknowledged message is lost, by the message that is.

    ``stirred``: one that had come when the last slow event struck; ``calm``: one that came after it; ``at_rest``: an old one
    while none could come.
    """

    stirred: float
    calm: float
    at_rest: float

    @property
    def per_year(self) -> float:
        """All of them."""
        return self.stirred + self.calm + self.at_rest


def rates_of_edges(c: Cycles, numbers: Numbers, struck: Numbers | None = None) -> Floats:
    """The rate of each transition, per ms. ``struck``: other numbers, which hold where a fault has happened already."""
    _, rates = rates_of(c.actions, numbers)
    edges = rates[c.codes] * c.weights
    if struck is None:
        return np.asarray(edges)
    _, others = rates_of(c.actions, struck)
    return np.where(c.is_struck[c.sources], others[c.codes] * c.weights, edges)


@dataclass(frozen=True, eq=False)
class Solution:
    """What is known of each node of the cycles, with the rates of the transitions, per ms.

    ``losing`` is the probability, from a node of a cycle, that its message or an older one is lost in it. ``times`` is how much
    of the time the system is in a node without traffic, the undisturbed ones having 1 together.
    """

    rates: Floats
    losing: Floats
    times: Floats
    incidents: Incidents


def incidents(
    c: Cycles, numbers: Numbers, *, repair: float = 0.0, struck: Numbers | None = None, once: bool = True
) -> Incidents:
    """The incidents that ``solved`` finds."""
    return solved(c, numbers, repair=repair, struck=struck, once=once).incidents


def solved(c: Cycles, numbers: Numbers, *, repair: float = 0.0, struck: Numbers | None = None, once: bool = True) -> Solution:
    """Solves the cycles.

    ``repair`` is the rate, per ms, at which damage is undone where only faults can happen. ``struck`` has other numbers, which
    hold once a fault has happened. Unless ``once``, an incident counts again with each further message that it loses.
    """
    rates, traffic = rates_of_edges(c, numbers, struck), numbers["messages"] / 1000.0
    nodes, sources, targets = c.nodes, c.sources, c.chain.targets
    pre, is_calm = c.phase == PRE, (c.phase == LEAD) | (c.phase == IN) | (c.phase == ON)
    slow, is_open = c.is_slow[c.codes], ~c.ends
    calm = c.chain.reaching(rates, np.where(is_calm & is_open, -1.0, is_calm * 1.0))
    stirred = c.chain.reaching(rates, np.where(~pre & (is_calm | is_open), -1.0, ~pre * 1.0))
    meets = pre & (c.arrival >= 0)
    lost_calm, lost_stirred, kept = np.zeros(nodes), np.zeros(nodes), np.ones(len(rates))
    lost_calm[meets] = traffic * calm[c.arrival[meets]]
    lost_stirred[meets] = traffic * stirred[c.arrival[meets]]
    if once:
        kept = _kept(c, rates, traffic, slow, np.where(c.phase >= STIRRED, stirred, np.where(is_calm, -1.0, 0.0)), meets)
    going = c.out_of(np.where(c.is_fault[c.codes], 0.0, rates))
    rests = pre & (going <= 0)  # only a fault can happen: damage waits for its repair or the next message; or all is as new
    here = pre & ~(rests & ((repair <= 0) & (lost_calm <= 0))) & is_open
    base, weights = c.base, c.weight_of_base(rates_of(c.actions, numbers)[1])
    here[base] = False
    inflow = np.zeros(nodes)
    for node, weight in zip(base.tolist(), weights.tolist(), strict=True):
        edges = slice(c.chain.rows[node], c.chain.rows[node + 1])
        np.add.at(inflow, targets[edges], weight * rates[edges] * kept[edges])
    over = np.where(rests, repair, 0.0) + (lost_calm if once else 0.0)
    times = _staying(c, rates * kept, over + c.out_of(rates * (1.0 - kept)), inflow, here)
    unmet = c.into(np.where(slow & ~meets[sources], rates * times[sources], 0.0))
    flows = np.where(slow, 0.0, rates)
    moving = _staying(c, flows, over + c.out_of(np.where(slow, rates, 0.0)), unmet, here)
    reached = unmet + c.into(flows * moving[sources])
    times[base] = weights
    at_rest = float(reached[pre & c.ends].sum())
    found = (float((times * lost_stirred).sum()), float((times * lost_calm).sum()), at_rest)
    return Solution(rates, calm + stirred, times, Incidents(*(each * MS_PER_YEAR for each in found)))


def often(c: Cycles, solution: Solution, name: str) -> float:
    """How often a year the action of that name happens, counted where no traffic is under way: nearly all of the time."""
    its = np.array([action.name == name for action in c.actions] + [False] * 3)[c.codes]
    its &= c.unstaged[c.sources] != c.unstaged[c.chain.targets]  # a timer that only goes on to its next stage
    return float((solution.times[c.sources] * solution.rates)[(c.phase[c.sources] == PRE) & its].sum()) * MS_PER_YEAR


def _staying(c: Cycles, flows: Floats, leaks: Floats, inflow: Floats, here: np.typing.NDArray[np.bool_]) -> Floats:
    """The mean times in the nodes ``here``; what flows to others is gone."""
    inside = here[c.sources]
    return np.where(here, c.chain.staying(np.where(inside, flows, 0.0), np.where(here, leaks, 1.0), inflow), 0.0)


def _kept(
    c: Cycles,
    rates: Floats,
    traffic: float,
    slow: np.typing.NDArray[np.bool_],
    fixed: Floats,
    meets: np.typing.NDArray[np.bool_],
) -> Floats:
    """Of each slow transition the share that has lost nothing in the cycle that it stirs: the others are counted there."""
    kept, clocks = np.ones(len(rates)), c.clock[c.codes]
    stirs = slow & (c.phase[c.sources] == IN)
    leaving = slow & meets[c.sources]
    for clock in np.unique(clocks[leaving]):
        mine = clocks == clock
        by_it = c.chain.reaching(np.where(stirs & ~mine, 0.0, rates), fixed)
        edges = np.flatnonzero(leaving & mine)
        whole = np.bincount(c.sources[edges], rates[edges], c.nodes)[c.sources[edges]]
        lost = traffic * by_it[c.arrival[c.sources[edges]]] / np.maximum(whole, _TINY)
        kept[edges] -= np.minimum(lost, 1.0)
    return kept
