"""Folders that a later run goes on from: one counts once a record in it has the digest of each of its files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from fencepost.traces.exploration.folder import FolderError, content_of
from fencepost.traces.exploration.places import Place, digests_of, draft_name, write

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
