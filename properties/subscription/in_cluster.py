"""What a subscription is to a cluster: how many acknowledged messages are persisted, how, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.model.releases import is_since
from fencepost.properties.bugs import Value
from fencepost.properties.configuration import ByDesign, Configuration, InCluster, Instance, fitting

SEEK = "a seek of the subscription"


def _taken(cluster: Configuration) -> dict[str, Value]:
    """The settings as parameters. The limit of ranges is none of them: with a smaller one fewer messages show the same."""
    return {"long_arrays": cluster.topics.long_arrays, "limited": cluster.topics.answers_early}


def _instances(
    cluster: Configuration, taken: Mapping[str, Value], instances: Sequence[Instance], size: str
) -> tuple[Instance, ...]:
    """Those of a size; without a size the first with two messages, which does all that the others do within the limit."""
    if size:
        return fitting(instances, taken)
    first = instances[0]
    return (Instance(first.name, {**first.parameters, "messages": 2, **taken}),)


def _delivered_again(cluster: Configuration) -> list[ByDesign]:
    """What an owner of a topic keeps in memory alone."""
    topics, found = cluster.topics, list[ByDesign]()
    can_wait = is_since(cluster.releases.pulsar, "5.0.0-M1")  # Consumer.messageAcked waits for the cursor: requirePersistedAck
    if topics.answers_early or not can_wait:
        found.append(
            ByDesign(
                name="answered_before_it_is_written",
                property="answered_acks_are_kept",
                parameters={"messages": 1, "seeks": 0, "unloads": 0, "limited": True},
                avoided_by="managedLedgerDefaultMarkDeleteRateLimit=0 and clients that ask for receipts" if can_wait else "",
                says=f"acknowledgements{' above the rate limit' if can_wait else ''} are answered before they are written",
            )
        )
    limit = f"managedLedgerMaxUnackedRangesToPersist={topics.most_ranges}"
    beyond = {"messages": 4, "capacity": 2, "limit": 0, "node_limit": 0, "seeks": 0, "crashes": 0}
    found.append(
        ByDesign(
            name="more_ranges_than_are_persisted",
            property="answered_acks_are_kept",
            parameters={**beyond, "long_arrays": topics.long_arrays},
            avoided_by="a larger managedLedgerMaxUnackedRangesToPersist",
            says="acknowledged messages behind too many open ones are in memory only",
            needs=(f"more ranges of acknowledged messages than {limit}",),
        )
    )
    return found


IN_CLUSTER = InCluster(
    parts=("topics",),
    is_run=lambda cluster: True,
    parameters=lambda cluster, _: _taken(cluster),
    instances=_instances,
    harms={"again": ("stored_acks_are_kept",), "backlog": ("nothing_is_skipped",)},
    by_design={"again": _delivered_again},
    events={
        "seek": SEEK,
        "seek_during_read": SEEK,
        "unload": "an unload of the bundle",
        "crash": "a killed broker",
    },
)
