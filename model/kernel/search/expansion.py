"""The inner loops of the breadth-first search: expand the states of one level, keep the new ones, note what is seen.

What is asked of a state, which actions are enabled and what is observed, is asked of 64 states at once (see ``planes``)."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeAlias

import numpy as np

from fencepost.model.kernel.compiler.loops import (
    Integer,
    Word,
    bit_count,
    bump,
    call2,
    call3,
    call4,
    fetch_add,
    load,
    load_int,
    load_published,
    lowest_bit,
    native,
    store,
    store_half,
    store_quarter,
)
from fencepost.model.kernel.compiler.packing import Integers, N, W, Words
from fencepost.model.kernel.compiler.planes import TOGETHER, spread
from fencepost.model.kernel.compiler.program import Program, canonicalise, compare, copy, has, same
from fencepost.model.kernel.search.store import Frontier, Space, fetch_line, fetch_match, hash_state, insert, segment_of
from fencepost.model.kernel.search.transitions import COUNT_BITS, NOTHING_RECORDED, Record

BATCH = 128
"""Successors beyond which they are looked up together, so that their ways to memory overlap; an action adds at most 64."""

ROOM = BATCH + TOGETHER
"""Successors that a worker has room for."""

CHUNK = 1024
"""Places of the array that a thread takes for itself at a time."""

SMALL = 4096
"""States that are not worth waking the other workers for."""

LOG_LENGTH = 4096
"""Segments in a worker's log beyond which it asks the driver to take them; a block adds at most one for each action."""

_ALL = ~np.uint64(0)
_ZERO, _ONE = np.uint64(0), np.uint64(1)

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


class Worker(NamedTuple, Generic[W, N]):
    """What one thread writes to: arrays, or their addresses. ``found_state`` and ``found_action`` hold, in each row, the
    smallest find so far (action -1: none); ``log`` the closed segments of the array that it filled; ``entries`` where the
    transition to each successor is recorded, ``nexts`` where the next one of each of 64 states will be; the rest is
    counters, bit sets and room."""

    counters: N
    log: N
    enabled: N
    seen: W
    seen_steps: W
    found_state: W
    found_action: N
    successors: W
    hashes: W
    matches: N
    entries: N
    nexts: N
    planes: W
    possible: W
    observed: W
    concerned: W
    bits: W
    scratch: W

    @staticmethod
    def of(program: Program, rows: int, room: int = ROOM) -> Worker[Words, Integers]:
        """A worker with nothing counted and nothing found, for ``rows`` kinds of finds and ``room`` successors."""
        observed = max(program.formulas, program.step_formulas)
        return Worker(
            counters=np.zeros(8, dtype=np.int64),
            log=np.zeros((LOG_LENGTH + program.actions + 8, 2), dtype=np.int64),
            enabled=np.zeros(program.actions, dtype=np.int64),
            seen=np.zeros(program.observe_words, dtype=np.uint64),
            seen_steps=np.zeros(program.step_words, dtype=np.uint64),
            found_state=np.zeros((rows, program.words), dtype=np.uint64),
            found_action=np.full(rows, -1, dtype=np.int64),
            successors=np.zeros((room, program.words), dtype=np.uint64),
            hashes=np.zeros(room, dtype=np.uint64),
            matches=np.zeros(room, dtype=np.int64),
            entries=np.zeros(room, dtype=np.int64),
            nexts=np.zeros(TOGETHER, dtype=np.int64),
            planes=np.zeros(TOGETHER * program.words, dtype=np.uint64),
            possible=np.zeros(program.actions, dtype=np.uint64),
            observed=np.zeros(observed, dtype=np.uint64),
            concerned=np.zeros(program.step_words, dtype=np.uint64),
            bits=np.zeros(TOGETHER, dtype=np.uint64),
            scratch=np.zeros(program.words, dtype=np.uint64),
        )


Tally: TypeAlias = Worker[Words, Integers]


