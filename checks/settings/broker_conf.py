"""The ``broker.conf`` of a cluster's brokers, read as Pulsar itself reads it.

Mirrors PulsarConfigurationLoader and FieldParser of pulsar-broker-common: a number is trimmed and read by Integer.valueOf, a
flag by Boolean.valueOf, the name of a choice by Enum.valueOf, a list is cut at commas; a key that is absent or blank leaves the
default of ServiceConfiguration.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from fencepost.checks.settings.input_files import BYTE_ORDER_MARK, InputError, read_bytes
from fencepost.checks.settings.properties_file import MalformedEscape, Setting, settings

LARGEST = 2**31 - 1
PULSARS = "Pulsar's default"

PREFIX = "PULSAR_PREFIX_"
"""What is before a key in the environment from which the images of Pulsar make their broker.conf."""

T = TypeVar("T")


class ConfigurationError(InputError):
    """A configuration that cannot be used; the message names the file, the line, the key, its value and the remedy."""


@dataclass(frozen=True)
class Taken(Generic[T]):
    """A value that was taken from a configuration, and from where: the file and line, or Pulsar's default."""

    key: str
    value: T
    source: str

    def __str__(self) -> str:
        return f"{self.key} = {_written(self.value)} ({self.source})"


class BrokerConf:
    """The settings of one file, ``-`` being standard input. What a user should know of those that were taken is gathered in
    ``notes``.

    Raises InputError if it cannot be read, ConfigurationError if it is empty or no text; so do the methods, for a value that
    does not fit.
    """

    def __init__(self, path: Path) -> None:
        data = _bytes(path)
        self.path = path
        self.notes: list[str] = []
        self._known: dict[str, None] = {}
        plain = _settings(path, data)
        prefixed = [s for s in plain if s.key.startswith(PREFIX)]
        # as the images do it: what the environment sets takes the place of what the file has
        self._found = [s for s in plain if s not in prefixed]
        self._found += [replace(s, key=s.key.removeprefix(PREFIX)) for s in prefixed]
        self._prefixed = frozenset(prefixed)
        if data.startswith(BYTE_ORDER_MARK):
            what = "begins with a byte order mark, which Java takes for part of the first line; save it without"
            self.notes.append(f"{path}:1: {what}")

    def number(self, key: str, default: int, remedy: str, *, least: int = 1, tell: bool = False) -> Taken[int]:
        """A whole number from ``least`` to 2^31 - 1; ``tell`` notes that it is left to the default."""
        given = self.text(key, default, tell)
        if given is None:
            return Taken(key, default, PULSARS)
        text, source = given[0].strip(), given[1]
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            raise ConfigurationError(f"{source}: {key} = {text!r} is not a whole number; {remedy}")
        digits = text.lstrip("+-").lstrip("0") or "0"
        small = len(digits) <= len(str(LARGEST))
        value = int(digits) * (-1 if text.startswith("-") else 1) if small else None
        if value is None or not least <= value <= LARGEST:
            raise ConfigurationError(f"{source}: {key} = {text} is not from {least} to {LARGEST}; {remedy}")
        return Taken(key, value, source)

    def flag(self, key: str, default: bool) -> Taken[bool]:
        """A truth value: whatever is not ``true`` is false for Java, which a note says of what is not ``false`` either."""
        given = self.text(key, default)
        if given is None:
            return Taken(key, default, PULSARS)
        text, source = given
        if text.lower() not in ("true", "false"):
            self.notes.append(f"{source}: {key} = {text!r} is neither 'true' nor 'false'; Java takes it for false")
        return Taken(key, text.lower() == "true", source)

    def choice(self, key: str, default: str, of: Sequence[str]) -> Taken[str]:
        """One of several names, written exactly so."""
        given = self.text(key, default)
        if given is None:
            return Taken(key, default, PULSARS)
        text, source = given
        if text not in of:
            raise ConfigurationError(f"{source}: {key} = {text!r} is not {' or '.join(of)}; write one of them, exactly so")
        return Taken(key, text, source)

    def choices(self, key: str, default: Sequence[str], of: Sequence[str]) -> Taken[tuple[str, ...]]:
        """Some of several names, with commas between them."""
        given = self.text(key, ",".join(default))
        if given is None:
            return Taken(key, tuple(default), PULSARS)
        names, source = tuple(name.strip() for name in given[0].split(",")), given[1]
        for name in names:
            if name not in of:
                raise ConfigurationError(f"{source}: {key} has {name!r}, which is none of {', '.join(of)}; leave it out")
        return Taken(key, names, source)

    def look_closer(self, remedy: str, besides: Collection[str] = ()) -> None:
        """Looks again at the file when all of its keys that count, but for those ``besides``, have been asked for: notes those
        that are spelled nearly so.

        Raises ConfigurationError, ending with the ``remedy``, if none of them is in the file: then it says nothing of them.
        """
        strange = [(s, _meant(s.key, self._known)) for s in self._found if s.key not in self._known and s.key not in besides]
        near = [f"{s.key} on line {s.line} is not read: did you mean {meant}?" for s, meant in strange if meant]
        if len(strange) == len(self._found):
            hint = f" ({near[0]})" if near else ""
            raise ConfigurationError(f"{self.path}: has none of the settings that are read here{hint}; {remedy}")
        self.notes += [f"{self.path}: {told}" for told in near]
        taken = [s for s in self._prefixed if s.key.removeprefix(PREFIX) in self._known]
        self.notes += [
            f"{self.path}:{s.line}: {s.key} is read as {s.key.removeprefix(PREFIX)}, as Pulsar's images read it"
            for s in sorted(taken, key=lambda s: s.line)
        ]

    def lines_of(self, key: str) -> list[int]:
        """The lines on which a key is set."""
        return [setting.line for setting in self._found if setting.key == key]

    def text(self, key: str, default: object, tell: bool = False) -> tuple[str, str] | None:
        """The value of a key as it is written and where it is, or None if it is left to the default."""
        self._known[key] = None
        given = [setting for setting in self._found if setting.key == key]
        if len(given) > 1:
            lines = ", ".join(str(setting.line) for setting in given)
            self.notes.append(f"{self.path}: {key} is set on lines {lines}; Java keeps the last, {given[-1].value!r}")
        if given and given[-1].value.strip():
            return given[-1].value, f"{self.path}:{given[-1].line}"
        if given or tell:
            why = f"{self.path}:{given[-1].line} leaves it empty" if given else f"{self.path} does not set it"
            self.notes.append(f"{key}: {why}, so it is {PULSARS}, {_written(default)}")
        return None


