"""The table of the rules that were compared with Pulsar's classes, from what ``fencepost conform policy --format json`` told.

Run with such reports, ``python tests/docs/compared_table.py REPORT.json...``, it keeps what they count in compared.json; what a
report of some rules (``--rule``) does not have stays as it is. A report with differences is refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.checks.conformance.policy.registry import RULES
from fencepost.model.balance.configuration import RELEASES

KEPT = Path(__file__).with_name("compared.json")
HEAD = f"| rule | the class | {' | '.join(RELEASES)} |\n|---|---|{'---|' * len(RELEASES)}\n"


def load_counts() -> dict[str, dict[str, int]]:
    """The cases of each rule, by release."""
    by_release: dict[str, dict[str, int]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return by_release


def table() -> str:
    """A line for each rule: how many cases were compared with each release, of which none differs."""
    counts = load_counts()
    lines = []
    for rule in RULES:
        cells = [
            f"{counts[release].get(rule.name, 0):,} cases" if release in rule.releases else rule.elsewhere
            for release in RELEASES
        ]
        mirrors = ", ".join(f"`{name.strip()}`" for name in rule.mirrors.split(","))
        lines.append(f"| {rule.name} | {mirrors} | {' | '.join(cells)} |\n")
    return HEAD + "".join(lines)


def record(reports: Sequence[dict[str, Any]]) -> None:
    """Keeps what reports count. Raises ValueError for one with differences."""
    counts = load_counts() if KEPT.exists() else {}
    for report in reports:
        if report["differences"]:
            raise ValueError(f"{report['release']}: {len(report['differences'])} rules differ")
        cases = {name: rule["cases"] for name, rule in report["rules"].items()}
        merged = {**counts.get(report["release"], {}), **cases}
        counts[report["release"]] = {rule.name: merged[rule.name] for rule in RULES if rule.name in merged}
    KEPT.write_text(json.dumps({name: counts[name] for name in RELEASES if name in counts}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record([json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]])
