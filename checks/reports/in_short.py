"""A run in short: its last line, a line for each protocol, what failed in full, and the known bugs as a table.

What a cluster needs besides is loaded only for a run about one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from math import inf

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict
from fencepost.checks.questions.answers.ways import preconditions
from fencepost.checks.questions.baseline import Doubt
from fencepost.checks.questions.planning import OUT_OF_TIME, is_unsettled
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.report import closing, counted, text
from fencepost.model.counts import count_of
from fencepost.model.releases import SYSTEMS

NAMES = 24
"""The column in which what was established of a protocol begins."""


def last_line(run: FinishedRun) -> str:
    """The last line of a run; of a configuration as a whole it is the verdict in words."""
    opening = run.opening
    if opening is None or not (run.alone or opening.answers):
        return closing(run.everything, run.status, run.suspicious, outdated=run.is_outdated)
    from fencepost.checks.reports.decisions import closing_of_configuration

    return closing_of_configuration(opening, run)


def is_of_known_bug(checked: Checked) -> bool:
    """Whether the instance is one in which a known bug of a release was looked for."""
    return any(verdict.property.kind == "known bug" for verdict in checked.verdicts)


def protocol_line(several: Sequence[Checked]) -> str:
    """What was established of the instances of one protocol: how many properties came to which verdict."""
    counts = counted(verdict for checked in several for verdict in checked.verdicts)
    return f"{several[0].entry.name:<{NAMES}}{count_of(len(several), 'instance')}: {counts or 'no verdicts'}"


def failure_text(checked: Checked, *, width: int = 120, colour: bool = False) -> str:
    """What of an instance is not as it should be, with its runs; empty if everything is, or nothing was checked.

    Known bugs are listed apart.
    """
    failed = tuple(v for v in checked.verdicts if v.failure != ExitStatus.HOLDS and v.property.kind != "known bug")
    if not failed or is_unsettled(checked):
        return ""
    return text(replace(checked, verdicts=failed, suspicions=()), width=width, colour=colour)


def suspicious_lines(suspicious: Iterable[Doubt]) -> list[str]:
    """Each suspicion about a success, a line for each."""
    return [f"suspicious: {doubt}" for doubt in suspicious]


def suspicious_in_short(suspicious: Iterable[Doubt]) -> list[str]:
    """The suspicions, a line for what is said of several instances of a protocol, with how many they are."""
    several = dict[tuple[str, str], list[Doubt]]()
    for doubt in suspicious:
        several.setdefault((doubt.protocol, str(doubt.suspicion)), []).append(doubt)
    lines = ((f"{name} ({len(same)}): {text}" if len(same) > 1 else str(same[0])) for (name, text), same in several.items())
    return [f"suspicious: {line}" for line in lines]


NONE: Mapping[str, tuple[int, Sequence[str]]] = {}
HEADS = ("known bug", "needs", "costs", "ends with")
SHARES = (24, 26, 42, 22)
"""The widths of the columns in a hundred and twenty characters; a name that is longer has a line of its own."""
LEAST = 8
MARGIN, GAP = "  ", "  "


def known_bugs(everything: Iterable[Checked], width: int, met: Mapping[str, tuple[int, Sequence[str]]] = NONE) -> list[str]:
    """The table, each bug once, and below it those of which it is not known.

    ``met`` has by name the place of those that users meet, and what must coincide for that. They are first, then those that
    something avoids.
    """
    shown, unknown, left = dict[str, list[tuple[Checked, Verdict]]](), list[str](), list[str]()
    for checked in everything:
        for verdict in checked.verdicts:
            if verdict.verdict == "known bug":
                shown.setdefault(verdict.property.name, []).append((checked, verdict))
            elif verdict.property.kind == "known bug" and is_unsettled(checked):
                left.append(f"{verdict.property.name} ({checked.entry.name})")
            elif verdict.property.kind == "known bug" and verdict.verdict == "inconclusive":
                unknown.append(f"{verdict.property.name} ({checked.entry.name}): not known: {verdict.note}")

    def rank(name: str) -> tuple[float, bool]:
        return met[name][0] if name in met else inf, not list(_ways_out(shown[name][0][1]))

    widths = [max(share * (width - 6) // sum(SHARES), LEAST) for share in SHARES]
    lines = [_line(HEADS, widths), _line(["-" * each for each in widths], widths)] if shown else []
    for name in sorted(shown, key=rank):
        lines += _row(name, shown[name], met[name][1] if name in met else None, widths)
    unknown += [f"{OUT_OF_TIME}: {', '.join(left)}"] if left else []
    fold = textwrap.TextWrapper(width, initial_indent=MARGIN, subsequent_indent=MARGIN * 3, break_on_hyphens=False)
    return lines + [part for line in unknown for part in fold.wrap(line)]


def _row(
    name: str, several: Sequence[tuple[Checked, Verdict]], needs: Sequence[str] | None, widths: Sequence[int]
) -> Iterator[str]:
    checked, verdict = several[0]
    if needs is None:  # where a situation cannot come about there is no run
        needs = preconditions(verdict.trace, checked)[0] if verdict.trace is not None else []
    cells = [
        f"({', '.join(checked.entry.name for checked, _ in several)})",
        ", ".join(needs) or "nothing else",
        (verdict.bug.costs if verdict.bug else "") or verdict.property.doc,
        "; ".join(_ways_out(verdict)) or (verdict.bug.fix if verdict.bug else "nothing"),
    ]
    fold = partial(textwrap.wrap, break_on_hyphens=False, break_long_words=False)
    folded = [fold(cell, size) for cell, size in zip(cells, widths, strict=True)]
    if len(name) > widths[0]:
        yield f"{MARGIN}{name}"
    else:
        folded[0].insert(0, name)
    yield from (_line(parts, widths) for parts in zip_longest(*folded, fillvalue=""))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return (MARGIN + GAP.join(f"{cell:<{size}}" for cell, size in zip(cells, widths, strict=True))).rstrip()


def _ways_out(verdict: Verdict) -> Iterator[str]:
    """The release that fixes it, what avoids it, and with which reason it is accepted."""
    bug = verdict.bug
    if bug is not None and bug.fixed:
        yield f"{SYSTEMS[bug.project]} {bug.fixed}"
    if bug is not None and bug.avoided_by:
        yield f"avoided by {bug.avoided_by}"
    if verdict.accepted is not None:
        yield f"accepted: {verdict.accepted or 'no reason is given'}"
