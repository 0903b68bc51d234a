"""The files that make a configuration, in whatever form they are found, each as its settings with the lines they are on.

A properties file is read as java.util.Properties.load(InputStream) reads it. An environment file has, one a line, the variables
from which images of Pulsar and of BookKeeper make such a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from fencepost.checks.inputs.input_files import BYTE_ORDER_MARK, MOST_BY_HAND, InputError, Place, read_bytes
from fencepost.model.counts import listed

BLANKS = " \t\f"
Owner = Literal["", "broker", "bookie"]
"""Whose settings they are; empty where the file does not say it."""

Image = Literal["", "pulsar", "bookkeeper"]
"""Which image applies settings to a file of its own; empty for a file that is used as it is."""

BROKER_TAG, BOOKIE_TAG, EVERY_TAG = TAGS = ("images.broker.tag", "images.bookie.tag", "defaultPulsarImageTag")
REPLICAS = "bookkeeper.replicaCount"
"""What the values of a chart say of the images and of the number of bookies."""

ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True)
class Setting:
    """One ``key = value`` as a file has it, and the line on which it begins (from 1). ``of`` says whose it is, as far as the
    file says it, ``image`` which image applies it to a file of its own, ``written`` how the file spells the key,
    where that is another setting than the brokers'."""

    key: str
    value: str
    line: int
    file: Path = Path()
    of: Owner = ""
    image: Image = ""
    written: str = ""

    @property
    def place(self) -> Place:
        """Where it is."""
        return Place(self.file, self.line)


class MalformedEscape(ValueError):
    """An escape that Java refuses; ``line`` is the line on which its setting begins."""

    def __init__(self, line: int) -> None:
        super().__init__("a backslash and u must be followed by four hexadecimal digits")
        self.line = line


def settings(data: bytes) -> list[Setting]:
    """Every setting of the file in its order, a key that is set twice twice (Java keeps the last).

    Java takes the bytes for ISO-8859-1, whatever they were meant to be. Raises MalformedEscape.
    """
    rows = []
    for line, text in _logical_lines(data.decode("iso-8859-1")):
        end = _end_of_key(text)
        try:
            rows.append(Setting(_unescaped(text[:end]), _unescaped(_after_separator(text[end:])), line))
        except ValueError as error:
            raise MalformedEscape(line) from error
    return rows


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with a key: continuations joined, comments and blank lines left out, each with the number of its first line."""
    pending, first = "", 0
    for number, natural in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        content = natural.lstrip(BLANKS)
        if not pending:
            if not content or content[0] in "#!":
                continue
            first = number
        trailing = len(content) - len(content.rstrip("\\"))
        continued = trailing % 2 == 1
        pending += content[:-1] if continued else content
        if not continued:
            yield first, pending
            pending = ""
    if pending:
        yield first, pending


def _end_of_key(text: str) -> int:
    escaped = False
    for position, character in enumerate(text):
        if not escaped and (character in "=:" or character in BLANKS):
            return position
        escaped = character == "\\" and not escaped
    return len(text)


def _after_separator(rest: str) -> str:
    value = rest.lstrip(BLANKS)
    return value[1:].lstrip(BLANKS) if value[:1] in ("=", ":") else value


def _unescaped(text: str) -> str:
    """The text without its escapes; ValueError for a malformed one."""
    parts = []
    characters = iter(text)
    for character in characters:
        if character != "\\":
            parts.append(character)
            continue
        escape = next(characters, "")
        if escape != "u":
            parts.append(ESCAPES.get(escape, escape))
            continue
        digits = "".join(next(characters, " ") for _ in range(4))
        if not all(digit in "0123456789abcdefABCDEF" for digit in digits):
            raise ValueError(digits)
        parts.append(chr(int(digits, 16)))
    return "".join(parts)


PREFIX = "PULSAR_PREFIX_"
"""What is before a key in the environment: the image adds such a key to the file, and others only if the file has them."""

BOOKKEEPER = "BK_"
"""What is before a key in the environment of BookKeeper's own image, whose other variables are no settings: BOOKIE_PORT, ..."""

ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.]*)=(.*)")


def is_environment(text: str) -> bool:
    """Whether a text is an environment file and no broker.conf: some line of it sets a variable with a prefix."""
    return re.search(rf"^\s*(?:export\s+)?(?:{PREFIX}\w|{BOOKKEEPER}[a-z]\w*=)", text, re.MULTILINE) is not None


