"""What was made of a protocol once, kept on disk for later processes: object code, and answers of the solver.

It is known by digests: of the terms that it was made of, of the code that made it, and of the compilers and solvers that this
called. So what differs in anything is made anew, and so is a damaged file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

from fencepost.model.kernel.compiler import stored_files
from fencepost.model.kernel.compiler.versions import versions

FOLDER = "protocols"
MOST = 256 << 20
"""Bytes above which what was not used for longest is removed."""

_BETWEEN = 200
"""Files that a process writes before it looks again how many bytes there are."""

_MAKERS = ("kernel/compiler", "language", "terms")
_written = count()


def product(what: object, make: Callable[[], bytes]) -> bytes:
    """What ``make`` makes, from an earlier process if that has made it of the same: ``what`` is its representation of all that
    it depends on, except for the code of the language and of the compiler."""
    name = hashlib.sha256(repr((_makers(), what)).encode()).hexdigest()
    stored = stored_files.read(FOLDER, name)
    if stored is not None:
        return stored[1]
    new = make()
    path = stored_files.write(FOLDER, name, {}, new)
    if path is not None and next(_written) % _BETWEEN == 0:
        remove_the_oldest(path.parent)
    return new


def remove_the_oldest(folder: Path, most: int = MOST) -> None:
    """Removes what was used least lately from a folder, down to three quarters, if it has more bytes than it may."""
    files = list[tuple[float, int, Path]]()
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):  # another process may have removed it
                files.append((entry.stat().st_mtime, entry.stat().st_size, Path(entry.path)))
    total = sum(size for _, size, _ in files)
    if total <= most:
        return
    for _, size, path in sorted(files):
        with suppress(OSError):
            path.unlink()
        total -= size
        if total <= most * 3 // 4:
            return


@cache
def _makers() -> str:
    """A digest of the sources of the language and of the compiler, and the versions of what they call."""
    whole, model = hashlib.sha256(), Path(__file__).parents[2]
    for source in sorted(path for maker in _MAKERS for path in (model / maker).glob("*.py")):
        whole.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return f"{whole.hexdigest()} {versions()}"
