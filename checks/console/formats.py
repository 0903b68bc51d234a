"""The formats of an answer: a table of what each prints, which knows no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Printed = TypeVar("Printed")


def in_format(name: str, **formats: Callable[[], Printed]) -> Printed:
    """What the format of that name makes, of a table that has an entry for each; a name that it does not have is a KeyError."""
    return formats[name]()
