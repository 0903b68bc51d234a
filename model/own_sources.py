"""Whether what this process makes is made by the sources on disk, so that a later process may be given it.

What is stored is known by the text of the sources, and is made by the modules in memory. They are the same unless a source was
saved since the modules were loaded, or code of a user's has run, which can replace whatever it wants.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
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
    """Whether nothing but the sources on disk has had a part in what this process makes. Takes some milliseconds."""
    return is_undisturbed() and all(changed < model.LOADED - MARGIN for floor in FLOORS for changed in _changes(floor))


def _changes(folder: Path) -> Iterator[float]:
    """When each source, or folder of sources, was last changed: not the time that whoever copies a file can set."""
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (os.stat(os.path.join(base, name)).st_ctime for name in names if name.endswith(".py"))  # noqa: PTH116, PTH118
