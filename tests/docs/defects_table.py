"""The table of the ledger's defects in the reference, made by running every one of them."""

from __future__ import annotations

import re
from functools import cache

from checks.exhaustive import Budget, exhaust
from properties.observed import Observed
from properties.protocols import PROTOCOLS

LEDGER = PROTOCOLS["ledger"]
TABLE = re.compile(r"(?<=<!-- begin: defects -->\n).*?(?=<!-- end: defects -->)", re.DOTALL)
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
    return f"| `{defect}` | {_upstream(defect)} | {names} | {min(first.values(), default='')} |"


@cache
def lost(defect: str) -> str:
    """The last cells: whether the defect truncates a ledger, and the instance in which all this is so."""
    loss = _shortest(defect, LOSS)
    instance = " ".join(f"{name}={value}" for name, value in LEDGER.shown_by[defect].items())
    return f" {f'{loss[LOSS]} steps' if loss else 'holds'} | {instance} |"


def table() -> str:
    """The whole table."""
    return HEAD + "".join(map(row, LEDGER.shown_by))


def with_table(document: str) -> str:
    """The document with its table brought up to date, if it has one."""
    return TABLE.sub(lambda _: table(), document) if TABLE.search(document) else document


def _shortest(defect: str, only: str | None) -> dict[str, int]:
    """The properties that the shortest runs violate, with the steps that it takes; negative controls are left out."""
    suite = LEDGER.suite(LEDGER.build(LEDGER.shown_by[defect], [defect]))
    chosen = [p for p in suite.properties if only in (None, p.name)]
    found = exhaust(Observed.of(suite, chosen), Budget(workers=1))
    violated = [v for v in found.verdicts if v.verdict == "violated" and v.property.kind != "sometimes"]
    return {v.property.name: int(v.reach["steps"]) for v in violated if not v.property.strict}


def _upstream(defect: str) -> str:
    numbers = re.findall(r"#(\d+)", LEDGER.build({}).defects[defect])
    return ", ".join(f"[#{n}](https://github.com/apache/bookkeeper/issues/{n})" for n in numbers)
