"""Java's arithmetic of ints and longs, once: on Python's integers, and on terms, for all numbers at a time.

Numbers here are unbounded. Where Java's would overflow, the cast that loses bits is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fencepost.model.language import If
from fencepost.model.terms.nodes import number
from fencepost.model.terms.values import Number, floor, modulus


def choose(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """One of two values; of numbers only the one that is chosen is computed."""
    if isinstance(condition, bool):
        return then() if condition else otherwise()
    return If(condition, then(), otherwise())


def quotient(dividend: Any, divisor: Any) -> Any:
    """Java's division by a positive divisor: toward zero."""
    if isinstance(dividend, int) and isinstance(divisor, int):
        return dividend // divisor if dividend >= 0 else -(-dividend // divisor)
    dividend = number(dividend) if isinstance(dividend, int) else dividend
    return If(dividend >= 0, floor(dividend, divisor), -floor(-dividend, divisor))


def remainder(dividend: Any, divisor: Any) -> Any:
    """Java's remainder, ``%``, by a positive divisor: its sign is that of the dividend."""
    return dividend - divisor * quotient(dividend, divisor)


def modulo(dividend: Any, divisor: Any) -> Any:
    """What is left over by a positive divisor, and never negative."""
    return modulus(dividend, divisor) if isinstance(dividend, Number) else dividend % divisor


def int_of(value: Any) -> Any:
    """Java's cast of a long to an int."""
    return modulo(value + 2**31, 2**32) - 2**31
