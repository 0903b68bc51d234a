"""Logs of events of a real system, one JSON object on each line, and what they mean in a protocol.

A log in the protocol's own words needs no mapping: ``steps`` are the actions one of which happened (``add(b0, e1)``; ``_`` for
any argument; ``nothing`` if perhaps none did), ``seen`` the values of variables after it (``{"status": "closed", "stored[b0]":
["e0"]}``). A first line with ``parameters`` names the instance.

Any other log is read through a mapping (``Meaning``): which field of a line says what it is about, the steps that each such
line may be, and which fields show which variables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fencepost.model.language import Action, Protocol
from fencepost.model.language.domains import Subset
from fencepost.properties.registry import Value
from fencepost.traces.files.itf_values import decode
from fencepost.traces.printable import printable

NOTHING = "nothing"
"""Instead of a step: perhaps none was taken."""

ANY = "_"
"""Instead of an argument: whichever it was."""

_HEADER = {"parameters", "bugs", "unobserved", "protocol"}


class LogError(Exception):
    """A log or a mapping that cannot be read, or does not fit the protocol; the message names the file and the line."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class EmptyLogError(Exception):
    """A log that says nothing about the protocol; the message says why."""


@dataclass(frozen=True)
class Shown:
    """A field of a log's lines that shows a variable; ``values`` are the variable's values by the field's, if they differ."""

    variable: str
    values: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Meaning:
    """What the lines of a log mean: a mapping, as its file has it.

    ``kind`` is the field that says what a line is about, ``steps`` has the patterns of the steps for each such word (none: the
    line is known, and is no step), ``seen`` what fields show. In patterns and names ``{field}`` stands for a field of the line.
    ``unobserved`` are the actions that no line tells of; if it is None, those that no pattern names.
    """

    kind: str
    steps: Mapping[str, Sequence[str]]
    seen: Mapping[str, Shown] = field(default_factory=dict)
    unobserved: Sequence[str] | None = None


@dataclass(frozen=True)
class Event:
    """A line of a log: one of these actions was taken, by their numbers (None: the line is no step), or, if ``perhaps_none``,
    none was; and the variables had these raw values then, by their places. ``what`` is the line in short."""

    line: int
    what: str
    steps: tuple[int, ...] | None = None
    perhaps_none: bool = False
    seen: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Line:
    """A line of a log that is no header: its number, counted from 1, and what it says."""

    number: int
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Log:
    """The lines of a log, and what its header says: the instance, and which actions no line tells of."""

    path: Path
    lines: tuple[Line, ...]
    protocol: str | None = None
    parameters: Mapping[str, Value] | None = None
    bugs: tuple[str, ...] = ()
    unobserved: tuple[str, ...] | None = None


def read_log(path: Path) -> Log:
    """The log in a file. Raises LogError, and EmptyLogError if there is no line in it."""
    lines = []
    for number, text in enumerate(_text(path).splitlines(), start=1):
        if not text.strip():
            continue
        try:
            content = json.loads(text)
        except ValueError as error:
            raise LogError(f"{path}:{number}: is not JSON: {error}") from None
        if not isinstance(content, dict):
            raise LogError(f"{path}:{number}: is not a JSON object; a log has one on each line")
        lines.append(Line(number, content))
    header = lines[0].content if lines and set(lines[0].content) <= _HEADER else {}
    lines = lines[1:] if header else lines
    if not lines:
        raise EmptyLogError(f"{path}: the log is empty, so there is nothing to explain")
    unobserved = header.get("unobserved")
    return Log(
        path,
        tuple(lines),
        header.get("protocol"),
        header.get("parameters"),
        tuple(header.get("bugs", ())),
        None if unobserved is None else tuple(unobserved),
    )


