"""Java properties files, read as java.util.Properties.load(InputStream) reads them, with the line of every key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

BLANKS = " \t\f"
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True)
class Setting:
    """One ``key = value`` of the file, and the line on which it begins (from 1)."""

    key: str
    value: str
    line: int


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
