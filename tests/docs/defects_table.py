"""The table of the ledger's defects in the reference, made by running every one of them."""

from __future__ import annotations

import re
from functools import cache

from checks.exhaustive import Budget, exhaust
from properties.observed import Observed
from properties.protocols import PROTOCOLS

LEDGER = PROTOCOLS["ledger"]
UPSTREAM = re.compile(r"(?P<project>bookkeeper|pulsar)(?P<numbers>#\d+(?:, #\d+)*)")
HEAD = "| defect | upstream | caught by | steps | `no_truncation` | instance |\n|---|---|---|---|---|---|\n"
LOSS = "no_truncation"


def row(defect: str) -> str:
    """The line of one defect."""
    return f"{caught(defect)}{lost(defect)}\n"


@cache
def caught(defect: str) -> str:
    """The first cells: the upstream numbers, and which properties catch the defect first, in how many steps."""
    first = _shortest(defect, None)
    names = ", ".join(f"`{name}`" for name in first) or "nothing"
    return f"| `{defect}` | {upstream(LEDGER.build({}).defects[defect])} | {names} | {min(first.values(), default='')} |"


@cache
def lost(defect: str) -> str:
    """The last cells: whether the defect truncates a ledger, and the instance in which all this is so."""
    loss = _shortest(defect, LOSS)
    instance = " ".join(f"{name}={value}" for name, value in LEDGER.shown_by[defect].items())
    return f" {f'{loss[LOSS]} steps' if loss else 'holds'} | {instance} |"


def table() -> str:
    """The whole table."""
    return HEAD + "".join(map(row, LEDGER.shown_by))


def _shortest(defect: str, only: str | None) -> dict[str, int]:
    """The properties that the shortest runs violate, with the steps that it takes; negative controls are left out."""
    suite = LEDGER.suite(LEDGER.build(LEDGER.shown_by[defect], [defect]))
    chosen = [p for p in suite.properties if only in (None, p.name)]
    found = exhaust(Observed.of(suite, chosen), Budget(workers=1))
    violated = [v for v in found.verdicts if v.verdict == "violated" and v.property.kind != "sometimes"]
    return {v.property.name: int(v.reach["steps"]) for v in violated if not v.property.strict}


def upstream(meaning: str) -> str:
    """Links to the issues that the meaning of a defect names."""
    return ", ".join(
        f"[{number}](https://github.com/apache/{m['project']}/issues/{number[1:]})"
        for m in UPSTREAM.finditer(meaning)
        for number in m["numbers"].split(", ")
    )
