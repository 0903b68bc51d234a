"""Files that a user names: what is in them, or what is wrong and the remedy."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Place:
    """A line of a file that a user gave, from 1; 0 where no line of it is to blame."""

    file: Path
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else str(self.file)


class InputError(Exception):
    """An input file that cannot be used; the message names the file, what is wrong in it and where.

    ``place`` is what a report can point at, if it is known.
    """

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.place = place


STANDARD_INPUT = Path("-")

MOST = 1 << 26
"""Bytes that are taken from what is no regular file, and so may never end."""
MOST_BY_HAND = 1 << 24
"""Bytes of what people write: settings, policies, a profile, a baseline. What has more is another file."""


class Inputs:
    """The inputs of one run, each read once: a pipe has nothing left for a second reader, and a file may change between two."""

    def __init__(self) -> None:
        self._contents: dict[Path, bytes] = {}

    def give(self, path: Path, content: bytes) -> None:
        """Has an input that is in no file: what was heard a moment ago, by the name that it would have."""
        self._contents[path] = content

    def content(self, path: Path) -> bytes:
        """The bytes of an input, of what is no regular file at most one more than ``MOST``. OSError if it cannot be read."""
        if path not in self._contents:
            self._contents[path] = _content(path)
        return self._contents[path]


_INPUTS: ContextVar[Inputs | None] = ContextVar("inputs", default=None)


@contextmanager
def inputs_read_once() -> Iterator[Inputs]:
    """Within it ``read_bytes`` reads each input once."""
    inputs = Inputs()
    token = _INPUTS.set(inputs)
    try:
        yield inputs
    finally:
        _INPUTS.reset(token)


def read_bytes(path: Path, what: str, most: int | None = None) -> bytes:
    """The bytes of a file, or of standard input for ``-``; ``what`` names such a file. InputError if it cannot be read, or has
    more than the ``most`` bytes that such a file has."""
    try:
        if most is not None and path.is_file() and (size := path.stat().st_size) > most:
            raise InputError(f"{path}: has {size >> 20} MiB, more than the {most >> 20} MiB that {what} may have", Place(path))
        data = (_INPUTS.get() or Inputs()).content(path)
        is_whole = len(data) <= MOST or (path != STANDARD_INPUT and path.is_file())
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory; give the path of {what}", Place(path)) from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the path of {what}", Place(path)) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", Place(path)) from error
    if not is_whole:
        raise InputError(f"{path}: does not end within {MOST >> 20} MiB; give a file", Place(path))
    if most is not None and len(data) > most:
        raise InputError(f"{path}: has more than the {most >> 20} MiB that {what} may have", Place(path))
    return data


def _content(path: Path) -> bytes:
    if path == STANDARD_INPUT:
        if sys.stdin is None:  # closed by the caller: Python then has none
            raise OSError("standard input is closed")
        return sys.stdin.buffer.read(MOST + 1)
    if stat.S_ISREG(path.stat().st_mode):
        return path.read_bytes()
    with path.open("rb") as stream:
        return stream.read(MOST + 1)


def read_text(path: Path, what: str, most: int | None = None) -> str:
    """The text of a file in UTF-8, with or without a byte order mark; line ends as they are. Raises InputError."""
    try:
        return read_bytes(path, what, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8: {error.reason} at byte {error.start}", Place(path)) from None