def variables(text: str) -> Iterator[Setting]:
    """The variables of an environment file, each with its line; comments and what is no assignment are left out.

    A pair of quotes around a value is taken off, as a shell and Docker Compose do.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if match := ASSIGNMENT.fullmatch(line):
            key, value = match[1], match[2].strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
            yield Setting(key, value[1:-1] if quoted else value, number)


def bookkeepers(settings: Sequence[Setting]) -> list[Setting]:
    """Of some variables the settings of a bookie in BookKeeper's own image.

    Mirrors docker/scripts/apply-config-from-env.py of BookKeeper, which changes what the file has, commented out or not.
    """
    mine = [one for one in settings if re.match(f"{BOOKKEEPER}[a-z]", one.key)]
    return [Setting(one.key.removeprefix(BOOKKEEPER), one.value.strip(), one.line) for one in mine]


def as_applied(settings: Sequence[Setting]) -> list[Setting]:
    """Variables as settings, in the order in which Pulsar's images apply them: those with the prefix last, and without it.

    Mirrors docker/pulsar/scripts/apply-config-from-env.py of Pulsar, which also trims values.
    """
    plain = [one for one in settings if not one.key.startswith(PREFIX)]
    prefixed = [Setting(one.key.removeprefix(PREFIX), one.value, one.line) for one in settings if one.key.startswith(PREFIX)]
    return [Setting(one.key, one.value.strip(), one.line) for one in (*plain, *prefixed)]


def settings_in(path: Path) -> tuple[list[Setting], list[str]]:
    """The settings of a broker.conf, standalone.conf or bookkeeper.conf, an environment file, the values of a Helm chart or
    ConfigMaps, ``-`` being standard input: those that count last at the end. And what a user should know of how it was read.

    Raises InputError, with the line where there is one, if it cannot be read or has no settings.
    """
    data = read_bytes(path, "a broker.conf", MOST_BY_HAND)
    if b"\0" in data:
        place = Place(path, data[: data.index(b"\0")].count(b"\n") + 1)
        raise InputError(f"{place}: is not plain text (a zero byte); save it as ASCII or UTF-8", place)
    # Java takes a broker.conf for ISO-8859-1; YAML and an environment file are UTF-8
    text = data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", errors="replace")
    if _is_yaml(path, text):
        from fencepost.checks.inputs.yaml_files import parts_of  # loads a parser, which most configurations do not need

        parts = parts_of(path, text)
        note = f"{path}: only {listed([part.name for part in parts])} {'are' if len(parts) > 1 else 'is'} read"
        read = [replace(one, of=part.of, image=part.image) for part in parts for one in part.settings]
        notes = [note, *(note for part in parts for note in part.notes)]
    elif _lists_bookies(text):
        from fencepost.checks.inputs.yaml_parts import listed_bookies  # loads the parser of YAML, seldom needed

        part = listed_bookies(text)
        read, notes = part.settings, [f"{path}: {note}" for note in ("only the number of bookies is read", *part.notes)]
    elif is_environment(text):
        read, notes = _environment(path, list(variables(text)))
    else:
        read, notes = _properties(path, data)
    if not read:
        what = "has only comments and blank lines" if data.strip() else "is empty"
        raise InputError(f"{path}: {what}; give the broker.conf that the brokers start with", Place(path))
    return [replace(one, file=path) for one in read], notes


def _is_yaml(path: Path, text: str) -> bool:
    """Whether a file is YAML (or JSON, which is YAML): by its name, or by what only such a file has at the beginning of a
    line."""
    known = path.suffix in (".yaml", ".yml", ".json")
    return known or re.search(r'^[\s{]*"?(apiVersion|configData)"?\s*:', text, re.MULTILINE) is not None


def _lists_bookies(text: str) -> bool:
    return "BookieID:" in text and " Bookies :" in text


def _environment(path: Path, settings: list[Setting]) -> tuple[list[Setting], list[str]]:
    """The variables for Pulsar's image, which both brokers and bookies run, and those for BookKeeper's."""
    of_bookkeeper, read, notes = bookkeepers(settings), list[Setting](), list[str]()
    rest = [one for one in settings if not one.key.startswith(BOOKKEEPER)]
    if any(one.key.startswith(PREFIX) for one in rest):
        notes.append(f"{path}: read as the environment of an image, which takes {PREFIX} off")
        read += [replace(one, image="pulsar") for one in as_applied(rest)]
    if of_bookkeeper:
        notes.append(f"{path}: read as the environment of BookKeeper's image, which takes {BOOKKEEPER} off")
        read += [replace(one, of="bookie", image="bookkeeper") for one in of_bookkeeper]
    return read, notes


def _properties(path: Path, data: bytes) -> tuple[list[Setting], list[str]]:
    marked = f"{path}:1: begins with a byte order mark, which Java takes for part of the first line; save it without"
    try:
        return settings(data), [marked] if data.startswith(BYTE_ORDER_MARK) else []
    except MalformedEscape as error:
        place = Place(path, error.line)
        raise InputError(f"{place}: {error}; double the backslash if it is meant as one", place) from error
