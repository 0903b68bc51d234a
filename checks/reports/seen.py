"""Which known bugs were seen on real code: by the rows beside the bugs of each protocol, and by nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fencepost.checks.reports.bugs_on_code import Replayed, read_row
from fencepost.model.counts import count_of
from fencepost.model.releases import numbers

_ROOMS = Path(__file__).parents[2] / "properties"


def rows_of(protocol: str) -> Path:
    """The file beside the bugs of a protocol that has a line for each that was replayed on a release."""
    return _ROOMS / protocol / "reproduced.jsonl"


@cache
def replayed(protocol: str) -> tuple[Replayed, ...]:
    """What was replayed of the bugs of a protocol; nothing where none was."""
    file, target = rows_of(protocol), protocol.replace("_", "-")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return tuple(read_row(target, line) for line in lines)


@cache
def _everywhere() -> tuple[Replayed, ...]:
    return tuple(row for file in sorted(_ROOMS.glob("*/reproduced.jsonl")) for row in replayed(file.parent.name))


def seen_anywhere(bug: str) -> tuple[str, ...]:
    """The releases on whose classes the bug was seen, the oldest first, in whichever protocol has it."""
    rows = [row for row in _everywhere() if row.bug == bug and _is_seen(row)]
    return tuple(release for _, release in sorted({(numbers(row.system).index(row.release), row.release) for row in rows}))


def _is_seen(row: Replayed) -> bool:
    elsewhere = row.verdict == "seen elsewhere" and not row.why.startswith("by `fencepost reproduce ")
    return row.verdict == "reproduced" or elsewhere


def seen(protocol: str, bug: str) -> Mapping[str, str]:
    """By release, the oldest first, how the bug was seen as that protocol has it."""
    rows = [row for row in replayed(protocol) if row.bug == bug and row.verdict == "reproduced"]
    rows.sort(key=lambda row: numbers(row.system).index(row.release))
    return {row.release: f"{row.property} is violated after the {count_of(len(row.steps), 'step')} of its run" for row in rows}
