"""Kernel, plain Python (three times) and Z3's own evaluation of one protocol, and whether they agree on states and steps."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import z3

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.instructions import Code
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.planes import spread
from fencepost.model.kernel.compiler.program import members
from fencepost.model.language import Protocol
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.in_z3 import raw as raw_of
from tests.bench.generated import Generated
from tests.bench.interpreter import Interpreter

Raw = tuple[int, ...]


def _literals(p: Protocol, raw: Raw, after: Raw | None = None) -> list[tuple[Any, Any]]:
    pairs = [(v.term, v.domain.literal(value)) for v, value in zip(p.variables, raw, strict=True)]
    if after is not None:
        pairs += [(v.next, v.domain.literal(value)) for v, value in zip(p.variables, after, strict=True)]
    return pairs


def _values(terms: Sequence[Any], pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Z3's values of the terms, all at once as the arguments of one function, so that what they share is evaluated once."""
    printed = InZ3()
    asked, known = printed.all(terms), [(printed(old), printed(new)) for old, new in pairs]
    together = z3.Function("together", *(t.sort() for t in asked), z3.BoolSort())
    values = list(z3.simplify(z3.substitute(together(*asked), *known)).children()) if asked else []
    plainly = Evaluation({old: new.detail if new.op == "literal" else int(new.op == "true") for old, new in pairs})
    assert [raw_of(value) for value in values] == [plainly(term) for term in terms]
    return values


def _holding(p: Protocol, formulas: Sequence[Any], raw: Raw, after: Raw | None = None) -> list[int]:
    values = _values(formulas, _literals(p, raw, after))
    assert all(z3.is_true(value) or z3.is_false(value) for value in values)
    return [number for number, value in enumerate(values) if z3.is_true(value)]


def _after(p: Protocol, action: int, raw: Raw) -> Raw | None:
    """The state after an action, or None where a variable would leave its domain."""
    updates = p.actions[action].updates
    literals = dict(zip(updates, _values(list(updates.values()), _literals(p, raw)), strict=True))
    values = []
    for variable, before in zip(p.variables, raw, strict=True):
        domain = variable.domain
        values.append(raw_of(literals[variable]) if variable in literals else before)
        if not domain.low <= values[-1] < domain.low + domain.size:
            return None
    return tuple(values)


def draw_state(p: Protocol, choose: Callable[[int, int], int]) -> Raw:
    return tuple(choose(v.domain.low, v.domain.low + v.domain.size - 1) for v in p.variables)


class Ways:
    """A protocol with formulas over states and over steps, made ready to be run in each way."""

    def __init__(self, p: Protocol, observed: Sequence[Any], steps: Sequence[Any]) -> None:
        self.p, self.observed, self.steps = p, observed, steps
        self.kernel = Kernel(p, observed, steps)
        self.generated = Generated(p, observed, steps)
        self.plain = Interpreter(p, observed, steps)
        self.together = Together(self.kernel)

    def choices(self, packed: Words) -> tuple[int, ...]:
        """The numbers of the actions that the function for single states says may happen."""
        mask = np.zeros(self.kernel.mask_words["enabled"], np.uint64)
        call = self.kernel.code_of_choices.function("enabled", ctypes.c_void_p, ctypes.c_void_p)
        call(packed.ctypes.data, mask.ctypes.data)
        return members(mask)


class Together:
    """A kernel's functions for 64 states at once."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self._guards, self._states = kernel, kernel.code, kernel.code_of_states_in_planes
        self._steps = kernel.code_of_steps_in_planes

    def spread(self, states: Sequence[Words]) -> Words:
        """The planes of some states."""
        rows, planes = np.stack(states), np.zeros(64 * self.kernel.words, np.uint64)
        spread(rows.ctypes.data, self.kernel.words, len(rows), planes.ctypes.data)
        return planes

    def enabled(self, planes: Words) -> Words:
        """The plane of each action's guard."""
        return self._called(self._guards, "enabled_planes", len(self.kernel.actions), planes)

    def observe(self, planes: Words) -> Words:
        """The plane of each observed formula."""
        return self._called(self._states, "observe_planes", self.kernel.formulas["observe"], planes)

    def observe_step(self, planes: Words, action: int) -> Words:
        """The plane of each observed formula over two states, where the second is the one after the action."""
        written = np.full(self.kernel.formulas["observe_step"], 0x5555, np.uint64)
        concerned = np.zeros(self.kernel.mask_words["observe_step"], np.uint64)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * 2)
        call = kind(self._steps.address("step_planes"))
        call(planes.ctypes.data, action, written.ctypes.data, concerned.ctypes.data)
        places = members(concerned)
        return np.array([written[place] if place in places else 0 for place in range(len(written))], np.uint64)

    def _called(self, code: Code, name: str, count: int, planes: Words) -> Words:
        written = np.zeros(count, np.uint64)
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address(name))
        call(planes.ctypes.data, written.ctypes.data)
        return written


def those_with(planes: Words, number: int) -> list[int]:
    """The places of the planes that have the bit of that state."""
    return np.flatnonzero(planes >> np.uint64(number) & np.uint64(1)).tolist()


def agree(ways: Ways, states: Sequence[Raw]) -> int:
    """Kernel, all ways of Python and Z3 agree on everything about these states; returns how many steps were compared."""
    p, observed, steps = ways.p, ways.observed, ways.steps
    kernel, generated, plain = ways.kernel, ways.generated, ways.plain
    compared = 0
    planes = ways.together.spread([kernel.packing.pack(raw) for raw in states])
    for number, raw in enumerate(states):
        packed = kernel.packing.pack(raw)
        assert kernel.packing.unpack(packed) == raw
        enabled, held = _holding(p, [a.guard for a in p.actions], raw), _holding(p, observed, raw)
        assert kernel.enabled(packed) == generated.enabled(raw) == plain.enabled(raw) == enabled
        assert list(ways.choices(packed)) == enabled
        assert kernel.observe(packed) == generated.observe(raw) == plain.observe(raw) == held
        assert those_with(ways.together.enabled(planes), number) == enabled
        assert those_with(ways.together.observe(planes), number) == held
        for action in range(len(p.actions)):
            after = _after(p, action, raw)
            if after is not None:
                assert kernel.packing.unpack(kernel.apply(packed, action)) == after
                assert those_with(ways.together.observe_step(planes, action), number) == plain.observe_step(raw, after)
                assert generated.apply(raw, action) == plain.apply(raw, action) == after
                compared += 1
    for raw, after in itertools.pairwise(states):
        both = kernel.packing.pack(raw), kernel.packing.pack(after)
        held = _holding(p, steps, raw, after)
        assert kernel.observe_step(*both) == generated.observe_step(raw, after) == plain.observe_step(raw, after) == held
    return compared
