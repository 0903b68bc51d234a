"""What to change first: the remedies that are known, what each closes, and the smallest choice of them.

A remedy is a setting, another release of the bookies or of Pulsar, more copies, or a rule of a runbook. With each of the first
four the question whether a message can be lost is answered again, as for a cluster of its own; what was searched before is not
searched twice. A way is closed if the answer does not have it any more, and nothing of that is open. A rule of a runbook cannot
be searched with: its ways are those whose bug says that it avoids them.

Each later release is searched with, apart from milestones: most of it was searched before with the same parameters, so that a
release takes far less time than the answer did. The smallest step that closes most is named, and what smaller ones close.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from fencepost.checks.questions.answers.ways import Answer, Way
from fencepost.checks.questions.bugs.searching import known_bugs_in
from fencepost.checks.questions.matters import MATTERS
from fencepost.model.counts import count_of
from fencepost.model.releases import PULSAR, Releases, numbers, release
from fencepost.properties.cluster.entry import ENTRY as CLUSTER
from fencepost.properties.configuration import Configuration
from fencepost.properties.protocols import PROTOCOLS, run_by

Kind = Literal["setting", "copies", "bookies", "runbook", "upgrade"]
CHEAPEST: tuple[Kind, ...] = ("setting", "copies", "bookies", "runbook", "upgrade")
SETTING = re.compile(r"[A-Za-z_]+=\S+")
STEPS: tuple[Kind, ...] = ("bookies", "upgrade")
"""The kinds that have a remedy for each later release, the oldest first."""
MOST = 6
"""Settings that are searched with."""


@dataclass(frozen=True)
class Remedy:
    """Something to change: ``settings`` in place of those there are, or other ``releases``; ``cost`` says what one pays.

    ``closes`` are the keys of the ways that it closes, ``brings`` the ways that come with it, and ``open`` says what is not
    known: empty until the question was asked with it, except that a rule of a runbook closes the ways whose bugs say so.
    ``parts`` are of the same kind, and each closes some of it: smaller steps.
    """

    kind: Kind
    says: str
    settings: Mapping[str, str]
    releases: Releases
    cost: str = ""
    closes: frozenset[object] = frozenset()
    brings: tuple[Way, ...] = ()
    open: str = ""
    parts: tuple[Remedy, ...] = ()

    @property
    def terms(self) -> str:
        """What one pays, and how much smaller steps close."""
        parts = (f"{each._number} closes {len(each.closes)}" for each in self.parts)
        return "; ".join(filter(None, [self.cost, ", ".join(parts)]))

    @property
    def _number(self) -> str:
        return self.releases.bookkeeper if self.kind == "bookies" else self.releases.pulsar

    def step_for(self, way: object) -> Remedy:
        """The smallest of its steps that closes the way of this key, which it closes."""
        return next(each for each in (*self.parts, self) if way in each.closes)


Ask = Callable[[Mapping[str, str], Releases], Answer]
"""Answers whether a message can be lost with these settings in place of those there are, and these releases."""


def key(way: Way) -> object:
    """What makes two ways the same: the bug, or what must coincide."""
    return way.name if way.bug is not None else way.needs


def candidates(
    ways: Iterable[Way],
    releases: Releases,
    depends_on: Callable[[Releases], object],
    copies: Mapping[str, int],
    price: str = "",
    section: str = MATTERS[0].name,
) -> Iterator[Remedy]:
    """The remedies that are known for these ways, of the answer of that name, the cheapest first. ``depends_on`` says what of
    releases an answer depends on: of those with the same the oldest is named. ``copies`` are settings that raise the copies of
    an entry, which is asked for where one event is too many for what there are; ``price`` says what they cost."""
    ways = list(ways)
    avoided = [(way.name, way.bug.avoided_by) for way in ways if way.bug is not None and way.bug.avoided_by is not None]
    rules = dict[str, list[str]]()
    for name, avoidance in avoided:
        if not avoidance.avoids(section):
            continue
        if SETTING.fullmatch(avoidance.setting):
            rule, _, value = avoidance.setting.partition("=")
            unless = f"not where {avoidance.overridden_by} says otherwise" if avoidance.overridden_by else ""
            left = f"does not avoid {' and '.join(avoidance.remains.values())}" if avoidance.remains else ""
            yield Remedy("setting", avoidance.setting, {rule: value}, releases, "; ".join(filter(None, [left, unless])))
        else:
            rules.setdefault(avoidance.setting, []).append(name)
    for way in ways:
        if way.bug is None and way.avoided_by and SETTING.fullmatch(way.avoided_by):
            setting, _, value = way.avoided_by.partition("=")
            yield Remedy("setting", way.avoided_by, {setting: value}, releases)
    exposing = dict.fromkeys(way.row.guarantee.exposed_by for way in ways if way.bug is None and way.row is not None)
    for flags in filter(None, exposing):
        says = ", ".join(f"{flag.key}=true" for flag in flags)
        yield Remedy("setting", says, {flag.key: "true" for flag in flags}, releases)
    if copies and any(way.bug is None and way.row is not None and way.faults == 1 for way in ways):
        says = ", ".join(f"{name}={number}" for name, number in copies.items())
        yield Remedy("copies", says, {name: str(number) for name, number in copies.items()}, releases, price)
    newer = [replace(releases, bookkeeper=number) for number in _later("bookkeeper", releases.bookkeeper)]
    for each in _others(releases, newer, depends_on):
        ships = PULSAR.get(releases.pulsar) == each.bookkeeper
        where = "" if ships else f"not in Pulsar {releases.pulsar}"
        yield Remedy("bookies", f"bookies on BookKeeper {each.bookkeeper}", {}, each, where)
    for rule, names in rules.items():
        yield Remedy("runbook", rule, {}, releases, closes=frozenset(names))
    for each in _others(releases, [Releases.of(number) for number in _later("pulsar", releases.pulsar)], depends_on):
        yield Remedy("upgrade", f"Pulsar {each.pulsar} with BookKeeper {each.bookkeeper}", {}, each)


def _later(project: str, now: str) -> list[str]:
    """The releases after this one of which everything is read, apart from milestones, which nobody is to run."""
    every = numbers(project)
    later = every[every.index(now) + 1 :] if now in every else ()
    return [number for number in later if _is_read(project, number) and not release(number).milestone]


def _others(now: Releases, later: Iterable[Releases], depends_on: Callable[[Releases], object]) -> Iterator[Releases]:
    """Of the later ones those with other answers than the ones before."""
    before = depends_on(now)
    for each in later:
        if (same := depends_on(each)) != before:
            yield each
        before = same


def answered_alike(cluster: Configuration) -> object:
    """What of its releases the answers for a cluster depend on, to be compared: its configuration with this Pulsar, the known
    bugs of the protocols that it runs, each in its instance, and how these behave."""
    bugs = {(bug.entry.name, bug.name): bug.instance.parameters for bug in known_bugs_in(cluster)}
    behaviour = {entry.name: entry.behaviour(cluster.releases) for entry in (*run_by(cluster), CLUSTER)}
    return {**vars(cluster), "releases": cluster.release}, bugs, behaviour


def _is_read(project: str, number: str) -> bool:
    bugs = (bug for entry in PROTOCOLS.values() for bug in entry.bugs.values() if bug.project == project)
    return not any(number in bug.unread for bug in bugs if not bug.weakening)


def most_searches(releases: Releases) -> int:
    """How many searches ``tried`` makes at most in a cluster of these releases."""
    return MOST + len(_later("bookkeeper", releases.bookkeeper)) + len(_later("pulsar", releases.pulsar))


def tried(remedies: Iterable[Remedy], now: Answer, counted: Collection[Way], ask: Ask) -> Iterator[Remedy]:
    """The remedies that close some of the ways that count, with what each closes, as they are found. Raises what ``check``
    raises."""
    ways, settings = {key(way) for way in counted}, 0
    for remedy in remedies:
        if remedy.kind == "runbook":
            found = replace(remedy, closes=remedy.closes & ways)
        elif remedy.kind in STEPS or settings < MOST:
            settings += remedy.kind not in STEPS
            found = _with(remedy, now, ways, ask(remedy.settings, remedy.releases))
        else:
            continue
        if found.closes:
            yield found


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


def first_of(results: Iterable[Remedy]) -> list[Remedy]:
    """The smallest choice that closes most, cheapest first: one that closes nothing which a cheaper one leaves is left out.

    Of releases the older is the cheaper, unless it brings more; one that closes only some of what a later one does is its part.
    """

    def price(each: Remedy) -> tuple[int, int]:
        return CHEAPEST.index(each.kind), len(each.brings) if each.kind in STEPS else -len(each.closes)

    ordered = sorted(results, key=price)
    chosen, closed = list[Remedy](), set[object]()
    for each in ordered:
        if each.closes - closed:
            chosen.append(each)
            closed |= each.closes
    for each in list(chosen):
        others = set[object]().union(*(other.closes for other in chosen if other is not each))
        if each.closes <= others and each.kind == "setting" and len(chosen) > 1:
            chosen.remove(each)
    return [_whole(each, chosen) for each in chosen if not any(_is_part(each, other) for other in chosen)]


def _is_part(each: Remedy, other: Remedy) -> bool:
    """Whether a remedy is a smaller step of the same kind, all of which another closes too."""
    return each.kind in STEPS and each.kind == other.kind and each.closes < other.closes


def _whole(each: Remedy, chosen: Iterable[Remedy]) -> Remedy:
    return replace(each, parts=tuple(other for other in chosen if _is_part(other, each)))


def in_words(each: Remedy) -> str:
    """How many ways it closes, and how many come with it."""
    brings = f", brings {len(each.brings)}" if each.brings else ""
    return f"{count_of(len(each.closes), 'way')}{brings}"
