"""Checks that need not be made again: what one printed and wrote, by all that it depends on.

A check that is asked for again is answered before the solvers are loaded. What it depends on is the command line with the
contents of the files that it names, where it runs and what its output can show, and the code: every file of the package, and
the versions of what it computes with. Only what says of itself that it is whole is kept (see ``Record``), and an entry that is
damaged counts for none.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TextIO

OFF = "FENCEPOST_NO_CACHE"
"""A variable of the environment: if it is set nothing is remembered."""

LIBRARIES = ("z3-solver", "cvc5", "llvmlite", "numba", "numpy")
FLOORS = ("model", "properties", "traces", "checks")
MOST_ENTRIES = 500
LARGEST = 1 << 26
"""Bytes above which an answer is not kept."""


@dataclass
class Record:
    """What a command says of its run, to be remembered; nothing is unless it says so."""

    whole: bool = False
    aloud: bool = False
    files: list[Path] = field(default_factory=list)

    def keep(self, files: Iterable[Path], *, aloud: bool) -> None:
        """The run is whole, wrote these files and nothing else, and whatever it depends on is in its command line and in the
        files that that names. ``aloud`` is whether its output may have lines for people."""
        self.whole, self.aloud, self.files = True, aloud, list(files)


def remembering(arguments: Sequence[str], run: Callable[[Record], int]) -> int:
    """The exit status of a run, which is made unless it is remembered; what it printed and wrote is there in either case."""
    record = Record()
    if os.environ.get(OFF) or any(word.startswith("--no-c") for word in arguments) or sys.stdout is None:
        return run(record)
    entry = folder() / f"{_key(arguments)}.json"
    remembered = _read(entry)
    if remembered is not None and _replayed(remembered):
        return int(remembered["status"])
    with _recorded() as printed:
        status = run(record)
    if record.whole:
        with suppress(OSError, UnicodeDecodeError):  # it is no worse to check once more
            _write(entry, status, "".join(printed), record)
    return status


def folder() -> Path:
    """Where answers are kept: ``fencepost/verdicts`` in XDG_CACHE_HOME, or in ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "fencepost" / "verdicts"


def _key(arguments: Sequence[str]) -> str:
    from fencepost.checks.console.terminal import colour, width

    words = [word for word in arguments if word != "--quiet"]
    named = [Path(word.rpartition("=")[2]) for word in words]
    inputs = [[str(path), _digest_of(path)] for path in named if path.is_file()]
    shown = [width(), colour(), sys.stdout.isatty(), sys.stdout.encoding]
    return _digest(json.dumps([words, inputs, str(Path.cwd()), shown, _code()]).encode())


def _code() -> list[str]:
    """The code that answers: a digest of every file of the package, and the versions of what it computes with."""
    package = Path(__file__).resolve().parents[2]
    whole = hashlib.sha256()
    for floor in FLOORS:
        for base, folders, names in os.walk(package / floor, followlinks=True):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                path = Path(base, name)
                whole.update(f"{path.relative_to(package)}\0{_digest_of(path)}\0".encode())
    return [whole.hexdigest(), platform.python_version(), platform.machine(), *map(_version, LIBRARIES)]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _digest_of(path: Path) -> str:
    """Empty if there is no such file: an editor's lock is a link to nothing, and a file may go while it is looked at."""
    try:
        return _digest(path.read_bytes())
    except FileNotFoundError:
        return ""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(entry: Path) -> dict[str, Any] | None:
    """What is remembered; None if nothing is, or if it is damaged."""
    try:
        stored = json.loads(entry.read_bytes())
        remembered: dict[str, Any] = json.loads(stored["answer"])
        is_whole = stored["digest"] == _digest(stored["answer"].encode())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return remembered if is_whole else None


def _replayed(remembered: dict[str, Any]) -> bool:
    """Prints and writes what the run did; False, and nothing is printed, if its files cannot be written."""
    try:
        for name, text in remembered["files"].items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
    except OSError:
        return False
    told = f"# remembered: checked by this version on {remembered['when']}; --no-cache checks again"
    print(told, file=sys.stdout if remembered["aloud"] else sys.stderr)
    sys.stdout.write(remembered["printed"])
    sys.stdout.flush()
    return True


def _write(entry: Path, status: int, printed: str, record: Record) -> None:
    """Writes an entry as a whole; what others write at the same time is as good."""
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    files = {str(path): path.read_text(encoding="utf-8") for path in record.files}
    answer = json.dumps({"when": when, "status": status, "aloud": record.aloud, "printed": printed, "files": files})
    if len(answer) > LARGEST:
        return
    entry.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=entry.parent, suffix=".part", encoding="utf-8", delete=False) as beside:
        json.dump({"digest": _digest(answer.encode()), "answer": answer}, beside)
    Path(beside.name).replace(entry)
    kept = sorted(entry.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for oldest in kept[:-MOST_ENTRIES]:
        oldest.unlink(missing_ok=True)


class _Copying:
    """A stream that also keeps what is written to it."""

    def __init__(self, stream: TextIO, kept: list[str]) -> None:
        self._stream, self._kept = stream, kept

    def write(self, text: str) -> int:
        self._kept.append(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _recorded() -> Iterator[list[str]]:
    """What is printed within it."""
    before, kept = sys.stdout, list[str]()
    sys.stdout = _Copying(before, kept)
    try:
        yield kept
    finally:
        sys.stdout = before
