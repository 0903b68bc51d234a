"""What of the known mistakes was seen on real code: by the rows of docs/reproduced.json, and by nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fencepost.checks.reports.hazards_on_code import Replayed, read_json
from fencepost.model.counts import count_of
from fencepost.model.releases import numbers

REPRODUCED = Path(__file__).with_name("reproduced.json")
"""A link to docs/reproduced.json, which ``make conform`` writes; an installed package has the file itself."""


@cache
def _rows(*verdicts: str) -> tuple[Replayed, ...]:
    return tuple(row for row in read_json(REPRODUCED.read_text(encoding="utf-8")) if row.verdict in verdicts)


def seen_anywhere(mistake: str) -> tuple[str, ...]:
    """The releases on whose classes the mistake was seen, the oldest first, in whichever protocol has it."""
    rows = [row for row in _rows("reproduced", "seen elsewhere") if row.hazard == mistake and not _is_shown_by_command(row)]
    return tuple(release for _, release in sorted({(numbers(row.system).index(row.release), row.release) for row in rows}))


def _is_shown_by_command(row: Replayed) -> bool:
    return row.verdict == "seen elsewhere" and row.why.startswith("by `fencepost reproduce ")


def seen(protocol: str, mistake: str) -> Mapping[str, str]:
    """By release, the oldest first, how the mistake was seen as that protocol has it."""
    rows = [row for row in _rows("reproduced") if (row.target.replace("-", "_"), row.hazard) == (protocol, mistake)]
    rows.sort(key=lambda row: numbers(row.system).index(row.release))
    return {row.release: f"{row.property} is violated after the {count_of(len(row.steps), 'step')} of its run" for row in rows}
