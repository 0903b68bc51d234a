"""One random walk, and the loop over many: a function of the protocol, the strategy, the seed and its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.loops import (
    Integer,
    Word,
    bit_count,
    bump,
    call2,
    call6,
    load,
    load_int,
    lowest_bit,
    lowest_bit_but,
    native,
    store,
)
from fencepost.model.kernel.compiler.packing import Integers, N, W, Words
from fencepost.model.kernel.compiler.program import Program, copy, has, take
from fencepost.model.kernel.search.store import hash_state

if TYPE_CHECKING:
    from fencepost.model.kernel.walks.course import Course

STEPS, DEADLOCKS, SAMPLED = range(3)
UNIFORM, SWARM, HELD = range(3)
HOLD = np.uint64(6)
"""A walk that holds on to an order of the actions draws another at one step in so many."""

_ONE, _ZERO = np.uint64(1), np.uint64(0)
GAMMA = np.uint64(0x9E3779B97F4A7C15)


class Walker(NamedTuple, Generic[W, N]):
    """What one thread writes to, as arrays or their addresses: counts, bit sets, and in each row of finds (for the observed
    formulas, those over steps, deadlocks) the smallest walk that has one (-1: none) and after how many steps; hashes of
    sampled states; room for two states."""

    counters: N
    enabled: W
    taken: N
    seen: W
    seen_steps: W
    found_walk: N
    found_step: N
    sample: W
    mask: W
    subset: W
    observed: W
    observed_steps: W
    states: W

    @staticmethod
    def of(program: Program, rows: int, sample: int) -> Walker[Words, Integers]:
        """A walker with nothing counted, for that many kinds of finds and, at most, hashes."""
        return Walker(
            counters=np.zeros(3, dtype=np.int64),
            enabled=np.zeros(program.enabled_words, dtype=np.uint64),
            taken=np.zeros(program.actions, dtype=np.int64),
            seen=np.zeros(program.observe_words, dtype=np.uint64),
            seen_steps=np.zeros(program.step_words, dtype=np.uint64),
            found_walk=np.full(rows, -1, dtype=np.int64),
            found_step=np.full(rows, -1, dtype=np.int64),
            sample=np.zeros(sample, dtype=np.uint64),
            mask=np.zeros(program.enabled_words, dtype=np.uint64),
            subset=np.zeros(program.enabled_words, dtype=np.uint64),
            observed=np.zeros(program.observe_words, dtype=np.uint64),
            observed_steps=np.zeros(program.step_words, dtype=np.uint64),
            states=np.zeros((2, program.words), dtype=np.uint64),
        )


class Trail(NamedTuple, Generic[W, N]):
    """Where a walk is written down, as arrays or their addresses (0: it is not): states, actions, and how many steps."""

    states: W
    actions: N
    length: N

    @staticmethod
    def of(words: int, steps: int) -> Trail[Words, Integers]:
        """Room for a walk of that many steps."""
        return Trail(np.zeros((steps + 1, words), np.uint64), np.zeros(steps, np.int64), np.zeros(1, np.int64))


NO_TRAIL = Trail(0, 0, 0)


@native
def mix(value: Word) -> Word:
    """The output function of SplitMix64."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@native
