"""The table of the ledger's defects in the reference: what its tests pin, and which defects truncate a ledger, measured."""

from __future__ import annotations

from functools import cache

from fencepost.checks.reports.histories import address
from fencepost.model.history import History
from fencepost.properties.protocols import PROTOCOLS
from tests.properties.ledger.test_safety import CAUGHT
from tests.properties.searching import searched, unexpected

LEDGER = PROTOCOLS["ledger"]
HEAD = "| defect | upstream | caught by | steps | `no_truncation` | instance |\n|---|---|---|---|---|---|\n"
LOSS = "no_truncation"


def row(defect: str) -> str:
    """The line of one defect."""
    return f"{caught(defect)}{lost(defect)}\n"


def caught(defect: str) -> str:
    """The first cells: the upstream numbers, and which properties catch the defect first, in how many steps: as pinned."""
    by, steps = CAUGHT[defect]
    names = ", ".join(f"`{name}`" for name in sorted(by)) or "nothing"
    return f"| `{defect}` | {upstream(LEDGER.history[defect])} | {names} | {'' if steps is None else steps} |"


@cache
def lost(defect: str) -> str:
    """The last cells: whether the defect truncates a ledger, and the instance in which all this is so."""
    steps = _steps_to_loss(defect)
    instance = " ".join(f"{name}={value}" for name, value in LEDGER.shown_by[defect].items())
    return f" {f'{steps} steps' if steps else 'holds'} | {instance} |"


def table() -> str:
    """The whole table."""
    return HEAD + "".join(map(row, LEDGER.shown_by))


def _steps_to_loss(defect: str) -> int | None:
    """The steps of the shortest run that truncates a ledger; None if there is none."""
    return unexpected(searched(LEDGER, LEDGER.shown_by[defect], [defect], [LOSS])).get(LOSS)


def upstream(history: History) -> str:
    """Links to the issues of a defect."""
    return ", ".join(f"[{issue}]({address(history, issue)})" for issue in history.upstream)
