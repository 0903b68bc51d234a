"""What is fetched or compiled once, in folders that are whole or not there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def ensure_folder(folder: Path, make: Callable[[Path], None]) -> Path:
    """The folder, made by ``make`` in an empty one beside it unless it is there.

    It appears as a whole or not at all; of two processes that make it at once the first wins. Raises what ``make`` raises, and
    OSError.
    """
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        make(beside)
        beside.chmod(0o755)
        try:
            beside.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder
