"""Where Java's arithmetic is not Python's: division by zero, roots of negative numbers, casts to int, the order of doubles."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache, reduce
from operator import add
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

INT_MAX = 2**31 - 1
INT_MIN = -(2**31)
LONG_MAX = 2**63 - 1
LONG_MIN = -(2**63)
FAR = 1e18
"""Percentages of numbers below it cannot overflow, so that NumPy need not be kept from warning, which takes its time."""
T = TypeVar("T")


def quotient(dividend: float, divisor: float) -> float:
    """``dividend / divisor`` of doubles: by zero it is infinite, or NaN for zero by zero."""
    if divisor != 0:
        return dividend / divisor
    if dividend == 0 or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, dividend) * math.copysign(1.0, divisor)


def square_root(value: float) -> float:
    """``Math.sqrt``: NaN for a negative number."""
    return math.sqrt(value) if value >= 0 else math.nan


def to_int(value: float) -> int:
    """``(int) value``: towards zero, the nearest int for what is out of range, 0 for NaN."""
    if math.isnan(value):
        return 0
    return math.trunc(min(max(value, INT_MIN), INT_MAX))


def rounded(value: float) -> int:
    """``Math.round``: the nearest long, upwards from the middle; 0 for NaN."""
    if math.isnan(value):
        return 0
    if abs(value) >= 2.0**52:
        return math.trunc(min(max(value, LONG_MIN), LONG_MAX))
    below = math.floor(value)
    return below + (value - below >= 0.5)


def percentage(usage: float, limit: float) -> float:
    """``(float) usage / (float) limit * 100`` in 32-bit floats, 0 unless the limit is above 0."""
    if not limit > 0:
        return 0.0
    if 0 <= usage < FAR and 1 / FAR < limit < FAR:
        return float(np.float32(usage) / np.float32(limit) * np.float32(100))
    with np.errstate(all="ignore"):
        return float(np.float32(usage) / np.float32(limit) * np.float32(100))


def percentages(usages: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.float64]:
    """``percentage`` of many."""
    with np.errstate(all="ignore"):
        parts = usages.astype(np.float32) / limits.astype(np.float32) * np.float32(100)
    return np.where(limits > 0, parts, 0).astype(np.float64)


def hundredth(percent: float) -> float:
    """``percent / 100`` of a 32-bit float: 85 gives the float next to 0.85, which is a little more than the double 0.85."""
    return float(np.float32(percent) / np.float32(100))


def hundredths(percents: NDArray[np.float64]) -> NDArray[np.float64]:
    """``hundredth`` of many."""
    return (percents.astype(np.float32) / np.float32(100)).astype(np.float64)


def total(values: Iterable[float]) -> float:
    """The sum, one value after the other; Python's own makes up for rounding."""
    return reduce(add, values, 0.0)


def largest(values: Iterable[float]) -> float:
    """The maximum as Pulsar computes it, by ``>`` from minus infinity: NaN never counts."""
    best = -math.inf
    for value in values:
        if value > best:
            best = value
    return best


def largest_of_each(values: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """``largest`` of the first of each array, of the second, and so on."""
    best: NDArray[np.float64] = np.array(-math.inf)
    for value in values:
        best = np.fmax(best, value)
    return best


@lru_cache(maxsize=1 << 16)
def string_hash(text: str) -> int:
    """``String.hashCode``, as 32 bits without a sign."""
    result = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        result = (31 * result + (high << 8 | low)) & 0xFFFFFFFF
    return result


def hash_order(names: Collection[str], size: int | None = None) -> list[str]:
    """Names in the order of a HashMap with so many keys, or only these; those of one bucket in the order given."""
    buckets, count = 16, len(names) if size is None else size
    while count > buckets * 3 // 4:
        buckets *= 2
    return sorted(names, key=lambda name: ((code := string_hash(name)) ^ code >> 16) & (buckets - 1))


def ascending(items: Iterable[T], value: Callable[[T], float]) -> list[T]:
    """Sorted by ``Double.compare``, equal ones in the order given: NaN above everything, 0.0 above -0.0."""
    return sorted(items, key=lambda item: _comparable(value(item)))


def descending(items: Iterable[T], value: Callable[[T], float]) -> list[T]:
    """Sorted by ``Double.compare`` of the second with the first, equal ones in the order given."""
    return sorted(items, key=lambda item: _comparable(value(item)), reverse=True)


def sorted_by(items: Iterable[T], compare: Callable[[T, T], int]) -> list[T]:
    """Sorted as ``List.sort`` does with a comparator that need not be an order: a run, then binary insertion (TimSort).

    From 32 items on Java merges runs, which gives another order where the comparator contradicts itself, or an exception.
    """
    found = list(items)
    run = min(2, len(found))
    if run == 2 and compare(found[1], found[0]) < 0:
        while run < len(found) and compare(found[run], found[run - 1]) < 0:
            run += 1
        found[:run] = reversed(found[:run])
    else:
        while run < len(found) and compare(found[run], found[run - 1]) >= 0:
            run += 1
    for place in range(run, len(found)):
        item, low, high = found.pop(place), 0, place
        while low < high:
            middle = (low + high) // 2
            if compare(item, found[middle]) < 0:
                high = middle
            else:
                low = middle + 1
        found.insert(low, item)
    return found


def _comparable(value: float) -> tuple[bool, float, float]:
    return (True, 0.0, 0.0) if math.isnan(value) else (False, value, math.copysign(1.0, value))