def _below(random: Word, count: Integer) -> Integer:
    """One of 0 .. count - 1, from 64 random bits."""
    return np.int64(((random >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@native
def _leave_out(program: Program, walker: Walker[int, int], stream: Word) -> Word:
    """Chooses the actions that a walk keeps: all, three quarters, half or a quarter of them; returns the stream after it."""
    stream += GAMMA
    share = mix(stream) & np.uint64(3)
    for word in range(program.enabled_words):
        one, other = mix(stream + GAMMA), mix(stream + GAMMA + GAMMA)
        stream += GAMMA + GAMMA
        bits = ~_ZERO
        if share == _ONE:
            bits = one | other
        elif share == np.uint64(2):
            bits = one
        elif share == np.uint64(3):
            bits = one & other
        store(walker.subset + 8 * word, bits)
    return stream


@native
def _mark(program: Program, walker: Walker[int, int]) -> None:
    """Takes in which actions are enabled."""
    for word in range(program.enabled_words):
        store(walker.enabled + 8 * word, load(walker.enabled + 8 * word) | load(walker.mask + 8 * word))


@native
def _choose(program: Program, walker: Walker[int, int], swarm: bool, random: Word) -> Integer:
    """One of the enabled actions, each as likely; of the kept ones if the walk leaves some out, unless none of these is
    enabled; -1 if no action is enabled at all."""
    every = some = 0
    for word in range(program.enabled_words):
        bits = load(walker.mask + 8 * word)
        every += bit_count(bits)
        if swarm:
            some += bit_count(bits & load(walker.subset + 8 * word))
    if every == 0:
        return -1
    rank = _below(random, some if some > 0 else every)
    for word in range(program.enabled_words):
        bits = load(walker.mask + 8 * word)
        if some > 0:
            bits &= load(walker.subset + 8 * word)
        here = bit_count(bits)
        if rank < here:
            return 64 * word + lowest_bit_but(bits, rank)
        rank -= here
    return -1


@native
def first_of(program: Program, enabled: Integer, order: Word) -> Integer:
    """The first of the enabled actions in an order that 64 random bits stand for; -1 if none is enabled.

    First is the action whose hash with these bits is the greatest (rendezvous hashing), so that only the enabled ones are
    looked at and none loses its place when others come or go.
    """
    first: Integer = np.int64(-1)
    greatest = _ZERO
    for word in range(program.enabled_words):
        bits = load(enabled + 8 * word)
        while bits != _ZERO:
            action = 64 * word + lowest_bit(bits)
            bits &= bits - _ONE
            key = mix(order + np.uint64(action) * GAMMA)
            if key >= greatest:
                first, greatest = action, key
    return first


@native
def _find(walker: Walker[int, int], row: Integer, number: Integer, step: Integer) -> None:
    """Notes a find in a row, if no smaller walk has one."""
    known = load_int(walker.found_walk + 8 * row)
    if known < 0 or number < known:
        store(walker.found_walk + 8 * row, np.uint64(number))
        store(walker.found_step + 8 * row, np.uint64(step))


@native
def _violates(
    walker: Walker[int, int],
    observed: Integer,
    seen: Integer,
    alarm: Integer,
    length: Integer,
    row: Integer,
    number: Integer,
    step: Integer,
) -> bool:
    """Takes in what was observed; whether it was a violation."""
    violation = False
    for word in range(length):
        bits = load(observed + 8 * word)
        store(seen + 8 * word, load(seen + 8 * word) | bits)
        bits &= load(alarm + 8 * word)
        while bits != _ZERO:
            _find(walker, row + 64 * word + lowest_bit(bits), number, step)
            violation = True
            bits &= bits - _ONE
    return violation


@native
def look(program: Program, state: Integer, mask: Integer, observed: Integer) -> None:
    """Writes which actions are enabled and which observed formulas hold in the state at an address."""
    call2(program.enabled, state, mask)
    if program.formulas != 0:
        call2(program.observe, state, observed)


@native
def _visit(program: Program, course: Course, walker: Walker[int, int], state: Integer, number: Integer, step: Integer) -> bool:
    """Samples a state, whose observed formulas are known; whether it is a violation."""
    fingerprint = hash_state(state, program.words)
    if fingerprint & np.uint64(course.sample_mask) == _ZERO:
        store(walker.sample + 8 * load_int(walker.counters + 8 * SAMPLED), fingerprint)
        bump(walker.counters + 8 * SAMPLED, 1)
    if program.formulas == 0:
        return False
    return _violates(walker, walker.observed, walker.seen, course.alarm, program.observe_words, 0, number, step)


@native
def walk_once(program: Program, course: Course, number: Integer, walker: Walker[int, int], trail: Trail[int, int]) -> None:
    """Walks once: up to the most steps, a violation or a deadlock."""
    words, state = program.words, walker.states
    after = state + 8 * words
    stream = mix(mix(np.uint64(course.seed) + GAMMA) ^ (np.uint64(number) * GAMMA))
    swarm, held = course.strategy == SWARM, course.strategy == HELD and number & 1 == 1
    if swarm:
        stream = _leave_out(program, walker, stream)
    stream += GAMMA
    random = mix(stream)
    order = mix(random)
    start = _below(random, course.initials)
    copy(course.initial + 8 * words * start, state, words)
    copy(course.initial_masks + 8 * program.enabled_words * start, walker.mask, program.enabled_words)
    copy(course.initial_observed + 8 * program.observe_words * start, walker.observed, program.observe_words)
    if trail.states != 0:
        copy(state, trail.states, words)
    if _visit(program, course, walker, state, number, 0):
        return
    for step in range(1, course.steps + 1):
        stream += GAMMA
        random = mix(stream)
        _mark(program, walker)
        if held:
            if random % HOLD == _ZERO:
                order = mix(random)
            action = first_of(program, walker.mask, order)
        else:
            action = _choose(program, walker, swarm, random)
        if action < 0:
            bump(walker.counters + 8 * DEADLOCKS, 1)
            if course.may_end >= 0 and not has(walker.observed, course.may_end):
                _find(walker, course.deadlock_row, number, step - 1)
            return
        bump(walker.taken + 8 * action, 1)
        bump(walker.counters + 8 * STEPS, 1)
        if program.advance != 0:
            call6(program.advance, state, action, after, walker.observed_steps, walker.mask, walker.observed)
        else:
            take(program, state, action, after, walker.observed_steps)
            look(program, after, walker.mask, walker.observed)
        if trail.states != 0:
            store(trail.actions + 8 * (step - 1), np.uint64(action))
            copy(after, trail.states + 8 * words * step, words)
            store(trail.length, np.uint64(step))
        violated = _violates(
            walker,
            walker.observed_steps,
            walker.seen_steps,
            course.step_alarm,
            program.step_words,
            course.step_row,
            number,
            step,
        )
        state, after = after, state
        if _visit(program, course, walker, state, number, step) or violated:
            return


@native
def walk_all(
    program: Program,
    course: Course,
    first: int,
    end: int,
    hashes: Integer,
    walker: Walker[int, int],
    trail: Trail[int, int],
) -> int:
    """The walks with numbers from ``first`` up to ``end``, or until that many hashes are sampled; returns the number of the
    next one."""
    number = first
    while number < end and load_int(walker.counters + 8 * SAMPLED) < hashes:
        walk_once(program, course, number, walker, trail)
        number += 1
    return number
