"""The folder that a run works in: whose it is, that nobody else works in it, and which of its folders count.

A folder counts once a record in it has the digest of each of its files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from fencepost.model import sealed
from fencepost.traces.exploration.places import InUse, Place, digests_of, draft_name, locked, write

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


RECORD = "_files.json"
"""The name of the record. Spark and Arrow take no file for data whose name begins like this."""

Digests = Callable[[Sequence[Place]], Sequence[str]]


def keep(folders: Iterable[Place], run: str, digests: Digests = digests_of) -> None:
    """Makes these folders count, as part of the run that the text tells of. Raises OSError."""
    held = {folder: _files(folder) for folder in folders}
    every = iter(digests([file for files in held.values() for file in files]))
    for folder, files in held.items():
        write(folder / RECORD, {**_whose(folder, run), "files": {file.name: next(every) for file in files}})


def is_kept(folder: Place) -> bool:
    """Whether the folder counts."""
    return (folder / RECORD).exists()


def check(folders: Iterable[Place], run: str, digests: Digests = digests_of) -> None:
    """Finds that these folders are of that run and that every file in them is as it was when they were kept.

    Raises FolderError, with the name of the file.
    """
    wanted = dict[Place, str]()
    for folder in folders:
        record = folder / RECORD
        content: Mapping[str, object] = content_of(record)
        listed = content.get("files")
        if {**_whose(folder, run), "files": listed} != content or not isinstance(listed, dict):
            raise FolderError(f"{record} is damaged: it belongs to another folder or run")
        files = {folder / name: digest for name, digest in listed.items()}
        for odd in sorted(set(_files(folder)) ^ files.keys(), key=str):
            state = "it is missing" if odd in files else f"{RECORD} does not know it"
            raise FolderError(f"{odd} is damaged: {state}")
        wanted |= files
    for (file, digest), actual in zip(wanted.items(), digests(list(wanted)), strict=True):
        if actual != digest:
            raise FolderError(f"{file} is damaged: its content does not fit its checksum")


def _whose(folder: Place, run: str) -> dict[str, str]:
    return {"run": hashlib.sha256(run.encode()).hexdigest(), "folder": folder.name}


def _files(folder: Place) -> list[Place]:
    """All files of a folder but its record; with the checksums that Spark reads beside its own."""
    own = {RECORD, draft_name(folder / RECORD)}
    return sorted((file for file in folder.iterdir() if file.name not in own), key=str)
