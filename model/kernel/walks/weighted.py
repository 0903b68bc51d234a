"""Walks with a rate for each action and a weight: they estimate how often something rare happens, without a graph.

A walk is a cycle from message to message (the phases and modes of ``law``). Half of the walks follow the undisturbed
traffic, half a disturbance, from a fault at rest, until the message that meets it. A walk chooses otherwise than the rates say,
and weighs less for what it makes likelier, so that the mean of the scores is that of the rates. Rare actions together have a
fixed probability (balanced failure biasing: Shahabuddin, Management Science 40, 1994); where there is a guide, most choices go
by the rates times its factors. The score of a walk is a function of seed and number alone.
"""

from __future__ import annotations

import math

import numpy as np

from fencepost.model.kernel.compiler.loops import Integer, Real, Word, call6, lowest_bit, native
from fencepost.model.kernel.compiler.packing import Floats
from fencepost.model.kernel.compiler.program import Program, copy
from fencepost.model.kernel.walks.law import (
    AFTER,
    ARRIVAL,
    ENDING,
    FAULT,
    FIRST,
    IN,
    LEAD,
    MODES,
    ON,
    PRE,
    STEP,
    STIRRED,
    Bases,
    Law,
    Place,
    ended,
    exponential,
    passed,
    run,
    soonest,
    uniform,
)
from fencepost.model.kernel.walks.walking import GAMMA, mix

SCORE, SQUARES, STEPS, HITS = range(4)
MOST = 1 << 14
"""Steps after which a walk is given up: none of a protocol that uses up budgets is as long."""
_ZERO, _ONE, _TIME = np.uint64(0), np.uint64(1), np.uint64(0x9E6C63D0876A3B5F)
_BEGINS, _ENDS, _ENDS_BESIDE, _COMES = range(4)
_TRAFFIC, _REPAIR, _BIAS, _PLAIN = range(4)


@native
def _gather(program: Program, law: Law, place: Place, phase: Integer, mode: Integer) -> tuple[Integer, Integer]:
    """Writes what may happen, with its rates; returns how much, and the action that is a message, or -1: in PRE that is none of
    what happens."""
    count, arrival, is_ending = np.int64(0), np.int64(-1), False
    slow = phase not in (ON, AFTER)
    for word in range(program.enabled_words):
        bits = place.mask[word]
        while bits != _ZERO:
            action = np.int64(64 * word + lowest_bit(bits))
            bits &= bits - _ONE
            kind = law.kinds[action]
            if kind == ARRIVAL and phase == PRE:
                arrival = action
                continue
            if kind == STEP and mode == 1 and law.blocked[action]:
                continue
            if (kind == FAULT and not slow) or (kind == ENDING and (not slow or mode != 1)):
                continue
            is_ending |= kind == ENDING
            place.choices[count], place.rates[count] = action, law.rates[action]
            place.rare[count] = 1 if kind in (FAULT, ENDING) else 0
            count += 1
    for one in range(count):  # outcomes of one clock share its rate
        action = place.choices[one]
        if law.shares[action]:
            same = 0
            for other in range(count):
                if law.clocks[place.choices[other]] == law.clocks[action]:
                    same += 1
            place.rates[one] /= same
    if law.modes > 1 and mode < 2 and slow:
        which = _BEGINS if mode == 0 else _ENDS_BESIDE if is_ending else _ENDS
        place.choices[count], place.rates[count] = program.actions + which, law.rates[program.actions + which]
        place.rare[count] = 1
        count += 1
    return count, arrival


@native
def _choose(law: Law, place: Place, count: Integer, row: Integer, random: Word, only_rare: bool) -> Integer:
    """One of the choices, or -1 if there is none; the weight is multiplied by how much less likely the rates make it."""
    usual, rare_rate, guided, rare = 0.0, 0.0, 0.0, 0
    for one in range(count):
        rate = place.rates[one]
        if rate > 0.0 and law.durations[place.choices[one]] < 0:
            guided += rate * law.factors[row, place.choices[one]]
            if place.rare[one]:
                rare, rare_rate = rare + 1, rare_rate + rate
            else:
                usual += rate
    total = usual + rare_rate
    if total <= 0.0 or (only_rare and rare == 0):
        return np.int64(-1)
    tilt = 0.0 if rare == 0 else 1.0 if usual <= 0.0 or only_rare else law.numbers[_BIAS]
    plain = law.numbers[_PLAIN] if guided > 0.0 else 1.0
    level, last, weight = uniform(random), np.int64(-1), 0.0
    for one in range(count):
        rate = place.rates[one]
        if rate > 0.0 and law.durations[place.choices[one]] < 0:
            chance = plain * (tilt / rare if place.rare[one] else (1.0 - tilt) * rate / usual)
            if guided > 0.0:
                chance += (1.0 - plain) * rate * law.factors[row, place.choices[one]] / guided
            if chance > 0.0:
                last, weight = np.int64(one), rate / total / chance
                level -= chance
                if level < 0.0:
                    break
    place.weight[0] *= weight
    return last


