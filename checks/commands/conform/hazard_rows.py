"""What a replay of hazards has come to so far, kept beside its result, so that one that was broken off goes on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from fencepost.checks.reports.hazards_on_code import Replayed, read_row

_ROOT = Path(__file__).parents[3]
_TOLD_BY = ("model", "properties", "traces", "checks/commands")
"""What decides how a hazard is replayed: rows of another state of it do not count."""


class Rows:
    """The rows in a file, a JSON object on each line after that of the sources that made them. Without a file they are only
    remembered; rows that other sources made are forgotten. Raises OSError if the file cannot be read or written."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[tuple[str, str, str], Replayed] = {}
        if file is None:
            return
        head = json.dumps({"sources": _sources()}) + "\n"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
        whole = [line for line in lines[1:] if line.endswith("\n")] if lines[:1] == [head] else []
        for row in map(read_row, whole):
            self._known[row.target, row.release, row.hazard] = row
        file.write_text(head + "".join(whole), encoding="utf-8")

    def __len__(self) -> int:
        return len(self._known)

    def get(self, target: str, release: str, hazard: str) -> Replayed | None:
        """The row of a hazard, if there is one."""
        return self._known.get((target, release, hazard))

    def add(self, row: Replayed) -> None:
        """Keeps a row."""
        self._known[row.target, row.release, row.hazard] = row
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as to:
                to.write(json.dumps(asdict(row)) + "\n")

    def remove(self) -> None:
        """Removes the file, when the result is written."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)


def _sources() -> str:
    digest = hashlib.sha256()
    for folder in _TOLD_BY:
        for source in sorted(each for each in (_ROOT / folder).rglob("*") if each.suffix in (".py", ".java")):
            digest.update(source.relative_to(_ROOT).as_posix().encode() + source.read_bytes())
    return digest.hexdigest()
