"""Loops over the graph of a protocol: the shortest ways through a part of it, and which of its components are fair.

A run may stay in a strongly connected component forever, weakly fair to some actions, if and only if each of them is
disabled in one of its states or is taken by one of its transitions: the run that goes through all of the component again
and again is such a run, and without that no run is, in the component or in any part of it. A component of one state
without a transition to itself stands for the run that stops there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import Integer, Word, native, native_inline
from fencepost.model.kernel.compiler.packing import Flags, Integers, Places, Words
from fencepost.model.kernel.search.graph import Graph
from fencepost.model.kernel.search.transitions import COUNT_BITS, MOST_ACTIONS, Actions, Moves

Marks = npt.NDArray[np.bool_]

JUDGING_BYTES_PER_STATE = 64
"""What judging takes besides the graph, when all of the graph must be looked at."""


@dataclass(frozen=True)
class Ways:
    """The shortest ways to each state: their steps (-1: there is none), and the state before on one of them (-1: none)."""

    steps: Places
    before: Places

    def to(self, state: int) -> list[int]:
        """The states of the shortest way to a state, from where it begins."""
        way = [state]
        while self.before[way[-1]] >= 0:
            way.append(int(self.before[way[-1]]))
        return way[::-1]


def ways(graph: Graph, sources: Marks, allowed: Marks) -> Ways:
    """The shortest runs from an initial state that meet a source and from there on only allowed states.

    They are given from the source on; their steps count from the initial state.
    """
    steps, before = (np.full(graph.states, -1, dtype=np.int32) for _ in range(2))
    numbers = np.flatnonzero(sources).astype(np.int32)
    _earliest(graph.rows, graph.targets, numbers, graph.depth, allowed, steps, before, np.empty(graph.states, dtype=np.int32))
    return Ways(steps, before)


@dataclass(frozen=True)
class Components:
    """The strongly connected components of a part of a graph.

    ``of`` is the component of each state, -1 outside of that part; ``fair`` are those in which a run may stay forever,
    ``rest`` the states in which it may stop for good.
    """

    of: Places
    fair: Marks
    rest: Marks

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.fair)


def components(moves: Moves, sources: Marks, allowed: Marks, obliged: Marks) -> Components:
    """The components of what runs reach from a source by allowed states, of which it is one, judged by the actions (by number)
    to which a run must be weakly fair."""
    states = len(moves.rows)
    component = np.full(states, _ELSEWHERE, dtype=np.int32)
    component[allowed] = _UNMET
    way, entered, waiting, order = (np.empty(states, dtype=np.int32) for _ in range(4))
    following = np.empty(states, dtype=np.int64)
    ends = np.zeros(states + 1, dtype=np.int64)
    # most steps lead to what was met later: from the last state on, nearly all that one leads to has its component already
    starts = np.flatnonzero(sources & allowed)[::-1].copy()
    count = _divide(moves.rows, moves.targets, starts, component, way, entered, following, waiting, order, ends)
    ends = ends[: count + 1]
    component[(component == _UNMET) | (component == _ELSEWHERE)] = -1
    fair, rest, leaves, taken = (np.zeros(size, dtype=np.bool_) for size in (count, states, states, len(obliged)))
    enabled = np.zeros(len(obliged), dtype=np.int64)
    _admit(moves.rows, moves.targets, moves.actions, obliged, component, order, ends, fair, rest, leaves, enabled, taken)
    return Components(component, fair, rest)


def nearest(graph: Graph, components: Components, start: int, unmet: Marks, goal: int) -> list[int]:
    """The states of the shortest way, within the component of ``start``, to one where something is gained.

    Gained is, while there are ``unmet`` actions, that one of them is disabled or leads on within the component; when there
    are none, to be at ``goal``.
    """
    before = np.full(graph.states, -1, dtype=np.int32)
    end = _nearest(
        graph.rows,
        graph.targets,
        graph.actions,
        components.of,
        start,
        unmet,
        goal,
        before,
        np.empty(graph.states, dtype=np.int32),
    )
    if end < 0:
        raise AssertionError("nothing is gained in a component that admits a fair run")
    before[start] = -1
    return Ways(before, before).to(int(end))


@native
def _earliest(
    rows: Integers,
    targets: Places,
    sources: Places,
    start: Places,
    allowed: Flags,
    when: Places,
    parent: Places,
    queue: Places,
) -> None:
    """The fewest steps to each state, by ways that begin at a source and go through allowed states.

    ``sources`` are numbers of states that rise with ``start[source]``, the steps counted when a way begins there. ``when``,
    all -1 before, gets the number of steps (-1: there is no way), and ``parent`` the state before on such a way (-1: it
    begins here). ``queue`` is room for each state.
    """
    head = tail = source = now = 0
    while source < len(sources) or head < tail:
        if head == tail:
            now = max(now, start[sources[source]])
        while source < len(sources) and start[sources[source]] <= now:
            state = sources[source]
            source += 1
            if when[state] < 0:
                when[state], parent[state], queue[tail] = now, -1, state
                tail += 1
        end = tail
        while head < end:
            state = queue[head]
            head += 1
            for transition in range(rows[state], rows[state + 1]):
                after = targets[transition]
                if allowed[after] and when[after] < 0:
                    when[after], parent[after], queue[tail] = now + 1, state, after
                    tail += 1
        now += 1


_UNMET, _ELSEWHERE = -(1 << 31), (1 << 31) - 1
"""Ranks of the states that may be met and of those that may not, which are less and more than any other."""


@native_inline
def _begin(row: Word) -> Integer:
    """The first transition of a row."""
    return np.int64(row >> np.uint64(COUNT_BITS))


@native_inline
def _end(row: Word) -> Integer:
    """The transition behind the last of a row."""
    return np.int64((row >> np.uint64(COUNT_BITS)) + (row & np.uint64(MOST_ACTIONS)))


@native
def _divide(
    rows: Words,
    targets: Places,
    starts: Integers,
    rank: Places,
    way: Places,
    entered: Places,
    following: Integers,
    waiting: Places,
    order: Places,
    ends: Integers,
) -> Integer:
    """Writes the strongly connected component of each state that is reached from a start to its ``rank``, which is ``_UNMET``
    of those that may be met and ``_ELSEWHERE`` of others; returns their count. ``order`` gets the states by component, and
    ``ends`` where in it each ends, after the 0 where the first begins.

    Tarjan's algorithm as Pearce has it ("A space-efficient algorithm for finding strongly connected components", 2016), with a
    stack of its own: the graph is deeper than a native stack. The rank of a state that was met is negative, and the least of
    those that it leads back to; so one number of each target says all that is asked of it, which is where the time goes. What
    has no component yet when its way goes back waits for the state that it leads back to. ``way``, the ranks with which its
    states were ``entered``, what is ``following`` of their rows, and ``waiting`` are room for a number of each state.
    """
    count = waits = taken = 0
    clock = -len(rank)
    for start in starts:
        if rank[start] != _UNMET:
            continue
        length, after = 0, start
        while True:
            if after >= 0:  # is met for the first time
                way[length], entered[length], following[length] = after, clock, _begin(rows[after])
                rank[after] = clock
                length, clock = length + 1, clock + 1
            state, after = way[length - 1], -1
            least, place, end = rank[state], following[length - 1], _end(rows[state])
            while after < 0 and place < end:
                target = targets[place]
                place += 1
                if rank[target] == _UNMET:
                    after = target
                else:
                    least = min(least, rank[target])
            rank[state] = least
            if after >= 0:
                following[length - 1] = place
                continue
            length -= 1
            waiting[waits] = state
            waits += 1
            if least == entered[length]:
                while waits > 0 and rank[waiting[waits - 1]] >= least:
                    waits -= 1
                    rank[waiting[waits]] = count
                    order[taken] = waiting[waits]
                    taken += 1
                count += 1
                ends[count] = taken
            else:
                rank[way[length - 1]] = min(rank[way[length - 1]], least)
            if length == 0:
                break
    return count


@native
def _admit(
    rows: Words,
    targets: Places,
    actions: Actions,
    obliged: Flags,
    component: Places,
    order: Places,
    bounds: Integers,
    fair: Flags,
    rest: Flags,
    leaves: Flags,
    enabled: Integers,
    taken: Flags,
) -> None:
    """Writes to ``fair`` which components admit a fair run, and to ``rest`` which of their states a run may stop in.

    ``obliged`` marks the actions to which a run must be fair. ``component`` is the component of each state, or -1;
    ``order`` are the states by component, those of component c from ``bounds[c]`` up to ``bounds[c + 1]``. The last two are
    room for each action, and ``leaves``, where nothing is marked yet, for each state: those that such an action leads out of.
    """
    for state in range(len(component)):  # not by component: memory is read in the order in which it lies
        if component[state] < 0:
            continue
        rest[state] = True
        for transition in range(_begin(rows[state]), _end(rows[state])):
            if obliged[actions[transition]]:
                rest[state] = False
                if targets[transition] != state:
                    leaves[state] = True
                    break
    for number in range(len(bounds) - 1):
        first, size = bounds[number], bounds[number + 1] - bounds[number]
        fair[number] = size > 1 or not leaves[order[first]]
        if size == 1:
            continue
        enabled[:] = 0
        taken[:] = False
        for place in range(first, first + size):
            state = order[place]
            for transition in range(_begin(rows[state]), _end(rows[state])):
                action = actions[transition]
                if obliged[action]:
                    enabled[action] += 1
                    taken[action] |= component[targets[transition]] == number
        for action in range(len(obliged)):
            if enabled[action] == size and not taken[action]:
                fair[number] = False


@native
def _nearest(
    rows: Integers,
    targets: Places,
    actions: Actions,
    component: Places,
    start: Integer,
    unmet: Flags,
    goal: Integer,
    parent: Places,
    queue: Places,
) -> Integer:
    """The state nearest to ``start`` in its component where something is gained; ``parent``, all -1 before, gets the way back.

    Gained is, while there are ``unmet`` actions, that one of them is disabled or leads on within the component; when there
    are none, to be at ``goal``. ``queue`` is room for each state.
    """
    missing = 0
    for action in range(len(unmet)):
        if unmet[action]:
            missing += 1
    queue[0], parent[start] = start, start
    head, tail = 0, 1
    while head < tail:
        state: Integer = queue[head]
        head += 1
        enabled = 0
        for transition in range(rows[state], rows[state + 1]):
            if unmet[actions[transition]]:
                enabled += 1
                if component[targets[transition]] == component[start]:
                    return state
        if (missing > 0 and enabled < missing) or (missing == 0 and state == goal):
            return state
        for transition in range(rows[state], rows[state + 1]):
            after = targets[transition]
            if component[after] == component[start] and parent[after] < 0:
                parent[after], queue[tail] = state, after
                tail += 1
    return -1
