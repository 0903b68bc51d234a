"""Whether what this process makes is made by the sources on disk, so that a later process may be given it.

What is stored is known by the text of the sources, and is made by the modules in memory. They are the same unless a source was
saved since the modules were loaded, or code of a user's has run, which can replace whatever it wants.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from fencepost import model

FLOORS = tuple(Path(__file__).parents[1] / floor for floor in ("model", "properties"))
MARGIN = 2.0
"""Seconds between a change of a source and the loading of the model within which it may have been loaded before the change."""

_users = list[str]()


def run_code_of(file: str) -> None:
    """Notes that code of a file of the user's is about to run in this process."""
    _users.append(file)


def is_undisturbed() -> bool:
    """Whether no code of a user's has run."""
    return not _users


def are_unmixed() -> bool:
    """Whether nothing but the sources on disk has had a part in what this process makes. Takes a millisecond."""
    return is_undisturbed() and all(changed < model.LOADED - MARGIN for floor in FLOORS for changed in _changes(floor))


def _changes(folder: Path | str) -> Iterator[float]:
    """When each source was last changed: not the time that whoever copies a file can set."""
    sources, folders = _inside(folder, os.stat(folder).st_ctime_ns)  # noqa: PTH116
    yield from (os.stat(path).st_ctime for path in sources)  # noqa: PTH116
    for below in folders:
        yield from _changes(below)


@lru_cache(maxsize=1 << 10)
def _inside(folder: Path | str, changed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sources in a folder and the folders in it, listed once for each change of what is in it: whatever is stored asks."""
    entries = [entry for entry in os.scandir(folder) if entry.name != "__pycache__"]
    sources = tuple(entry.path for entry in entries if entry.name.endswith(".py"))
    return sources, tuple(entry.path for entry in entries if entry.is_dir())
