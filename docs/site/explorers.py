"""The explorer's pages of the findings: python docs/site/explorers.py runs each check that they show, with --html.

A check gets a page if it finds a violation, expected or not.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "explorer"
VIOLATED = range(10, 15)
"""Exit statuses that say that something is violated, or that a known bug affects this release."""

FINDINGS = ROOT / "docs" / "findings"
SESSION = re.compile(r"^```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
CHECK = re.compile(r"^\$ (?P<command>fencepost check (?:[^\n]*\\\n)*[^\n]*)$", re.MULTILINE)


def commands_of(markdown: str) -> dict[int, list[list[str]]]:
    """The checks that a document shows, by where the sessions with them begin: each the words after ``fencepost``."""
    return {
        session.start(): [shlex.split(m["command"].replace("\\\n", " "))[1:] for m in CHECK.finditer(session["text"])]
        for session in SESSION.finditer(markdown)
    }


def pages_of(markdown: str) -> dict[int, list[Path]]:
    """Where the explorer's pages of these checks are, if they have one."""
    return {place: [FOLDER / f"{_name(words)}.html" for words in found] for place, found in commands_of(markdown).items()}


def _name(words: list[str]) -> str:
    """The name of the page of a check: what it checks."""
    dropped = {"check", "--set", "--bug", "--property", "--quiet"}
    kept = [word for n, word in enumerate(words) if word not in dropped and "--trace-dir" not in (word, *words[n - 1 : n])]
    return re.sub(r"[^\w-]+", "-", "-".join(kept))


def make(words: list[str]) -> str:
    """Makes the page of a check; returns what the command says of it. CalledProcessError if the command itself fails."""
    command = [sys.executable, "-m", "fencepost", *words, "--quiet", "--html", str(FOLDER / f"{_name(words)}.html")]
    done = subprocess.run(command, cwd=FOLDER.parent, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, *VIOLATED):
        raise subprocess.CalledProcessError(done.returncode, command)
    return next(line for line in done.stdout.splitlines() if line.startswith("page: "))


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    (FOLDER.parent / "docs").unlink(missing_ok=True)
    (FOLDER.parent / "docs").symlink_to(ROOT / "docs")  # some of the commands read files of it
    for document in sorted(FINDINGS.rglob("*.md")):
        for found in commands_of(document.read_text(encoding="utf-8")).values():
            for words in found:
                print(f"fencepost {shlex.join(words)}\n  {make(words)}", flush=True)


if __name__ == "__main__":
    main()
