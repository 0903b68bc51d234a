"""Files that a user names: what is in them, or what is wrong and the remedy."""

from __future__ import annotations

import stat
import sys
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


def read_bytes(path: Path, what: str) -> bytes:
    """The bytes of a file, or of standard input for ``-``; ``what`` names such a file. InputError if it cannot be read."""
    try:
        if path == STANDARD_INPUT:
            return _to_the_end(sys.stdin.buffer.read(MOST + 1), path)
        if stat.S_ISREG(path.stat().st_mode):
            return path.read_bytes()
        with path.open("rb") as stream:
            return _to_the_end(stream.read(MOST + 1), path)
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory; give the path of {what}", Place(path)) from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the path of {what}", Place(path)) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", Place(path)) from error


def _to_the_end(data: bytes, path: Path) -> bytes:
    if len(data) > MOST:
        raise InputError(f"{path}: does not end within {MOST >> 20} MiB; give a file", Place(path))
    return data


def read_text(path: Path, what: str) -> str:
    """The text of a file in UTF-8, with or without a byte order mark; line ends as they are. Raises InputError."""
    try:
        return read_bytes(path, what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8: {error.reason} at byte {error.start}", Place(path)) from None
