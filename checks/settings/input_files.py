"""Files that a user names: what is in them, or what is wrong and the remedy."""

from __future__ import annotations

from pathlib import Path

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class InputError(Exception):
    """An input file that cannot be used; the message names the file, what is wrong in it and where."""


def read_bytes(path: Path, what: str) -> bytes:
    """The bytes of a file; ``what`` names such a file. Raises InputError if it cannot be read."""
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory; give the path of {what}") from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the path of {what}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def read_text(path: Path, what: str) -> str:
    """The text of a file in UTF-8, with or without a byte order mark; line ends as they are. Raises InputError."""
    try:
        return read_bytes(path, what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8: {error.reason} at byte {error.start}") from None
