"""The probability that a message is lost, given an event: what a count on real code is held against.

A frequency cannot be counted in a test. How many of the events lose a message can. The chain here begins with the event, so it
needs no rate of faults, and no traffic that is slow beside the steps: messages may wait for the event, and behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fencepost.checks.engines.odds.cycles import rest_after
from fencepost.checks.engines.odds.linear import Chain
from fencepost.checks.engines.odds.transitions import InstanceError, Transitions, rates_of
from fencepost.model.odds.clocks import Clock, Kind
from fencepost.model.odds.numbers import Numbers

_CERTAIN = 1.0


@dataclass(frozen=True)
class Event:
    """An event of an instance, and the situation in which it happens.

    ``action`` is its name. It happens where the traffic rests, except what an outage blocks if the event is how one ends;
    ``before`` is a slow action that has just happened then, and ``held`` messages have come since. ``then`` are faults that may
    follow, at their rates. With ``reading``, a duration, no message comes until that is over; from then on, or at once without
    it, messages come at the rate of their number, or ``next``, a duration, apart. What the event has damaged is undone after
    ``repaired``, a duration. With ``outage`` the event happens in an outage that goes on: what that blocks waits for its end;
    if what waits fails then, nothing is lost.
    """

    action: str
    before: str = ""
    held: int = 0
    then: tuple[str, ...] = ()
    reading: str = ""
    next: str = ""
    repaired: str = ""
    outage: bool = False


class _Node(NamedTuple):
    """``turn``: how many messages have come before the event; behind it no more come (-1), or they do (-2), also while the
    outage goes on (-4); or all is over without a loss (-3)."""

    turn: int
    state: int


_HELD_BACK, _COMING, _AWAY = -1, -2, -4
_OVER = _Node(-3, 0)


def loss_given(t: Transitions, numbers: Numbers, come: int, event: Event) -> float:
    """The probability that a message is lost, of those that the transitions watch, given the event.

    ``come`` messages have come before, and all else is at rest.

    Raises InstanceError if the event does not happen there.
    """
    clocks, rates = rates_of(t.actions, numbers)
    names = [action.name for action in t.actions]
    edges = _Edges(t, clocks, names, [float(r) for r in rates], event, numbers)
    begin = rest_after(t, numbers, come)
    if event.before:
        begin = _led(t, begin, names, event.before)
    nodes, rows, targets, flows = dict[_Node, int](), [0], list[int](), list[float]()
    for state, _ in begin:
        nodes.setdefault(_Node(0, state), len(nodes))
    queue, happens = list(nodes), False
    for node in queue:
        for target, rate in edges.of(node):
            happens = happens or target.turn < 0
            if target not in nodes:
                nodes[target] = len(nodes)
                queue.append(target)
            targets.append(nodes[target])
            flows.append(rate)
        rows.append(len(targets))
    if not happens:
        raise InstanceError(f"{event.action} does not happen where the traffic rests")
    lost = np.array([1.0 if node.turn < 0 and node != _OVER and t.older[node.state] else -1.0 for node in queue])
    chain = Chain.of(np.array(rows, np.int64), np.array(targets, np.int32))
    found = chain.reaching(np.array(flows), lost)
    return float(sum(share * found[nodes[_Node(0, state)]] for state, share in begin))


def _led(t: Transitions, begin: Sequence[tuple[int, float]], names: Sequence[str], action: str) -> list[tuple[int, float]]:
    """Where an action leads from there; its outcomes are equally likely."""
    led = list[tuple[int, float]]()
    for state, share in begin:
        row = range(t.rows[state], t.rows[state + 1])
        edges = [edge for edge in row if names[t.codes[edge]] == action]
        led += [(int(t.targets[edge]), share / len(edges)) for edge in edges]
    if not led:
        raise InstanceError(f"{action} does not happen where the traffic rests")
    return led


class _Edges:
    """The transitions before and behind an event, with their rates per ms."""

    def __init__(
        self,
        t: Transitions,
        clocks: Sequence[Clock],
        names: Sequence[str],
        rates: Sequence[float],
        event: Event,
        numbers: Numbers,
    ) -> None:
        self._t, self._clocks, self._names, self._rates, self._event = t, clocks, names, rates, event
        self._comes = 1.0 / numbers[event.next] if event.next else numbers["messages"] / 1000.0
        self._reads = 1.0 / numbers[event.reading] if event.reading else 0.0
        self._repairs = 1.0 / numbers[event.repaired] if event.repaired else 0.0
        self._first = _AWAY if event.outage else _HELD_BACK if event.reading else _COMING
        self._ends, self._fails = 1.0 / numbers["outage"], numbers["outage_fails"]
        self._in_outage = any(
            clock.kind == Kind.ENDING for clock, name in zip(clocks, names, strict=True) if name == event.action
        )

    def of(self, node: _Node) -> list[tuple[_Node, float]]:
        """Those that leave a node."""
        return self._before(node) if node.turn >= 0 else self._behind(node)

    def _before(self, node: _Node) -> list[tuple[_Node, float]]:
        going, event = list[tuple[_Node, float]](), list[tuple[_Node, float]]()
        for target, code, weight in self._row(node.state):
            clock = self._clocks[code]
            if self._names[code] == self._event.action:
                event.append((_Node(self._first, target), _CERTAIN * weight))
            elif clock.kind == Kind.STEP and not (clock.blocked and self._in_outage):
                going.append((_Node(node.turn, target), self._rates[code] * weight))
            elif clock.kind == Kind.ARRIVAL and node.turn < self._event.held:
                going.append((_Node(node.turn + 1, target), self._comes))
        happens = event and node.turn == self._event.held
        return event if happens and (self._event.outage or not going) else going

    def _behind(self, node: _Node) -> list[tuple[_Node, float]]:
        if node == _OVER or self._t.older[node.state]:
            return []
        found = [(_Node(_COMING, node.state), self._reads)] if node.turn == _HELD_BACK else []
        found += [(_OVER, self._repairs)] if self._repairs else []
        if node.turn == _AWAY:
            found += [(_Node(_COMING, node.state), self._ends * (1.0 - self._fails)), (_OVER, self._ends * self._fails)]
        for target, code, weight in self._row(node.state):
            kind, waits = self._clocks[code].kind, self._clocks[code].blocked and node.turn == _AWAY
            if (kind == Kind.STEP and not waits) or self._names[code] in self._event.then:
                found.append((_Node(node.turn, target), self._rates[code] * weight))
            elif kind == Kind.ARRIVAL and node.turn in (_COMING, _AWAY):
                found.append((_Node(node.turn, target), self._comes))
        return found

    def _row(self, state: int) -> list[tuple[int, int, float]]:
        row = slice(self._t.rows[state], self._t.rows[state + 1])
        columns = (self._t.targets[row].tolist(), self._t.codes[row].tolist(), self._t.weights[row].tolist())
        return list(zip(*columns, strict=True))
