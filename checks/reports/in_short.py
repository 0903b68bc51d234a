"""A run in short: what it comes to, a line for each protocol, what failed in full, and the known bugs as a table.

Of a run about a cluster it is yes or no to another release, also where namespaces differ, and the last line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from math import inf
from typing import Literal, get_args

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict
from fencepost.checks.questions.answers.changes import BugChange
from fencepost.checks.questions.answers.ways import in_order, preconditions
from fencepost.checks.questions.baseline import Doubt
from fencepost.checks.questions.planning import OUT_OF_TIME, is_unsettled
from fencepost.checks.reports import changes
from fencepost.checks.reports.changes import NOT_ASKED, says
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.reports.report import MEANING, closing, counted, text
from fencepost.model.counts import count_of
from fencepost.model.releases import SYSTEMS
from fencepost.properties.bugs import Bug

IN_SHORT = MEANING | {
    ExitStatus.HOLDS: "nothing falls short",
    ExitStatus.ASSUMPTION: "an assumption fails",
    ExitStatus.SAFETY: "safety is violated",
    ExitStatus.LIVENESS: "liveness is violated",
    ExitStatus.KNOWN_BUG: "a known bug affects you",
    ExitStatus.INCONCLUSIVE: "not all is known",
}
"""The same in fewer words, for the last line of a run about a cluster, which has to fit a screen."""

Word = Literal["NO", "NOT KNOWN", "YES"]
WORDS: tuple[Word, ...] = get_args(Word)
"""From the worst on."""


@dataclass(frozen=True)
class Decision:
    """The word, what it is about in a few words, and the reason in a sentence."""

    word: Word
    short: str
    reason: str

    def __str__(self) -> str:
        return f"{self.word}{' whether' if self.word == 'NOT KNOWN' else ':'} {self.reason}"


def decisions(opening: Opening) -> Iterator[str]:
    """Yes or no to the other releases, if that is what is compared: first of all what starts no more, then each group of
    namespaces for which it is something worse than for the cluster, then the cluster, then the other groups."""
    if (own := _of_cluster(opening)) is None:
        return
    groups = [(f"In {', '.join(names)}: ", decided(change)) for names, change in opening.changed_namespaces]
    if opening.stopped is not None:
        groups.insert(0, (f"NO: {opening.stopped.in_short}. Apart from that: ", own))
    else:
        worse = [group for group in groups if WORDS.index(group[1].word) < WORDS.index(own.word)]
        groups = [*worse, ("Elsewhere: " if worse else "", own), *(group for group in groups if group not in worse)]
    for where, decision in groups:
        yield f"{where}{decision}"


def stops(opening: Opening) -> tuple[str, ...]:
    """What starts no more, each with the file, the line and the remedy."""
    return tuple(map(str, opening.stopped.stops)) if opening.stopped is not None else ()


def changed(opening: Opening | None) -> list[str]:
    """What another configuration changes in known bugs and in the balancing of load, after what is decided by it."""
    if opening is None:
        return []
    bugs, policy = opening.bugs, opening.policy
    lines = [changes.heading(bugs), changes.verdict(bugs), *changes.sentences(bugs)] if bugs else []
    return [*decisions(opening), *stops(opening), *lines, *([*policy.sentences, *policy.commands] if policy else [])]


def last_line(run: FinishedRun) -> str:
    """The last line of a run: of a configuration as a whole the verdict in words."""
    opening, outdated = run.opening, run.is_outdated
    if opening is None or not (run.alone or opening.answers):
        return closing(run.everything, run.status, run.suspicious, outdated=outdated)
    if opening.answers:
        accepted = any(verdict.accepted is not None for checked in run.everything for verdict in checked.verdicts)
        return _closing_of_cluster(opening, run.status, accepted=accepted, outdated=outdated)
    return _closing_of_upgrade(opening, run.status) or _closing_of_guarantees(opening, run.status)


def _closing_of_upgrade(opening: Opening, status: ExitStatus) -> str:
    """The last line where another release was compared with: yes or no, and what the status says; empty where none was."""
    own = _of_cluster(opening)
    if own is None:
        return ""
    elsewhere = [decided(change) for _, change in opening.changed_namespaces]
    worst = min(own, *elsewhere, key=lambda each: WORDS.index(each.word)) if elsewhere else own
    words = f"{worst.word}: {worst.short}{'' if worst is own else ', in a namespace'}"
    if opening.stopped is not None:
        words = f"NO: brokers start no more with {opening.stopped.now}"
    return f"{words}; {IN_SHORT[status]} (exit {int(status)})"


def _closing_of_cluster(opening: Opening, status: ExitStatus, *, accepted: bool = False, outdated: bool = False) -> str:
    """The last line: the verdict in words, and what the status says, in 80 columns. ``accepted`` is whether a known bug is,
    ``outdated`` whether the run differs from a baseline."""
    if status == ExitStatus.HOLDS:
        return f"{_in_short(opening)}; {'all known bugs accepted' if accepted else 'no known bug affects you'} (exit 0)"
    if outdated and status == ExitStatus.ASSUMPTION:
        return f"{_in_short(opening)}; differs from the baseline (exit {int(status)})"
    meaning = f"; {IN_SHORT[status]}" if status != ExitStatus.INCONCLUSIVE or opening.answers[0].unordered != "unknown" else ""
    return f"{_in_short(opening)}{meaning} (exit {int(status)})"


def _in_short(opening: Opening) -> str:
    """The verdict without what the ways need."""
    lost = opening.answers[0]
    ways = in_order(lost.ways, opening.never, opening.accepted)
    if ways.count:
        return f"MESSAGES CAN BE LOST: {count_of(len(ways.count), 'way')}"
    if ways.only_if:
        return f"MESSAGES CAN BE LOST only if you act: {count_of(len(ways.only_if), 'way')}"
    return "NOT KNOWN if messages can be lost" if lost.unordered == "unknown" else "NO WAY TO LOSE A MESSAGE was found"


def _closing_of_guarantees(opening: Opening, status: ExitStatus) -> str:
    """The last line where the guarantees alone were asked for."""
    short, unknown = opening.count("short", "weaker"), opening.count("open")
    counts = f"{count_of(len(opening.now.rows), 'guarantee')}, {short} short" + (f", {unknown} not known" if unknown else "")
    meaning = IN_SHORT[status] if status == ExitStatus.HOLDS else MEANING[status]
    return f"{counts}: {meaning} (exit {int(status)})"


def _of_cluster(opening: Opening) -> Decision | None:
    """What is decided of the cluster; None unless its releases are others than before."""
    before, now = opening.before, opening.now.cluster
    if opening.bugs is None or before is None or before.cluster.releases == now.releases:
        return None
    weaker = dict.fromkeys(s.row.guarantee.name for s in opening.shortfalls if s.kind == "weaker")
    return decided(opening.bugs, tuple(weaker))


def decided(change: BugChange, weaker: Sequence[str] = ()) -> Decision:
    """Whether an upgrade costs messages or guarantees; ``weaker`` are the guarantees of which it has less."""
    usual = [name for name in change.felt if not change.reach[name].seldom]
    lost = [name for name in usual if _matter(name, change) == "lost"]
    gone = [name for name in change.go if name in change.reach and change.reach[name].way]
    closed = [name for name in gone if _matter(name, change) == "lost"]
    closes = f" It closes {count_of(len(closed), 'way')} to lose a message." if closed else ""
    number = f"{count_of(len(lost), 'way')} to lose a message"
    if lost or weaker:
        parts = [f"brings {number}"] if lost else []
        parts += [f"guarantees less: {', '.join(weaker)}"] if weaker else []
        ways = "".join(f" {_told(change.come[name][0].bug)}" for name in lost)
        short = number if lost else "less is guaranteed"
        return Decision("NO", short, f"{change.now} {', and '.join(parts)}.{ways}{closes}")
    if unsure := [name for name in change.come if change.reach.get(name, NOT_ASKED).applies == "unknown"]:
        reason = f"{change.now} brings a way to lose a message: see {', '.join(unsure)}.{closes}"
        return Decision("NOT KNOWN", "a way to lose a message may come", reason)
    others = dict.fromkeys(says(change.reach[name]) for name in usual)
    besides = f" Besides: {'; '.join(others)}." if others else ""
    return Decision("YES", "no way to lose a message", f"{change.now} brings no way to lose a message.{besides}{closes}")


def _told(bug: Bug) -> str:
    """What happens by a bug, and which release fixes it: two sentences."""
    return f"{(bug.plain or bug.costs).removesuffix('.')}. It is {bug.fix}."


def _matter(name: str, change: BugChange) -> str:
    matter = change.reach[name].matter
    return matter.name if matter else ""


NAMES = 24
"""The column in which what was established of a protocol begins."""


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
