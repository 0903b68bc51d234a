"""The numbers of one cluster: what an operator has measured, in ``[odds]`` of a TOML file, and what a configuration sets."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fencepost.checks.inputs.input_files import MOST_BY_HAND, InputError, Place, read_bytes
from fencepost.checks.odds.ways import Fleet
from fencepost.checks.settings.broker_conf import BrokerConf
from fencepost.model.language.mistakes import guess
from fencepost.model.odds.laws import LAWS
from fencepost.model.odds.numbers import NumberError, Numbers

TABLE = "odds"
_FLEET = ("topics", "bookies")
_VALUES = ("value", "ms", "per_year", "per_second")
_LARGEST = 2**31 - 1


def with_file(numbers: Numbers, fleet: Fleet, path: Path) -> tuple[Numbers, Fleet]:
    """The numbers and the fleet with those of a file.

    A line of ``[odds]`` is ``journal = 1.5``, in the unit of the number, or ``journal = { ms = 1.5, factor = 1.5 }``, where a
    duration may also have a ``law``, for walks. ``topics`` and ``bookies`` are counts. Raises InputError, with the line, for a
    name that there is not or a value that cannot be.
    """
    text = read_bytes(path, "a file with a table [odds]", MOST_BY_HAND).decode("utf-8", errors="replace")
    try:
        table = tomllib.loads(text).get(TABLE)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}", Place(path)) from None
    if not isinstance(table, dict):
        raise InputError(f"{path}: has no table [odds]; write one, such as [odds] and below it journal = 1.5", Place(path))
    for name, given in table.items():
        place = Place(path, _line(text, name))
        if name in _FLEET:
            if type(given) is not int or not 1 <= given <= _LARGEST:
                raise InputError(f"{place}: {name} = {given!r} is not a count; write a whole number, 1 or more", place)
            fleet = replace(fleet, **{name: given})
            continue
        if name not in numbers:
            known = [*_FLEET, *numbers]
            raise InputError(f"{place}: no number is named {name}{guess(name, known)}; there are {', '.join(known)}", place)
        value, known_of = _value(given, numbers.of(name).unit, place, name)
        try:
            numbers = numbers.given(name, value, **known_of, source=str(place), is_guess=False)
        except NumberError as error:
            raise InputError(f"{place}: {error}", place) from None
    return numbers, fleet


def _line(text: str, name: str) -> int:
    """The line of a name, which is the last one that begins with it after the table does."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if re.match(rf'\s*"?{re.escape(name)}"?\s*=', line)]
    return lines[-1] if lines else 0


def _value(given: object, unit: str, place: Place, name: str) -> tuple[float, dict[str, Any]]:
    """The value; and with it the factor within which it is certain, and the law of a duration if that is given."""
    units = {"ms": "ms", "/year": "per_year", "/s": "per_second", "1": "value", "messages": "value"}
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given), {"factor": 1.0}
    if isinstance(given, Mapping):
        law = {key: given[key] for key in given if key == "law" and unit == "ms" and given[key] in LAWS}
        rest = {key: written for key, written in given.items() if key not in law}
        values, factor = [key for key in rest if key in _VALUES], rest.get("factor", 1.0)
        is_one = len(values) == 1 and values[0] in ("value", units[unit]) and set(rest) <= {values[0], "factor"}
        numeric = [isinstance(x, (int, float)) and not isinstance(x, bool) for x in rest.values()]
        if is_one and all(numeric) and factor >= 1:
            return float(rest[values[0]]), {"factor": float(factor), **law}
    example = f"{name} = {{ {units[unit]} = 1.5, factor = 2 }}"
    laws = f"; a law is one of {', '.join(LAWS)}" if unit == "ms" else ""
    raise InputError(f"{place}: {name} is not written as a number of odds; write {name} = 1.5, or {example}{laws}", place)


def with_settings(numbers: Numbers, paths: tuple[Path, ...]) -> Numbers:
    """The numbers with those that a configuration sets. Raises InputError for a value that cannot be read."""
    conf = BrokerConf(*paths)
    for name in numbers:
        number = numbers.of(name)
        if not number.setting:
            continue
        least, remedy = (1, "write a duration") if number.period else (0, "write a count, or 0 for no limit")
        taken = conf.number(number.setting, least, remedy)
        if taken.place is not None:
            value = number.of_period(taken.value)
            source = f"{number.setting}={taken.value} ({taken.place})"
            numbers = numbers.given(name, value, source=source, is_guess=False)
    return numbers
