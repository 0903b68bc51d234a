"""States that need not be reachable: of any values, or as others except for a few variables."""

from __future__ import annotations

import numpy as np

from fencepost.model.kernel.compiler.packing import Packing, Words
from fencepost.model.language import Protocol


def anywhere(protocol: Protocol, count: int, seed: int) -> Words:
    """States whose variables have any values of their domains, by chance."""
    nothing = np.zeros((count, Packing(protocol.variables).words), dtype=np.uint64)
    return strays(protocol, nothing, np.random.default_rng(seed))


def strays(protocol: Protocol, states: Words, chance: np.random.Generator, changes: int | None = None) -> Words:
    """The states with so many variables set to values of their domains, by chance; all of them, if None."""
    packing, states_after = Packing(protocol.variables), states.copy()
    chosen = None if changes is None else chance.integers(0, len(protocol.variables), (changes, len(states)))
    for place, variable in enumerate(protocol.variables):
        field = packing.fields[variable.name]
        rows = np.arange(len(states_after)) if chosen is None else np.flatnonzero((chosen == place).any(axis=0))
        values = chance.integers(0, variable.domain.size, len(rows), dtype=np.uint64)
        others = states_after[rows, field.word] & ~np.uint64(field.mask << field.shift)
        states_after[rows, field.word] = others | values << np.uint64(field.shift)
    return states_after
