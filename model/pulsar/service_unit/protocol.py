"""Which broker owns a service unit, as the extensible load manager decides it: by one record for each (PIP-192).

Mirrors ServiceUnitStateChannelImpl and what is around it as read in Pulsar 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1. The parts:

- records.py: the record, its seven states, and ServiceUnitStateDataConflictResolver.
- system_topic.py and metadata_views.py: the two stores, by the setting loadManagerServiceUnitStateTableViewClassName, and the
  copy of all records that each broker has.
- channel.py: what every broker remembers, and does with the records that it reads.
- lookups.py, moves.py, splits.py: how units are looked up, and topics opened and closed; how a unit leaves a broker; how it is
  split.
- nodes.py: the ephemeral nodes, of the leader and of each broker.
- shutdown.py and hand_over.py: how a broker shuts down.
- leader.py: the monitor, and the clean-up after brokers that are gone.
- bugs.py: the bugs. The parts are as they are meant to be; four or more of the bugs are in every release.

Which broker is selected, and when a unit is unloaded, is free: what holds here holds for every policy. A topic stands for all
of a unit. Time is not modelled: a lookup may give up at any time; a move counts as overdue for the leader once nobody has
anything left to do for it or, if brokers are ``slow``, at any time; a record counts as old when the leader deletes it.

That the units of the system come last in a clean-up makes no difference (leader.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.language import ModelError, Protocol
from fencepost.model.pulsar.service_unit.bugs import BUGS, declare_steps, put_in
from fencepost.model.pulsar.service_unit.channel import Channel
from fencepost.model.pulsar.service_unit.hand_over import declare_shutdown
from fencepost.model.pulsar.service_unit.leader import Leader
from fencepost.model.pulsar.service_unit.lookups import declare_lookups, declare_topics
from fencepost.model.pulsar.service_unit.metadata_views import MetadataViews
from fencepost.model.pulsar.service_unit.moves import declare_moves
from fencepost.model.pulsar.service_unit.records import Records
from fencepost.model.pulsar.service_unit.splits import Splits
from fencepost.model.pulsar.service_unit.system_topic import SystemTopic
from fencepost.model.pulsar.stores import STORES as METADATA_STORES
from fencepost.model.zookeeper.sessions_and_nodes import Sessions, merged

STORES = ("topic", "metadata")

OUTSIDE = {
    "2.10.1": "Pulsar 2.10.1 has no extensible load manager",
    "3.0.7": "the channel of Pulsar 3.0.7 is not modelled: its registry is a lock, and its clean-up has no health check",
}
"""The releases whose channel is not the one that is modelled, and why."""


def service_unit(
    *,
    brokers: int = 2,
    units: int = 1,
    store: str = "topic",
    lag: int = 3,
    versions: int = 9,
    multi_phase: bool = True,
    slow: bool = False,
    attempts: int = 7,
    rounds: int = 0,
    unloads: int = 1,
    splits: int = 0,
    conflicts: int = 0,
    timeouts: int = 0,
    burials: int = 0,
    compactions: int = 0,
    late_messages: int = 0,
    disconnects: int = 0,
    expiries: int = 0,
    crashes: int = 0,
    shutdowns: int = 0,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The ownership of ``units`` by ``brokers``, with their records in ``store``; the page of the room has the constants."""
    if brokers < 1 or units < 1 or lag < 2:
        raise ModelError("service_unit: brokers and units are at least 1, lag at least 2")
    if versions < 0 or (versions == 0 and store == "topic"):
        raise ModelError("service_unit: versions are at least 1 or, over the metadata store, 0")
    if store not in STORES:
        raise ModelError(f"service_unit: store is one of {', '.join(STORES)}, not {store!r}")
    if attempts < 1 or (splits and units != 2):
        raise ModelError("service_unit: attempts is at least 1, and with splits there are 2 units: one, and a child of it")
    parameters = {name: value for name, value in locals().items() if name != "bugs"}
    p = Protocol("service_unit", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)

    broker = p.universe("broker", brokers)
    unit = p.universe("unit", units)
    sessions = Sessions(
        p, broker, disconnects=disconnects, expiries=expiries, crashes=crashes, ends=shutdowns > 0, kind=METADATA_STORES["zk"]
    )
    records = Records(p, broker, versions)
    views: SystemTopic | MetadataViews
    if store == "topic":
        views = SystemTopic(p, sessions, records, unit, lag=lag, compactions=compactions, late=late_messages)
    else:
        views = MetadataViews(p, sessions, records, unit)
    parts = Splits(p, sessions, records, views, attempts=attempts)
    channel = Channel(
        p,
        sessions,
        records,
        views,
        unit,
        multi_phase=multi_phase,
        crashes=crashes,
        expiries=expiries,
        shutdowns=shutdowns,
        splits=parts if splits else None,
    )
    leader = Leader(p, channel, slow=slow, rounds=rounds)
    put_in(channel, leader)
    p.budget("unloads", unloads)
    p.budget("splits", splits)
    p.budget("conflicts", conflicts)
    p.budget("timeouts", timeouts)
    p.budget("burials", burials)
    p.budget("shutdowns", shutdowns)

    sessions.declare(
        at_start=lambda b: merged(views.forgotten(b), channel.idle(b), leader.idle(b)),
        on_lost=lambda b: merged(views.lost(b), channel.lost(b), leader.lost(b)),
        on_reconnected=views.reconnected,
        on_reestablished=lambda b: merged(views.reestablished(b), channel.reestablished(b), leader.on_reestablished(b)),
        listener="ServiceUnitStateChannelImpl.handleMetadataSessionEvent, ServiceUnitStateChannelImpl.handleInvalidate",
    )
    views.declare(channel.handled)
    declare_lookups(channel)
    declare_topics(channel, timeouts)
    declare_moves(channel)
    parts.declare(channel.topics, channel.closing)
    halts = (conflicts >= attempts) + (expiries if store == "metadata" or splits else 0)
    leader.declare(expiries=expiries, faults=crashes + expiries + shutdowns, moves=crashes + shutdowns + halts)
    declare_shutdown(channel, leader)
    declare_steps(channel)
    return p