def read_mapping(path: Path) -> Meaning:
    """The mapping in a JSON file. Raises LogError."""
    try:
        content = json.loads(_text(path))
        if not isinstance(content, dict):
            raise ValueError("it is not a JSON object")
        if strangers := sorted(set(content) - {"kind", "steps", "seen", "unobserved"}):
            raise ValueError(f"{strangers[0]!r} is not known; a mapping has kind, steps, seen and unobserved")
        if not isinstance(content.get("kind"), str):
            raise ValueError('"kind" is missing: the field that says what a line is about')
        steps = {word: _patterns(word, given) for word, given in dict(content.get("steps", {})).items()}
        seen = {name: _shown(name, given) for name, given in dict(content.get("seen", {})).items()}
        return Meaning(content["kind"], steps, seen, content.get("unobserved"))
    except (ValueError, TypeError) as error:
        raise LogError(f"{path}: {error}") from None


def _patterns(word: str, given: object) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else given
    if not isinstance(patterns, (list, tuple)) or not all(isinstance(each, str) for each in patterns):
        raise ValueError(f"the steps of {word!r} are not a list of patterns such as 'add({{bookie}}, {{entry}})'")
    return tuple(patterns)


def _shown(name: str, given: object) -> Shown:
    if isinstance(given, str):
        return Shown(given)
    if isinstance(given, dict) and isinstance(given.get("variable"), str) and set(given) <= {"variable", "values"}:
        return Shown(given["variable"], given.get("values"))
    raise ValueError(f"what {name!r} shows is neither the name of a variable nor an object with variable and values")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise LogError(f"{path}: is not UTF-8 text") from None
    except OSError as error:
        raise LogError(f"{path}: {error.strerror or error}") from error


@dataclass(frozen=True)
class Events:
    """What a log tells of a protocol: its events, the actions that may happen without one, and the lines that tell nothing."""

    events: tuple[Event, ...]
    unobserved: tuple[int, ...]
    unmatched: tuple[int, ...] = ()


def events_of(log: Log, protocol: Protocol, meaning: Meaning | None = None) -> Events:
    """The log in the words of an instance. Raises LogError, and EmptyLogError if no line tells anything of it."""
    reader = _Reader(log, protocol, meaning)
    by_line = [(line, reader.event(line)) for line in log.lines]
    events = tuple(event for _, event in by_line if event is not None and (event.steps is not None or event.seen))
    if not events:
        why = "the mapping matches none of its lines" if meaning else 'no line of it has "steps" or "seen"'
        raise EmptyLogError(f"{log.path}: {why}, so there is nothing to explain")
    unmatched = tuple(line.number for line, event in by_line if event is None)
    return Events(events, reader.unobserved(), unmatched)


