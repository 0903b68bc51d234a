"""What is made once and kept on disk for later processes: object code of protocols and of loops, and answers of the solver.

It is known by digests: of what it was made of, of the code that made it, and of the compilers and solvers that this called.
So what differs in anything is made again, and so is a damaged file.

What is read from here is run, so it is read only from where nobody else can have written: beside the sources, where whoever
writes can change these; from a folder that the user names; or from the user's own temporary folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import NamedTuple

import llvmlite

from fencepost.model.kernel.compiler.instructions import host
from fencepost.model.own_sources import are_unmixed

FOLDER = "protocols"
MOST = 256 << 20
"""Bytes above which what was not used for longest is removed."""

_BETWEEN = 200
"""Files that a process writes before it looks again how many bytes there are."""

_MAKERS = ("kernel/compiler", "language", "terms", "analysis")
_written = count()


def product(what: object, make: Callable[[], bytes]) -> bytes:
    """What ``make`` makes, from an earlier process if that has made it of the same: ``what`` is its representation of all that
    it depends on, except for the code of the language, of the proofs about protocols, and of the compiler."""
    name = hashlib.sha256(repr((_makers(), what)).encode()).hexdigest()
    stored = _read(FOLDER, name)
    if stored is not None:
        return stored[1]
    new = make()
    path = _write(FOLDER, name, {}, new)
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
    """A digest of the sources of the language, of the proofs and of the compiler, and the versions of what they call."""
    whole, model = hashlib.sha256(), Path(__file__).parents[2]
    for source in sorted(path for maker in _MAKERS for path in (model / maker).glob("*.py")):
        whole.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return f"{whole.hexdigest()} {_versions()}"


class Stored(NamedTuple):
    """A compiled loop: its object code, the name of its function there, and the type that it returns, in Numba's words."""

    code: bytes
    symbol: str
    returns: str


def read_loop(loop: str) -> Stored | None:
    """The loop of that name; None if it is not stored, or if its file is damaged."""
    stored = _read(folder_of_loops(), f"{loop}.o")
    if stored is None or not {"symbol", "returns"} <= stored[0].keys():
        return None
    about, code = stored
    return Stored(code, about["symbol"], about["returns"])


def write_loop(loop: str, stored: Stored) -> None:
    """Stores the loop as a whole."""
    about = {"symbol": stored.symbol, "returns": stored.returns}
    _write(folder_of_loops(), f"{loop}.o", about, stored.code)


@contextmanager
def turn_at(loop: str, seconds: float) -> Iterator[bool]:
    """Whether it is this process's turn to compile a loop: no other is at it, or none is any more within so many seconds. The
    system ends the turn of a process that ends."""
    folder = _written_to(folder_of_loops()) if are_unmixed() else None
    if folder is None:  # nobody else will have what this process compiles, nor this process what others do
        yield True
        return
    path = folder / f"{loop}.turn"
    with path.open("wb") as file:
        is_mine = _locked(file.fileno(), time.monotonic() + seconds)
        try:
            yield is_mine
        finally:
            if is_mine:  # whoever waits for the file that is removed finds the loop stored
                path.unlink(missing_ok=True)
                fcntl.flock(file, fcntl.LOCK_UN)  # a process that was forked meanwhile has the file open, too


def _locked(file: int, until: float) -> bool:
    """Whether the file could be locked until then."""
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(_GLANCE)
        else:
            return True


@cache
def folder_of_loops() -> str:
    """The name of a folder for this text of the loops, the compilers and the processor: object code fits no other."""
    marks = b"@native", b"@intrinsic", b"from numba"
    texts = (text for _, text in _sources(Path(__file__).parent.parent) if any(mark in text for mark in marks))
    whole = hashlib.sha256(b"".join(texts))
    whole.update(repr((*host(), *_versions())).encode())
    return f"loops-{whole.hexdigest()[:12]}"


VARIABLE = "NUMBA_CACHE_DIR"
"""A variable of the environment: it names another folder for what is compiled."""
_DAY = 86_400.0
_GLANCE = 0.02
"""Seconds between two looks whether another process has ended its turn."""


def _read(folder: str, name: str) -> tuple[Mapping[str, str], bytes] | None:
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


def _write(folder: str, name: str, about: Mapping[str, str], content: bytes) -> Path | None:
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


def _sources(folder: Path) -> Iterator[tuple[str, bytes]]:
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


_NUMBA = "_version.py"
"""The file of Numba's package that has its version; Numba itself is loaded only to compile a loop."""


@cache
def _versions() -> tuple[str, ...]:
    """Those of llvmlite, Z3, Numba, in the words of its own file, and Python. ImportError without Numba."""
    numba = find_spec("numba")
    if numba is None or numba.origin is None:
        raise ImportError("Numba is not installed")
    of_numba = Path(numba.origin).with_name(_NUMBA).read_text(encoding="utf-8")
    return llvmlite.__version__, _version_of_z3(), of_numba, str(sys.implementation.cache_tag)


def _version_of_z3() -> str:
    """That of Z3, as its package says it: Z3 itself is loaded only to prove something."""
    z3 = find_spec("z3")
    if z3 is None or z3.origin is None:
        raise ImportError("Z3 is not installed")
    installed = sorted(folder.name for folder in Path(z3.origin).parents[1].glob("z3_solver-*.dist-info"))
    return " ".join(installed) or z3.origin
