"""The inner loop of the breadth-first search: expand the states of one level, keep the new ones, note what is seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from model.kernel.loops import call2, call3, fetch_add, load_published, lowest_bit, native
from model.kernel.program import Program, canonicalise, compare, copy, successors
from model.kernel.table import fetch_line, fetch_match, hash_state, insert

BATCH = 128
"""Successors that are looked up together, so that their ways to memory overlap."""

CHUNK = 1024
"""Places of the array that a thread takes for itself at a time."""

# Shared counters, each on a cache line of its own (in words): the next state to expand, the next free chunk, stop.
CURSOR, TOP, STOP = 0, 8, 16
SHARED_WORDS = 24

# A worker's own counters. The states of its open segment lie from SEGMENT to POSITION; its chunk ends at END.
POSITION, END, SEGMENT, LOGGED, NEW, TRANSITIONS, DEADLOCKS = range(7)

DEADLOCK_ROW = 0
"""The row of a worker's finds that is for deadlocks; then come the observed formulas, then those over steps."""

DONE, PAUSED, FULL = 0, 1, 2
"""Why a worker came back: no state is left to expand; the driver has something to do; the array of states is full."""


class Worker(NamedTuple):
    """What one thread writes to. ``found_state`` and ``found_action`` hold, in each row, the smallest find so far (action
    -1: none); ``log`` the closed segments of the array that it filled; the rest is counters, bit sets and room."""

    counters: Any
    log: Any
    enabled: Any
    seen: Any
    seen_steps: Any
    found_state: Any
    found_action: Any
    successors: Any
    via: Any
    hashes: Any
    mask: Any
    observed: Any
    scratch: Any

    @classmethod
    def of(cls, program: Program, rows: int) -> Worker:
        """A worker with nothing counted and nothing found, for ``rows`` kinds of finds."""
        room = BATCH + program.actions
        return cls(
            counters=np.zeros(8, dtype=np.int64),
            log=np.zeros((4096 + program.actions, 2), dtype=np.int64),
            enabled=np.zeros(program.actions, dtype=np.int64),
            seen=np.zeros(program.observe_words, dtype=np.uint64),
            seen_steps=np.zeros(program.step_words, dtype=np.uint64),
            found_state=np.zeros((rows, program.words), dtype=np.uint64),
            found_action=np.full(rows, -1, dtype=np.int64),
            successors=np.zeros((room, program.words), dtype=np.uint64),
            via=np.zeros(room, dtype=np.int64),
            hashes=np.zeros(room, dtype=np.uint64),
            mask=np.zeros(program.enabled_words, dtype=np.uint64),
            observed=np.zeros(max(program.observe_words, program.step_words), dtype=np.uint64),
            scratch=np.zeros(program.words, dtype=np.uint64),
        )


@native
def note(worker: Any, row: Any, state: Any, action: Any, words: Any) -> None:
    """Keeps a find if it is smaller than the one that its row holds: by state, then by action."""
    kept = worker.found_state.ctypes.data + 8 * words * row
    if worker.found_action[row] >= 0:
        order = compare(state, kept, words)
        if order > 0 or (order == 0 and action >= worker.found_action[row]):
            return
    copy(state, kept, words)
    worker.found_action[row] = action


@native
def _see(worker: Any, seen: Any, alarm: Any, row: Any, state: Any, action: Any, words: Any) -> None:
    """Takes in what was observed: marks it as seen, notes what is a violation."""
    for word in range(len(seen)):
        bits = worker.observed[word]
        seen[word] |= bits
        bits &= alarm[word]
        while bits != np.uint64(0):
            note(worker, row + 64 * word + lowest_bit(bits), state, action, words)
            bits &= bits - np.uint64(1)


@native
def _take_chunk(space: Any, shared: Any, worker: Any) -> Any:
    """Gives the worker room for more states; false if there is none."""
    first = fetch_add(shared.ctypes.data + 8 * TOP, CHUNK)
    if first + CHUNK > space.capacity:
        return False
    counters = worker.counters
    if first != counters[POSITION]:
        if counters[POSITION] > counters[SEGMENT]:
            worker.log[counters[LOGGED], 0] = counters[SEGMENT]
            worker.log[counters[LOGGED], 1] = counters[POSITION]
            counters[LOGGED] += 1
        counters[SEGMENT] = counters[POSITION] = first
    counters[END] = first + CHUNK
    return True


