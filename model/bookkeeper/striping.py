"""Where BookKeeper's client puts the copies of an entry, in Java's own arithmetic: 64-bit entries, 32-bit places.

Mirrors RoundRobinDistributionSchedule of bookkeeper-server 4.16.0 to 4.18.0, which computes the place of copy w of entry e in
two ways. A write set, by which entries are read, has ``(int) ((e + w) % ensembleSize)``. Adds, explicit last adds
confirmed and the ledger checker ask getWriteSetBookieIndex, which has ``(int) (e + w) % ensembleSize``: there the cast
binds tighter than the remainder, so the sum loses its upper 32 bits, and may turn negative, before it is divided.
"""

from __future__ import annotations

import z3


def place_read(total: z3.BitVecRef, ensemble: int) -> z3.BitVecRef:
    """WriteSetImpl.reset: the place (32 bits) of the copy for which entry + copy is ``total`` (64 bits)."""
    return z3.Extract(31, 0, z3.SRem(total, z3.BitVecVal(ensemble, 64)))


def place_written(total: z3.BitVecRef, ensemble: int) -> z3.BitVecRef:
    """getWriteSetBookieIndex: the place (32 bits) of the copy for which entry + copy is ``total`` (64 bits)."""
    return z3.SRem(z3.Extract(31, 0, total), z3.BitVecVal(ensemble, 32))


def right_place(total: z3.BitVecRef, ensemble: int) -> z3.BitVecRef:
    """The place (32 bits) that round robin means: ``total`` (64 bits, not negative) modulo the ensemble."""
    return z3.Extract(31, 0, z3.URem(total, z3.BitVecVal(ensemble, 64)))
