"""Checks that need not be made again: what one printed and wrote, by all that it depends on.

A check that is asked for again is answered before the solvers are loaded. It depends on the command line, where it runs and
what its output can show; on the code, which is every file of the package and the versions of what it computes with; and on its
inputs. Which words of a command line name inputs is not guessed: an answer has the path and the digest of every input that the
run read. The same command reads them again, each once, and is answered if their bytes are the same; otherwise it checks the
bytes that it has read. Only a run that declares itself whole is stored (see ``Record``), and a damaged entry is ignored.
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
from pathlib import Path
from typing import Any, TextIO

from fencepost.checks.console.user_cache import NoCacheError, user_cache
from fencepost.checks.settings.input_files import Inputs, inputs_read_once

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
        """The run is whole, wrote these files and nothing else, and depends on nothing but its command line and the inputs that
        it read. ``aloud`` is whether its output may have lines for people."""
        self.whole, self.aloud, self.files = True, aloud, list(files)


def remembering(arguments: Sequence[str], run: Callable[[Record], int]) -> int:
    """The exit status of a run, which is made unless it is remembered; what it printed and wrote is there in either case."""
    record = Record()
    with inputs_read_once() as inputs:
        if os.environ.get(OFF) or "--no-cache" in arguments or sys.stdout is None:
            return run(record)
        base, asked = folder(), _asked(arguments)
        if base is None or asked is None:
            return run(record)
        answer = _answer(base, asked, inputs)
        if answer is not None and _replayed(answer):
            return int(answer["status"])
        with _recorded() as printed:
            status = run(record)
        if record.whole:
            with suppress(OSError, UnicodeDecodeError):  # it is no worse to check once more
                _write(base, asked, inputs, status, "".join(printed), record)
    return status


def folder() -> Path | None:
    """Where answers are stored: ``verdicts`` in the user's cache; None if the user has none."""
    try:
        return user_cache() / "verdicts"
    except NoCacheError:
        return None


def _asked(arguments: Sequence[str]) -> str | None:
    """A digest of all that a check depends on besides its inputs; None if the folder that it runs in is gone."""
    from fencepost.checks.console.terminal import colour, width

    shown = [width(), colour(), sys.stdout.isatty(), sys.stdout.encoding]
    try:
        where = str(Path.cwd())
    except OSError:
        return None
    return _digest(json.dumps([list(arguments), where, shown, _code()]).encode())


def _answer(base: Path, asked: str, inputs: Inputs) -> dict[str, Any] | None:
    """The answer to the same command whose inputs had the bytes that they have now; None if there is none."""
    for entry in sorted(base.glob(f"{asked}-*.json")):
        answer = _read(entry)
        if answer is not None and all(_is_unchanged(inputs, Path(path), digest) for path, digest in answer["inputs"]):
            return answer
    return None


def _is_unchanged(inputs: Inputs, path: Path, digest: str) -> bool:
    try:
        return _digest(inputs.content(path)) == digest
    except OSError:
        return False


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
    from importlib.metadata import PackageNotFoundError, version  # which takes time where nothing is remembered

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _digest_of(path: Path) -> str:
    """Empty if it cannot be read: an editor's lock is a link to nothing, and a file may go while it is looked at."""
    try:
        return _digest(path.read_bytes())
    except OSError:
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
    note = f"# remembered: checked by this version on {remembered['when']}; --no-cache checks again"
    print(note, file=sys.stdout if remembered["aloud"] else sys.stderr)
    sys.stdout.write(remembered["printed"])
    sys.stdout.flush()
    return True


def _write(base: Path, asked: str, inputs: Inputs, status: int, printed: str, record: Record) -> None:
    """Writes an entry as a whole; what others write at the same time is as good."""
    digests = inputs.digests
    entry = base / f"{asked}-{_digest(json.dumps(digests).encode())}.json"
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    files = {str(path): path.read_text(encoding="utf-8") for path in record.files}
    answer = json.dumps(
        {"when": when, "inputs": digests, "status": status, "aloud": record.aloud, "printed": printed, "files": files}
    )
    if len(answer) > LARGEST:
        return
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=base, suffix=".part", encoding="utf-8", delete=False) as beside:
        json.dump({"digest": _digest(answer.encode()), "answer": answer}, beside)
    Path(beside.name).replace(entry)
    entries = sorted(base.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for oldest in entries[:-MOST_ENTRIES]:
        oldest.unlink(missing_ok=True)


class _Copying:
    """A stream that also keeps what is written to it."""

    def __init__(self, stream: TextIO, copy: list[str]) -> None:
        self._stream, self._copy = stream, copy

    def write(self, text: str) -> int:
        self._copy.append(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _recorded() -> Iterator[list[str]]:
    """What is printed within it."""
    before, copies = sys.stdout, list[str]()
    sys.stdout = _Copying(before, copies)
    try:
        yield copies
    finally:
        sys.stdout = before
