"""What a run about a cluster decides: yes or no to another release, also where namespaces differ, and the last line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.answers.changes import BugChange, Reach
from fencepost.checks.questions.answers.ways import Answer
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.reports import changes
from fencepost.checks.reports.changes import NOT_ASKED
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.reports.report import MEANING
from fencepost.model.counts import count_of
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

LOST = MATTERS[0]

TO_LOSE = "to lose a message"

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


def closing_of_configuration(opening: Opening, run: FinishedRun) -> str:
    """The last line of a run about a configuration as a whole: the verdict in words, and what the status says."""
    if opening.answers:
        accepted = any(verdict.accepted is not None for checked in run.everything for verdict in checked.verdicts)
        return _closing_of_cluster(opening, run.status, accepted=accepted, outdated=run.is_outdated)
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
    lost = opening.answers[0]
    if status == ExitStatus.HOLDS:
        return f"{_in_short(lost)}; {'all known bugs accepted' if accepted else 'no known bug affects you'} (exit 0)"
    if outdated and status == ExitStatus.ASSUMPTION:
        return f"{_in_short(lost)}; differs from the baseline (exit {int(status)})"
    meaning = f"; {IN_SHORT[status]}" if status != ExitStatus.INCONCLUSIVE or lost.unordered != "unknown" else ""
    if status == ExitStatus.KNOWN_BUG and opening.status == ExitStatus.SHORT:
        meaning = "; less than required; a known bug"
    return f"{_in_short(lost)}{meaning} (exit {int(status)})"


def closing_of_one_way(lost: Answer, status: ExitStatus) -> str:
    """The last line where one way was asked for, and not all was checked: so it never says that no known bug is there."""
    return f"{_in_short(lost)}{f'; {IN_SHORT[status]}' if status != ExitStatus.HOLDS else ''} (exit {int(status)})"


def _in_short(lost: Answer) -> str:
    """The verdict without what the ways need."""
    ways = lost.sorted
    if ways.count:
        return f"MESSAGES CAN BE LOST: {count_of(len(ways.count), 'way')}"
    if ways.only_if:
        return f"MESSAGES CAN BE LOST only if you act: {count_of(len(ways.only_if), 'way')}"
    if lost.unordered == "unknown" or lost.gaps:
        return "NOT KNOWN if messages can be lost"
    left = f", except {len(ways.left_out)} left out" if ways.left_out else " was found"
    return f"NO WAY TO LOSE A MESSAGE{left}"


def _closing_of_guarantees(opening: Opening, status: ExitStatus) -> str:
    """The last line where the guarantees alone were asked for."""
    short, unknown = opening.count("short", "weaker"), opening.count("open")
    counts = f"{count_of(len(opening.now.rows), 'guarantee')}, {short} short" + (f", {unknown} not known" if unknown else "")
    meaning = IN_SHORT[status] if status == ExitStatus.HOLDS else MEANING[status]
    if status == ExitStatus.KNOWN_BUG:  # by which nothing is to hide that less is guaranteed
        less = [MEANING[each] for each in (ExitStatus.SHORT, ExitStatus.WEAKER) if opening.status == each]
        meaning = " and ".join([*less, "a known bug comes that affects you"])
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
    reach = {name: change.reach.get(name, NOT_ASKED) for name in change.come}
    brings, gone = _ways(reach.values()), _ways(change.reach.get(name, NOT_ASKED) for name in change.go)
    lost, closes = [name for name, each in reach.items() if _loses(each)], f" It closes {gone}." if gone else ""
    if lost or weaker:
        parts = [f"brings {brings}"] if brings else []
        parts += [f"guarantees less: {', '.join(weaker)}"] if weaker else []
        told = "".join(f" {_told(change.come[name][0].bug)}" for name in lost)
        short = f"{count_of(len(lost), 'way')} to lose a message" if lost else "less is guaranteed"
        return Decision("NO", short, f"{change.now} {', and '.join(parts)}.{told}{closes}")
    if change.unsettled:
        reason = f"{change.now} brings a way to lose a message: see {', '.join(change.unsettled)}.{closes}"
        return Decision("NOT KNOWN", "a way to lose a message may come", reason)
    others = dict.fromkeys(each.met.matter.says for each in reach.values() if each.met is not None)
    besides = f" Besides: {'; '.join(others)}." if others else ""
    unless = f", except {brings.replace(f' {TO_LOSE}', '')}" if brings else ""
    short = f"no way to lose a message{', unless you act' if brings else ''}"
    return Decision("YES", short, f"{change.now} brings no way to lose a message{unless}.{besides}{closes}")


def _ways(reach: Iterable[Reach]) -> str:
    """In how many ways a message is lost by some bugs, and in how many only if an administrator acts; empty if in none."""
    every = list(reach)
    met = [met for each in every for met in each.only_if if met.matter is LOST]
    only_if = f"only if {' or '.join(dict.fromkeys(act for each in met for act in each.acts))}"
    number = sum(map(_loses, every))
    if not number:
        return f"{count_of(len(met), 'way')} {TO_LOSE} {only_if}" if met else ""
    return f"{count_of(number, 'way')} {TO_LOSE}{f', and {len(met)} {only_if}' if met else ''}"


def _loses(reach: Reach) -> bool:
    """Whether a message is lost by it though no administrator acts."""
    return reach.met is not None and reach.met.matter is LOST


def _told(bug: Bug) -> str:
    """What happens by a bug, and which release fixes it: two sentences."""
    return f"{(bug.plain or bug.costs).removesuffix('.')}. It is {bug.fix}."
