"""The records of which the resolver is asked: all of a small domain, and random ones.

A record names its owner if it says Owned: of one that does not, which nobody writes, the class throws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

import numpy as np

from fencepost.checks.conformance.service_unit.evaluation import Array
from fencepost.model.pulsar.service_unit.records import FIRST, STATES
from fencepost.properties.service_unit.resolver import BROKERS, LAST, LEAST

NO_BROKER = len(BROKERS) - 1
SMALL_BROKERS = (NO_BROKER, 0, 1, 2)
SMALL_VERSIONS = (FIRST, FIRST + 1, FIRST + 2, LAST, LEAST)
SIDE = 100
"""Random records on each side of a batch: every one of the old ones is paired with every new one."""


@dataclass(frozen=True)
class Known:
    """A record: its state and brokers by their numbers, as ``STATES`` and ``BROKERS`` have them."""

    state: int
    dst: int
    src: int
    version: int
    force: bool

    def __str__(self) -> str:
        if not self.state:
            return "none"
        forced = ", forced" if self.force else ""
        return f"{STATES[self.state]} (dst {BROKERS[self.dst]}, src {BROKERS[self.src]}, version {self.version}{forced})"

    @property
    def is_written(self) -> bool:
        """Whether the class of Pulsar takes it for a record: one that is not Free names a broker, and Owned the owner."""
        if STATES[self.state] == "Owned":
            return self.dst != NO_BROKER
        return STATES[self.state] == "Free" or self.dst != NO_BROKER or self.src != NO_BROKER

    @property
    def json(self) -> list[object] | None:
        """The record as the harness reads it."""
        if not self.state:
            return None
        dst, src = (None if broker == NO_BROKER else BROKERS[broker] for broker in (self.dst, self.src))
        return [STATES[self.state], dst, src, self.version, self.force]


NONE = Known(0, NO_BROKER, NO_BROKER, 0, False)


@dataclass(frozen=True)
class Batch:
    """Old records and new ones: every pair of them is asked."""

    old: Sequence[Known]
    new: Sequence[Known]

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return len(self.old) * len(self.new)


def small() -> Batch:
    """All pairs of the records with three brokers and five versions, the simplest first."""
    states = range(1, len(STATES))
    parts = product((False, True), SMALL_VERSIONS, states, SMALL_BROKERS, SMALL_BROKERS)
    records = [Known(state, dst, src, version, force) for force, version, state, dst, src in parts]
    every = [NONE, *(record for record in records if record.is_written)]
    return Batch(every, every)


def random_batches(cases: int, seed: int) -> Iterator[Batch]:
    """Batches with so many random pairs, or a few more: versions close to each other, anywhere among the longs."""
    for number in range(-(-cases // SIDE**2)):
        random = Random(f"{seed}/{number}")
        base = random.choice((0, LAST, LEAST, random.randint(LEAST, LAST)))
        yield Batch(*([_drawn(random, base) for _ in range(SIDE)] for _ in range(2)))


def _drawn(random: Random, base: int) -> Known:
    if random.random() < 0.05:
        return NONE
    while True:
        version = (base + random.randint(-2, 3) - LEAST) % 2**64 + LEAST
        dst, src = random.randrange(len(BROKERS)), random.randrange(len(BROKERS))
        record = Known(random.randrange(1, len(STATES)), dst, src, version, random.random() < 0.3)
        if record.is_written:
            return record


def columns(batch: Batch) -> dict[str, Array]:
    """The constants ``OLD`` and ``NEW`` of the theory as arrays, a row for each old record and a column for each new one."""
    values: dict[str, Array] = {}
    for name, records, shape in (("old", batch.old, (-1, 1)), ("new", batch.new, (1, -1))):
        for part, kind in (("state", int), ("dst", int), ("src", int), ("version", object), ("force", bool)):
            values[f"{name}_{part}"] = np.array([getattr(record, part) for record in records], dtype=kind).reshape(shape)
    return values
