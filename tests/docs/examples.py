"""The examples in the documentation, run: what a reader is shown must be what a reader gets.

A fenced block marked ``console`` is a session: lines that begin with ``$`` are commands, the lines after each are what it
prints. Commands are ``fencepost``, ``python``, ``make check``, ``make explore`` and ``cat``, ``ls``, ``echo $?``. In what is
shown, a line of three dots stands for any number of lines, and lines that begin with ``#`` (times and progress) are not
compared. A block marked ``python`` is run. A comment before a block says more of it: ``<!-- file: NAME -->`` writes it to that
file instead of running it, ``<!-- from: FILE -->`` says that it is a passage of that file of the project, ``<!-- deep -->``
leaves it to the deep tests because it takes long. The blocks of one document are run in order in one folder, in which ``docs``
is the documentation.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.command import Ran, fencepost
from tests.docs.scripts import python

ROOT = Path(__file__).resolve().parents[2]
AT_THE_TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS = [*AT_THE_TOP, *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:<!-- (?P<note>[^\n]*) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPE_PREFIX = ".venv/bin/"


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, what the comment before it says and where the text is in the document."""

    language: str
    text: str
    note: str
    span: tuple[int, int]
    line: int

    @property
    def is_deep(self) -> bool:
        return self.note == "deep"

    @property
    def file(self) -> str | None:
        """The file that the block is written to, if it is one."""
        return self.note.removeprefix("file: ") if self.note.startswith("file: ") else None

    @property
    def source(self) -> str | None:
        """The file of the project that the block is a passage of, if it is one."""
        return self.note.removeprefix("from: ") if self.note.startswith("from: ") else None


@dataclass(frozen=True)
class Exchange:
    """A command and what is shown of, or was printed by, it."""

    command: str
    output: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in (f"$ {self.command}", *self.output))


def blocks(document: str) -> list[Block]:
    """The fenced blocks of a document that have a language."""
    return [
        Block(m["language"], m["text"], m["note"] or "", m.span("text"), document[: m.start("text")].count("\n") + 1)
        for m in BLOCK.finditer(document)
    ]


def exchanges(session: str) -> list[Exchange]:
    """The commands of a session; ValueError if it does not begin with one."""
    found: list[Exchange] = []
    for line in session.splitlines():
        if line.startswith("$ "):
            found.append(Exchange(line[2:], ()))
        elif not found:
            raise ValueError(f"a session begins with a command, not with {line!r}")
        elif found[-1].command.endswith("\\"):
            found[-1] = replace(found[-1], command=f"{found[-1].command}\n{line}")
        else:
            found[-1] = replace(found[-1], output=(*found[-1].output, line))
    return found


def matches(shown: Iterable[str], printed: Iterable[str]) -> bool:
    """Whether what is shown is what was printed, but for what is elided and for lines of times and progress."""
    wanted = [line for line in shown if not line.startswith("#")]
    pattern = "".join("(?:.*\n)*" if line == "..." else f"{re.escape(line)}\n" for line in wanted)
    got = "".join(f"{line}\n" for line in printed if not line.startswith("#"))
    return re.fullmatch(pattern, got) is not None


class Session:
    """A folder in which the commands of one document are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        self._names: dict[str, Any] = {"__name__": "example"}
        (folder / "docs").symlink_to(ROOT / "docs")

    def run(self, command: str) -> list[str]:
        """Runs a command; returns the lines that it prints, on standard output and standard error together."""
        words = shlex.split(command.replace("\\\n", " "))
        if words[0] == "make":
            words = self._recipe(words[1:])
        if words[0] == "fencepost":
            return self._fencepost(words[1:])
        if words == ["echo", "$?"]:
            return [str(self.status)]
        environment = {"PYTHONPATH": str(ROOT), "COLUMNS": "120", "LC_ALL": "C.UTF-8"}
        done: Ran | subprocess.CompletedProcess[str]
        if words[0] == "python":
            done = python(words[1:], self.folder, **environment)
        elif words[0] in ("cat", "ls"):
            everything = {**os.environ, **environment}
            done = subprocess.run(words, cwd=self.folder, env=everything, capture_output=True, text=True, check=False)
        else:
            raise ValueError(f"documentation may not run {words[0]!r}")
        self.status = done.returncode
        return (done.stdout + done.stderr).splitlines()

    def execute(self, source: str) -> None:
        """Runs Python in the folder, with the names that earlier blocks of the document left."""
        with chdir(self.folder):
            exec(compile(source, "example", "exec"), self._names)

    def _fencepost(self, arguments: list[str]) -> list[str]:
        ran = fencepost(*arguments, folder=self.folder, together=True)
        self.status = ran.returncode
        return ran.stdout.splitlines()

    @staticmethod
    def _recipe(arguments: list[str]) -> list[str]:
        """What make would run last, with all set-up done: a command of the virtual environment."""
        done = [f"--old-file=.venv/{name}" for name in ("installed", "installed-spark", "installed-plots", "bin/python")]
        dry = ["make", "--dry-run", "--no-print-directory", *done, *arguments]
        told = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True)
        last = told.stdout.splitlines()[-1]
        if not last.startswith(f"{RECIPE_PREFIX}fencepost "):
            raise ValueError(f"make {' '.join(arguments)} does not run fencepost: {last}")
        return shlex.split(last.removeprefix(RECIPE_PREFIX))


def played(document: str, session: Session, *, deep: bool) -> Iterator[tuple[Block, list[tuple[Exchange, list[str]]]]]:
    """Runs a document's blocks, the deep ones or the others; yields each session with what it shows and what was printed."""
    for block in blocks(document):
        if block.is_deep != deep:
            continue
        if block.file is not None:
            file = session.folder / block.file
            file.parent.mkdir(exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "python" and block.source is None:
            session.execute(block.text)
        elif block.language == "console":
            yield block, [(shown, session.run(shown.command)) for shown in exchanges(block.text)]


def refreshed(document: str, session: Session, *, deep: bool) -> str:
    """The document with what its commands print now; RuntimeError if one of them fails with a traceback."""
    changes: Mapping[tuple[int, int], str] = {
        block.span: "".join(
            str(shown if matches(shown.output, printed) else replace(shown, output=_elided(shown.output, _clean(printed))))
            for shown, printed in results
        )
        for block, results in played(document, session, deep=deep)
    }
    for (start, end), text in sorted(changes.items(), reverse=True):
        document = document[:start] + text + document[end:]
    return document


def _clean(printed: list[str]) -> list[str]:
    """What was printed without the progress, which a slow machine shows and another does not."""
    if any(line.startswith("Traceback (most recent call last)") for line in printed):
        raise RuntimeError("\n".join(printed))
    return [line for line in printed if not re.match("# [^:]*: ", line)]


def _elided(shown: tuple[str, ...], printed: list[str]) -> tuple[str, ...]:
    """What was printed, cut as what was shown is, where the lines beside the cut are still there; otherwise all of it."""
    if "..." not in shown:
        return tuple(printed)
    runs: list[list[str]] = [[]]
    for line in shown:
        if line == "...":
            runs.append([])
        else:
            runs[-1].append(line)
    head, tail = len(runs[0]), len(runs[-1])
    if len(runs) == 2 and head + tail < len(printed):
        return (*printed[:head], "...", *printed[len(printed) - tail :])
    return tuple(printed)
