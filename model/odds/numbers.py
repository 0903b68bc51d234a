"""What steps take and how often faults happen: the table of ``numbers.toml``, and what an operator or a setting changes."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from fencepost.model.odds.laws import Law

MS_PER_YEAR = 365.25 * 86_400_000.0
UNITS = ("ms", "/year", "/s", "1", "messages")
UNLIMITED = 1e15
NEVER = "never"
"""What an action takes that does not happen by itself in the time that odds look at."""
_PERIODS = {"ms": 1.0, "s": 1_000.0, "min": 60_000.0}


class NumberError(ValueError):
    """A number that is not there, or a value that none can have; the message says which are there."""


@dataclass(frozen=True)
class Number:
    """A number with its unit and the factor within which it is nine tenths certain.

    ``source`` says where the value is from, ``is_guess`` that nobody has published or measured it. ``setting`` is the key of
    a configuration that sets it, as a period in ``period``. A duration has a ``law``. A step that takes it waits while the
    outage ``blocked_by`` lasts; one that ``ends`` an outage happens, if at all, as that ends. ``parts`` are the numbers that it
    is the sum of, each with how often it is taken.
    """

    name: str
    unit: str
    meaning: str
    value: float = 0.0
    factor: float = 1.0
    source: str = ""
    is_guess: bool = False
    setting: str = ""
    period: str = ""
    law: Law = "exponential"
    blocked_by: str = ""
    ends: str = ""
    parts: Mapping[str, float] | None = None

    def of_period(self, length: float) -> float:
        """The value where the setting is that long, in its own unit of time; or that much, if it is no period: then 0 is no
        limit. NumberError for a period that is not positive."""
        if not self.period:
            return length or UNLIMITED
        ms = length * _PERIODS[self.period]
        if not ms > 0:
            raise NumberError(f"{self.setting}={length:g} says no duration")
        return ms if self.unit == "ms" else MS_PER_YEAR / ms


class Numbers(Mapping[str, float]):
    """The values by which odds are computed, and with each what is known of it (``of``)."""

    def __init__(self, known: Mapping[str, Number]) -> None:
        self._known = dict(known)

    def __getitem__(self, name: str) -> float:
        number = self.of(name)
        if number.parts is None:
            return number.value
        return sum(times * self[part] for part, times in number.parts.items())

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def of(self, name: str) -> Number:
        """The number of that name. NumberError if there is none."""
        if name not in self._known:
            raise NumberError(f"no number {name!r}; there are {', '.join(self._known)}")
        return self._known[name]

    def parts_of(self, name: str) -> tuple[str, ...]:
        """The numbers that a sum is made of; of another itself."""
        parts = self.of(name).parts
        return tuple(parts) if parts is not None else (name,)

    def given(self, name: str, value: float, **known: Any) -> Numbers:
        """The same with another value, and with whatever else is known of it. NumberError unless it is positive, and at most 1
        if it is a share; or if the number is a sum."""
        number = self.of(name)
        if number.parts is not None:
            raise NumberError(f"{name} is {' + '.join(number.parts)}: set these")
        if not 0 < value < float("inf") or (number.unit == "1" and value > 1):
            raise NumberError(f"{name} = {value!r} is {'no share' if number.unit == '1' else 'no positive number'}")
        return Numbers({**self._known, name: replace(number, value=float(value), **known)})

    def times(self, name: str, by: float) -> Numbers:
        """The same with a number that is so many times as large; of a share p, p / (1 - p) is. NumberError for a sum."""
        value = self[name]
        if self.of(name).unit == "1":
            return self.given(name, value * by / (1.0 - value + value * by))
        return self.given(name, value * by)

    def instead(self, values: Mapping[str, float]) -> Numbers:
        """The same with other values, also of sums, which have no parts then."""
        changed = {name: replace(self.of(name), value=float(value), parts=None) for name, value in values.items()}
        return Numbers({**self._known, **changed})

    def by_law(self, law: Law, *names: str) -> Numbers:
        """The same with another law of some durations, or of all."""
        return Numbers({**self._known, **{name: replace(self.of(name), law=law) for name in names or self._known}})


@cache
def published() -> Numbers:
    """The table that comes with Fencepost."""
    text = Path(__file__).with_name("numbers.toml").read_text(encoding="utf-8")
    return Numbers({name: _number(name, row) for name, row in tomllib.loads(text).items()})


_Row = TypedDict(
    "_Row",
    {
        "unit": str,
        "meaning": str,
        "value": NotRequired[float],
        "factor": NotRequired[float],
        "source": NotRequired[str],
        "guess": NotRequired[str],
        "setting": NotRequired[str],
        "in": NotRequired[str],
        "law": NotRequired[Law],
        "blocked_by": NotRequired[str],
        "ends": NotRequired[str],
        "sum": NotRequired[Mapping[str, float]],
    },
)
"""A table of numbers.toml."""


def _number(name: str, row: _Row) -> Number:
    return Number(
        name,
        row["unit"],
        row["meaning"],
        float(row.get("value", 0)),
        float(row.get("factor", 1)),
        row.get("source", row.get("guess", "")),
        "guess" in row,
        row.get("setting", ""),
        row.get("in", ""),
        row.get("law", "exponential"),
        row.get("blocked_by", ""),
        row.get("ends", ""),
        row.get("sum"),
    )
