"""The graph of all that an exhaustive search has reached: states by number, and the transitions of each in a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import Crew, Integer, fetch_add, native
from fencepost.model.kernel.compiler.packing import Integers, Places, Words
from fencepost.model.kernel.compiler.program import addresses
from fencepost.model.kernel.search.expansion import CURSOR, END, SHARED_WORDS, STOP, Alarms, Worker, expand, observe
from fencepost.model.kernel.search.results import Reached, Result
from fencepost.model.kernel.search.store import frontier
from fencepost.model.kernel.search.transitions import (
    BYTES,
    COUNT_BITS,
    MOST_ACTIONS,
    Actions,
    Moves,
    Recorded,
    bytes_recorded,
    holding,
)

_BLOCK = 256
_LARGEST = 2**31 - 1


class GraphError(Exception):
    """A graph that cannot be built; the message says why."""


@dataclass(frozen=True)
class Graph:
    """The reachable states and transitions of a protocol.

    States are numbered from 0, breadth first and within a level in the order of their words, so that the numbers are the
    same whatever the workers. The transitions of state ``s``, by rising action, are those from ``rows[s]`` up to
    ``rows[s + 1]`` of ``targets`` (the states that they lead to) and ``actions`` (the numbers of the kernel's actions).
    ``depth`` is the distance of each state from an initial one, and ``observed`` the bit set of the kernel's observed formulas
    that hold in it, one state in each row.
    """

    reached: Reached
    places: Integers
    depth: Places
    rows: Integers
    targets: Places
    actions: Actions
    observed: Words

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.places)

    @property
    def transitions(self) -> int:
        """How many transitions there are."""
        return len(self.targets)

    @property
    def moves(self) -> Moves:
        """The transitions, as they are when no order is known."""
        rows = (self.rows[:-1] << COUNT_BITS | np.diff(self.rows)).astype(np.uint64)
        return Moves(rows, self.targets, self.actions, self.observed)

    def state(self, number: int) -> Words:
        """The packed state of that number."""
        place = int(self.places[number])
        return np.array(self.reached.store.rows((place, place + 1))[0])

    def holds(self, formula: int) -> npt.NDArray[np.bool_]:
        """For each state, whether the kernel's observed formula of that number holds in it."""
        return holding(self.observed, formula)

    def successors_of(self, number: int) -> list[tuple[int, int]]:
        """The transitions of a state: the action and the state that it leads to."""
        row = slice(int(self.rows[number]), int(self.rows[number + 1]))
        return list(zip(self.actions[row].tolist(), self.targets[row].tolist(), strict=True))


def bytes_of_moves(result: Result) -> int:
    """The memory that the transitions of a finished search take, besides its states."""
    return bytes_recorded(result.distinct, result.transitions, result.reached.program.observe_words)


def bytes_of_graph(result: Result) -> int:
    """The most memory that the graph of a finished search takes while it is built, besides its states and transitions."""
    program = result.reached.program
    sorting = max(result.level_sizes, default=0) * (16 * program.words + 16)
    return result.distinct * (36 + 8 * program.observe_words) + BYTES * result.transitions + sorting


def moves_of(
    result: Result,
    *,
    workers: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] = lambda done, count: None,
) -> Moves | None:
    """The transitions of what a search has reached, whose states are numbered by their place; None if ``should_stop`` says so.

    If the search has not recorded them, or had no room for all, each state is expanded once more; ``progress`` is then told
    states done of all.

    Raises GraphError if the search did not visit all states, or merged those that are the same except for a symmetry (fairness
    tells such states apart), or if there are more than 2^31 - 1 states or 65,535 actions.
    """
    reached, program = result.reached, result.reached.program
    if result.outcome != "exhausted":
        raise GraphError("the search did not visit all states")
    if program.canonical:
        raise GraphError("the search merged states that are the same except for a symmetry")
    places = max(end for level in reached.levels for _, end in level)
    if places > _LARGEST:
        raise GraphError(f"{result.distinct:,} states are more than a graph can have")
    if program.actions > MOST_ACTIONS:
        raise GraphError(f"{program.actions:,} actions are more than a graph can have")
    if reached.recorded is not None and reached.recorded.is_whole(places):
        return reached.recorded.moves(places)
    with Crew(workers) as crew:
        recorded = Recorded(program, places, result.transitions)
        is_whole = _record(result, recorded, crew, should_stop, progress)
    return recorded.moves(places) if is_whole else None


