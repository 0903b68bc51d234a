"""``fencepost``, run as a user runs it: in this process, or, where that makes a difference, in one of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from fencepost.checks.cli import main

ROOT = Path(__file__).resolve().parents[1]
WIDE = {"COLUMNS": "120"}


class Ran(NamedTuple):
    """The status that a command ended with, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def fencepost(*arguments: str | Path, folder: Path = ROOT, together: bool = False) -> Ran:
    """Runs the command line in this process: starting Python and loading the solvers again would take most of the time.

    ``together`` has standard error among what it prints, in the order in which it comes.
    """
    printed = io.StringIO()
    errors = printed if together else io.StringIO()
    with redirect_stdout(printed), redirect_stderr(errors), chdir(folder), patch.dict(os.environ, WIDE):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:  # argparse ends the program for --help and for wrong usage
            status = end.code if isinstance(end.code, int) else 1
    return Ran(status, printed.getvalue(), errors.getvalue())


def printed_as(name: str) -> list[str]:
    """The options with which a check prints its answer as text, as a document, or as the text with annotations."""
    return {"text": [], "github": ["--annotations"]}.get(name, [f"--{name}", "-"])


def command(*arguments: str | Path) -> list[str]:
    """The words that run the command line in a process of its own."""
    return [sys.executable, "-m", "fencepost", *map(str, arguments)]


def several(*commands: Sequence[str | Path]) -> list[str]:
    """The words that run several commands in a process of their own, one after the other: it prints what came of them."""
    script = "import json, os, sys, tests.command as t; print(t.together(json.loads(sys.argv[1]), os.getcwd()))"
    return [sys.executable, "-c", script, json.dumps([[str(word) for word in command] for command in commands])]


def together(commands: Sequence[Sequence[str]], folder: str) -> str:
    """What the process of ``several`` prints."""
    return json.dumps([fencepost(*command, folder=Path(folder)) for command in commands])


def ran(printed: str) -> list[Ran]:
    """What came of the commands of ``several``, by what their process printed."""
    return [Ran(*each) for each in json.loads(printed)]


def in_one_process(*commands: Sequence[str | Path]) -> list[Ran]:
    """Runs several in a process of their own, one after the other: it has its own order of what is in sets."""
    return ran(subprocess.check_output(several(*commands), cwd=ROOT, text=True, timeout=600))


def in_a_process(*arguments: str | Path, folder: Path = ROOT, **environment: str) -> Ran:
    """Runs the command line in a process of its own, where nothing is loaded, compiled or captured."""
    changed = {**os.environ, "PYTHONPATH": str(ROOT), **WIDE, **environment}
    done = subprocess.run(
        command(*arguments), cwd=folder, env=changed, capture_output=True, text=True, timeout=600, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def stable(output: str) -> str:
    """What a diff would look at: without times."""
    return "".join(line for line in output.splitlines(keepends=True) if not line.startswith("#"))
