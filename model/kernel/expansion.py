"""The inner loop of the breadth-first search: expand the states of one level, keep the new ones, note what is seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from model.kernel.loops import bump, call2, fetch_add, load, load_int, load_published, lowest_bit, native, store
from model.kernel.program import Program, canonicalise, compare, copy, has, same, successors
from model.kernel.table import fetch_line, fetch_match, hash_state, insert

BATCH = 128
"""Successors that are looked up together, so that their ways to memory overlap."""

CHUNK = 1024
"""Places of the array that a thread takes for itself at a time."""

LOG_LENGTH = 4096
"""Segments in a worker's log beyond which it asks the driver to take them; a block adds at most one for each action."""

# Shared counters, each on a cache line of its own (in words): the next state to expand, the next free chunk, stop.
CURSOR, TOP, STOP = 0, 8, 16
SHARED_WORDS = 24

# A worker's own counters. The states of its open segment lie from SEGMENT to POSITION; its chunk ends at END.
POSITION, END, SEGMENT, LOGGED, NEW, TRANSITIONS, DEADLOCKS = range(7)

DEADLOCK_ROW = 0
"""The row of a worker's finds that is for deadlocks; then come the observed formulas, then those over steps."""

DONE, PAUSED, FULL = 0, 1, 2
"""Why a worker came back: no state is left to expand; the driver has something to do; the array of states is full."""


class Alarms(NamedTuple):
    """Which observed formulas are violations where they hold: addresses of the bit sets for those of states and of steps;
    the row of a worker's finds in which those of steps begin; and the formula of states in which a run may end, or -1."""

    states: int
    steps: int
    step_row: int
    may_end: int


class Worker(NamedTuple):
    """What one thread writes to: arrays, or their addresses. ``found_state`` and ``found_action`` hold, in each row, the
    smallest find so far (action -1: none); ``log`` the closed segments of the array that it filled; the rest is counters,
    bit sets and room."""

    counters: Any
    log: Any
    enabled: Any
    seen: Any
    seen_steps: Any
    found_state: Any
    found_action: Any
    successors: Any
    via: Any
    held: Any
    hashes: Any
    matches: Any
    mask: Any
    observed: Any
    scratch: Any

    @classmethod
    def of(cls, program: Program, rows: int) -> Worker:
        """A worker with nothing counted and nothing found, for ``rows`` kinds of finds."""
        room = BATCH + program.actions
        return cls(
            counters=np.zeros(8, dtype=np.int64),
            log=np.zeros((LOG_LENGTH + program.actions + 8, 2), dtype=np.int64),
            enabled=np.zeros(program.actions, dtype=np.int64),
            seen=np.zeros(program.observe_words, dtype=np.uint64),
            seen_steps=np.zeros(program.step_words, dtype=np.uint64),
            found_state=np.zeros((rows, program.words), dtype=np.uint64),
            found_action=np.full(rows, -1, dtype=np.int64),
            successors=np.zeros((room, program.words), dtype=np.uint64),
            via=np.zeros(room, dtype=np.int64),
            held=np.zeros((room, program.step_words), dtype=np.uint64),
            hashes=np.zeros(room, dtype=np.uint64),
            matches=np.zeros(room, dtype=np.int64),
            mask=np.zeros(program.enabled_words, dtype=np.uint64),
            observed=np.zeros(program.observe_words, dtype=np.uint64),
            scratch=np.zeros(program.words, dtype=np.uint64),
        )

    def take_segments(self) -> list[tuple[int, int]]:
        """The segments of the array that were filled since they were last taken; the open one goes on after its end."""
        counters = self.counters
        taken = [(int(start), int(end)) for start, end in self.log[: counters[LOGGED]]]
        if counters[POSITION] > counters[SEGMENT]:
            taken.append((int(counters[SEGMENT]), int(counters[POSITION])))
        counters[SEGMENT] = counters[POSITION]
        counters[LOGGED] = 0
        return taken


@native
def note(worker: Any, row: Any, state: Any, action: Any, words: Any) -> None:
    """Keeps a find if it is smaller than the one that its row holds: by state, then by action."""
    kept, its_action = worker.found_state + 8 * words * row, worker.found_action + 8 * row
    if load_int(its_action) >= 0:
        order = compare(state, kept, words)
        if order > 0 or (order == 0 and action >= load_int(its_action)):
            return
    copy(state, kept, words)
    store(its_action, np.uint64(action))


@native
def _see(
    worker: Any, observed: Any, seen: Any, alarm: Any, length: Any, row: Any, state: Any, action: Any, words: Any
) -> None:
    """Takes in what was observed: marks it as seen, notes what is a violation."""
    for word in range(length):
        bits = load(observed + 8 * word)
        store(seen + 8 * word, load(seen + 8 * word) | bits)
        bits &= load(alarm + 8 * word)
        while bits != np.uint64(0):
            note(worker, row + 64 * word + lowest_bit(bits), state, action, words)
            bits &= bits - np.uint64(1)


@native
def _may_end(program: Any, alarms: Any, worker: Any, state: Any) -> Any:
    """Whether a run may end in the state."""
    if alarms.may_end < 0:
        return False
    call2(program.observe, state, worker.observed)
    return has(worker.observed, alarms.may_end)


