"""A guide for weighted walks: by how much each action should be likelier, from the exact solution of a smaller instance.

The factor of an action's rate is how often it happens on the way to a loss, over how often it would by its rate in the same
time. That is the best change of rates that depends on the action, the phase and the mode alone (cross-entropy: de Boer and
others, Annals of Operations Research 134, 2005). It needs no state of the larger instance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from fencepost.checks.engines.odds.cycles import Cycles
from fencepost.checks.engines.odds.incidents import solved
from fencepost.checks.engines.odds.linear import Chain, Floats
from fencepost.model.kernel.walks.law import FIRST, MODES, PRE
from fencepost.model.odds.numbers import Numbers

BEGINS, ENDS, COMES = "begins", "ends", "comes"
"""What an outage does, beside the names of actions; and the share of a disturbance in which the message comes that it meets."""
_LEAST_SHARE, _TINY = 0.02, 1e-300


def factors_of(c: Cycles, numbers: Numbers, *, repair: float = 0.0) -> Mapping[tuple[int, str], float]:
    """The factor of each action by its name and by the row of phase and mode; an action that is not there leads to no loss."""
    solution = solved(c, numbers, repair=repair, once=False)
    traffic, pre = numbers["messages"] / 1000.0, c.phase == PRE
    meets = pre & (c.arrival >= 0)
    inflow, reward = np.zeros(c.nodes), np.zeros(c.nodes)
    reward[meets] = traffic * solution.losing[c.arrival[meets]]
    np.add.at(inflow, c.arrival[meets], traffic * solution.times[meets])
    value = np.where(pre, _leading(c, solution.rates, reward), solution.losing)
    inside = ~pre[c.sources]
    stays = c.chain.staying(np.where(inside, solution.rates, 0.0), np.where(c.ends | pre, 1.0, 0.0), inflow)
    flows = np.where(pre, solution.times, stays)[c.sources] * solution.rates
    happens, would = flows * value[c.chain.targets], flows * value[c.sources]
    names = [*(action.name for action in c.actions), BEGINS, ENDS, ENDS]
    rows = c.phase.astype(np.int64)[c.sources] * MODES + c.mode[c.sources]
    is_base = np.zeros(c.nodes, np.bool_)
    is_base[c.base] = True
    rows[is_base[c.sources]] = FIRST
    sums: dict[tuple[int, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    each, place = np.unique(rows * len(names) + c.codes, return_inverse=True)
    pairs = zip(each.tolist(), np.bincount(place, happens).tolist(), np.bincount(place, would).tolist(), strict=True)
    for key, one, other in pairs:
        row, code = divmod(key, len(names))
        sums[row, names[code]][0] += one
        sums[row, names[code]][1] += other
    factors = {key: one / other for key, (one, other) in sums.items() if one > 0 and other > 0}
    going, leaves = c.out_of(np.where(inside, 0.0, happens)), c.out_of(solution.rates)
    leaves += repair
    coming = solution.times * leaves * reward / np.maximum(leaves + reward, _TINY)
    for mode in range(MODES):
        mine = meets & (c.mode == mode) & ~is_base
        comes, goes_on = float(coming[mine].sum()), float(going[mine].sum())
        if comes > 0:
            factors[mode, COMES] = min(max(comes / (comes + goes_on), _LEAST_SHARE), 1.0 - _LEAST_SHARE)
    return factors


def _leading(c: Cycles, rates: Floats, reward: Floats) -> Floats:
    """Of each node without traffic how likely a disturbance leads from there to a loss: one node more is the goal, and a
    message that comes gets there at the rate of ``reward``."""
    goal, rows = c.nodes, c.chain.rows
    targets = np.insert(c.chain.targets, rows[1:], np.int32(goal)).astype(np.int32)
    longer = np.append(rows + np.arange(len(rows)), len(targets)).astype(np.int64)
    fixed = np.append(np.where((c.phase == PRE) & ~c.ends, -1.0, 0.0), 1.0)
    return Chain.of(longer, targets).reaching(np.insert(rates, rows[1:], reward), fixed)[:goal]