def graph_of(
    result: Result,
    *,
    workers: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] = lambda done, count: None,
) -> Graph | None:
    """The graph of what a search has reached; None if ``should_stop`` says so. What the search has recorded is given back.

    Raises what ``moves_of`` raises.
    """
    moves = moves_of(result, workers=workers, should_stop=should_stop, progress=progress)
    if moves is None:
        return None
    reached = result.reached
    in_order = []
    for level in reached.levels:
        words = np.concatenate([reached.store.rows(segment) for segment in level])
        at = np.concatenate([np.arange(start, end, dtype=np.int64) for start, end in level])
        in_order.append(at[np.lexsort(words.T[::-1])])
    places = np.concatenate(in_order)
    depth = np.repeat(np.arange(len(in_order), dtype=np.int32), [len(level) for level in in_order])
    numbers = np.full(len(moves.rows), -1, dtype=np.int32)
    numbers[places] = np.arange(len(places), dtype=np.int32)
    rows = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(moves.counts[places])])
    targets, actions = np.empty(int(rows[-1]), dtype=np.int32), np.empty(int(rows[-1]), dtype=np.uint16)
    shared, first = np.zeros(SHARED_WORDS, dtype=np.int64), moves.first[places]
    with Crew(workers) as crew:
        args = first, rows, numbers, moves.targets, moves.actions, targets, actions, shared.ctypes.data
        crew.run(lambda _: _gather(*args, _BLOCK))
    observed = moves.observed[places]
    if reached.recorded is not None:
        reached.recorded.give_back()
    return Graph(reached, places, depth, rows, targets, actions, observed)


def _record(
    result: Result,
    recorded: Recorded,
    crew: Crew,
    should_stop: Callable[[], bool],
    progress: Callable[[int, int], None],
) -> bool:
    """Expands all states once more and records their transitions; false if it was stopped."""
    reached, shared, done = result.reached, np.zeros(SHARED_WORDS, dtype=np.int64), 0
    program = reached.program._replace(observe_step=0, step_planes=0)
    workers = [Worker.of(program, 1) for _ in range(crew.size)]
    for worker in workers:
        worker.counters[END] = 1  # nothing is new: no worker needs a chunk to put it in
    written = [Worker(*addresses(worker)) for worker in workers]
    nothing = np.zeros(max(program.observe_words, 1), dtype=np.uint64)
    alarms = Alarms(nothing.ctypes.data, nothing.ctypes.data, 1, -1)

    def look() -> None:
        progress(min(done + int(shared[CURSOR]), result.distinct), result.distinct)
        if should_stop():
            stop()

    def stop() -> None:
        shared[STOP] = 1

    for level in reached.levels:
        args = program, reached.store.space, frontier(level), shared.ctypes.data, alarms
        for loop in (expand, observe) if program.observe_planes else (expand,):
            shared[CURSOR] = 0
            crew.run(lambda w: loop(*args, written[w], recorded.record, _BLOCK), look, stop)  # noqa: B023
        done += sum(end - start for start, end in level)
    return not shared[STOP]


@native
def _gather(
    first: Integers,
    rows: Integers,
    numbers: Places,
    targets: Places,
    actions: Actions,
    to: Places,
    by: Actions,
    shared: Integer,
    block: Integer,
) -> None:
    """Copies the transitions of each state, which begin at ``first``, to its row; what they lead to gets its number."""
    while True:
        begin = fetch_add(shared + 8 * CURSOR, block)
        last = min(begin + block, len(first))
        for state in range(begin, last):
            entry = first[state]
            for place in range(rows[state], rows[state + 1]):
                to[place], by[place] = numbers[targets[entry]], actions[entry]
                entry += 1
        if last == len(first):
            return
