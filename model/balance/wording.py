"""Amounts as people read them, in the reasons that policies give."""

from __future__ import annotations

MIB = 1024 * 1024


def percent(fraction: float) -> str:
    """A fraction as a percentage, for people."""
    return f"{fraction * 100:.6g} %"


def throughput(amount: float) -> str:
    """Bytes per second, for people."""
    return f"{amount / MIB:.6g} MiB/s"


def rate(amount: float) -> str:
    """Messages per second, for people."""
    return f"{amount:.6g} msg/s"
