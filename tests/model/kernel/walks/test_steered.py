"""Runs that are steered from outside: what is taken is what the kernel allows, and bytes pick it as they say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.program import Program, bit_set
from fencepost.model.kernel.walks.steered import Steered
from fencepost.model.kernel.walks.walking import first_of
from fencepost.model.language import Not, OneOf, Protocol

BYTES = bytes(range(1, 256)) * 4


def ring(*, size: int = 5, ends: bool = False) -> Protocol:
    """A point that goes round, or to the end and no further."""
    p = Protocol("ring")
    place = p.number("place", 0, size - 1, init=OneOf((0, 1)))
    moved = p.number("moved", 0, 3)

    @p.step(by="point")
    def onward() -> Any:
        """One place on."""
        return place < size - 1, {place: place + 1}

    @p.step(by="point")
    def home() -> Any:
        """Back to the beginning."""
        return (place == size - 1) if not ends else False, {place: 0}

    @p.step(by="other", i=range(3))
    def move(i: int) -> Any:
        """Something else, which takes its turns."""
        return moved == i, {moved: i + 1}

    return p


def replayed(steered: Steered) -> None:
    """Every action of the run was enabled when it was taken, and what is enabled now is so by the kernel."""
    path = steered.path
    for state, action in zip(path.states, path.actions, strict=False):
        assert action in steered.kernel.enabled(np.array(state, dtype=np.uint64))
    last = np.array(path.states[-1], dtype=np.uint64)
    assert steered.enabled == sum(1 << number for number in steered.kernel.enabled(last))


def test_bytes_choose_enabled_actions_the_same_each_time() -> None:
    kernel = Kernel(ring())
    steered = Steered(kernel)
    assert steered.follow(BYTES) == len(BYTES) == len(steered.actions)
    replayed(steered)
    other = Steered(kernel)
    other.follow(BYTES)
    assert other.actions == steered.actions


def test_a_byte_of_zero_takes_no_step() -> None:
    steered = Steered(Kernel(ring()))
    assert steered.follow(bytes(64)) == 0
    assert steered.follow(bytes([0, 7, 0, 9])) == 2


def test_a_run_that_is_over_begins_anew_in_any_initial_state() -> None:
    steered = Steered(Kernel(ring(ends=True)))
    starts = set()
    for first in range(1, 255, 10):
        assert steered.follow(bytes([first, first + 1]) * 32) < 64
        replayed(steered)
        starts.add(steered.start)
    assert starts == {0, 1}


def test_steps_are_taken_one_by_one() -> None:
    steered = Steered(Kernel(ring(size=2)))
    onward, home = 0, 1
    steered.take(onward)
    with pytest.raises(ValueError, match="onward is not enabled here"):
        steered.take(onward)
    steered.take(home)
    assert steered.actions == [onward, home]
    steered.begin(1)
    assert (steered.start, steered.actions) == (1, [])
    with pytest.raises(IndexError):
        steered.begin(2)


def test_a_violation_stops_it_where_it_is() -> None:
    p = ring()
    of_state = Kernel(p, [p.state.place == 3], [])
    steered = Steered(of_state, alarm=[0])
    steered.follow(BYTES)
    assert steered.is_violated
    assert steered.violated == ((0,), (), False)
    assert [0 in of_state.observe(np.array(s, dtype=np.uint64)) for s in steered.path.states].index(True) == len(
        steered.actions
    )
    of_step = Kernel(p, [], [p.next.place < p.state.place])
    steered = Steered(of_step, step_alarm=[0])
    steered.follow(BYTES)
    assert steered.violated == ((), (0,), False)
    assert steered.kernel.actions[steered.actions[-1]].name == "home"
    steered.begin()
    assert not steered.is_violated


def test_an_end_where_a_run_may_not_end_is_a_violation() -> None:
    p = ring(ends=True)
    steered = Steered(Kernel(p, [Not(p.state.moved == 3)]), may_end=0)
    steered.follow(BYTES)
    assert steered.violated == ((), (), True)
    assert steered.enabled == 0
    may = Steered(Kernel(p, [p.state.moved == 3]), may_end=0)
    may.follow(BYTES)
    assert not may.is_violated


def _pick(among: set[int], choice: int, program: Program) -> int:
    mask = bit_set(among, program.enabled_words)
    return int(first_of(program, mask.ctypes.data, np.uint64(choice * 0x9E3779B97F4A7C15 % 2**64)))


def test_actions_are_picked_about_as_often_and_stay_picked_as_others_come_and_go() -> None:
    program = Program.of(Kernel(ring()))._replace(enabled_words=2)
    among = {3, 17, 64, 100}
    picked = [_pick(among, choice, program) for choice in range(4000)]
    assert all(900 < count < 1100 for count in Counter(picked).values())
    assert set(picked) == among
    fewer = [_pick(among - {17}, choice, program) for choice in range(4000)]
    assert all(after == before for before, after in zip(picked, fewer, strict=True) if before != 17)
    assert _pick(set(), 1, program) == -1
