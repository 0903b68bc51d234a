"""The functions of a protocol that the loops call for 64 states at once, as LLVM IR.

They take planes, words with a bit for each of the states (see ``spread``): 64 for each word of a state, from its lowest bit on.
And they write planes:

- ``enabled_planes(states, planes)`` writes that of each action's guard, ``observe_planes(states, planes)`` that of each
  observed formula;
- ``step_planes(states, action, planes, concerned)`` writes that of each observed formula over two states, where the second is
  the one after the action, unless it never holds then; the bit set ``concerned`` says which are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from fencepost.model.kernel.compiler.functions import Compiler
from fencepost.model.kernel.compiler.instructions import Constant, Function, Value, constant
from fencepost.model.kernel.compiler.loops import Integer, load, native, store
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.plane_terms import NEVER, InPlanes, Numeral, Planes, literal
from fencepost.model.kernel.compiler.terms import Stillness
from fencepost.model.language import Action
from fencepost.model.language.domains import Choice, Number, Subset
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Condition

TOGETHER = 64
"""States that are looked at together: one for each bit of a word."""

_ZERO = np.uint64(0)


@native
def spread(states: Integer, words: Integer, count: Integer, planes: Integer) -> None:
    """Writes the planes of up to 64 states that lie one after the other: bit s of plane 64 * w + b is bit b of word w of state
    s. Planes of fewer states have zeros above."""
    for word in range(words):
        block = planes + 8 * TOGETHER * word
        for number in range(TOGETHER):
            store(block + 8 * number, load(states + 8 * (words * number + word)) if number < count else _ZERO)
        _transpose(block)


@native
def _transpose(block: Integer) -> None:
    """Exchanges rows and columns of 64 words of 64 bits: halves, then quarters, and so on (Hacker's Delight, 7-3)."""
    width, mask = 32, np.uint64(0xFFFF_FFFF)
    while width > 0:
        for start in range(0, TOGETHER, 2 * width):
            for row in range(start, start + width):
                upper, lower = block + 8 * row, block + 8 * (row + width)
                one, other = load(upper), load(lower)
                differing = ((one >> np.uint64(width)) ^ other) & mask
                store(upper, one ^ (differing << np.uint64(width)))
                store(lower, other ^ differing)
        width >>= 1
        mask ^= mask << np.uint64(width)


def planes_of(state: Words) -> Words:
    """The planes of one state: zeros and ones."""
    return np.unpackbits(np.ascontiguousarray(state).view(np.uint8), bitorder="little").astype(np.uint64)


class PlaneCompiler(Compiler):
    """Writes these functions of one protocol and its observed formulas."""

    def enabled_planes(self, actions: Sequence[Action]) -> None:
        self._in_planes("enabled_planes", [a.guard for a in actions])

    def observe_planes(self, formulas: Sequence[Condition]) -> None:
        self._in_planes("observe_planes", formulas)

    def step_planes(self, actions: Sequence[Action], formulas: Sequence[Condition]) -> None:
        stillness = self._stillness(formulas)
        self._by_action("step_planes", [self._step_in_planes(case, action, stillness) for case, action in enumerate(actions)])

    def _in_planes(self, name: str, formulas: Sequence[Condition]) -> None:
        """A function that writes the planes of the formulas."""
        function = self._function(name, 2)
        states, planes = function.arguments
        terms = InPlanes(function, self._plane_reader(function, states))
        for place, formula in enumerate(formulas):
            function.store(terms.truth(formula), planes, place)
        function.end()

    def _step_in_planes(self, case: int, action: Action, stillness: Stillness) -> Function:
        part = self._function(f"steps_{case}", 3, inner=True)
        states, planes, concerned = part.arguments
        read = self._plane_reader(part, states)
        before = InPlanes(part, read)
        updates = {variable.name: term for variable, term in action.updates.items()}
        changed = sum(self.bits[name] for name in updates)

        def leaf(name: str) -> Planes:
            if not name.endswith("'"):
                return read(name)
            return before.emit(updates[name[:-1]]) if name[:-1] in updates else read(name[:-1])

        def certain(term: Term) -> Planes | None:
            known = stillness.certain(term, changed)
            return literal(term, known.constant) if isinstance(known, Constant) else None

        both = InPlanes(part, leaf, certain)
        truths = {place: both.truth(formula) for place, formula in enumerate(stillness.formulas)}
        written = {place: plane for place, plane in truths.items() if plane is not NEVER}
        for place, plane in written.items():
            part.store(plane, planes, place)
        for word in range(-(-len(truths) // 64)):
            part.store(constant(64, sum(1 << place % 64 for place in written if place // 64 == word)), concerned, word)
        part.end()
        return part

    def _plane_reader(self, function: Function, states: Value) -> Callable[[str], Planes]:
        """The planes of variables, by name."""

        @cache
        def read(name: str) -> Planes:
            field, domain = self.packing.fields[name], self.variables[name].domain
            first = 64 * field.word + field.shift
            bits = tuple(function.load(states, first + bit) for bit in range(field.bits))
            if isinstance(domain, (Number, Choice)):
                return Numeral(field.low, bits)
            return bits if isinstance(domain, Subset) else bits[0]

        return read
