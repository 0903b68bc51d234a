"""What is fetched or compiled once, in the user's cache, in folders that are whole or not there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path


class NoCacheError(OSError):
    """The user has no folder for a cache; the message says what to set."""


def user_cache(environment: Mapping[str, str] | None = None) -> Path:
    """Where it is: ``fencepost`` in XDG_CACHE_HOME, or in ``~/.cache``. Raises NoCacheError for a user who has no home."""
    around = os.environ if environment is None else environment
    # the specification of XDG has a relative path ignored
    base = Path(around.get("XDG_CACHE_HOME") or "")
    try:
        return (base if base.is_absolute() else Path.home() / ".cache") / "fencepost"
    except RuntimeError:
        raise NoCacheError("there is no home for a cache: set HOME or XDG_CACHE_HOME to a folder that can be written") from None


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
