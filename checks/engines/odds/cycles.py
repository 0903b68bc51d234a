"""An instance in cycles from message to message: the product of its states with phases of a cycle and modes of an outage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.checks.engines.odds.linear import Chain, Floats
from fencepost.checks.engines.odds.transitions import InstanceError, Transitions, rates_of
from fencepost.model.kernel.compiler.loops import Integer, native
from fencepost.model.kernel.compiler.packing import Flags, Integers, Places
from fencepost.model.kernel.walks.law import AFTER, ARRIVAL, ENDING, FAULT, IN, LEAD, ON, PHASES, PRE, STEP, STIRRED
from fencepost.model.language.declarations import Action
from fencepost.model.odds.clocks import shared
from fencepost.model.odds.numbers import Numbers

_UNREACHED, _NO_STATE = 0, -1
_AMBIGUOUS = -1


class Parts(NamedTuple):
    """What the product is made of: the transitions, of each action its kind and whether an outage blocks it, which states have
    a loss, how many modes there are, and where an arrival leads from PRE."""

    rows: Integers
    targets: Places
    codes: Places
    weights: Floats
    kinds: npt.NDArray[np.int8]
    blocked: Flags
    first: Flags
    older: Flags
    modes: int
    opens: int


class Product(NamedTuple):
    """Of each node its place (phase, mode and state in one number), the row of its transitions, and the node to which an
    arrival leads from PRE, or -1; and the transitions, each with the code and the weight of its rate."""

    places: Integers
    rows: Integers
    arrival: Places
    targets: Places
    codes: Places
    weights: Floats


@native
def _node(place: Integer, numbers: Places, product: Product, count: Integer) -> Integer:
    """The number of the node at a place; one that is new is the next, and is written behind the others."""
    if numbers[place] == _UNREACHED:
        product.places[count] = place
        numbers[place] = count + 1
    return np.int64(numbers[place]) - 1


@native
def _reach(parts: Parts, numbers: Places, product: Product, count: Integer, writes: bool) -> Integer:
    """Goes through the nodes in the order in which they are reached, from the first ``count`` on, and counts the transitions of
    each in the row behind it; or, if it ``writes``, writes them. Returns how many nodes there are; -1 if two messages can come
    at once."""
    states, modes = len(parts.rows) - 1, parts.modes
    node: Integer = np.int64(0)
    while node < count:
        place = np.int64(product.places[node])
        state, above = place % states, place // states
        phase, mode, edge = above // modes, above % modes, np.int64(product.rows[node]) if writes else np.int64(0)
        product.arrival[node] = _NO_STATE
        is_over = parts.first[state] if phase in (IN, ON) else parts.older[state]
        slow = PRE if phase == PRE else LEAD if phase == LEAD else STIRRED if phase in (IN, STIRRED) else -1
        after = IN if phase == LEAD else ON if phase in (IN, ON) else AFTER
        is_ending = False
        for each in range(parts.rows[state], parts.rows[state + 1]):
            if is_over:
                break
            code = parts.codes[each]
            kind = parts.kinds[code]
            to_phase: Integer = phase
            to_mode: Integer = mode
            if kind == STEP:
                if parts.blocked[code] and mode == 1:
                    continue
            elif kind == ARRIVAL:
                if phase == PRE:
                    if product.arrival[node] != _NO_STATE:
                        return _AMBIGUOUS
                    to = _node((parts.opens * modes + mode) * states + parts.targets[each], numbers, product, count)
                    count = max(count, to + 1)
                    product.arrival[node] = to
                    continue
                to_phase = after
            else:
                if slow < 0 or (kind == ENDING and mode != 1):
                    continue
                to_phase = slow
                if kind == ENDING:
                    to_mode, is_ending = 2, True
            to = _node((to_phase * modes + to_mode) * states + parts.targets[each], numbers, product, count)
            count = max(count, to + 1)
            if writes:
                product.targets[edge], product.codes[edge], product.weights[edge] = to, code, parts.weights[each]
            edge += 1
        if modes > 1 and slow >= 0 and mode < 2 and not is_over:
            to = _node((slow * modes + mode + 1) * states + state, numbers, product, count)
            count = max(count, to + 1)
            if writes:
                product.targets[edge], product.weights[edge] = to, 1.0
                product.codes[edge] = len(parts.kinds) + (0 if mode == 0 else 2 if is_ending else 1)
            edge += 1
        if not writes:
            product.rows[node + 1] = edge
        node += 1
    return count


@dataclass(frozen=True, eq=False)
class Cycles:
    """The cycles of an instance, with what does not depend on the numbers, as far as they can lead to a loss.

    The last node stands for all from which none is reached.
    ``ends`` are the nodes at which a loss is counted; ``arrival`` has for a node of PRE the one to which the next message
    leads, or -1; ``base`` are the nodes without traffic and without a fault from which everything begins; ``is_struck`` says
    of which something slow has happened before them. ``states`` is how many the instance has; ``unstaged`` is the one of each
    node, whatever the stage of a timer.
    """

    actions: Sequence[Action]
    states: int
    chain: Chain
    phase: npt.NDArray[np.int8]
    mode: npt.NDArray[np.int8]
    is_struck: npt.NDArray[np.bool_]
    codes: npt.NDArray[np.int32]
    weights: Floats
    arrival: npt.NDArray[np.int32]
    ends: npt.NDArray[np.bool_]
    kinds: npt.NDArray[np.int8]
    base: npt.NDArray[np.int32]
    unstaged: npt.NDArray[np.int32]
    _rest: _Rest

    @classmethod
    def of(cls, t: Transitions, numbers: Numbers, before: int, *, lead: bool = False, outages: bool = False) -> Cycles:
        """The cycles that the message number ``before`` opens; with ``lead`` the one before it may still be under way."""
        clocks, _ = rates_of(t.actions, numbers)
        kinds = np.array([int(clock.kind) for clock in clocks], np.int8)
        blocked = np.array([clock.blocked for clock in clocks])
        rest = _Rest.of(t, kinds, before - lead)
        modes = 3 if outages else 1
        parts = Parts(t.rows, t.targets, t.codes, t.weights, kinds, blocked, t.first, t.older, modes, LEAD if lead else IN)
        most = PHASES * modes * t.states
        numbered = np.zeros(most, np.int32)
        places, rows, arrival = np.empty(most, np.int64), np.zeros(most + 1, np.int64), np.empty(most, np.int32)
        for node, state in enumerate(rest.states):
            places[node] = (PRE * modes + 0) * t.states + state
            numbered[places[node]] = node + 1
        none = np.empty(0, np.int32)
        found = Product(places, rows, arrival, none, none, np.empty(0))
        count = _reach(parts, numbered, found, len(rest.states), False)
        if count == _AMBIGUOUS:
            raise InstanceError("two messages can come at the same moment: an instance for odds has one that comes next")
        rows = np.cumsum(rows[: count + 1])
        size = int(rows[-1])
        found = Product(
            places[:count], rows, arrival[:count].copy(), np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
        )
        _reach(parts, numbered, found, count, True)
        above, state = np.divmod(found.places, t.states)
        phase = (above // modes).astype(np.int8)
        ends = np.where((phase == IN) | (phase == ON), t.first[state], t.older[state] & (phase != LEAD))
        loses = ends.copy()
        loses[: len(rest.states)] = True  # the base stays, whatever comes of it
        _lead_back(found.rows, found.targets, found.arrival, loses)
        kept = np.flatnonzero(loses)
        renamed = np.full(count, len(kept), np.int32)
        renamed[kept] = np.arange(len(kept), dtype=np.int32)
        edges = np.repeat(loses, np.diff(rows))
        arrival = np.where(found.arrival[kept] >= 0, renamed[found.arrival[kept]], _NO_STATE)
        fewer = np.concatenate([[0], np.cumsum(np.diff(rows)[kept]), [edges.sum()]]).astype(np.int64)
        return cls(
            t.actions,
            t.states,
            Chain.of(fewer, renamed[found.targets[edges]]),
            np.append(phase[kept], np.int8(AFTER)),
            np.append(above[kept] % modes, 0).astype(np.int8),
            np.append(~rest.undisturbed[state[kept]] | (above[kept] % modes != 0), True),
            found.codes[edges],
            found.weights[edges],
            np.append(arrival, np.int32(_NO_STATE)),
            np.append(ends[kept], False),
            kinds,
            np.arange(len(rest.states), dtype=np.int32),
            np.append(t.unstaged[state[kept]], np.int32(_NO_STATE)),
            rest,
        )

    @property
    def nodes(self) -> int:
        """How many nodes the product has."""
        return len(self.phase)

    @cached_property
    def sources(self) -> npt.NDArray[np.int32]:
        """The node of each transition."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.chain.rows))

    def out_of(self, amounts: Floats) -> Floats:
        """Of each node the sum over the transitions that leave it."""
        return np.asarray(np.bincount(self.sources, amounts, self.nodes), np.float64)

    def into(self, amounts: Floats) -> Floats:
        """Of each node the sum over the transitions that lead to it."""
        return np.asarray(np.bincount(self.chain.targets, amounts, self.nodes), np.float64)

    @cached_property
    def is_fault(self) -> npt.NDArray[np.bool_]:
        """By code: whether it begins a disturbance."""
        return np.array([*(self.kinds == FAULT), True, False, False])

    @cached_property
    def is_slow(self) -> npt.NDArray[np.bool_]:
        """By code: whether it belongs to a later cycle once the message after has come."""
        return np.array([*(self.kinds >= FAULT), True, True, True])

    @cached_property
    def clock(self) -> npt.NDArray[np.int32]:
        """By code: the number of its clock; of an outage its beginning and its end have one each."""
        of_actions = shared(self.actions)
        last = max(of_actions, default=-1)
        return np.array([*of_actions, last + 1, last + 2, last + 2], np.int32)

    def weight_of_base(self, rates: Floats) -> Floats:
        """How often the traffic rests in each node of the base, by rates of actions."""
        return self._rest.shares(rates)


@native
def _lead_back(rows: Integers, targets: Places, arrival: Places, loses: Flags) -> None:
    """Marks the nodes that lead to a marked one, by a transition or as a message comes."""
    changes = True
    while changes:
        changes = False
        for node in range(len(loses) - 1, -1, -1):
            if loses[node]:
                continue
            if arrival[node] >= 0 and loses[arrival[node]]:
                loses[node] = changes = True
            for edge in range(rows[node], rows[node + 1]):
                if loses[targets[edge]]:
                    loses[node] = changes = True
                    break


def rest_after(t: Transitions, numbers: Numbers, messages: int) -> list[tuple[int, float]]:
    """The states in which the traffic rests when so many messages have come, without a fault, each with its probability."""
    clocks, rates = rates_of(t.actions, numbers)
    rest = _Rest.of(t, np.array([int(clock.kind) for clock in clocks], np.int8), messages)
    return list(zip(rest.states.tolist(), rest.shares(rates).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _Rest:
    """Where the system rests, without a fault, when so many messages have come and been answered.

    ``turns`` has the chain of steps from each rest to the next; ``states`` are the last ones.
    """

    states: npt.NDArray[np.int32]
    undisturbed: npt.NDArray[np.bool_]
    _turns: list[_Turn]

    @classmethod
    def of(cls, t: Transitions, kinds: npt.NDArray[np.int8], messages: int) -> _Rest:
        """The rest after that many messages. InstanceError if no message comes where the next one should."""
        sources = np.repeat(np.arange(t.states, dtype=np.int32), np.diff(t.rows))
        is_step, is_arrival = kinds[t.codes] == STEP, kinds[t.codes] == ARRIVAL
        steps = _Turn.table(t, sources, is_step)
        come = dict(zip(sources[is_arrival].tolist(), t.targets[is_arrival].tolist(), strict=True))
        begin, turns = {0: 0}, list[_Turn]()
        for turn in range(messages + 1):
            turns.append(_Turn.of(*steps, t, sorted(set(begin.values())), begin))
            rests = turns[-1].rests
            if turn < messages:
                if not rests or any(state not in come for state in rests):
                    raise InstanceError(f"no message comes after {turn}: the instance has too few, or does not rest")
                begin = {state: come[state] for state in rests}
        slow = kinds[t.codes] >= FAULT
        return cls(np.array(turns[-1].rests, np.int32), _reachable(t.rows, t.targets, ~slow), turns)

    def shares(self, rates: Floats) -> Floats:
        """Of each state of rest the probability, by rates of actions."""
        at = {0: 1.0}
        for turn in self._turns:
            at = turn.shares(at, rates)
        return np.array([at[state] for state in self.states.tolist()])


@dataclass(frozen=True, eq=False)
class _Turn:
    """The steps from where one message has come to where the traffic rests."""

    begins: dict[int, int]
    known: npt.NDArray[np.int32]
    rests: list[int]
    chain: Chain
    codes: npt.NDArray[np.int32]
    weights: Floats

    @staticmethod
    def table(t: Transitions, sources: npt.NDArray[np.int32], chosen: npt.NDArray[np.bool_]) -> tuple[Integers, Integers]:
        """The rows and the numbers of the chosen transitions."""
        rows = np.zeros(t.states + 1, np.int64)
        np.cumsum(np.bincount(sources[chosen], minlength=t.states), out=rows[1:])
        return rows, np.flatnonzero(chosen)

    @classmethod
    def of(cls, rows: Integers, edges: Integers, t: Transitions, begin: list[int], begins: dict[int, int]) -> _Turn:
        known: dict[int, int] = {state: place for place, state in enumerate(begin)}
        order, kept, counts = list(begin), list[int](), [0]
        for state in order:
            mine = edges[rows[state] : rows[state + 1]]
            for edge in mine.tolist():
                target = int(t.targets[edge])
                if target not in known:
                    known[target] = len(order)
                    order.append(target)
            kept += mine.tolist()
            counts.append(len(kept))
        chain = Chain.of(np.array(counts, np.int64), np.array([known[int(t.targets[e])] for e in kept], np.int32))
        rests = sorted(state for state, place in known.items() if counts[place] == counts[place + 1])
        return cls(begins, np.array(order, np.int32), rests, chain, t.codes[kept], t.weights[kept])

    def shares(self, at: dict[int, float], rates: Floats) -> dict[int, float]:
        """Where the traffic rests, if it rested there before the message came."""
        place = {int(state): number for number, state in enumerate(self.known)}
        inflow = np.zeros(len(self.known))
        for state, share in at.items():
            inflow[place[self.begins[state]]] += share
        flows = rates[self.codes] * self.weights
        leaks = np.where(np.diff(self.chain.rows) == 0, 1.0, 0.0)  # a rest keeps what comes
        stays = self.chain.staying(flows, leaks, inflow)
        return {state: float(stays[place[state]]) for state in self.rests}


def _reachable(
    rows: npt.NDArray[np.int64], targets: npt.NDArray[np.int32], may: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """The states that transitions of some kind alone reach from the first."""
    reached, queue = np.zeros(len(rows) - 1, np.bool_), np.empty(len(rows) - 1, np.int64)
    _flood(rows, targets, may, reached, queue)
    return reached


def without_faults(t: Transitions, slow: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The states that are reached where nothing slow happens; ``slow`` says by code what is."""
    return _reachable(t.rows, t.targets, ~slow[t.codes])


@native
def _flood(rows: Integers, targets: Places, may: Flags, reached: Flags, queue: Integers) -> None:
    """Marks what is reached from the first state, over the transitions that may be taken."""
    queue[0], reached[0], done, count = 0, True, 0, 1
    while done < count:
        state = queue[done]
        done += 1
        for edge in range(rows[state], rows[state + 1]):
            if may[edge] and not reached[targets[edge]]:
                reached[targets[edge]] = True
                queue[count] = targets[edge]
                count += 1
