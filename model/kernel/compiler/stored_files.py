"""Where what is compiled is stored between processes, also for an installation that cannot be written.

What is read from here is run, so it is read only from where nobody else can have written: beside the sources, where whoever
writes can change these; from a folder that the user names; or from the user's own temporary folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from fencepost.model.own_sources import are_unmixed

VARIABLE = "NUMBA_CACHE_DIR"
"""A variable of the environment: it names another folder for what is compiled."""
_DAY = 86_400.0


def read(folder: str, name: str) -> tuple[Mapping[str, str], bytes] | None:
    """What the file of that name has, and what is said about it; None if it is not stored, or damaged."""
    for base in filter(None, (_usual(), _own())):
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            path = base / folder / name
            head, _, content = path.read_bytes().partition(b"\n")
            stored = json.loads(head)
            about: Mapping[str, str] = stored["about"]
            if stored["digest"] == _digest(name, about, content):
                _used(path)
                return about, content
    return None


def write(folder: str, name: str, about: Mapping[str, str], content: bytes) -> Path | None:
    """Stores a file as a whole; where it is, or None if it cannot be written, or its content is not to be trusted. Standard
    error gets a line about a folder that cannot be written, once."""
    base = _written_to(folder) if are_unmixed() else None
    if base is None:
        return None
    head = json.dumps({"about": about, "digest": _digest(name, about, content)}).encode()
    with suppress(OSError):
        with tempfile.NamedTemporaryFile(dir=base, suffix=".part", delete=False) as beside:
            beside.write(head + b"\n" + content)
        Path(beside.name).replace(base / name)
        return base / name
    return None


def _digest(name: str, about: Mapping[str, str], content: bytes) -> str:
    return hashlib.sha256(json.dumps([name, about]).encode() + content).hexdigest()


def _used(path: Path) -> None:
    """Notes that a file is still of use, at most once a day."""
    if time.time() - path.stat().st_mtime > _DAY:
        os.utime(path)


def _usual() -> Path:
    base = os.environ.get(VARIABLE)
    return Path(base) if base else Path(__file__).parent / "__pycache__"


@cache
def _own() -> Path | None:
    """The user's own temporary folder for the same; None if somebody else can have written there."""
    folder = Path(tempfile.gettempdir()) / f"fencepost-{os.getuid()}"
    with suppress(OSError):
        about = folder.lstat()
        if stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077:
            return folder
    return None


def _written_to(folder: str) -> Path | None:
    base = _base()
    with suppress(OSError):
        if base is not None:
            (base / folder).mkdir(parents=True, exist_ok=True)
            return base / folder
    return None


@cache
def _base() -> Path | None:
    usual = _usual()
    if _can_be_written(usual):
        return usual
    with suppress(OSError):
        (Path(tempfile.gettempdir()) / f"fencepost-{os.getuid()}").mkdir(mode=0o700, exist_ok=True)
    _own.cache_clear()
    own = _own()
    if own is not None and _can_be_written(own):
        _report(f"{usual} cannot be written: compiled code is in {own}")
        return own
    _report(f"neither {usual} nor a temporary folder can be written: code is compiled again in each run")
    return None


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _report(what: str) -> None:
    print(f"# {what}; {VARIABLE} names another folder for it", file=sys.stderr)
