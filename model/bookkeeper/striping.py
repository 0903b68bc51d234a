"""Where BookKeeper's client puts the copies of an entry, in Java's own arithmetic: 64-bit entries, 32-bit places.

Mirrors RoundRobinDistributionSchedule of bookkeeper-server 4.16.0 to 4.18.0, which computes the place of copy w of entry e in
two ways. A write set, by which entries are read, has ``(int) ((e + w) % ensembleSize)``. Adds, explicit last adds
confirmed and the ledger checker ask getWriteSetBookieIndex, which has ``(int) (e + w) % ensembleSize``: there the cast
binds tighter than the remainder, so the sum loses its upper 32 bits, and may turn negative, before it is divided.

Each place is a number for a number, and a term for a term.
"""

from __future__ import annotations

from typing import TypeVar, cast

from fencepost.model.java_numbers import int_of, modulo, remainder
from fencepost.model.terms.values import Number

N = TypeVar("N", int, Number)


def place_read(total: N, ensemble: int) -> N:
    """WriteSetImpl.reset: the place of the copy for which entry + copy is ``total``."""
    return cast(N, int_of(remainder(total, ensemble)))


def place_written(total: N, ensemble: int) -> N:
    """getWriteSetBookieIndex: the place of the copy for which entry + copy is ``total``."""
    return place_of_int(cast(N, int_of(total)), ensemble)


def place_of_int(total: N, ensemble: int) -> N:
    """The place that ``total`` leads to once it is an int, which may be negative."""
    return cast(N, remainder(total, ensemble))


def right_place(total: N, ensemble: int) -> N:
    """The place that round robin means: ``total``, which is not negative, modulo the ensemble."""
    return cast(N, modulo(total, ensemble))