def _meant(key: str, known: Iterable[str]) -> str:
    """Which of the known keys is written so but for one letter, or for small and capital letters; empty if none is."""
    return next((other for other in known if key.lower() == other.lower() or _is_one_edit_away(key, other)), "")


def _is_one_edit_away(one: str, other: str) -> bool:
    """Whether one letter is other, more, or fewer, or two neighbours have changed places."""
    shorter, longer = sorted((one, other), key=len)
    same = next((place for place, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    rest, longer_rest = shorter[same:], longer[same:]
    if len(shorter) < len(longer):
        return rest == longer_rest[1:]
    swapped = longer_rest[1::-1] + longer_rest[2:]
    return len(shorter) == len(longer) and (rest[1:] == longer_rest[1:] or rest == swapped)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _bytes(path: Path) -> bytes:
    data = read_bytes(path, "a broker.conf")
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise ConfigurationError(f"{path}:{line}: is not plain text (a zero byte); save it as ASCII or UTF-8")
    return data


def _settings(path: Path, data: bytes) -> list[Setting]:
    try:
        found = settings(data)
    except MalformedEscape as error:
        raise ConfigurationError(f"{path}:{error.line}: {error}; double the backslash if it is meant as one") from error
    if not found:
        what = "has only comments and blank lines" if data.strip() else "is empty"
        raise ConfigurationError(f"{path}: {what}; give the broker.conf that the brokers start with")
    return found