class _Reader:
    """Reads lines as events of one instance."""

    def __init__(self, log: Log, protocol: Protocol, meaning: Meaning | None) -> None:
        self._log, self._protocol, self._meaning = log, protocol, meaning
        self._places = {variable.name: place for place, variable in enumerate(protocol.variables)}
        self._named: set[str] = set()
        self._known: dict[str, tuple[int, ...]] = {}
        for patterns in meaning.steps.values() if meaning else ():
            self._named |= {_name(pattern) for pattern in patterns}

    def event(self, line: Line) -> Event | None:
        """What a line says; None if it says nothing of the protocol."""
        try:
            patterns, seen = self._own(line) if self._meaning is None else self._mapped(line, self._meaning)
            if patterns is None and not seen:
                return None
            patterns = patterns or ()
            numbers = dict.fromkeys(n for pattern in patterns if pattern != NOTHING for n in self._matching(pattern))
            raw = tuple(self._raw(name, value) for name, value in seen.items())
        except ValueError as error:
            raise LogError(f"{self._log.path}:{line.number}: {error}") from None
        self._named |= {_name(pattern) for pattern in patterns}
        steps = tuple(numbers) if patterns else None
        return Event(line.number, self._in_short(line, patterns), steps, NOTHING in patterns, raw)

    def unobserved(self) -> tuple[int, ...]:
        """The actions that may happen without an event."""
        names = self._log.unobserved if self._meaning is None else self._meaning.unobserved
        known = {action.name for action in self._protocol.actions}
        for name in names or ():
            if name not in self._protocol.mirrors:
                raise LogError(f"{self._log.path}: unobserved: {self._protocol.name} has no action {name!r}")
        left = known - self._named if names is None else set(names)
        return tuple(n for n, action in enumerate(self._protocol.actions) if action.name in left)

    def _own(self, line: Line) -> tuple[Sequence[str] | None, Mapping[str, object]]:
        steps = line.content.get("steps")
        seen = line.content.get("seen", {})
        if not isinstance(seen, dict):
            raise ValueError('"seen" is not an object of variables and values')
        return (None if steps is None else _patterns("steps", steps)), seen

    def _mapped(self, line: Line, meaning: Meaning) -> tuple[Sequence[str] | None, Mapping[str, object]]:
        word = line.content.get(meaning.kind)
        patterns = meaning.steps.get(str(word)) if word is not None else None
        seen = {}
        for name, shown in meaning.seen.items():
            value = _at(line.content, name)
            if value is not _MISSING:
                if shown.values is not None:
                    if str(value) not in shown.values:
                        raise ValueError(f"{name} is {value!r}, which the mapping has no value for")
                    value = shown.values[str(value)]
                seen[_filled(shown.variable, line.content)] = value
        return (None if patterns is None else [_filled(pattern, line.content) for pattern in patterns]), seen

    def _matching(self, pattern: str) -> tuple[int, ...]:
        if pattern not in self._known:
            self._known[pattern] = tuple(n for n, a in enumerate(self._protocol.actions) if _matches(pattern, a))
        if self._known[pattern]:
            return self._known[pattern]
        if _name(pattern) in self._protocol.mirrors:
            return ()  # an action that this instance leaves out, or with arguments that it does not have
        raise ValueError(f"{self._protocol.name} has no action {pattern!r}")

    def _raw(self, name: str, value: object) -> tuple[int, int]:
        if name not in self._places:
            raise ValueError(f"{self._protocol.name} has no variable {name!r} in this instance")
        domain = self._protocol.variables[self._places[name]].domain
        try:
            return self._places[name], decode(domain, {"#set": value} if isinstance(domain, Subset) else value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    def _in_short(self, line: Line, patterns: Sequence[str]) -> str:
        word = line.content.get(self._meaning.kind) if self._meaning else line.content.get("what")
        return str(word) if word is not None else " or ".join(patterns) or "what is seen"


_MISSING = object()


def _at(content: Mapping[str, object], path: str) -> object:
    """The field of that name; with dots, of an object in an object."""
    value: object = content
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return _MISSING
        value = value[name]
    return value


def _filled(pattern: str, content: Mapping[str, object]) -> str:
    """A pattern with the fields of a line."""

    def value(match: re.Match[str]) -> str:
        field = _at(content, match[1])
        if field is _MISSING:
            raise ValueError(f"{pattern!r} needs the field {match[1]!r}, which the line does not have")
        return str(field)

    return re.sub(r"\{([^{}]+)\}", value, pattern)


def _name(pattern: str) -> str:
    return pattern.partition("(")[0].strip()


def _arguments(pattern: str) -> list[str] | None:
    inside = re.fullmatch(r"[^()]*\((.*)\)\s*", pattern)
    return [part.strip() for part in inside[1].split(",")] if inside else None


def _matches(pattern: str, action: Action) -> bool:
    """Whether an action is one that the pattern stands for; a name alone stands for all of that name."""
    if _name(pattern) != action.name:
        return False
    wanted, given = _arguments(pattern), list(action.arguments.values())
    if wanted is None:
        return True
    return len(wanted) == len(given) and all(w in (ANY, g) for w, g in zip(wanted, given, strict=True))
