"""How a cluster changes from one store of service units to the other, as it runs: a syncer copies, and brokers are restarted.

Mirrors ServiceUnitStateTableViewSyncer and what is around it as read in Pulsar 4.0.8, 4.2.4 and 5.0.0-M1, over the pieces of
the protocol ``service_unit``: both stores, what brokers do with records, the leader, and graceful shutdown.

- An administrator sets loadBalancerServiceUnitTableViewSyncer: the leader starts the syncer (syncer.py).
- When the syncer is active, brokers are shut down one after the other and started again with the other store
  (loadManagerServiceUnitStateTableViewClassName). What they own they hand over first, as always.
- With the leader goes its syncer, and the next leader starts one of its own. (Upstream the former one goes on until its process
  notices, or ends; here there is one at most.)

As it is meant to be, each record follows what is in either store, is copied once, and in order. None of that is so in any
release: the bugs are what the syncer does. There is one unit; nothing fails but what is shut down.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fencepost.model.language import And, ModelError, Not, Protocol
from fencepost.model.pulsar.service_unit.both_stores import TO, BothStores
from fencepost.model.pulsar.service_unit.channel import Channel
from fencepost.model.pulsar.service_unit.hand_over import declare_shutdown
from fencepost.model.pulsar.service_unit.leader import Leader
from fencepost.model.pulsar.service_unit.lookups import declare_lookups, declare_topics
from fencepost.model.pulsar.service_unit.moves import declare_moves
from fencepost.model.pulsar.service_unit.records import Records
from fencepost.model.pulsar.service_unit.syncer import Syncer
from fencepost.model.pulsar.stores import STORES
from fencepost.model.zookeeper.sessions_and_nodes import Sessions, merged

BUGS = {
    "stores_decide_alone": "brokers that use one store write without regard to the other: each version is given twice",
    "cleaned_in_use": "a syncer that starts again, as the leader was restarted, deletes records of brokers that use the store",
    "compared_by_number": "pulsar#25946: the stores count as equal when they have the same number of records",
    "copies_overlap": "a copy is tested against a node that the copy before it has not reached yet, and refused for good",
    "deletions_echo": "the syncer copies a deletion back that it has made itself: it deletes what was written meanwhile",
    "deletions_not_copied": "pulsar#25946: a deletion in the topic is not copied, as a node cannot be written without a value",
}
"""Each bug in one line, with its number upstream if it has one."""


def service_unit_migration(
    *,
    brokers: int = 2,
    to: str = "metadata",
    lag: int = 3,
    versions: int = 12,
    multi_phase: bool = True,
    slow: bool = False,
    unloads: int = 0,
    burials: int = 0,
    restarts: int = 1,
    bugs: Iterable[str] = (),
) -> Protocol:
    """A cluster that migrates to the store ``to``: ``metadata`` or ``topic``.

    ``lag``, ``versions``, ``multi_phase`` and ``slow`` are as in ``service_unit``, and so are ``unloads`` and ``burials``: how
    often the unit is unloaded or transferred, and how often the leader deletes an old record. ``restarts`` is how many brokers
    are restarted with the other store.
    """
    if brokers < 1 or lag < 2 or versions < 1 or restarts > brokers:
        what = "brokers and versions are at least 1, lag at least 2, and restarts are not more than brokers"
        raise ModelError(f"service_unit_migration: {what}")
    if to not in TO:
        raise ModelError(f"service_unit_migration: to is one of {', '.join(TO)}, not {to!r}")
    parameters = {name: value for name, value in locals().items() if name != "bugs"}
    p = Protocol("service_unit_migration", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)

    broker = p.universe("broker", brokers)
    unit = p.universe("unit", 1)
    sessions = Sessions(p, broker, disconnects=0, expiries=0, crashes=0, ends=restarts > 0, kind=STORES["zk"])
    records = Records(p, broker, versions)
    moves = restarts > 0
    stores = BothStores(p, sessions, records, unit, to=to, lag=lag, skips=to == "topic" or moves, moves=moves)
    channel = Channel(
        p, sessions, records, stores, unit, multi_phase=multi_phase, crashes=0, expiries=0, shutdowns=restarts, splits=None
    )
    stores.is_there = lambda b: And(sessions.lives[b], channel.runs(b))
    leader = Leader(p, channel, slow=slow, rounds=0)
    syncer = Syncer(stores, leader)
    _put_in(stores, syncer)
    p.budget("unloads", unloads)
    p.budget("timeouts", 0)
    p.budget("burials", burials)
    p.budget("shutdowns", restarts)

    sessions.declare(
        at_start=lambda b: merged(stores.forgotten(b), channel.idle(b), leader.idle(b)),
        on_lost=lambda b: {},
        on_reconnected=lambda b: {},
        on_reestablished=lambda b: {},
    )
    stores.declare(channel.handled)
    declare_lookups(channel)
    declare_topics(channel, 0)
    declare_moves(channel)
    leader.declare(expiries=0, faults=restarts, moves=restarts)

    def is_next(b: int) -> Any:
        """The formula: the administrator restarts this broker now: the syncer is active, and the other brokers are there."""
        others = [And(channel.is_registered(c), stores.is_there(c)) for c in broker if c != b]
        return And(stores.sync == "active", Not(stores.has_moved(b)), *others)

    declare_shutdown(channel, leader, begins=is_next, ends=stores.may_end)
    syncer.declare()
    return p


def _put_in(stores: BothStores, syncer: Syncer) -> None:
    """Puts what the bugs that are switched on make of a rule in its place."""
    stores.may_act.instead("stores_decide_alone", lambda: True)
    stores.may_end.instead("stores_decide_alone", lambda: True)
    syncer.cleans.instead("cleaned_in_use", lambda: True)
    syncer.winner.instead("cleaned_in_use", syncer.left)
    syncer.is_synced.instead("compared_by_number", syncer.has_equally_many)
    syncer.is_accepted.instead("copies_overlap", lambda u, record: stores.nodes.takes_place(stores.syncer, u, record))
    syncer.notes.instead("deletions_echo", lambda: False)
    syncer.passes_on.instead("deletions_echo", lambda known, record: True)
    syncer.is_passed.instead("deletions_not_copied", lambda record: Not(record.absent))