def take_segments(worker: Tally) -> list[tuple[int, int]]:
    """The segments of the array that were filled since they were last taken; the open one goes on after its end."""
    counters = worker.counters
    taken = [(int(start), int(end)) for start, end in worker.log[: counters[LOGGED]]]
    if counters[POSITION] > counters[SEGMENT]:
        taken.append((int(counters[SEGMENT]), int(counters[POSITION])))
    counters[SEGMENT] = counters[POSITION]
    counters[LOGGED] = 0
    return taken


@native
def note(worker: Worker[int, int], row: Integer, state: Integer, action: Integer, words: Integer) -> None:
    """Keeps a find if it is smaller than the one that its row holds: by state, then by action."""
    smallest, its_action = worker.found_state + 8 * words * row, worker.found_action + 8 * row
    if load_int(its_action) >= 0:
        order = compare(state, smallest, words)
        if order > 0 or (order == 0 and action >= load_int(its_action)):
            return
    copy(state, smallest, words)
    store(its_action, np.uint64(action))


@native
def _see(
    worker: Worker[int, int],
    seen: Integer,
    alarm: Integer,
    row: Integer,
    formula: Integer,
    states: Integer,
    which: Word,
    action: Integer,
    words: Integer,
) -> None:
    """Takes in that a formula holds in some of 64 states, or on the steps from them: marks it as seen, notes a violation."""
    if which == _ZERO:
        return
    word = 8 * (formula // TOGETHER)
    store(seen + word, load(seen + word) | _ONE << np.uint64(formula % TOGETHER))
    if has(alarm, formula):
        _note_each(worker, row + formula, states, which, action, words)


@native
def _note_each(worker: Worker[int, int], row: Integer, states: Integer, which: Word, action: Integer, words: Integer) -> None:
    """Notes some of 64 states."""
    while which != _ZERO:
        note(worker, row, states + 8 * words * lowest_bit(which), action, words)
        which &= which - _ONE


@native
def _see_steps(
    program: Program, alarms: Alarms, worker: Worker[int, int], states: Integer, action: Integer, which: Word
) -> None:
    """Takes in what is observed of the steps that an action makes from some of 64 states, whose planes are there."""
    call4(program.step_planes, worker.planes, action, worker.observed, worker.concerned)
    for word in range(program.step_words):
        concerned = load(worker.concerned + 8 * word)
        while concerned != _ZERO:
            formula = TOGETHER * word + lowest_bit(concerned)
            concerned &= concerned - _ONE
            holding = load(worker.observed + 8 * formula) & which
            _see(worker, worker.seen_steps, alarms.steps, alarms.step_row, formula, states, holding, action, program.words)


@native
def _see_step(
    program: Program, alarms: Alarms, worker: Worker[int, int], state: Integer, action: Integer, after: Integer
) -> None:
    """Takes in what is observed of one step."""
    call3(program.observe_step, state, after, worker.concerned)
    for word in range(program.step_words):
        holding = load(worker.concerned + 8 * word)
        if holding == _ZERO:
            continue
        store(worker.seen_steps + 8 * word, load(worker.seen_steps + 8 * word) | holding)
        holding &= load(alarms.steps + 8 * word)
        while holding != _ZERO:
            note(worker, alarms.step_row + TOGETHER * word + lowest_bit(holding), state, action, program.words)
            holding &= holding - _ONE


@native
def _see_stuck(program: Program, alarms: Alarms, worker: Worker[int, int], states: Integer, which: Word) -> None:
    """Takes in that some of 64 states, whose planes are there, have no successor: a deadlock where a run may not end."""
    if alarms.may_end >= 0:
        call2(program.observe_planes, worker.planes, worker.observed)
        which &= ~load(worker.observed + 8 * alarms.may_end)
    bump(worker.counters + 8 * DEADLOCKS, bit_count(which))
    _note_each(worker, DEADLOCK_ROW, states, which, 0, program.words)


@native
def _take_chunk(space: Space, shared: Integer, worker: Worker[int, int]) -> bool:
    """Gives the worker room for more states; false if there is none."""
    first = fetch_add(shared + 8 * TOP, CHUNK)
    if first + CHUNK > space.capacity:
        return False
    begin, position = load_int(worker.counters + 8 * SEGMENT), load_int(worker.counters + 8 * POSITION)
    if first != position:  # another worker has taken the chunk in between: the segment ends
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
def absorb(program: Program, space: Space, shared: Integer, worker: Worker[int, int], record: Record, count: Integer) -> bool:
    """Adds the worker's first ``count`` successors, already hashed, to the visited states, and records where each is; false if
    the array is full."""
    words = program.words
    # what each will be compared with is asked of memory for all of them before the first comparison waits for it
    for number in range(count):
        store(worker.matches + 8 * number, np.uint64(fetch_match(space, load(worker.hashes + 8 * number))))
    for number in range(count):
        match: Integer = load_int(worker.matches + 8 * number)
        if match < 0 or not same(space.states + 8 * words * match, worker.successors + 8 * words * number, words):
            place = load_int(worker.counters + 8 * POSITION)
            if place == load_int(worker.counters + 8 * END):
                if not _take_chunk(space, shared, worker):
                    return False
                place = load_int(worker.counters + 8 * POSITION)
            match = insert(space, load(worker.hashes + 8 * number), worker.successors + 8 * words * number, place)
            if match == place:
                store(worker.counters + 8 * POSITION, np.uint64(place + 1))
                bump(worker.counters + 8 * NEW, 1)
        if record.rows != 0:
            entry = load_int(worker.entries + 8 * number)
            if entry >= 0:
                store_half(record.targets + 4 * entry, match)
    return True


@native
def seed(program: Program, space: Space, shared: Integer, worker: Worker[int, int], count: Integer) -> bool:
    """Adds the first ``count`` states in the worker's room for successors, which are initial; false if the array is full."""
    for number in range(count):
        state = worker.successors + 8 * program.words * number
        canonicalise(program, state, worker.scratch)
        store(worker.hashes + 8 * number, hash_state(state, program.words))
    return absorb(program, space, shared, worker, NOTHING_RECORDED, count)


@native
def expand(
    program: Program,
    space: Space,
    frontier: Frontier,
    shared: Integer,
    alarms: Alarms,
    worker: Worker[int, int],
    record: Record,
    block: Integer,
) -> int:
    """Expands blocks of the frontier until none is left (DONE), the table must grow, the log is full or stop is set (PAUSED),
    or the array is full (FULL). A block that was begun is finished unless the array is full."""
    starts, ordinals = frontier.starts, frontier.ordinals
    total = ordinals[-1]
    while True:
        if load_published(shared + 8 * STOP) != np.uint64(0) or load_int(worker.counters + 8 * LOGGED) > LOG_LENGTH:
            return PAUSED
        # only the driver makes a larger table, when no worker looks into this one
        if np.int64(load_published(shared + 8 * TOP)) > space.grow_at:
            return PAUSED
        first = fetch_add(shared + 8 * CURSOR, block)
        if first >= total:
            return DONE
        segment, ordinal, last = segment_of(ordinals, first), first, min(first + block, total)
        pending = 0
        while ordinal < last:
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            place = starts[segment] + ordinal - ordinals[segment]
            count = min(TOGETHER, last - ordinal, ordinals[segment + 1] - ordinal)
            pending = expand_together(program, space, shared, alarms, worker, record, place, count, pending, BATCH)
            if pending < 0:
                return FULL
            ordinal += count
        if not absorb(program, space, shared, worker, record, pending):
            return FULL


@native
def expand_together(
    program: Program,
    space: Space,
    shared: Integer,
    alarms: Alarms,
    worker: Worker[int, int],
    record: Record,
    place: Integer,
    count: Integer,
    pending: int,
    batch: Integer,
) -> int:
    """Expands up to 64 states that lie one after the other, from that place on; of the worker's successors ``pending`` are
    still to be looked up, before and, returned, after it; -1 if the array is full. They are looked up once there are ``batch``
    of them."""
    words, states = program.words, space.states + 8 * program.words * place
    spread(states, words, count, worker.planes)
    call2(program.enabled_planes, worker.planes, worker.possible)
    present = _ALL >> np.uint64(TOGETHER - count)  # the planes of fewer than 64 states say something of no state above
    recorded = record.rows != 0 and _begin_rows(program, worker, record, place, count)
    stuck = present
    for action in range(program.actions):
        which = load(worker.possible + 8 * action) & present
        if which == _ZERO:
            continue
        stuck &= ~which
        bump(worker.enabled + 8 * action, bit_count(which))
        bump(worker.counters + 8 * TRANSITIONS, bit_count(which))
        if program.step_planes != 0:
            _see_steps(program, alarms, worker, states, action, which)
        first = pending
        while which != _ZERO:
            number, successor = lowest_bit(which), worker.successors + 8 * words * pending
            state = states + 8 * words * number
            call3(program.apply, state, action, successor)
            if record.rows != 0:
                entry = -1
                if recorded:
                    entry = load_int(worker.nexts + 8 * number)
                    bump(worker.nexts + 8 * number, 1)
                    store_quarter(record.actions + 2 * entry, action)
                store(worker.entries + 8 * pending, np.uint64(entry))
            if program.observe_step != 0:
                _see_step(program, alarms, worker, state, action, successor)
            which &= which - _ONE
            canonicalise(program, successor, worker.scratch)
            pending += 1
        # the lines are on their way while the next action is applied
        for number in range(first, pending):
            value = hash_state(worker.successors + 8 * words * number, words)
            store(worker.hashes + 8 * number, value)
            fetch_line(space, value)
        if pending >= batch:
            if not absorb(program, space, shared, worker, record, pending):
                return -1
            pending = 0
    if stuck != _ZERO:
        _see_stuck(program, alarms, worker, states, stuck)
    return pending


@native
def _begin_rows(program: Program, worker: Worker[int, int], record: Record, place: Integer, count: Integer) -> bool:
    """Gives the transitions of up to 64 states, from that place on, their rows; false if there is no room for them."""
    for number in range(count):
        store(worker.nexts + 8 * number, _ZERO)
    total = 0
    for word in range(program.enabled_words):
        spread(worker.possible + 8 * TOGETHER * word, 1, min(TOGETHER, program.actions - TOGETHER * word), worker.bits)
        for number in range(count):
            its = bit_count(load(worker.bits + 8 * number))
            bump(worker.nexts + 8 * number, its)
            total += its
    first = fetch_add(record.taken, total)
    if first + total > record.room or place + count > record.places:
        return False
    for number in range(count):
        its = load_int(worker.nexts + 8 * number)
        store(record.rows + 8 * (place + number), np.uint64(first << COUNT_BITS | its))
        store(worker.nexts + 8 * number, np.uint64(first))
        first += its
    return True


@native
def _record_observed(program: Program, worker: Worker[int, int], record: Record, place: Integer, count: Integer) -> None:
    """Writes what is observed of up to 64 states, from that place on, whose planes are there."""
    for word in range(program.observe_words):
        its = min(TOGETHER, program.formulas - TOGETHER * word)
        spread(worker.observed + 8 * TOGETHER * word, 1, its, worker.bits)
        for number in range(count):
            store(record.observed + 8 * (program.observe_words * (place + number) + word), load(worker.bits + 8 * number))


@native
def observe(
    program: Program,
    space: Space,
    frontier: Frontier,
    shared: Integer,
    alarms: Alarms,
    worker: Worker[int, int],
    record: Record,
    block: Integer,
) -> None:
    """Takes in what is observed of the states of the frontier."""
    words = program.words
    starts, ordinals = frontier.starts, frontier.ordinals
    total = ordinals[-1]
    while True:
        first = fetch_add(shared + 8 * CURSOR, block)
        if first >= total:
            return
        segment, ordinal, last = segment_of(ordinals, first), first, min(first + block, total)
        while ordinal < last:
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            place = starts[segment] + ordinal - ordinals[segment]
            states = space.states + 8 * words * place
            count = min(TOGETHER, last - ordinal, ordinals[segment + 1] - ordinal)
            spread(states, words, count, worker.planes)
            call2(program.observe_planes, worker.planes, worker.observed)
            if record.rows != 0 and place + count <= record.places:
                _record_observed(program, worker, record, place, count)
            for formula in range(program.formulas):
                holding = load(worker.observed + 8 * formula) & _ALL >> np.uint64(TOGETHER - count)
                _see(worker, worker.seen, alarms.states, 1, formula, states, holding, 0, words)
            ordinal += count
