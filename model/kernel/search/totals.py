"""What a search counts and marks while it runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program
from fencepost.model.kernel.search.expansion import DEADLOCKS, NEW, TRANSITIONS, Worker


@dataclass(frozen=True)
class Totals:
    """Counts of a search: states, transitions, states without a successor, transitions by action; and which observed formulas
    were seen to hold, of states and of steps, as words of bits."""

    distinct: int
    transitions: int
    deadlocks: int
    enabled: tuple[int, ...]
    seen: tuple[int, ...]
    seen_steps: tuple[int, ...]

    @classmethod
    def none(cls, program: Program) -> Totals:
        """Nothing counted."""
        return cls(0, 0, 0, (0,) * program.actions, (0,) * program.observe_words, (0,) * program.step_words)

    def plus(self, workers: Iterable[Worker]) -> Totals:
        """With all that the workers have counted."""
        held = list(workers)
        counts = sum((worker.counters for worker in held), np.zeros(8, dtype=np.int64))
        return Totals(
            self.distinct + int(counts[NEW]),
            self.transitions + int(counts[TRANSITIONS]),
            self.deadlocks + int(counts[DEADLOCKS]),
            tuple(a + int(b) for a, b in zip(self.enabled, sum(worker.enabled for worker in held), strict=True)),
            _union(self.seen, [worker.seen for worker in held]),
            _union(self.seen_steps, [worker.seen_steps for worker in held]),
        )


def _union(known: tuple[int, ...], masks: list[Words]) -> tuple[int, ...]:
    return tuple(a | int(b) for a, b in zip(known, np.bitwise_or.reduce(masks), strict=True))