@native
def _leaves(program: Program, law: Law, place: Place, count: Integer) -> tuple[Real, bool]:
    """The rate at which a disturbance without traffic goes on, and whether it rests: only a fault can happen. What waits for a
    duration has no rate."""
    every, going = 0.0, 0.0
    for one in range(count):
        choice = place.choices[one]
        if law.durations[choice] < 0:
            every += place.rates[one]
        is_fault = choice == program.actions + _BEGINS or (choice < program.actions and law.kinds[choice] == FAULT)
        if not is_fault:
            going += place.rates[one]
    return every, going <= 0.0


@native
def _walk(program: Program, law: Law, bases: Bases, place: Place, seed: Integer, number: Integer, sums: Floats) -> None:
    """Walks one cycle, and adds its score, its square, its steps and whether it has a score to ``sums``."""
    stream = mix(mix(np.uint64(seed) + GAMMA) ^ (np.uint64(number) * GAMMA))
    stream += GAMMA
    random, base = mix(stream), np.int64(0)
    while base < len(bases.upto) - 1 and uniform(random) >= bases.upto[base]:
        base += 1
    words, state = program.words, place.states.ctypes.data
    after = state + 8 * words
    copy(bases.states.ctypes.data + 8 * words * base, state, words)
    for word in range(program.enabled_words):
        place.mask[word] = bases.masks[base, word]
    for word in range(program.observe_words):
        place.observed[word] = bases.observed[base, word]
    stream += GAMMA
    disturbed = mix(stream) & _ONE == _ZERO
    phase, mode, place.weight[0], steps = PRE, 0, 2.0, 0
    place.left[:] = -1.0
    for _ in range(MOST):
        lost = place.observed[0] >> (_ONE if phase in (IN, ON) else _ZERO) & _ONE != _ZERO
        if lost:
            if phase not in (PRE, LEAD):
                score = place.weight[0] * law.numbers[_TRAFFIC]
                sums[SCORE] += score
                sums[SQUARES] += score * score
                sums[HITS] += 1.0
            break
        stream += GAMMA
        random = mix(stream)
        run(program, law, place, mode == 1, random)
        count, arrival = _gather(program, law, place, phase, mode)
        every, rests = _leaves(program, law, place, count)
        arrives, over = phase == PRE and not disturbed, np.int64(-1)
        leaves = every + (law.numbers[_REPAIR] if rests and phase == PRE else 0.0)
        each, stays = soonest(law, place, count), 0.0
        if each >= 0 and not arrives and not (disturbed and steps == 0):
            stays = exponential(mix(random ^ _TIME)) / leaves if leaves > 0.0 else math.inf
            if place.left[each] <= stays:
                over, stays = np.int64(each), place.left[each]
        if phase == PRE and disturbed:
            if steps == 0:
                place.weight[0] *= every
            elif rests and law.numbers[_REPAIR] <= 0.0 and arrival < 0:
                break
            else:
                if arrival >= 0:  # the message comes now, or the disturbance goes on
                    share = law.factors[mode, program.actions + _COMES]
                    arrives = uniform(random) < share
                    place.weight[0] /= share if arrives else 1.0 - share
                if arrives:
                    place.weight[0] *= 1.0 / leaves if each < 0 else stays
                    stays *= uniform(mix(random + _TIME))  # it comes at any time of the stay
                elif rests and over < 0:
                    place.weight[0] *= every / leaves
        passed(place, stays)
        if arrives:
            if arrival < 0:
                break
            action, phase = arrival, law.opens
        else:
            row = FIRST if disturbed and steps == 0 else phase * MODES + mode
            if over >= 0:
                one = ended(law, place, count, over, mix(random))
            else:
                one = _choose(law, place, count, row, mix(random), disturbed and steps == 0)
            if one < 0:
                break
            action = place.choices[one]
            if place.rare[one] and phase == IN:
                phase = STIRRED
            elif action < program.actions and law.kinds[action] == ARRIVAL:
                phase = IN if phase == LEAD else ON if phase in (IN, ON) else AFTER
            if action >= program.actions or law.kinds[action] == ENDING:
                mode += 1
        steps += 1
        if action < program.actions:
            call6(
                program.advance,
                state,
                action,
                after,
                place.step_observed.ctypes.data,
                place.mask.ctypes.data,
                place.observed.ctypes.data,
            )
            state, after = after, state
    sums[STEPS] += steps


@native
def walk_weighted(
    program: Program, law: Law, bases: Bases, place: Place, seed: Integer, first: Integer, end: Integer, sums: Floats
) -> None:
    """The walks from number ``first`` up to ``end``: adds what they come to to ``sums``."""
    for number in range(first, end):
        _walk(program, law, bases, place, seed, number, sums)
