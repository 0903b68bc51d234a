"""The examples in the documentation, run: what a reader is shown must be what a reader gets.

A fenced block marked ``console`` is a session: lines that begin with ``$`` are commands, the lines after each are what it
prints. Commands are ``fencepost``, ``python``, ``make check``, ``make explore`` and ``cat``, ``ls``, ``echo $?``. In what is
shown, a line of three dots stands for any number of lines, and lines that begin with ``#`` (times and progress) are not
compared. A block marked ``python`` is run. A comment before a block says more of it: ``<!-- file: NAME -->`` writes it to
that file instead of running it, ``<!-- from: FILE -->`` says that it is a passage of that file of the project,
``<!-- deep -->`` leaves it to the deep tests because it takes long, ``<!-- later -->`` to the second step because it takes
seconds, ``<!-- error -->`` says that it shows an error of usage or of input, which no other block may; ``<!-- deep, error -->``
says both. The blocks of one document are run in order in one folder, where ``docs`` is the documentation.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fencepost.checks.engines.results.verdicts import ExitStatus
from tests.command import Ran, fencepost
from tests.docs.scripts import python

ROOT = Path(__file__).resolve().parents[2]
AT_THE_TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS = [*AT_THE_TOP, *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:<!-- (?P<note>[^\n]*) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPE_PREFIX = ".venv/bin/"
STATUS = "echo $?"
MESSAGE = "fencepost: "
"""What a line of the command's begins with that says why it did not do what it was called for."""


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
        return "deep" in self.note.split(", ")

    @property
    def is_later(self) -> bool:
        return "later" in self.note.split(", ")

    @property
    def shows_an_error(self) -> bool:
        return "error" in self.note.split(", ")

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


@dataclass(frozen=True)
class Played:
    """A command as it is shown, the lines that it printed, and the status that it ended with."""

    shown: Exchange
    printed: tuple[str, ...]
    status: int

    @property
    def is_error(self) -> bool:
        """Whether a user would take it for a mistake: wrong usage, input that cannot be read, or a message of the command."""
        return self.status in (ExitStatus.USAGE, ExitStatus.INPUT) or any(line.startswith(MESSAGE) for line in self.printed)


def blocks(document: str) -> list[Block]:
    """The fenced blocks of a document that have a language."""
    return [
        Block(m["language"], m["text"], m["note"] or "", m.span("text"), document[: m.start("text")].count("\n") + 1)
        for m in BLOCK.finditer(document)
    ]


def exchanges(session: str) -> list[Exchange]:
    """The commands of a session; ValueError if it does not begin with one."""
    entries: list[Exchange] = []
    for line in session.splitlines():
        if line.startswith("$ "):
            entries.append(Exchange(line[2:], ()))
        elif not entries:
            raise ValueError(f"a session begins with a command, not with {line!r}")
        elif entries[-1].command.endswith("\\"):
            entries[-1] = replace(entries[-1], command=f"{entries[-1].command}\n{line}")
        else:
            entries[-1] = replace(entries[-1], output=(*entries[-1].output, line))
    return entries


def matches(shown: Iterable[str], printed: Iterable[str]) -> bool:
    """Whether what is shown is what was printed, except for what is elided and for lines of times and progress."""
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
        if command == STATUS:
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

    def played(self, shown: Exchange) -> Played:
        """Runs a command as it is shown."""
        printed = tuple(self.run(shown.command))
        return Played(shown, printed, 0 if shown.command == STATUS else self.status)

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
        process = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True)
        last = process.stdout.splitlines()[-1]
        if not last.startswith(f"{RECIPE_PREFIX}fencepost "):
            raise ValueError(f"make {' '.join(arguments)} does not run fencepost: {last}")
        return shlex.split(last.removeprefix(RECIPE_PREFIX))


def misplaced(block: Block, commands: Iterable[Played]) -> str | None:
    """What is wrong with a session that shows an error, or is marked as one that does; None if nothing is."""
    errors = [played.shown.command for played in commands if played.is_error]
    if errors and not block.shows_an_error:
        return f"line {block.line}: an error, in a block that is not marked with <!-- error -->: {errors[0]}"
    if block.shows_an_error and not errors:
        return f"line {block.line}: marked with <!-- error -->, and no command ends with one"
    return None


def played(document: str, session: Session, *, deep: bool, later: bool = True) -> Iterator[tuple[Block, list[Played]]]:
    """Runs a document's blocks, the deep ones or the others; yields each session with its commands.

    Of the others those that are left to the second step are run only if ``later``.
    """
    for block in blocks(document):
        if block.is_deep != deep or (block.is_later and not later):
            continue
        if block.file is not None:
            file = session.folder / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "python" and block.source is None:
            session.execute(block.text)
        elif block.language == "console":
            yield block, [session.played(shown) for shown in exchanges(block.text)]


def refreshed(document: str, session: Session, *, deep: bool) -> str:
    """The document with what its commands print now; RuntimeError if one ends with a traceback, or with a misplaced error."""
    changes: dict[tuple[int, int], str] = {}
    for block, commands in played(document, session, deep=deep):
        wrong = misplaced(block, commands)
        if wrong is not None:
            raise RuntimeError(wrong)
        changes[block.span] = "".join(map(_up_to_date, commands))
    for (start, end), text in sorted(changes.items(), reverse=True):
        document = document[:start] + text + document[end:]
    return document


def _up_to_date(command: Played) -> str:
    """A command with what it prints now, cut as what was shown is."""
    shown, printed = command.shown, command.printed
    if matches(shown.output, printed):
        return str(shown)
    return str(replace(shown, output=_elided(shown.output, _clean(printed))))


def _clean(printed: Iterable[str]) -> list[str]:
    """What was printed without the progress, which a slow machine shows and another does not."""
    printed = list(printed)
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
