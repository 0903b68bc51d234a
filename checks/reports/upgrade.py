"""Whether to take another release: yes or no first, then what starts no more; for the cluster, and where namespaces differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.bug_change import BugChange
from fencepost.checks.reports.changes import NOT_ASKED, says
from fencepost.checks.reports.front import closing as closing_of_cluster
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.reports.report import IN_SHORT, closing_of_guarantees
from fencepost.model.counts import count_of

Word = Literal["NO", "NOT KNOWN", "YES"]


@dataclass(frozen=True)
class Decision:
    """The word, what it is about in a few words, and the reason in a sentence."""

    word: Word
    short: str
    reason: str

    def __str__(self) -> str:
        return f"{self.word}{' whether' if self.word == 'NOT KNOWN' else ':'} {self.reason}"


def decisions(opening: Opening) -> Iterator[str]:
    """Yes or no to the other releases, if that is what is compared: first of all what starts no more, then the cluster, then
    each group of namespaces for which it is something else."""
    if (own := _of_cluster(opening)) is None:
        return
    if opening.stopped is not None:
        yield f"NO: {opening.stopped.in_short}. Apart from that: {own}"
    else:
        yield str(own)
    for names, change in opening.changed_namespaces:
        yield f"In {', '.join(names)}: {decided(change)}"


def stops(opening: Opening) -> tuple[str, ...]:
    """What starts no more, each with the file, the line and the remedy."""
    return tuple(map(str, opening.stopped.stops)) if opening.stopped is not None else ()


def closing_of_configuration(
    opening: Opening, everything: Sequence[Checked], status: ExitStatus, *, outdated: bool = False
) -> str:
    """The last line of a run about a configuration as a whole: the verdict in words. ``outdated`` is whether it differs from a
    baseline."""
    if opening.answers:
        accepted = any(verdict.accepted is not None for checked in everything for verdict in checked.verdicts)
        return closing_of_cluster(opening, status, accepted=accepted, outdated=outdated)
    return closing_of_upgrade(opening, status) or closing_of_guarantees(opening, status)


def closing_of_upgrade(opening: Opening, status: ExitStatus) -> str:
    """The last line where another release was compared with: yes or no, and what the status says; empty where none was."""
    own = _of_cluster(opening)
    if own is None:
        return ""
    elsewhere = [decided(change) for _, change in opening.changed_namespaces]
    worst = next((each for word in ("NO", "NOT KNOWN") for each in (own, *elsewhere) if each.word == word), own)
    words = f"{worst.word}: {worst.short}{'' if worst is own else ', in a namespace'}"
    if opening.stopped is not None:
        words = f"NO: brokers start no more with {opening.stopped.now}"
    return f"{words}; {IN_SHORT[status]} (exit {int(status)})"


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
        ways = "; ".join(f"{facts.plain or facts.costs} ({facts.fix})" for facts in (change.come[name][0].bug for name in lost))
        parts = [f"brings {number}: {ways}"] if lost else []
        parts += [f"guarantees less: {', '.join(weaker)}"] if weaker else []
        short = number if lost else "less is guaranteed"
        return Decision("NO", short, f"{change.now} {', and '.join(parts)}.{closes}")
    if unsure := [name for name in change.come if change.reach.get(name, NOT_ASKED).applies == "unknown"]:
        reason = f"{change.now} brings a way to lose a message: see {', '.join(unsure)}.{closes}"
        return Decision("NOT KNOWN", "a way to lose a message may come", reason)
    others = dict.fromkeys(says(change.reach[name]) for name in usual)
    besides = f" Besides: {'; '.join(others)}." if others else ""
    return Decision("YES", "no way to lose a message", f"{change.now} brings no way to lose a message.{besides}{closes}")


def _matter(name: str, change: BugChange) -> str:
    matter = change.reach[name].matter
    return matter.name if matter else ""
