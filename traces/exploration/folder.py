"""The folder that a run works in: whose it is, and that nobody else works in it meanwhile."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fencepost.model.kernel.search import sealed

LOCK = "run.lock"


class FolderError(Exception):
    """A folder that is another run's, in use, or no run at all; the message names it and says what to do."""


def content_of(file: Path) -> dict[str, Any]:
    """What a sealed file of a run's folder holds. Raises FolderError if it cannot be read or is not as it was written."""
    try:
        return sealed.unsealed(file.read_bytes())
    except OSError as error:
        raise FolderError(f"{file} cannot be read: {error.strerror}") from error
    except sealed.SealError as error:
        raise FolderError(f"{file} is damaged: {error}") from error


@contextmanager
def held(folder: Path, name: str, content: Mapping[str, Any], difference: Callable[[dict[str, Any]], str]) -> Iterator[None]:
    """Makes the folder that of the run which the content tells of, in the file of that name, or finds that it is.

    ``difference`` says in what the run of the file differs, nothing if it does not. Raises FolderError if it is another run's
    or in use, OSError if it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    own = {LOCK, sealed.draft_of(file).name}  # which a kill may have left
    if not file.exists() and any(path.name not in own for path in folder.iterdir()):
        raise FolderError(f"{folder} is not empty and holds no run: name another folder")
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FolderError(f"{folder} is in use by another process: wait for it, or name another folder") from error
        if file.exists():
            obstacle = difference(content_of(file))
            if obstacle:
                raise FolderError(f"{folder} belongs to another run ({obstacle}): name another folder")
        else:
            sealed.write(file, content)
        yield
