"""The text of code, so that what was made by other code is known to be of other code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def sources(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The modules below a folder, each with its path from there, in the same order everywhere.

    It is written without Path for each file, which would take four times as long: every process that checks something reads
    all of the model.
    """
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(base, name)  # noqa: PTH118
                with open(path, "rb") as file:  # noqa: PTH123
                    yield path[len(str(folder)) :], file.read()
