"""What a topic is to a cluster: how managed ledgers, deduplication and retention are configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fencepost.model.pulsar.stores import STORES
from fencepost.properties.bugs import Value
from fencepost.properties.configuration import ByDesign, Configuration, InCluster, Instance

BY_SIZE = ("two brokers", "two brokers, no deduplication", "trimmed", "transferred and truncated", "properties")
"""Instances that a configuration is held to only where a size is named: smaller ones have the same faults, and the bugs of
transfers, of truncations and of properties are looked for in instances of their own."""

ROOM = 3
"""Entries of a ledger below which its limit is felt in the small instances, which have full ledgers of their own besides."""

BESIDE = "another broker that opens the topic beside the first (a lost session of a broker)"

SMALL: Mapping[str, Value] = {"brokers": 1, "messages": 1, "ledgers": 2, "openings": 1, "connections": 2, "rolls": 0}
"""A topic whose producer connects twice."""

NOT_SERVING = ("none", "fenced", "closed")
"""The states of a broker that does not serve a topic."""


def parameters_of(cluster: Configuration) -> dict[str, Value]:
    """The settings as parameters of a topic."""
    topics = cluster.topics
    return {
        "dedup": topics.deduplication,
        "timeouts": topics.times_out,
        "lazy": topics.lazy_cursors,
        "elsewhere": topics.separate_store,
        "metadata_store": cluster.metadata_store,
        **({"capacity": topics.most_entries} if topics.most_entries < ROOM else {}),
        **({"trims": 0} if topics.keeps_all else {}),
        **({} if topics.deletes else {"deletions": 0}),
        **({} if cluster.extensible and cluster.multi_phase else {"transfers": 0}),
        **({"brokers": 1} if STORES[cluster.metadata_store].in_process else {}),
    }


def _instances(
    cluster: Configuration, taken: Mapping[str, Value], instances: Sequence[Instance], size: str
) -> tuple[Instance, ...]:
    """Those of the size with what is taken, each once; without a size the small ones."""
    variants: list[Instance] = []
    for instance in (i for i in instances if size or i.name not in BY_SIZE):
        parameters = {**instance.parameters, **taken}
        if parameters not in [other.parameters for other in variants]:
            variants.append(replace(instance, parameters=parameters))
    return tuple(variants)


def _opened_beside(run: Sequence[tuple[str, Mapping[str, str]]]) -> dict[str, int]:
    """How often a broker opens a topic that another serves: of a topic that is looked at alone it is free who owns it."""

    def serving(state: Mapping[str, str]) -> int:
        return sum(value not in NOT_SERVING for name, value in state.items() if name.startswith("state["))

    return {BESIDE: sum(action.startswith("open(") and serving(before) > 0 for action, before in run)}


def _stored_again(cluster: Configuration) -> tuple[ByDesign, ...]:
    """Without deduplication nothing keeps a message that is sent again from being stored again."""
    if cluster.topics.deduplication:
        return ()
    name, parameters = "stored_once", {**SMALL, **parameters_of(cluster)}
    return (ByDesign(name=name, property=name, parameters=parameters, avoided_by="brokerDeduplicationEnabled=true"),)


EVENTS: Mapping[str, str] = {
    "lose_connection": "a lost connection of the producer",
    "roll_over": "a ledger closed for its age",
    "terminate": "a termination of the topic",
    "set_properties": "an update of the topic's properties",
    "migrate": "a migration of the metadata to another store",
    "truncate_topic": "a truncation of the topic",
    "close": "a topic that is closed",
    "transfer": "a transfer of the bundle",
    "creation_fails": "a ledger that cannot be created",
    "list_fails": "a failed update of the list of ledgers",
    "recover_elsewhere": "a recovery of the ledger by another client",
    "crash": "a killed broker",
    "list_first_unreadable": "a cursor ledger that cannot be read",
    "list_first_stale": "a stale list of cursors",
    "trim_fails": "a failed trim",
    "drop_unseen": "a metadata server that lags behind",
    "fail_add": "a failed add",
    "time_out_add": "an add that times out",
    "fail_to_look_up": "an end of a ledger that cannot be looked up",
    "fail_to_look_up_late": "an end of a ledger that cannot be looked up",
    "list_slowly": "an update of the list of ledgers that takes two minutes",
    "create_another": "a second ledger created at once",
    "payload_fails": "an entry that cannot be processed",
}

IN_CLUSTER = InCluster(
    parts=("topics", "control_plane"),
    is_run=lambda cluster: True,
    parameters=lambda cluster, _: parameters_of(cluster),
    instances=_instances,
    harms={
        "lost": ("acked_is_in_log",),
        "backlog": ("unread_is_kept",),
        "service": ("fenced_is_unfenced", "gets_a_ledger"),
        "order": ("in_producer_order", "stored_once"),
    },
    by_design={"order": _stored_again},
    events=EVENTS,
    unseen=_opened_beside,
)
