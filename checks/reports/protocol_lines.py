"""A check of everything in short: a line for each protocol, and what failed in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.doubt import Doubt
from fencepost.checks.questions.unsettled import is_unsettled
from fencepost.checks.reports.report import counted, text
from fencepost.model.counts import count_of

NAMES = 24
"""The column in which what was established of a protocol begins."""


def is_of_known_bug(checked: Checked) -> bool:
    """Whether the instance is one in which a known bug of a release was looked for."""
    return any(verdict.property.kind == "known bug" for verdict in checked.findings.verdicts)


def protocol_line(several: Sequence[Checked]) -> str:
    """What was established of the instances of one protocol: how many properties came to which verdict."""
    counts = counted(verdict for checked in several for verdict in checked.findings.verdicts)
    return f"{several[0].entry.name:<{NAMES}}{count_of(len(several), 'instance')}: {counts or 'no verdicts'}"


def failure_text(checked: Checked, *, width: int = 120, colour: bool = False) -> str:
    """What of an instance is not as it should be, with its runs; empty if everything is, or nothing was checked.

    Known bugs are listed apart.
    """
    failed = tuple(v for v in checked.findings.verdicts if v.failure != ExitStatus.HOLDS and v.property.kind != "known bug")
    if not failed or is_unsettled(checked):
        return ""
    findings = replace(checked.findings, verdicts=failed, suspicions=())
    return text(replace(checked, findings=findings), width=width, colour=colour)


def suspicious_lines(suspicious: Iterable[Doubt]) -> list[str]:
    """Each suspicion about a success, a line for each."""
    return [f"suspicious: {doubt}" for doubt in suspicious]
