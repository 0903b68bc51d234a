"""The configuration of a cluster's brokers, read as Pulsar itself reads it.

Mirrors PulsarConfigurationLoader and FieldParser of pulsar-broker-common: a number is trimmed and read by Integer.valueOf, a
flag by Boolean.valueOf, the name of a choice by Enum.valueOf, a list is cut at commas; a key that is absent or blank leaves the
default of ServiceConfiguration.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from fencepost.checks.inputs.input_files import InputError, Place
from fencepost.checks.inputs.settings_files import Owner, Setting, settings_in

LARGEST = 2**31 - 1
PULSARS, BOOKKEEPERS = "Pulsar's default", "BookKeeper's default"

MARK = "\u00ef\u00bb\u00bf"
"""A byte order mark as Java reads it."""

KINDS: Mapping[str, tuple[str, ...]] = {
    "the configuration of ZooKeeper": ("tickTime", "dataDir", "initLimit", "syncLimit", "clientPort"),
    "that of a proxy": ("brokerServiceURL", "brokerWebServiceURL", "brokerProxyAllowedHostNames", "proxyLogLevel"),
    "that of a client": ("webServiceUrl", "brokerServiceUrl", "authPlugin"),
    "that of a function worker": ("workerId", "pulsarFunctionsNamespace", "functionMetadataTopicName"),
    "that of logging": ("rootLogger", "status", "monitorInterval", "appender.console.type"),
}
"""Keys by which files are known that are neither a broker's nor a bookie's."""

T = TypeVar("T")


class ConfigurationError(InputError):
    """A configuration that cannot be used; the message names the file, the line, the key, its value and the remedy."""


@dataclass(frozen=True)
class Taken(Generic[T]):
    """A value that was taken from a configuration, and from where; nowhere is a default, and ``default`` says whose.
    ``written`` is the name that the user wrote, where that is another setting than the ``key`` in whose place it counts."""

    key: str
    value: T
    place: Place | None = None
    default: str = PULSARS
    written: str = ""

    @property
    def name(self) -> str:
        """The name of the setting where the user has it."""
        return self.written or self.key

    @property
    def source(self) -> str:
        """The file and line, or whose default it is."""
        return self.default if self.place is None else str(self.place)

    def __str__(self) -> str:
        return f"{self.name} = {_written(self.value)} ({self.source})"


class BrokerConf:
    """The settings of some files, of which a later one counts before an earlier one; ``-`` is standard input. ``instead`` are
    settings that count before all files.

    What a user should know of those that were taken is gathered in ``notes``. Raises InputError if a file cannot be read or has
    no settings; so do the methods, for a value that does not fit.
    """

    def __init__(self, *paths: Path, instead: Mapping[str, str] | None = None) -> None:
        read = [settings_in(path) for path in paths]
        self.notes: list[str] = [note for _, notes in read for note in notes]
        self._paths = paths
        self._known: dict[str, tuple[str, Place] | None] = {}
        self._settings = [one for settings, _ in read for one in settings]
        self._settings += [Setting(key, value, 0, paths[-1]) for key, value in (instead or {}).items()]

    @property
    def name(self) -> str:
        """The files, as a sentence names them."""
        return " and ".join(map(str, self._paths))

    def only(self, owner: Owner) -> BrokerConf:
        """The same without the settings that the files give to others; what is noted and asked for counts for both."""
        part = copy(self)
        part._settings = [one for one in self._settings if one.of in ("", owner)]
        return part

    def written(self, keys: Collection[str], owner: Owner) -> list[Setting]:
        """The settings with one of these keys, and all that the files give to this owner, in order."""
        return [one for one in self._settings if one.of == owner or (not one.of and one.key in keys)]

    def number(self, key: str, default: int, remedy: str, *, least: int = 1, tell: bool = False) -> Taken[int]:
        """A whole number from ``least`` to 2^31 - 1; ``tell`` notes that it is left to the default."""
        given = self.text(key, default, tell)
        if given is None:
            return Taken(key, default)
        text, place = given[0].strip(), given[1]
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            comment = "; a comment goes on a line of its own" if "#" in text else ""
            raise ConfigurationError(
                f"{place}: {self._name(key)} = {text!r} is not a whole number; {self._of(key, remedy)}{comment}", place
            )
        digits = text.lstrip("+-").lstrip("0") or "0"
        small = len(digits) <= len(str(LARGEST))
        value = int(digits) * (-1 if text.startswith("-") else 1) if small else None
        if value is None or not least <= value <= LARGEST:
            raise ConfigurationError(
                f"{place}: {self._name(key)} = {text} is not from {least} to {LARGEST}; {self._of(key, remedy)}", place
            )
        return self._taken(key, value, place)

    def decimal(self, key: str, default: float, remedy: str) -> Taken[float]:
        """A decimal number from 0 on."""
        given = self.text(key, default)
        if given is None:
            return Taken(key, default)
        text, place = given[0].strip(), given[1]
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?", text):
            raise ConfigurationError(
                f"{place}: {self._name(key)} = {text[:20]!r} is not a number from 0 on; {self._of(key, remedy)}", place
            )
        return self._taken(key, float(text), place)

    def flag(self, key: str, default: bool) -> Taken[bool]:
        """A truth value: whatever is not ``true`` is false for Java, which a note says of what is not ``false`` either."""
        given = self.text(key, default)
        if given is None:
            return Taken(key, default)
        text, place = given
        if text.lower() not in ("true", "false"):
            self.notes.append(f"{place}: {self._name(key)} = {text!r} is neither 'true' nor 'false'; Java takes it for false")
        return self._taken(key, text.lower() == "true", place)

    def choice(self, key: str, default: str, of: Sequence[str]) -> Taken[str]:
        """One of several names, written exactly so."""
        given = self.text(key, default)
        if given is None:
            return Taken(key, default)
        text, place = given
        if text not in of:
            message = f"{self._name(key)} = {text!r} is not {' or '.join(of)}; write one of them, exactly so"
            raise ConfigurationError(f"{place}: {message}", place)
        return self._taken(key, text, place)

    def choices(self, key: str, default: Sequence[str], of: Sequence[str]) -> Taken[tuple[str, ...]]:
        """Some of several names, with commas between them."""
        given = self.text(key, ",".join(default))
        if given is None:
            return Taken(key, tuple(default))
        names, place = tuple(name.strip() for name in given[0].split(",")), given[1]
        for name in names:
            if name not in of:
                raise ConfigurationError(
                    f"{place}: {self._name(key)} has {name!r}, which is none of {', '.join(of)}; leave it out", place
                )
        return self._taken(key, names, place)

    def name_of_class(self, key: str, default: str) -> Taken[str]:
        """The name of a class, whatever it is."""
        given = self.text(key, default)
        return Taken(key, default) if given is None else self._taken(key, given[0].strip(), given[1])

    def given(self, key: str) -> Taken[str] | None:
        """The value of a key as some file has it, whatever it is; None if none has it, or leaves it empty."""
        given = [one for one in self._settings if one.key == key]
        self._known.setdefault(key, (given[-1].value, given[-1].place) if given else None)
        if not given or not given[-1].value.strip():
            return None
        return self._taken(key, given[-1].value.strip(), given[-1].place)

    def address(self, key: str) -> Taken[str] | None:
        """Where something is to be reached, or None if that is not set, or is left empty as in the files that Pulsar ships."""
        given = [one for one in self._settings if one.key == key]
        if not given or not given[-1].value.strip():
            self._known.setdefault(key, None)
            return None
        text, place = self.text(key, "") or ("", given[-1].place)
        return self._taken(key, text.strip(), place)

    def _name(self, key: str) -> str:
        """The name of a setting where it counts: in the policies of a namespace it has another one."""
        return next((one.written for one in reversed(self._settings) if one.key == key), "") or key

    def _of(self, key: str, remedy: str) -> str:
        """The remedy with that name."""
        return remedy.replace(key, self._name(key))

    def _taken(self, key: str, value: T, place: Place) -> Taken[T]:
        return Taken(key, value, place, written=self._name(key) if self._name(key) != key else "")

    def look_closer(self, remedy: str, besides: Collection[str] = (), *, every_file: bool = False) -> None:
        """Looks again at the files when all of their keys that count, except those ``besides``, have been asked for: notes
        those that are spelled nearly so, and the files that say nothing of them.

        Raises ConfigurationError, ending with the ``remedy``, if that is so of all files, or of any with ``every_file``.
        """
        unread = [one for one in self._settings if one.key not in self._known and one.key not in besides]
        near = {}
        for one in unread:
            if meant := _meant(one.key, self._known):
                near[one.place] = f"{one.key} on line {one.place.line} is not read: did you mean {meant}?"
        if len(unread) == len(self._settings):
            place, note = next(iter(near.items()), (Place(self._paths[-1]), ""))
            hint = f" ({note})" if note else self._seems(self._paths[-1])
            raise ConfigurationError(f"{self.name}: has none of the settings that are read here{hint}; {remedy}", place)
        self.notes += [f"{place.file}: {note}" for place, note in near.items()]
        read = {one.place.file for one in self._settings if one not in unread}
        strangers = [path for path in self._paths if path not in read]
        if strangers and every_file:
            path = strangers[0]
            note = f"{path}: has none of the settings that are read here{self._seems(path)}; leave it out, or {remedy}"
            raise ConfigurationError(note, Place(path))
        self.notes += [f"{path}: has none of the settings that are read here" for path in strangers]

    def _seems(self, path: Path) -> str:
        """What a file of which nothing is read seems to be, in brackets; empty if it is like nothing that is known."""
        keys = {one.key.removeprefix(MARK) for one in self._settings if one.place.file == path}
        if any(one.key.startswith(MARK) for one in self._settings if one.place.file == path):
            return f" (it begins with a byte order mark, which Java takes for part of {sorted(keys)[0]}: save it without)"
        likeness = {kind: [key for key in known if key in keys] for kind, known in KINDS.items()}
        kind = max(likeness, key=lambda kind: len(likeness[kind]))
        return f" (it seems to be {kind}: it sets {likeness[kind][0]})" if likeness[kind] else ""

    def has(self, key: str) -> bool:
        """Whether some file sets it."""
        return any(one.key == key for one in self._settings)

    @property
    def places(self) -> dict[str, Place]:
        """Where each key of the files counts."""
        return {one.key: one.place for one in self._settings}

    def places_of(self, key: str) -> list[Place]:
        """Where a key is set, the one that counts last."""
        return [one.place for one in self._settings if one.key == key]

    def text(self, key: str, default: object, tell: bool = False) -> tuple[str, Place] | None:
        """The value of a key as it is written and where it is, or None if it is left to the default."""
        if key not in self._known:  # asked for once more, it is not noted once more
            self._known[key] = self._last(key, default, tell)
        return self._known[key]

    def _last(self, key: str, default: object, tell: bool) -> tuple[str, Place] | None:
        given = [one for one in self._settings if one.key == key]
        if not given:
            if tell:
                self.notes.append(f"{key}: not set in {self.name}, so it is {PULSARS}, {_written(default)}")
            return None
        last = given[-1]
        here = [one.place.line for one in given if one.place.file == last.place.file]
        if len(here) > 1:
            lines = ", ".join(map(str, here))
            counts = f"that of line {last.place.line} counts, {last.value!r}"
            self.notes.append(f"{last.place.file}: {self._name(key)} is set on lines {lines}; {counts}")
        before = [one for one in given if one.place.file != last.place.file]
        if before and before[-1].value.strip() != last.value.strip():
            former = f"{before[-1].value!r} ({before[-1].place})"
            instead = f"{key} = {former}" if last.written else former
            self.notes.append(f"{last.place}: {self._name(key)} = {last.value!r} replaces {instead}")
        if last.value.strip():
            return last.value, last.place
        self.notes.append(f"{self._name(key)}: {last.place} leaves it empty, so it is {PULSARS}, {_written(default)}")
        return None


def _meant(key: str, known: Iterable[str]) -> str:
    """Which of the known keys is written so except for one letter, or for small and capital letters; empty if none is."""
    ends = key[:1].lower(), key[-1:].lower()  # one edit leaves one of them
    near = (
        each
        for each in known
        if abs(len(each) - len(key)) < 2 and (each[:1].lower() == ends[0] or each[-1:].lower() == ends[1])
    )
    return next((other for other in near if key.lower() == other.lower() or _is_one_edit_away(key, other)), "")


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
