"""The folder that a run works in: whose it is, and that nobody else works in it meanwhile."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = "run.lock"


class FolderError(Exception):
    """A folder that is another run's, in use, or no run at all; the message names it and says what to do."""


@contextmanager
def held(folder: Path, name: str, text: str, difference: Callable[[], str]) -> Iterator[None]:
    """Makes the folder that of the run which ``text`` tells of, in the file of that name, or finds that it is.

    ``difference`` says in what the run of the file differs, nothing if it does not. Raises FolderError if it is another run's
    or in use, OSError if it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    if not file.exists() and any(path.name != LOCK for path in folder.iterdir()):
        raise FolderError(f"{folder} is not empty and holds no run: name another folder")
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FolderError(f"{folder} is in use by another process: wait for it, or name another folder") from error
        if file.exists():
            found = difference()
            if found:
                raise FolderError(f"{folder} belongs to another run ({found}): name another folder")
        else:
            draft = folder / f"{name}.part"
            draft.write_text(text, encoding="utf-8")
            draft.replace(file)
        yield
