"""Loops over the graph of a protocol: the shortest ways through a part of it, and which of its components are fair.

A run may stay in a strongly connected component for ever, weakly fair to some actions, if and only if each of them is
disabled in one of its states or is taken by one of its transitions: the run that goes through all of the component again
and again is such a run, and without that no run is, in the component or in any part of it. A component of one state
without a transition to itself stands for the run that stops there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernel.loops import native


@native
def earliest(rows: Any, targets: Any, sources: Any, start: Any, allowed: Any, when: Any, parent: Any) -> None:
    """The fewest steps to each state, by ways that begin at a source and go through allowed states.

    ``sources`` are numbers of states that rise with ``start[source]``, the steps counted when a way begins there. ``when``,
    all -1 before, gets the number of steps (-1: there is no way), and ``parent`` the state before on such a way (-1: it
    begins here).
    """
    queue = np.empty(len(allowed), dtype=np.int32)
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


@native
def count_inside(rows: Any, targets: Any, members: Any, place: Any, sub_rows: Any) -> None:
    """Writes the row bounds of the subgraph of some states; ``place`` is each state's place among them, or -1."""
    for number in range(len(members)):
        count = 0
        for transition in range(rows[members[number]], rows[members[number] + 1]):
            count += place[targets[transition]] >= 0
        sub_rows[number + 1] = sub_rows[number] + count


@native
def fill_inside(rows: Any, targets: Any, members: Any, place: Any, sub_targets: Any) -> None:
    """Writes the targets of the subgraph of some states, by their place among them."""
    count = 0
    for number in range(len(members)):
        for transition in range(rows[members[number]], rows[members[number] + 1]):
            after = place[targets[transition]]
            if after >= 0:
                sub_targets[count] = after
                count += 1


@native
def admit(
    rows: Any, targets: Any, actions: Any, obliged: Any, component: Any, order: Any, bounds: Any, fair: Any, rest: Any
) -> None:
    """Writes to ``fair`` which components admit a fair run, and to ``rest`` which of their states a run may stop in.

    ``obliged`` marks the actions to which a run must be fair. ``component`` is the component of each state, or -1;
    ``order`` are the states by component, those of component c from ``bounds[c]`` up to ``bounds[c + 1]``.
    """
    enabled = np.zeros(len(obliged), dtype=np.int64)
    taken = np.zeros(len(obliged), dtype=np.bool_)
    for number in range(len(bounds) - 1):
        size = bounds[number + 1] - bounds[number]
        if size > 1:
            enabled[:] = 0
            taken[:] = False
        leaves = False
        for place in range(bounds[number], bounds[number + 1]):
            state = order[place]
            rest[state] = True
            for transition in range(rows[state], rows[state + 1]):
                action = actions[transition]
                if obliged[action]:
                    rest[state] = False
                    inside = component[targets[transition]] == number
                    leaves |= not inside
                    enabled[action] += 1
                    taken[action] |= inside
        fair[number] = not leaves
        if size > 1 and leaves:
            fair[number] = True
            for action in range(len(obliged)):
                if enabled[action] == size and not taken[action]:
                    fair[number] = False


@native
def nearest(
    rows: Any, targets: Any, actions: Any, component: Any, start: Any, unmet: Any, goal: Any, parent: Any
) -> Any:
    """The state nearest to ``start`` in its component where something is gained; ``parent``, all -1 before, gets the way back.

    Gained is, while there are ``unmet`` actions, that one of them is disabled or leads on within the component; when there
    are none, to be at ``goal``.
    """
    missing = np.sum(unmet)
    queue = np.empty(len(component), dtype=np.int32)
    queue[0], parent[start] = start, start
    head, tail = 0, 1
    while head < tail:
        state = queue[head]
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
