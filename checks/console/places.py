"""Files and folders that a command is to write: a place that cannot be written is refused before any work is done for it."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_type_hints

from fencepost.checks.console.requests import URL, Option

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PRINTED = Path("-")
"""What is printed, not written to a file."""


def require_places(asked: DataclassInstance) -> None:
    """OSError, which names the place and what is in the way, if an option of the request names one that cannot be written.
    Nothing is made, and nothing is changed."""
    for name, option in writing(type(asked)):
        value = getattr(asked, name)
        if value is not None and not URL.match(str(value)):
            require_place(Path(value), option.writes)


def writing(kind: type[DataclassInstance]) -> Iterator[tuple[str, Option]]:
    """The fields of a request whose options name a place to write to."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        for option in get_args(hints[field.name])[1:]:
            if isinstance(option, Option) and option.writes:
                yield field.name, option


def require_place(path: Path, kind: str) -> None:
    """OSError if a ``file`` or a ``folder`` cannot be written there; where it may be ``any`` of both, what is there decides."""
    if kind == "file" and path in (PRINTED, Path()):  # Path(): a page that is asked for without a name
        return
    try:
        there = _mode(path)
        if there is not None and kind == "file" and stat.S_ISDIR(there):
            raise IsADirectoryError(errno.EISDIR, "is a directory; name a file")
        if there is not None and kind == "folder" and not stat.S_ISDIR(there):
            raise NotADirectoryError(errno.ENOTDIR, "is a file; name a folder")
        if there is not None and not stat.S_ISDIR(there) and not stat.S_ISREG(there):
            if not os.access(path, os.W_OK):  # a pipe, or a terminal
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        _try(path if there is not None and stat.S_ISDIR(there) else path.parent)
    except OSError as error:
        why = error.strerror or str(error)
        raise OSError(error.errno, why if why.startswith("is ") else f"cannot be written: {why}", str(path)) from None


def _try(folder: Path) -> None:
    """OSError if nothing can be written in the folder, or, if there is none yet, in the first one above it that there is."""
    while (there := _mode(folder)) is None:
        folder = folder.parent
    if not stat.S_ISDIR(there):
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is no folder")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileNotFoundError:  # as systems of the kernel's own say it
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None


def _mode(path: Path) -> int | None:
    """What is at a path; None if nothing is. OSError if that cannot be known."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
