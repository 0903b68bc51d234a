"""Which questions with a number for an answer the settings of topics are asked: what becomes of acknowledged messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from fencepost.checks.questions.guarantees.guarantee import Guarantee
from fencepost.model.language import Protocol
from fencepost.model.releases import Releases
from fencepost.properties.configuration import Configuration
from fencepost.properties.registry import Value
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


def topic_guarantees(cluster: Configuration, releases: Releases) -> Iterator[Guarantee]:
    """What is asked of a topic, with the known bugs of the release that the events of a row can show."""
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
        for bug in TOPIC.bugs_of(releases):
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
