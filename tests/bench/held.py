"""Random walks that hold on to what they prefer: a way to walk that is measured here and that Fencepost does not walk yet.

A walk puts the actions in a random order, always takes the first that is enabled, and draws another order at about every
sixth step: an actor is left alone for a while, as in the schedulers that change priorities at few random points (PCT, by
Burckhardt and others, 2010). Every other walk is uniform, for what such orders starve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernel.loops import native
from model.kernel.program import copy, has
from model.kernel.steered import Steered, _meets, _picked, _take
from model.kernel.walking import GAMMA, look, mix

HELD = np.uint64(6)
"""One step in so many draws another order."""


@native
def _walks(program: Any, wheel: Any, may_end: Any, seed: Any, steps: Any, most: Any) -> Any:
    """Walks until a violation or that many steps; returns steps, walks and whether there was a violation."""
    total = walk = 0
    while total < most:
        stream = mix(mix(np.uint64(seed) + GAMMA) ^ (np.uint64(walk) * GAMMA))
        uniform, order = walk % 2 == 0, stream
        walk += 1
        copy(wheel.initial, wheel.state, program.words)
        look(program, wheel.state, wheel.enabled, wheel.observed)
        for _ in range(steps):
            stream += GAMMA
            random = mix(stream)
            if uniform or random % HELD == np.uint64(0):
                order = mix(random)
            action = _picked(program, wheel.enabled, order)
            if action < 0:
                if may_end >= 0 and not has(wheel.observed, may_end):
                    return total, walk, True
                break
            _take(program, wheel, action)
            total += 1
            bad = _meets(wheel.observed, wheel.alarm, program.observe_words)
            if bad or _meets(wheel.held, wheel.step_alarm, program.step_words):
                return total, walk, True
    return total, walk, False


def walks(steered: Steered, seed: int, steps: int, most: int) -> tuple[int, int, bool]:
    """Walks of up to ``steps`` steps from the first initial state until one violates something or there were ``most`` steps."""
    total, count, found = _walks(steered._program, steered._addresses, steered._may_end, seed, steps, most)
    return int(total), int(count), bool(found)
