"""Questions with a number for an answer about topics, whose messages are acknowledged, and about bundles, which brokers own."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from fencepost.checks.questions.matters import UNDER_WAY, Guarantee
from fencepost.model.language import Protocol
from fencepost.model.releases import Releases
from fencepost.properties.configuration import Configuration
from fencepost.properties.registry import Entry, Value, written
from fencepost.properties.theories import THEORIES
from fencepost.properties.topic import guarantees as suites
from fencepost.properties.topic.entry import ENTRY as TOPIC
from fencepost.properties.topic.in_cluster import parameters_of
from fencepost.properties.vocabulary import Suite

MOST = 2
"""How many failed updates, and kills of a broker, are asked about."""

ONE: Mapping[str, Value] = {"brokers": 1, "messages": 2, "ledgers": 3, "openings": 1, "connections": 2, "rolls": 1}
"""One broker, whose ledger is closed once for its age."""
RIVALS: Mapping[str, Value] = {"brokers": 2, "messages": 1, "ledgers": 4, "openings": 2, "connections": 2, "rolls": 0}
RELOADED: Mapping[str, Value] = {
    "brokers": 1,
    "messages": 1,
    "ledgers": MOST + 2,
    "openings": MOST + 1,
    "connections": MOST + 1,
    "rolls": 0,
}
"""One broker stands for all that open the topic one after the other."""
READ: Mapping[str, Value] = {**RELOADED, "subscription": True, "trims": 1}

LOSING = ("reopened_before_fence", "removed_producer_publishes")
"""The bugs by which a message that deduplication takes for a duplicate is stored nowhere."""


def topic_guarantees(cluster: Configuration) -> Iterator[Guarantee]:
    """What is asked of a topic, with the known bugs of its releases that the events of a row can show."""
    taken, topics = parameters_of(cluster), cluster.topics
    survive, lost = "acknowledged messages survive ", "acknowledged messages can be lost "
    dedup = topics.deduplication
    alone: dict[str, Mapping[str, Value]] = dict.fromkeys(LOSING if dedup else (), ONE)
    # what deduplication has not taken a snapshot of is not trimmed
    read = {**READ, "snapshots": int(dedup and not topics.keeps_all)}

    def row(
        name: str,
        says: str,
        denies: str,
        suite: Callable[[Protocol], Suite],
        small: Mapping[str, Value],
        fault: str,
        most: int,
        bugs: Mapping[str, Mapping[str, Value]],
        event: str,
    ) -> Guarantee:
        shown_by = {}
        for bug in TOPIC.bugs_of(cluster.releases):
            if bug in bugs and TOPIC.can_have(bug, parameters := {**bugs[bug], **taken}):
                shown_by[bug] = parameters
        entry = replace(TOPIC, suite=suite)
        return Guarantee(name, says, denies, entry, {**small, **taken}, (fault,), most, shown_by, event=event)

    yield row(
        "lost_sessions",
        survive + "{n} lost session{s} of brokers, as long as bookies keep their fences",
        lost + "when a broker loses its session",
        suites.survive_sessions,
        RIVALS,
        "failures",
        1,
        {**alone, "zombie_deletes": {**RIVALS, "connections": 1, "deletions": 1}},
        "{n} lost session{s} of a broker",
    )
    yield row(
        "failed_updates",
        survive + "{n} failed update{s} of the metadata store",
        lost + "when an update of the metadata store fails",
        suites.survive_updates,
        ONE,
        "failures",
        MOST,
        alone,
        "{n} failed update{s} of the metadata store",
    )
    yield row(
        "broker_crashes",
        survive + "{n} kill{s} of a broker",
        lost + "when a broker is killed",
        suites.survive_crashes,
        RELOADED,
        "crashes",
        MOST,
        {"missing_last_dropped": {**RELOADED, "failures": 1}},
        "{n} kill{s} of a broker",
    )
    yield row(
        "backlog",
        "a subscription keeps its backlog through {n} kill{s} of its broker",
        "a subscription can lose its backlog when its broker is killed",
        suites.keep_backlog,
        read,
        "crashes",
        1,
        {"lazy_cursors_not_waited": read, "cursor_list_stale": {**read, "failures": 1}},
        "{n} kill{s} of a broker",
    )


LOST_SESSIONS = "{n} lost session{s} of a broker"
LOST = ("expiries",)
DEAD = ("crashes",)


def bundle_guarantees(cluster: Configuration) -> Iterator[Guarantee]:
    """What is asked of bundles: owned by locks or, with the extensible load manager, by records of service units.

    A broker that shuts down when its session is lost is one that may crash: that it goes on is among what is considered.
    """
    owners = _by_records(cluster) if cluster.extensible else _by_locks()
    for row in _of_owners(owners, cluster):
        yield replace(row, unasked=owners.owning.refusal(cluster.releases))
    yield Guarantee(
        "hash_range",
        "every hash is in one bundle, however bundles are split",
        "a hash can be in no bundle, or in two",
        THEORIES["hash_range"],
        {},
        (),
        1,
    )


class _Suites(typing.Protocol):
    """The properties that are asked of who owns a bundle."""

    def one_server(self, p: Protocol, /) -> Suite: ...
    def one_server_in_the_end(self, p: Protocol, /) -> Suite: ...
    def served(self, p: Protocol, /) -> Suite: ...


@dataclass(frozen=True)
class _Owners:
    """What decides who owns a bundle, and what moves it, with the properties that are asked of them; what is ``configured``,
    what an instance without unloads and one with a slow unload have besides, and what ``takes`` steps."""

    owning: Entry
    unloading: Entry
    suites: _Suites
    takes: str
    configured: Mapping[str, Value]
    still: Mapping[str, Value]
    slow: Mapping[str, Value]

    def taken(self, entry: Entry, releases: Releases) -> dict[str, Value]:
        """With which parameters one of the two protocols behaves as the releases do, and as is configured."""
        return {**_behaviour(entry, releases), **self.configured}

    def steps_of(self, entry: Entry, releases: Releases) -> str:
        """What takes steps, and how that behaves in the releases: with another behaviour the same takes other steps."""
        behaviour = ", ".join(f"{name}={written(value)}" for name, value in _behaviour(entry, releases).items())
        return f"{self.takes} ({behaviour})" if behaviour else self.takes


def _behaviour(entry: Entry, releases: Releases) -> dict[str, Value]:
    return {} if entry.refusal(releases) else entry.behaviour(releases)


def _by_locks() -> _Owners:
    from fencepost.properties.ownership import guarantees
    from fencepost.properties.ownership.entry import ENTRY as OWNERSHIP
    from fencepost.properties.unload.entry import ENTRY as UNLOAD

    return _Owners(OWNERSHIP, UNLOAD, guarantees, "locks", {}, {}, {"failures": 1})


def _by_records(cluster: Configuration) -> _Owners:
    from fencepost.properties.service_unit import guarantees
    from fencepost.properties.service_unit.entry import ENTRY as SERVICE_UNIT

    takes = f"service units in the {cluster.service_unit_store} store"
    configured = SERVICE_UNIT.taken(cluster, {})
    return _Owners(SERVICE_UNIT, SERVICE_UNIT, guarantees, takes, configured, {"unloads": 0}, configured)


def _of_owners(owners: _Owners, cluster: Configuration) -> Iterator[Guarantee]:
    """What is asked of who owns a bundle, and serves it."""
    owning, unloading, suites, releases = owners.owning, owners.unloading, owners.suites, cluster.releases
    taken, moving = owners.taken(owning, releases), owners.taken(unloading, releases)
    small: dict[str, Value] = {**taken, **owners.still, "brokers": 2, "crashes": int(cluster.on_session_loss == "shutdown")}
    unloads: dict[str, Value] = {"brokers": 2, "unloads": 1, "timeouts": 1, **owners.slow}
    moved: dict[str, Value] = {**moving, "brokers": 2, "unloads": 1}

    yield Guarantee(
        "owners",
        "a bundle has a single owner through {n} lost session{s}",
        "a bundle has two owners for a while when a broker loses its session",
        replace(owning, suite=suites.one_server),
        small,
        LOST,
        1,
        event=LOST_SESSIONS,
    )
    yield Guarantee(
        "owners_in_the_end",
        "after {n} lost session{s} a bundle comes back to one broker",
        "after a lost session two brokers can serve a bundle for good",
        replace(owning, suite=suites.one_server_in_the_end),
        small,
        LOST,
        1,
        dict(_shown_by(LOST, owning, small, taken, releases)),
        event=LOST_SESSIONS,
    )
    yield Guarantee(
        "served",
        "after {n} lost session{s} every bundle is served again",
        "after a lost session a bundle can stay unserved",
        replace(owning, suite=suites.served),
        small,
        LOST,
        1,
        event=LOST_SESSIONS,
    )
    yield Guarantee(
        "moved",
        "a bundle is served again after {n} broker{s} died while it was moved",
        "a bundle can stay unserved when a broker dies while it is moved",
        replace(unloading, suite=suites.served),
        moved,
        DEAD,
        1,
        dict(_shown_by(DEAD, unloading, moved, moving, releases)),
        event="{n} death{s} of a broker during an unload",
    )
    yield Guarantee(
        "unserved",
        "after a lost session a bundle that nobody serves is at most {n} step{s} from being served",
        "after a lost session no bundle is unserved",
        replace(owning, suite=suites.served),
        {**small, "expiries": 1},
        (),
        0,
        fewer=True,
        steps_of=owners.steps_of(owning, releases),
    )
    yield Guarantee(
        "unloaded",
        "a bundle that is unloaded is at most {n} step{s} from being served again",
        "a bundle that is unloaded is served all the time",
        replace(unloading, suite=suites.served),
        unloads,
        (),
        0,
        fewer=True,
        steps_of=owners.steps_of(unloading, releases),
    )


def _shown_by(
    faults: tuple[str, ...], entry: Entry, small: Mapping[str, Value], taken: Mapping[str, Value], releases: Releases
) -> Iterator[tuple[str, dict[str, Value]]]:
    """The bugs that such a fault alone shows, each with the instance that does, with what is configured in it."""
    for name in entry.bugs_of(releases):
        parameters = {**small, **entry.shown_by[name], **taken}
        alone = not any(parameters.get(name) for name in UNDER_WAY)
        if alone and all(parameters.get(fault) for fault in faults) and entry.can_have(name, parameters):
            yield name, parameters
