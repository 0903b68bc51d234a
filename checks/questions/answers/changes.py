"""What a change brings: which known bugs come and go with other releases or settings, and what to change first.

A remedy is a setting, another release of the bookies or of Pulsar, more copies, or a rule of a runbook. With each of the first
four the question whether a message can be lost is answered again, as for a cluster of its own; what was searched before is not
searched twice. A way is closed if the answer does not have it any more, and nothing of that is open. A rule of a runbook cannot
be searched with: its ways are those whose bug says that it avoids them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.results.findings import Open, Settled
from fencepost.checks.questions.answers.answering import by_bug
from fencepost.checks.questions.answers.ways import UNDER_WAY, Answer, Way
from fencepost.checks.questions.bugs.searching import KnownBug, Whole, known_bugs_in
from fencepost.checks.questions.matters import MATTERS, Matter
from fencepost.model.counts import count_of
from fencepost.model.releases import PULSAR, Releases, numbers
from fencepost.properties.configuration import Configuration
from fencepost.properties.protocols import PROTOCOLS


@dataclass(frozen=True)
class Reach:
    """The ``matter`` of users that a known bug touches with some settings, and the ``way`` in which it does: None of both if it
    touches none.

    ``gap`` says what was cut short before one was found, ``is_asked`` whether any matter is about its protocols.
    """

    matter: Matter | None = None
    way: Way | None = None
    gap: str = ""
    is_asked: bool = True

    @property
    def applies(self) -> str:
        """``yes`` if a user meets it with these settings, ``no`` if complete searches found nothing, ``unknown`` if one was cut
        short, or ``not asked``."""
        return "yes" if self.way else "unknown" if self.gap else "no" if self.is_asked else "not asked"

    @property
    def seldom(self) -> bool:
        """Whether users meet it only while something goes on that few clusters do."""
        return self.way is not None and not {*UNDER_WAY.values()}.isdisjoint(self.way.needs)

    @property
    def rank(self) -> tuple[int, int]:
        """The place among known bugs: what costs users most is the first, and of that what needs the fewest faults; then what
        is met seldom, what is not known or not asked, and what costs them nothing."""
        if self.matter is None or self.way is None:
            return (2 if self.gap or not self.is_asked else 3) * len(MATTERS), 0
        return self.seldom * len(MATTERS) + MATTERS.index(self.matter), self.way.faults


def reach_of(bugs: Sequence[KnownBug], means: Means, whole: Whole) -> Reach:
    """What a user meets by a known bug, in the protocols that have it. Raises what ``check`` raises."""
    gaps, is_asked = list[str](), False
    for matter in MATTERS:
        result = by_bug(matter, bugs, means, whole)
        if isinstance(result, Way):
            return Reach(matter, result)
        gaps += [result.why] if isinstance(result, Open) else []
        is_asked = is_asked or isinstance(result, Settled)
    return Reach(gap="; ".join(dict.fromkeys(gaps)), is_asked=is_asked or bool(gaps))


Bugs = Mapping[str, Sequence[KnownBug]]
"""Known bugs by name, each in the protocols that have it."""


@dataclass(frozen=True)
class BugChange:
    """The known bugs that a cluster could have ``before`` and can have ``now``: the names of releases, or of settings.

    ``reach`` says by name what a user meets by those that go and by those that come, which are first where they cost most.
    """

    before: str
    now: str
    go: Bugs
    come: Bugs
    stay: Bugs
    reach: Mapping[str, Reach] = field(default_factory=dict)

    @property
    def felt(self) -> list[str]:
        """Those that come and that users meet with these settings."""
        return [name for name in self.come if name in self.reach and self.reach[name].applies == "yes"]


def met_by(change: BugChange) -> object:
    """What users notice of a change: which bugs that they meet come, and which go, each with what it costs them."""
    met = {name: each.matter.name for name, each in change.reach.items() if each.way is not None and each.matter is not None}
    return [{name: met[name] for name in names if name in met} for names in (change.come, change.go)]


def bug_change(before: str, then: Bugs, now: str, today: Bugs) -> BugChange:
    """What changes from the known bugs of ``before`` to those of ``now``; what it costs is not asked."""
    return BugChange(
        before,
        now,
        {name: then[name] for name in then if name not in today},
        {name: today[name] for name in today if name not in then},
        {name: today[name] for name in today if name in then},
    )


def with_reach(change: BugChange, then: Whole, now: Whole, means: Means) -> BugChange:
    """The change with what a user meets: by what goes in the cluster ``then``, by what comes in that of ``now``. Raises what
    ``check`` raises."""
    reach = dict[str, Reach]()
    for name, bugs in change.come.items():
        reach[name] = reach_of(bugs, means, now)
        means.passed()
    for name, bugs in change.go.items():
        reach[name] = reach_of(bugs, means, then)
        means.passed()

    def ordered(bugs: Bugs) -> Bugs:
        return {name: bugs[name] for name in sorted(bugs, key=lambda name: reach[name].rank)}

    return BugChange(change.before, change.now, ordered(change.go), ordered(change.come), change.stay, reach)


def bugs_of(cluster: Configuration, releases: Releases) -> Bugs:
    """The known bugs of the releases in the protocols that a cluster runs."""
    bugs = dict[str, list[KnownBug]]()
    for bug in known_bugs_in(cluster, releases):
        bugs.setdefault(bug.name, []).append(bug)
    return bugs


Kind = Literal["setting", "copies", "bookies", "runbook", "upgrade"]
CHEAPEST: tuple[Kind, ...] = ("setting", "copies", "bookies", "runbook", "upgrade")
SETTING = re.compile(r"[A-Za-z_]+=\S+")
MOST = 6
"""Remedies that are searched with."""


@dataclass(frozen=True)
class Remedy:
    """Something to change: ``settings`` in place of those there are, or other ``releases``; ``cost`` says what one pays.

    ``closes`` are the keys of the ways that it closes, ``brings`` the ways that come with it, and ``open`` says what is not
    known: empty until the question was asked with it, except that a rule of a runbook closes the ways whose bugs say so.
    """

    kind: Kind
    says: str
    settings: Mapping[str, str]
    releases: Releases
    cost: str = ""
    closes: frozenset[object] = frozenset()
    brings: tuple[Way, ...] = ()
    open: str = ""


Ask = Callable[[Mapping[str, str], Releases], Answer]
"""Answers whether a message can be lost with these settings in place of those there are, and these releases."""


def key(way: Way) -> object:
    """What makes two ways the same: the bug, or what must coincide."""
    return way.name if way.bug is not None else way.needs


def candidates(ways: Iterable[Way], releases: Releases, copies: Mapping[str, int], price: str = "") -> Iterator[Remedy]:
    """The remedies that are known for these ways, the cheapest first. ``copies`` are settings that raise the copies of an
    entry, which is asked for where one event is too many for what there are; ``price`` says what they cost."""
    ways = list(ways)
    avoided = [(way.name, way.bug.avoided_by) for way in ways if way.bug is not None and way.bug.avoided_by is not None]
    rules = dict[str, list[str]]()
    for name, avoidance in avoided:
        if not avoidance.avoids("lost"):
            continue
        if SETTING.fullmatch(avoidance.setting):
            rule, _, value = avoidance.setting.partition("=")
            unless = f"; not where {avoidance.overridden_by} says otherwise" if avoidance.overridden_by else ""
            yield Remedy("setting", avoidance.setting, {rule: value}, releases, unless.removeprefix("; "))
        else:
            rules.setdefault(avoidance.setting, []).append(name)
    for way in ways:
        if way.bug is None and way.avoided_by and SETTING.fullmatch(way.avoided_by):
            setting, _, value = way.avoided_by.partition("=")
            yield Remedy("setting", way.avoided_by, {setting: value}, releases)
    if copies and any(way.bug is None and way.row is not None and way.faults == 1 for way in ways):
        says = ", ".join(f"{name}={number}" for name, number in copies.items())
        yield Remedy("copies", says, {name: str(number) for name, number in copies.items()}, releases, price)
    for number in _later("bookkeeper", numbers("bookkeeper"), releases.bookkeeper):
        ships = PULSAR.get(releases.pulsar) == number
        where = "" if ships else f"not in Pulsar {releases.pulsar}"
        yield Remedy("bookies", f"bookies on BookKeeper {number}", {}, replace(releases, bookkeeper=number), where)
    for rule, names in rules.items():
        yield Remedy("runbook", rule, {}, releases, closes=frozenset(names))
    for number in _later("pulsar", numbers("pulsar"), releases.pulsar):
        yield Remedy("upgrade", f"Pulsar {number} with BookKeeper {PULSAR[number]}", {}, Releases.of(number))


def _later(project: str, numbers: Sequence[str], now: str) -> list[str]:
    """The newest release after this one of which everything is read, if there is one."""
    later = numbers[numbers.index(now) + 1 :] if now in numbers else ()
    read = [number for number in later if _is_read(project, number)]
    return read[-1:]


def _is_read(project: str, number: str) -> bool:
    bugs = (bug for entry in PROTOCOLS.values() for bug in entry.bugs.values() if bug.project == project)
    return not any(number in bug.unread for bug in bugs if not bug.weakening)


def tried(remedies: Iterable[Remedy], now: Answer, counted: Collection[Way], ask: Ask) -> list[Remedy]:
    """The remedies that close some of the ways that count, with what each closes. Raises what ``check`` raises."""
    ways, results = {key(way) for way in counted}, list[Remedy]()
    for remedy in remedies:
        if remedy.kind == "runbook":
            results.append(replace(remedy, closes=remedy.closes & ways))
        elif sum(each.kind != "runbook" for each in results) < MOST:
            results.append(_with(remedy, now, ways, ask(remedy.settings, remedy.releases)))
    return [each for each in results if each.closes]


def _with(remedy: Remedy, now: Answer, ways: set[object], then: Answer) -> Remedy:
    before, left = {key(way) for way in now.ways}, {key(way) for way in then.ways}
    unsure = {gap.partition(":")[0] for gap in then.gaps}
    # what needs no bug is closed only if nothing is open
    closes = (way for way in ways - left if (way not in unsure if isinstance(way, str) else not unsure))
    rows = {way.row.guarantee.name for way in now.ways if way.row is not None and way.bug is None}
    # one event more than before is no other way
    mine = (way for way in then.ways if way.bug is not None or way.row is None or way.row.guarantee.name not in rows)
    brings = tuple(way for way in mine if key(way) not in before)
    return replace(remedy, closes=frozenset(closes), brings=brings, open="; ".join(then.gaps))


def first_of(results: Sequence[Remedy]) -> list[Remedy]:
    """The smallest choice that closes most, cheapest first: one that closes nothing which a cheaper one leaves is left out."""
    ordered = sorted(results, key=lambda each: (CHEAPEST.index(each.kind), -len(each.closes)))
    chosen, closed = list[Remedy](), set[object]()
    for each in ordered:
        if each.closes - closed:
            chosen.append(each)
            closed |= each.closes
    for each in list(chosen):
        others = set[object]().union(*(other.closes for other in chosen if other is not each))
        if each.closes <= others and each.kind == "setting" and len(chosen) > 1:
            chosen.remove(each)
    return chosen


def in_words(each: Remedy) -> str:
    """How many ways it closes, and how many come with it."""
    brings = f", brings {len(each.brings)}" if each.brings else ""
    return f"{count_of(len(each.closes), 'way')}{brings}"
