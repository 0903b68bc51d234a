"""What a search takes from its workers: counts, and the finds that end it or are only noted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program, bit_set
from fencepost.model.kernel.search.expansion import DEADLOCK_ROW, DEADLOCKS, NEW, TRANSITIONS, Alarms, Tally
from fencepost.model.kernel.search.paths import plain
from fencepost.model.kernel.search.results import Find, Kind, Sought


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

    def plus(self, workers: Iterable[Tally]) -> Totals:
        """With all that the workers have counted."""
        held = list(workers)
        counts = np.sum([np.zeros(8, dtype=np.int64), *(worker.counters for worker in held)], axis=0)
        enabled = np.sum([np.array(self.enabled, dtype=np.int64), *(worker.enabled for worker in held)], axis=0)
        return Totals(
            self.distinct + int(counts[NEW]),
            self.transitions + int(counts[TRANSITIONS]),
            self.deadlocks + int(counts[DEADLOCKS]),
            tuple(enabled.tolist()),
            _union(self.seen, [worker.seen for worker in held]),
            _union(self.seen_steps, [worker.seen_steps for worker in held]),
        )


def _union(known: tuple[int, ...], masks: list[Words]) -> tuple[int, ...]:
    return tuple(a | int(b) for a, b in zip(known, np.bitwise_or.reduce(masks), strict=True))


Listed = tuple[str, int, int, tuple[int, ...]]
"""A find as it is kept on disk: kind, formula, depth and state."""


class Finds:
    """What ends a search and what is only noted, as ``Sought`` has it, and the finds that did not end it.

    A worker's ``rows`` of finds are one for deadlocks, then the observed formulas, then those over steps. ``alarms`` is what
    the loops see of it, ``sought`` what of it decides a search.
    """

    def __init__(self, kernel: Kernel, sought: Sought) -> None:
        self._watch, self._stop_on_deadlock = frozenset(sought.watch), sought.stop_on_deadlock
        self._states = bit_set({*sought.alarm, *self._watch}, kernel.mask_words["observe"])
        self._steps = bit_set(sought.step_alarm, kernel.mask_words["observe_step"])
        self._first: dict[tuple[str, int], Find] = {}
        self._step_row = 1 + kernel.formulas["observe"]
        self.rows = self._step_row + kernel.formulas["observe_step"]
        ends = -1 if sought.may_end is None else sought.may_end
        self.alarms = Alarms(self._states.ctypes.data, self._steps.ctypes.data, self._step_row, ends)
        self.sought = [plain(self._states), plain(self._steps), sought.stop_on_deadlock, sorted(self._watch), ends]

    def take(self, workers: Sequence[Tally], depth: int) -> list[Find]:
        """Takes the finds of the step to level ``depth`` from the workers; returns those that end the search."""
        if all(worker.found_action.max() < 0 for worker in workers):
            return []
        ending = []
        hit = np.any([worker.found_action >= 0 for worker in workers], axis=0)
        for row in np.flatnonzero(hit).tolist():
            states = [plain(w.found_state[row]) for w in workers if w.found_action[row] >= 0]
            if row == DEADLOCK_ROW:
                first = self._keep(Find("deadlock", 0, depth - 1, min(states)))
                if self._stop_on_deadlock:
                    ending.append(first)
            elif row - 1 in self._watch:
                self._keep(Find("state", row - 1, depth, min(states)))
            elif row < self._step_row:
                ending.append(Find("state", row - 1, depth, min(states)))
            else:
                ending.append(Find("step", row - self._step_row, depth, min(states)))
        for worker in workers:
            worker.found_action[:] = -1
        return sorted(ending, key=lambda find: (find.depth, find.kind, find.formula))

    def _keep(self, find: Find) -> Find:
        """Keeps the first find of its kind. A formula that was only watched raises no alarm from the next level on."""
        if find.kind == "state":
            self._states[find.formula // 64] &= ~(1 << find.formula % 64) & (1 << 64) - 1
        return self._first.setdefault((find.kind, find.formula), find)

    def resume(self, listed: Iterable[Listed]) -> None:
        """Goes on with what ``up_to`` returned."""
        for kind, formula, depth, state in listed:
            self._keep(Find(cast(Kind, kind), formula, depth, state))

    def up_to(self, levels: int) -> tuple[Listed, ...]:
        """The finds that did not end the search and belong to its first levels."""
        within = [f for f in self._first.values() if f.depth < levels - (f.kind == "deadlock")]
        return tuple((f.kind, f.formula, f.depth, f.state) for f in within)

    @property
    def deadlock(self) -> Find | None:
        """The first deadlock."""
        return self._first.get(("deadlock", 0))

    @property
    def watched(self) -> tuple[Find, ...]:
        """The first find of each formula that was only watched."""
        return tuple(find for _, find in sorted(self._first.items()) if find.kind != "deadlock")
