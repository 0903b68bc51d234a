"""How reports tell that a configuration changes the balancing of load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.checks.settings.files.input_files import Place


@dataclass(frozen=True)
class Change:
    """A setting, or which class runs by it, before and now; ``place`` is where it is written now, if it is."""

    key: str
    before: str
    now: str
    place: Place | None = None

    def __str__(self) -> str:
        where = f" ({self.place})" if self.place else ""
        return f"{self.key}: {self.before} -> {self.now}{where}"


@dataclass(frozen=True)
class PolicyChange:
    """What changes, the sentences that say what that means, and the commands that tell what it does to a cluster."""

    changes: tuple[Change, ...]
    lines: tuple[str, ...]
    commands: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """What changes and what that means, a sentence in a line."""
        return [*map(str, self.changes), *self.lines]

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        changes = [
            {
                "key": change.key,
                "before": change.before,
                "now": change.now,
                "file": None if change.place is None else str(change.place.file),
                "line": None if change.place is None else change.place.line or None,
            }
            for change in self.changes
        ]
        return {"changes": changes, "text": list(self.lines), "commands": list(self.commands)}
