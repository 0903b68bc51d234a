"""A check of everything in short: a line for each protocol, what failed in full, and a line or two for each known bug."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict
from fencepost.checks.questions.doubt import Doubt
from fencepost.checks.questions.unsettled import OUT_OF_TIME, is_unsettled
from fencepost.checks.reports.report import counted, text
from fencepost.model.counts import count_of
from fencepost.model.releases import SYSTEMS

NONE: Mapping[str, int] = {}
NAMES = 24
"""The column in which what was established of a protocol begins."""


def is_of_known_bug(checked: Checked) -> bool:
    """Whether the instance is one in which a known bug of a release was looked for."""
    return any(verdict.property.kind == "hazard" for verdict in checked.findings.verdicts)


def protocol_line(several: Sequence[Checked]) -> str:
    """What was established of the instances of one protocol: how many properties came to which verdict."""
    counts = counted(verdict for checked in several for verdict in checked.findings.verdicts)
    return f"{several[0].entry.name:<{NAMES}}{count_of(len(several), 'instance')}: {counts or 'no verdicts'}"


def failure_text(checked: Checked, *, width: int = 120, colour: bool = False) -> str:
    """What of an instance is not as it should be, with its runs; empty if everything is, or nothing was checked.

    Known bugs are listed apart.
    """
    failed = tuple(v for v in checked.findings.verdicts if v.failure != ExitStatus.HOLDS and v.property.kind != "hazard")
    if not failed or is_unsettled(checked):
        return ""
    findings = replace(checked.findings, verdicts=failed, suspicions=())
    return text(replace(checked, findings=findings), width=width, colour=colour)


def known_bugs(everything: Iterable[Checked], width: int, ranks: Mapping[str, int] = NONE) -> list[str]:
    """The known bugs that a run shows, each once with its protocols, what it costs and what avoids it: those with the lowest
    of ``ranks`` first, and of one rank those that something avoids. And those of which it is not known."""
    shown, unknown, left = dict[str, list[tuple[str, Verdict]]](), [], []
    for checked in everything:
        for verdict in checked.findings.verdicts:
            if verdict.verdict == "hazard":
                shown.setdefault(_words(verdict), []).append((checked.entry.name, verdict))
            elif verdict.property.kind == "hazard" and is_unsettled(checked):
                left.append(f"{verdict.property.name} ({checked.entry.name})")
            elif verdict.property.kind == "hazard" and verdict.failure != ExitStatus.HOLDS:
                unknown.append(f"{verdict.property.name} ({checked.entry.name}): not known: {verdict.note}")

    def rank(bug: tuple[str, list[tuple[str, Verdict]]]) -> tuple[float, bool]:
        (_, verdict), *_ = bug[1]
        return ranks.get(verdict.property.name, inf), not _ways_out(verdict)

    bugs = sorted(shown.items(), key=rank)
    lines = [f"{several[0][1].property.name} ({', '.join(name for name, _ in several)}): {words}" for words, several in bugs]
    lines += [*unknown, f"{OUT_OF_TIME}: {', '.join(left)}"] if left else unknown
    fold = textwrap.TextWrapper(width, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
    return [part for line in lines for part in fold.wrap(line)]


def _words(verdict: Verdict) -> str:
    """What a known bug costs, by what cause, and what avoids it."""
    history = verdict.history
    cause = f"cause: {verdict.property.doc}"
    accepted = [] if verdict.accepted is None else [f"accepted: {verdict.accepted or 'no reason is given'}"]
    rest = "; ".join([cause, *_ways_out(verdict), *accepted])
    return f"{history.costs} ({rest})" if history and history.costs else rest


def _ways_out(verdict: Verdict) -> list[str]:
    """What avoids a known bug; nothing if it is open."""
    history = verdict.history
    if history is None:
        return []
    fixed = f"fixed in {SYSTEMS[history.project]} {history.fixed}" if history.fixed else ""
    return [way for way in (f"avoided by {history.avoided_by}" if history.avoided_by else "", fixed) if way]


def suspicious_lines(suspicious: Iterable[Doubt]) -> list[str]:
    """Each suspicion about a success, a line for each."""
    return [f"suspicious: {doubt}" for doubt in suspicious]
