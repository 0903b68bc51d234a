"""The folder that a run works in: whose it is, and that nobody else works in it meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from fencepost.model import sealed
from fencepost.traces.exploration.places import InUse, Place, draft_name, locked, write

LOCK = "run.lock"


class FolderError(Exception):
    """A folder that is another run's, in use, or no run at all; the message names it and says what to do."""


def content_of(file: Place) -> Any:
    """What a sealed file of a run's folder holds, as whoever wrote it knows.

    Raises FolderError if it cannot be read or is not as it was written.
    """
    try:
        return sealed.unsealed(file.read_bytes())
    except OSError as error:
        raise FolderError(f"{file} cannot be read: {error.strerror}") from error
    except sealed.SealError as error:
        raise FolderError(f"{file} is damaged: {error}") from error


@contextmanager
def held(
    folder: Place, name: str, content: Mapping[str, object], difference: Callable[[dict[str, object]], str]
) -> Iterator[None]:
    """Makes the folder that of the run which the content tells of, in the file of that name, or finds that it is.

    ``difference`` says in what the run of the file differs, nothing if it does not. Raises FolderError if it is another run's
    or in use, OSError if it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    own = {LOCK, draft_name(file)}  # which a kill may have left
    if not file.exists() and any(path.name not in own for path in folder.iterdir()):
        raise FolderError(f"{folder} is not empty and holds no run: name another folder")
    with _locked(folder):
        if file.exists():
            obstacle = difference(content_of(file))
            if obstacle:
                raise FolderError(f"{folder} belongs to another run ({obstacle}): name another folder")
        else:
            write(file, content)
        yield


@contextmanager
def _locked(folder: Place) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / LOCK))
        except InUse as error:
            raise FolderError(f"{folder} is {error}") from error
        yield
