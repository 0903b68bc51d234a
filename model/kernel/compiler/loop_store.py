"""Where compiled loops are stored between processes, also for an installation that cannot be written."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm

VARIABLE = "NUMBA_CACHE_DIR"
"""A variable of the environment: it names another folder for compiled loops."""

_PACKAGE = Path(__file__).parent.parent


class Stored(NamedTuple):
    """A compiled loop: its object code, the name of its function there, and the type that it returns, in Numba's words."""

    code: bytes
    symbol: str
    returns: str


def read(loop: str) -> Stored | None:
    """The loop of that name; None if it is not stored, or if its file is damaged."""
    for folder in filter(None, (folder_of_loops(), _own())):
        with suppress(OSError, ValueError, KeyError, TypeError):
            head, _, code = (folder / f"{loop}.o").read_bytes().partition(b"\n")
            about = json.loads(head)
            if about["digest"] == _digest(about["symbol"], about["returns"], code):
                return Stored(code, about["symbol"], about["returns"])
    return None


def write(loop: str, stored: Stored) -> None:
    """Stores the loop as a whole, beside the sources or, if that folder cannot be written, in the user's own temporary folder.
    Standard error gets a line about either that cannot be written, once."""
    folder = _written_to()
    if folder is None:
        return
    about = {"symbol": stored.symbol, "returns": stored.returns, "digest": _digest(stored.symbol, stored.returns, stored.code)}
    with suppress(OSError):
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as beside:
            beside.write(json.dumps(about).encode() + b"\n" + stored.code)
        Path(beside.name).replace(folder / f"{loop}.o")


def _digest(symbol: str, returns: str, code: bytes) -> str:
    return hashlib.sha256(f"{symbol}\n{returns}\n".encode() + code).hexdigest()


@cache
def folder_of_loops() -> Path:
    """A folder for this exact text of the loops, of the compilers and of the processor: object code fits no other."""
    sources = [source.read_bytes() for source in sorted(_PACKAGE.rglob("*.py"))]
    marks = b"@native", b"@intrinsic", b"numba.njit"
    whole = hashlib.sha256(b"".join(source for source in sources if any(mark in source for mark in marks)))
    host = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), version("llvmlite"), version("numba"))
    whole.update(repr((host, sys.implementation.cache_tag)).encode())
    base = os.environ.get(VARIABLE)
    return (Path(base) if base else Path(__file__).parent / "__pycache__") / f"loops-{whole.hexdigest()[:12]}"


@cache
def _own() -> Path | None:
    """The user's own temporary folder for the same; None if somebody else can have written there: what is read is code."""
    folder = Path(tempfile.gettempdir()) / f"fencepost-{os.getuid()}"
    with suppress(OSError):
        about = folder.lstat()
        if stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077:
            return folder / folder_of_loops().name
    return None


@cache
def _written_to() -> Path | None:
    folder = folder_of_loops()
    if _can_be_written(folder):
        return folder
    with suppress(OSError):
        (Path(tempfile.gettempdir()) / f"fencepost-{os.getuid()}").mkdir(mode=0o700, exist_ok=True)
    _own.cache_clear()
    own = _own()
    if own is not None and _can_be_written(own):
        _report(f"{folder.parent} cannot be written: compiled loops are in {own}")
        return own
    _report(f"neither {folder.parent} nor a temporary folder can be written: loops are compiled again in each run")
    return None


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _report(what: str) -> None:
    print(f"# {what}; {VARIABLE} names another folder for them", file=sys.stderr)
