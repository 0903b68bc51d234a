"""The page that opens the room of the ledger names its constants, variables and actions, each once and no other."""

from __future__ import annotations

import inspect
import re

from fencepost.model.bookkeeper import ledger as room
from fencepost.model.bookkeeper.ledger.protocol import BUDGETS, ledger

FAULTS = {name: 1 for name in BUDGETS if name != "failed_saves"}
INSTANCES = (
    ledger(**{**FAULTS, "failed_saves": 1}, data_integrity=True),
    ledger(**{**FAULTS, "unclean_shutdowns": 0}),
)


def named(kind: str) -> list[str]:
    """The names in the lists under a heading of the page."""
    page = inspect.getdoc(room) or ""
    names = list[str]()
    for part in re.findall(rf"^{kind}.*\n((?:    .*\n)+)", page, re.MULTILINE):
        for line in part.splitlines():
            head = line[4:].partition("  ")[0] if kind != "Constants" else line[4:].rpartition("events")[2]
            names += re.findall(r"\b[a-z_]+\b", head) if not line.startswith(" " * 8) else []
    return names


def test_constants() -> None:
    page = (inspect.getdoc(room) or "").partition("Constants\n")[2].partition("\n\n")[0]
    words = set(re.findall(r"[a-z_]+", page)) - {"and", "as", "budgets", "of", "events"}
    assert words == inspect.signature(ledger).parameters.keys() - {"bugs"}


def test_variables() -> None:
    names = named("Variables?")
    families = {variable.family for instance in INSTANCES for variable in instance.variables} - set(BUDGETS)
    assert sorted(names) == sorted(set(names))
    assert set(names) == families


def test_actions() -> None:
    names = named("Actions?")
    assert sorted(names) == sorted(set(names))
    assert set(names) == {action.name for instance in INSTANCES for action in instance.actions}