@native
def _take_chunk(space: Any, shared: Any, worker: Any) -> Any:
    """Gives the worker room for more states; false if there is none."""
    first = fetch_add(shared + 8 * TOP, CHUNK)
    if first + CHUNK > space.capacity:
        return False
    begin, position = load_int(worker.counters + 8 * SEGMENT), load_int(worker.counters + 8 * POSITION)
    if first != position:
        if position > begin:
            entry = worker.log + 16 * load_int(worker.counters + 8 * LOGGED)
            store(entry, np.uint64(begin))
            store(entry + 8, np.uint64(position))
            bump(worker.counters + 8 * LOGGED, 1)
        store(worker.counters + 8 * SEGMENT, np.uint64(first))
        store(worker.counters + 8 * POSITION, np.uint64(first))
    store(worker.counters + 8 * END, np.uint64(first + CHUNK))
    return True


@native
def absorb(program: Any, space: Any, shared: Any, alarms: Any, worker: Any, count: Any) -> Any:
    """Adds the worker's first ``count`` successors, already hashed, to the visited states and observes the new ones; false
    if the array is full."""
    words = program.words
    for number in range(count):
        store(worker.matches + 8 * number, np.uint64(fetch_match(space, load(worker.hashes + 8 * number))))
    for number in range(count):
        match = load_int(worker.matches + 8 * number)
        if match >= 0 and same(space.states + 8 * words * match, worker.successors + 8 * words * number, words):
            continue
        place = load_int(worker.counters + 8 * POSITION)
        if place == load_int(worker.counters + 8 * END):
            if not _take_chunk(space, shared, worker):
                return False
            place = load_int(worker.counters + 8 * POSITION)
        if insert(space, load(worker.hashes + 8 * number), worker.successors + 8 * words * number, place):
            store(worker.counters + 8 * POSITION, np.uint64(place + 1))
            bump(worker.counters + 8 * NEW, 1)
            if program.observe != 0:
                state = space.states + 8 * words * place
                call2(program.observe, state, worker.observed)
                _see(worker, worker.observed, worker.seen, alarms.states, program.observe_words, 1, state, 0, words)
    return True


@native
def seed(program: Any, space: Any, shared: Any, alarms: Any, worker: Any, count: Any) -> Any:
    """Adds the first ``count`` states in the worker's room for successors, which are initial; false if the array is full."""
    for number in range(count):
        state = worker.successors + 8 * program.words * number
        canonicalise(program, state, worker.scratch)
        store(worker.hashes + 8 * number, hash_state(state, program.words))
    return absorb(program, space, shared, alarms, worker, count)


@native
def expand(program: Any, space: Any, frontier: Any, shared: Any, alarms: Any, worker: Any, block: Any) -> Any:
    """Expands blocks of the frontier until none is left (DONE), the table must grow, the log is full or stop is set (PAUSED),
    or the array is full (FULL). A block that was begun is finished unless the array is full."""
    words, room = program.words, worker.successors
    starts, ordinals = frontier.starts, frontier.ordinals
    total = ordinals[-1]
    while True:
        if load_published(shared + 8 * STOP) != np.uint64(0) or load_int(worker.counters + 8 * LOGGED) > LOG_LENGTH:
            return PAUSED
        if np.int64(load_published(shared + 8 * TOP)) > space.grow_at:
            return PAUSED
        first = fetch_add(shared + 8 * CURSOR, block)
        if first >= total:
            return DONE
        segment = np.searchsorted(ordinals, first, side="right") - 1
        pending = 0
        for ordinal in range(first, min(first + block, total)):
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            state = space.states + 8 * words * (starts[segment] + ordinal - ordinals[segment])
            after = successors(program, state, worker.mask, room, worker.via, worker.held, pending)
            if after == pending and not _may_end(program, alarms, worker, state):
                bump(worker.counters + 8 * DEADLOCKS, 1)
                note(worker, DEADLOCK_ROW, state, 0, words)
            bump(worker.counters + 8 * TRANSITIONS, after - pending)
            for number in range(pending, after):
                successor, action = room + 8 * words * number, load_int(worker.via + 8 * number)
                bump(worker.enabled + 8 * action, 1)
                held = worker.held + 8 * program.step_words * number
                _see(worker, held, worker.seen_steps, alarms.steps, program.step_words, alarms.step_row, state, action, words)
                canonicalise(program, successor, worker.scratch)
                value = hash_state(successor, words)
                store(worker.hashes + 8 * number, value)
                fetch_line(space, value)
            pending = after
            if pending >= BATCH:
                if not absorb(program, space, shared, alarms, worker, pending):
                    return FULL
                pending = 0
        if not absorb(program, space, shared, alarms, worker, pending):
            return FULL


@native
def find_predecessors(program: Any, space: Any, frontier: Any, shared: Any, worker: Any, target: Any, block: Any) -> None:
    """Notes, in row 0, the smallest state of the frontier and its smallest action that lead to the state at ``target``."""
    words, room = program.words, worker.successors
    starts, ordinals = frontier.starts, frontier.ordinals
    total = ordinals[-1]
    while True:
        first = fetch_add(shared + 8 * CURSOR, block)
        if first >= total:
            return
        segment = np.searchsorted(ordinals, first, side="right") - 1
        for ordinal in range(first, min(first + block, total)):
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            state = space.states + 8 * words * (starts[segment] + ordinal - ordinals[segment])
            for number in range(successors(program, state, worker.mask, room, worker.via, worker.held, 0)):
                successor = room + 8 * words * number
                canonicalise(program, successor, worker.scratch)
                if compare(successor, target, words) == 0:
                    note(worker, 0, state, load_int(worker.via + 8 * number), words)
