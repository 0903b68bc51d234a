"""Where compiled loops are stored between processes, also in an installation that cannot be written."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path


def writable(folder: Path) -> Path | None:
    """The folder, or if it cannot be written the user's own temporary folder, with the loops that the folder has; None if there
    is none. Standard error gets a line about either."""
    if _can_be_written(folder):
        return folder
    with suppress(OSError):
        temporary = Path(tempfile.gettempdir()) / f"fencepost-{os.getuid()}" / folder.name
        temporary.parent.mkdir(mode=0o700, exist_ok=True)
        if _is_ours_alone(temporary.parent) and _can_be_written(temporary):
            _copy_loops(folder, temporary)
            _report(f"{folder.parent} cannot be written: compiled loops are in {temporary}")
            return temporary
    _report(f"neither {folder.parent} nor a temporary folder can be written: loops are compiled again in each run")
    return None


def _report(what: str) -> None:
    print(f"# {what}; NUMBA_CACHE_DIR names another folder for them", file=sys.stderr)


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_ours_alone(folder: Path) -> bool:
    """Whether nobody else can have written there: what Numba reads from it is code."""
    about = folder.lstat()
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077


def _copy_loops(source: Path, target: Path) -> None:
    """The loops that are compiled already; those that cannot be read are compiled again."""
    with suppress(OSError, shutil.Error):
        if source.is_dir() and not any(target.iterdir()):
            shutil.copytree(source, target, dirs_exist_ok=True)
