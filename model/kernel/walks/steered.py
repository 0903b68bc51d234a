"""A run that is steered from outside: its steps are chosen one by one, or many at a time by a string of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.loops import Integer, Truth, load, native, store
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Integers, W, Words
from fencepost.model.kernel.compiler.program import Program, addresses, bit_set, copy, has, members, take
from fencepost.model.kernel.search.paths import Path, plain
from fencepost.model.kernel.walks.walking import HOLD, first_of, look, mix

_ONE, _ZERO = np.uint64(1), np.uint64(0)


class _Wheel(NamedTuple, Generic[W]):
    """What a run is steered on, as arrays or their addresses: its state and room for the next one, what is enabled and observed
    there, what was observed of the last step; the initial states; and the bit sets of formulas that are violations."""

    state: W
    after: W
    enabled: W
    observed: W
    held: W
    initial: W
    alarm: W
    step_alarm: W


class Steered:
    """A run of a kernel's protocol that somebody else chooses.

    It begins in the initial state number ``start`` and has taken ``actions``, by their numbers; the bits of ``enabled`` are the
    actions that may be next. A formula of ``alarm``, over states, or of ``step_alarm``, over steps, that holds is a violation,
    and so is an end where ``may_end``, if given, does not hold. Not for several threads.
    """

    def __init__(
        self, kernel: Kernel, *, alarm: Iterable[int] = (), step_alarm: Iterable[int] = (), may_end: int | None = None
    ) -> None:
        self.kernel = kernel
        self.initials = kernel.initial()
        self.start = 0
        self.actions: list[int] = []
        self._program = Program.of(kernel).choosing(kernel).observing(kernel).observing_steps(kernel)
        self._may_end = -1 if may_end is None else may_end
        rows = {name: np.zeros(length, dtype=np.uint64) for name, length in kernel.mask_words.items()}
        self._wheel = _Wheel(
            state=np.zeros(kernel.words, dtype=np.uint64),
            after=np.zeros(kernel.words, dtype=np.uint64),
            enabled=rows["enabled"],
            observed=rows["observe"],
            held=rows["observe_step"],
            initial=self.initials,
            alarm=bit_set(alarm, kernel.mask_words["observe"]),
            step_alarm=bit_set(step_alarm, kernel.mask_words["observe_step"]),
        )
        self._addresses = _Wheel(*addresses(self._wheel))
        self.begin()

    def begin(self, start: int = 0) -> None:
        """Begins again, in an initial state; IndexError if there is none of that number."""
        self._wheel.state[:] = self.initials[start]
        self._wheel.held[:] = 0
        self.start = start
        self.actions = []
        look(self._program, self._addresses.state, self._addresses.enabled, self._addresses.observed)
        self._read()

    def take(self, action: int) -> None:
        """Takes a step; ValueError if that action is not enabled."""
        if not self.enabled >> action & 1:
            raise ValueError(f"{self.kernel.actions[action].label} is not enabled here")
        _take(self._program, self._addresses, action)
        self.actions.append(action)
        self._read()

    def follow(self, choices: bytes) -> int:
        """Takes a step for each byte, up to a violation; returns how many steps it took.

        A byte of zero takes none. Another picks one of the enabled actions, in such a way that the same is picked if others
        come or go. If the last byte is even, all are about as likely. If it is odd, the actions are put in an order, the first
        that is enabled is picked, and one byte in six draws another order: so an actor runs on for a while, or is left alone
        for a while (``held`` in walks/course.py). Where none is enabled the run begins again.
        """
        bytes_ = np.frombuffer(choices, dtype=np.uint8)
        taken = np.zeros(len(bytes_), dtype=np.int64)
        count = _follow(self._program, self._addresses, self._may_end, len(self.initials), bytes_.astype(np.uint64), taken)
        numbers = taken[:count].tolist()
        begun = max((place for place, number in enumerate(numbers) if number < 0), default=None)
        if begun is not None:
            self.start, self.actions = -1 - numbers[begun], []
        self.actions += numbers if begun is None else numbers[begun + 1 :]
        self._read()
        return sum(number >= 0 for number in numbers)

    @property
    def violated(self) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
        """What is violated: formulas over the state, formulas over the last step, and whether the run may not end here."""
        return members(self._bad), members(self._bad_steps), self._ends_badly

    @property
    def is_violated(self) -> bool:
        """Whether anything is."""
        return bool(self._bad.any() or self._bad_steps.any() or self._ends_badly)

    @property
    def _bad(self) -> Words:
        return self._wheel.observed & self._wheel.alarm

    @property
    def _bad_steps(self) -> Words:
        return self._wheel.held & self._wheel.step_alarm

    @property
    def _ends_badly(self) -> bool:
        word, bit = divmod(max(self._may_end, 0), 64)
        return not self.enabled and self._may_end >= 0 and not int(self._wheel.observed[word]) >> bit & 1

    @property
    def path(self) -> Path:
        """The states and actions of the run so far."""
        states: list[Words] = [self.initials[self.start]]
        for action in self.actions:
            states.append(self.kernel.apply(states[-1], action))
        return Path(tuple(plain(state) for state in states), tuple(self.actions))

    def _read(self) -> None:
        self.enabled = int.from_bytes(self._wheel.enabled.tobytes(), "little")


@native
def _take(program: Program, wheel: _Wheel[int], action: Integer) -> None:
    """Takes one step."""
    take(program, wheel.state, action, wheel.after, wheel.held)
    copy(wheel.after, wheel.state, program.words)
    look(program, wheel.state, wheel.enabled, wheel.observed)


@native
def _meets(mask: Integer, other: Integer, words: Integer) -> Truth:
    """Whether two bit sets have a member in common."""
    common = _ZERO
    for word in range(words):
        common |= load(mask + 8 * word) & load(other + 8 * word)
    meets: Truth = common != _ZERO
    return meets


@native
def _follow(
    program: Program, wheel: _Wheel[int], may_end: Integer, initials: Integer, choices: Words, taken: Integers
) -> Integer:
    """Takes steps as the choices say; writes their actions, or -1 - the number of the initial state in which the run began
    again, and returns how many of these there are."""
    count, order = 0, _ZERO
    held = len(choices) > 0 and choices[len(choices) - 1] & _ONE != _ZERO
    for place in range(len(choices)):
        if choices[place] == _ZERO:
            continue
        choice = mix(choices[place] + np.uint64(256 * place))
        if held:
            if order == _ZERO or choice % HOLD == _ZERO:
                order = mix(choice)
            choice = order
        action = first_of(program, wheel.enabled, choice)
        if action < 0:
            if may_end >= 0 and not has(wheel.observed, may_end):
                return count
            start = np.int64(choice % np.uint64(initials))
            copy(wheel.initial + 8 * program.words * start, wheel.state, program.words)
            look(program, wheel.state, wheel.enabled, wheel.observed)
            for word in range(program.step_words):
                store(wheel.held + 8 * word, _ZERO)
            taken[count] = -1 - start
        else:
            _take(program, wheel, action)
            taken[count] = action
        count += 1
        if _meets(wheel.observed, wheel.alarm, program.observe_words) or _meets(
            wheel.held, wheel.step_alarm, program.step_words
        ):
            return count
    return count
