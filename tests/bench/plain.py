"""Random walks and breadth-first search in plain Python, over either of the two ways to run a protocol in it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol as Interface

State = tuple[int, ...]


class Runner(Interface):
    """What a protocol in plain Python can do: the same as its kernel, on tuples of raw values."""

    def enabled(self, state: State) -> list[int]: ...

    def apply(self, state: State, action: int) -> State: ...

    def observe(self, state: State) -> list[int]: ...

    def observe_step(self, state: State, after: State) -> list[int]: ...


def walk(runner: Runner, start: State, steps: int, seed: int, *, observing: bool) -> int:
    """Takes up to ``steps`` random steps, each uniform among the enabled actions; returns how many it took. ``observing`` has
    it observe every state and every step."""
    chance, state = random.Random(seed), start
    for taken in range(steps):
        enabled = runner.enabled(state)
        if not enabled:
            return taken
        before, state = state, runner.apply(state, enabled[int(chance.random() * len(enabled))])
        if observing:
            runner.observe(state)
            runner.observe_step(before, state)
    return steps


def search(runner: Runner, initial: Sequence[State], limit: int, *, observing: bool) -> tuple[int, int]:
    """Breadth-first search, up to ``limit`` distinct states or so; returns these and the transitions. ``observing`` has it
    observe every state and every step."""
    seen = set(initial)
    frontier, transitions = list(seen), 0
    while frontier and len(seen) < limit:
        beyond = []
        for state in frontier:
            if observing:
                runner.observe(state)
            for action in runner.enabled(state):
                transitions += 1
                after = runner.apply(state, action)
                if observing:
                    runner.observe_step(state, after)
                if after not in seen:
                    seen.add(after)
                    beyond.append(after)
            if len(seen) >= limit:
                break
        frontier = beyond
    return len(seen), transitions
