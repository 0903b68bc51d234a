"""Which bugs' methods were compared from release to release, by bytecode: the rows beside the bugs that ``fencepost releases
diff --record`` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from fencepost.checks.reports.bugs_on_code import rows_of


@dataclass(frozen=True)
class Compared:
    """A bug whose methods were compared in two releases: those of them that are ``changed`` in ``release`` or call what is."""

    bug: str
    first: str
    release: str
    changed: tuple[str, ...] = ()

    def __str__(self) -> str:
        those = f"{', '.join(self.changed)} changed" if self.changed else "the same"
        return f"methods compared up to {self.release}: since {self.first} {those}"


def compared_file(protocol: str) -> Path:
    """The file beside the bugs of a protocol that has a line for each whose methods were compared."""
    return rows_of(protocol).with_name("compared.jsonl")


@cache
def compared(protocol: str) -> dict[str, Compared]:
    """The newest comparison of each bug of a protocol; nothing where none was made."""
    file = compared_file(protocol)
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = (json.loads(line) for line in lines)
    return {row["bug"]: Compared(row["bug"], row["first"], row["release"], tuple(row["changed"])) for row in rows}


def write(protocol: str, rows: Iterable[Compared]) -> None:
    """Writes the rows of a protocol in the place of those that it has; in a checkout."""
    text = "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
    compared_file(protocol).write_text(text, encoding="utf-8")
    compared.cache_clear()
