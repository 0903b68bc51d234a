"""The chain of a way as a CTMC in the language of PRISM, which Storm reads, too: an oracle from outside.

The states are those of the instance, with the modes of an outage where it has them, and the stages of timers; the rates are per
millisecond. An instance has a few messages and faults, so its runs end: the property is whether a message is lost before that.
It is another question than how often one is lost, which cuts time at messages, and it takes the same rates and systems.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fencepost.checks.engines.odds.cycles import without_faults
from fencepost.checks.engines.odds.linear import Chain, Floats
from fencepost.checks.engines.odds.transitions import Transitions, rates_of
from fencepost.model.counts import count_of
from fencepost.model.kernel.walks.law import MODES
from fencepost.model.odds.clocks import Kind
from fencepost.model.odds.numbers import Numbers

_NONE, _OUT, _OVER = range(MODES)
_REPAIRED = -1


@dataclass(frozen=True)
class Ctmc:
    """States from 0, where it begins, whose transitions are ``rows[s]`` up to ``rows[s + 1]``; those from ``lost`` on have a
    loss, and end it."""

    rows: np.typing.NDArray[np.int64]
    targets: np.typing.NDArray[np.int32]
    rates: Floats
    lost: int

    @property
    def states(self) -> int:
        """How many there are."""
        return len(self.rows) - 1

    def losing(self) -> float:
        """The probability that a message is lost."""
        fixed = np.where(np.arange(self.states) >= self.lost, 1.0, -1.0)
        return float(Chain.of(self.rows, self.targets).reaching(self.rates, fixed)[0])


def ctmc(t: Transitions, numbers: Numbers, *, outages: bool = False, repair: float = 0.0) -> Ctmc:
    """The chain of an instance from its beginning, as far as it gets before a loss; ``repair`` is the rate, per ms, at which
    damage is undone where only faults can happen: that ends it, too."""
    clocks, rates = rates_of(t.actions, numbers)
    slow = np.array([clock.kind >= Kind.FAULT for clock in clocks])
    damaged = ~without_faults(t, slow)
    begins, ends, ends_alone = (float(rate) for rate in rates[len(clocks) :])
    known: dict[tuple[int, int], int] = {(_NONE, 0): 0}
    order, edges = [(_NONE, 0)], list[tuple[int, int, float]]()

    def leads(source: int, mode: int, state: int, rate: float) -> None:
        target = known.setdefault((mode, state), len(known))
        if target == len(order):
            order.append((mode, state))
        if target != source:
            edges.append((source, target, rate))

    for source, (mode, state) in enumerate(order):
        if state == _REPAIRED or t.older[state]:
            continue
        is_ending = False
        row = slice(t.rows[state], t.rows[state + 1])
        for target, code, weight in zip(t.targets[row].tolist(), t.codes[row].tolist(), t.weights[row].tolist(), strict=True):
            clock = clocks[code]
            if clock.kind == Kind.ENDING:
                if mode == _OUT:
                    is_ending = True
                    leads(source, _OVER, target, float(rates[code]) * weight)
            elif not (clock.blocked and mode == _OUT):
                leads(source, mode, target, float(rates[code]) * weight)
        if repair and damaged[state] and slow[t.codes[row]].all():
            leads(source, _OVER, _REPAIRED, repair)
        if outages and mode == _NONE:
            leads(source, _OUT, state, begins)
        elif mode == _OUT:
            leads(source, _OVER, state, ends_alone if is_ending else ends)
    return _sorted(order, edges, t)


def _sorted(order: list[tuple[int, int]], edges: list[tuple[int, int, float]], t: Transitions) -> Ctmc:
    """The states that have a loss come last."""
    is_lost = np.array([state != _REPAIRED and bool(t.older[state]) for _, state in order])
    place = np.empty(len(order), np.int32)
    place[np.argsort(is_lost, kind="stable")] = np.arange(len(order), dtype=np.int32)
    moved = sorted((int(place[source]), int(place[target]), rate) for source, target, rate in edges)
    rows = np.searchsorted([source for source, _, _ in moved], np.arange(len(order) + 1)).astype(np.int64)
    targets = np.array([target for _, target, _ in moved], np.int32)
    return Ctmc(rows, targets, np.array([rate for *_, rate in moved]), int(np.count_nonzero(~is_lost)))


PROPERTY = 'P=? [ F "lost" ]'


def model(chain: Ctmc, name: str) -> str:
    """The model in PRISM's language: one variable, and a command for each transition."""
    return "\n".join(_lines(chain, name)) + "\n"


def _lines(chain: Ctmc, name: str) -> Iterator[str]:
    yield f"// {name}: {count_of(chain.states, 'state')}, rates per millisecond. A message is lost with a probability of"
    yield f"// {chain.losing():.12g}, before the messages and the faults of the instance are used up: {PROPERTY}"
    yield "ctmc"
    yield ""
    yield "module instance"
    yield f"  s : [0..{max(chain.states - 1, 1)}] init 0;"
    for state in range(chain.states):
        row = range(chain.rows[state], chain.rows[state + 1])
        yield from (f"  [] s={state} -> {chain.rates[edge]:.17g}:(s'={chain.targets[edge]});" for edge in row)
    yield "endmodule"
    yield ""
    yield f'label "lost" = s>={chain.lost};'