@native
def absorb(program: Any, space: Any, shared: Any, alarm: Any, worker: Any, count: Any) -> Any:
    """Adds the worker's first ``count`` successors, already hashed, to the visited states and observes the new ones; false
    if the array is full."""
    counters, words = worker.counters, program.words
    for number in range(count):
        fetch_match(space, worker.hashes[number])
    for number in range(count):
        if counters[POSITION] == counters[END] and not _take_chunk(space, shared, worker):
            return False
        place = counters[POSITION]
        if insert(space, worker.hashes[number], worker.successors.ctypes.data + 8 * words * number, place):
            counters[POSITION] = place + 1
            counters[NEW] += 1
            if program.observe != 0:
                state = space.states + 8 * words * place
                call2(program.observe, state, worker.observed.ctypes.data)
                _see(worker, worker.seen, alarm, 1, state, 0, words)
    return True


@native
def seed(program: Any, space: Any, shared: Any, alarm: Any, worker: Any, count: Any) -> Any:
    """Adds the first ``count`` states in the worker's room for successors, which are initial; false if the array is full."""
    for number in range(count):
        state = worker.successors.ctypes.data + 8 * program.words * number
        canonicalise(program, state, worker.scratch.ctypes.data)
        worker.hashes[number] = hash_state(state, program.words)
    return absorb(program, space, shared, alarm, worker, count)


@native
def expand(
    program: Any, space: Any, frontier: Any, shared: Any, alarm: Any, step_alarm: Any, step_row: Any, worker: Any, block: Any
) -> Any:
    """Expands blocks of the frontier until none is left (DONE), the table must grow, the log is full or stop is set (PAUSED),
    or the array is full (FULL). A block that was begun is finished unless the array is full."""
    base, words, counters = shared.ctypes.data, program.words, worker.counters
    room = worker.successors.ctypes.data
    total = frontier.ordinals[-1]
    while True:
        if load_published(base + 8 * STOP) != np.uint64(0) or counters[LOGGED] + program.actions + 2 > len(worker.log):
            return PAUSED
        if np.int64(load_published(base + 8 * TOP)) > space.grow_at:
            return PAUSED
        first = fetch_add(base + 8 * CURSOR, block)
        if first >= total:
            return DONE
        segment = np.searchsorted(frontier.ordinals, first, side="right") - 1
        pending = 0
        for ordinal in range(first, min(first + block, total)):
            while ordinal >= frontier.ordinals[segment + 1]:
                segment += 1
            state = space.states + 8 * words * (frontier.starts[segment] + ordinal - frontier.ordinals[segment])
            after = successors(program, state, worker.mask, room, worker.via, pending)
            if after == pending:
                counters[DEADLOCKS] += 1
                note(worker, DEADLOCK_ROW, state, 0, words)
            counters[TRANSITIONS] += after - pending
            for number in range(pending, after):
                successor = room + 8 * words * number
                worker.enabled[worker.via[number]] += 1
                if program.observe_step != 0:
                    call3(program.observe_step, state, successor, worker.observed.ctypes.data)
                    _see(worker, worker.seen_steps, step_alarm, step_row, state, worker.via[number], words)
                canonicalise(program, successor, worker.scratch.ctypes.data)
                worker.hashes[number] = hash_state(successor, words)
                fetch_line(space, worker.hashes[number])
            pending = after
            if pending >= BATCH:
                if not absorb(program, space, shared, alarm, worker, pending):
                    return FULL
                pending = 0
        if not absorb(program, space, shared, alarm, worker, pending):
            return FULL


@native
def find_predecessors(program: Any, space: Any, frontier: Any, shared: Any, worker: Any, target: Any, block: Any) -> None:
    """Notes, in row 0, the smallest state of the frontier and its smallest action that lead to the state at ``target``."""
    words, room = program.words, worker.successors.ctypes.data
    total = frontier.ordinals[-1]
    while True:
        first = fetch_add(shared.ctypes.data + 8 * CURSOR, block)
        if first >= total:
            return
        segment = np.searchsorted(frontier.ordinals, first, side="right") - 1
        for ordinal in range(first, min(first + block, total)):
            while ordinal >= frontier.ordinals[segment + 1]:
                segment += 1
            state = space.states + 8 * words * (frontier.starts[segment] + ordinal - frontier.ordinals[segment])
            for number in range(successors(program, state, worker.mask, room, worker.via, 0)):
                successor = room + 8 * words * number
                canonicalise(program, successor, worker.scratch.ctypes.data)
                if compare(successor, target, words) == 0:
                    note(worker, 0, state, worker.via[number], words)
