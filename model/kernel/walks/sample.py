"""How much of what can be reached the walks have not seen: an estimate after Good and Turing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fencepost.model.kernel.compiler.packing import Words

_MOST = 1 << 18
"""Sampled states that are kept; with more, every other one is dropped."""


class Sample:
    """Of the states whose hash ends in ``bits`` zeros, how often each was visited, up to twice.

    The states seen exactly once, as a share of all visits, estimate the probability that the next visit is to a state not
    seen before. Every visit to a sampled state counts, so the sample loses nothing but precision. What it holds depends on
    the visits only, not on their order, as long as they come in the same rounds.
    """

    def __init__(self) -> None:
        self.bits = 6
        self.visits = 0
        self._once: Words = np.empty(0, dtype=np.uint64)
        self._often: Words = np.empty(0, dtype=np.uint64)

    @property
    def states(self) -> int:
        """How many different states were sampled."""
        return len(self._once) + len(self._often)

    @property
    def unseen(self) -> float | None:
        """The probability that the next state visited is a new one, as estimated; None if no state was sampled."""
        return min(1.0, (len(self._once) << self.bits) / self.visits) if self.states else None

    def add(self, fingerprints: Sequence[Words], visits: int) -> None:
        """Takes in a round: hashes of the visits to sampled states, and how many visits there were to any state."""
        self.visits += visits
        twice = np.repeat(self._often, 2)
        hashes, counts = np.unique(np.concatenate([self._once, twice, *fingerprints]), return_counts=True)
        self._once, self._often = hashes[counts == 1], hashes[counts > 1]
        while self.states > _MOST:
            self.bits += 1
            mask = np.uint64((1 << self.bits) - 1)
            self._once, self._often = (held[held & mask == 0] for held in (self._once, self._often))
