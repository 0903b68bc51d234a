"""How a cluster changes from one store of service units to the other, as it runs: a syncer copies, and brokers are restarted.

Mirrors ServiceUnitStateTableViewSyncer and what is around it as read in Pulsar 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1, over the
pieces of the protocol ``service_unit``: both stores, what brokers do with records, the leader, and graceful shutdown.

- An administrator sets loadBalancerServiceUnitTableViewSyncer: the leader starts the syncer (syncer.py).
- When the syncer is active, brokers are shut down one after the other and started again with the other store
  (loadManagerServiceUnitStateTableViewClassName). What they own they hand over first, as always.
- With the leader goes its syncer, and the next leader starts one of its own. (Upstream the former one goes on until its process
  notices, or ends; here there is one at most.)

As it is meant to be, each record follows what is in either store, is copied once, and in order. None of that is so in any
release: the bugs are what the syncer does. There is one unit; nothing fails but what is shut down.

Not modelled: faults other than restarts, a second unit, and a former leader's syncer beside the present one.

Constants
    brokers              how many there are
    to                   to which store the cluster migrates: metadata or topic
    lag                  messages of the topic that a reader may not have read yet
    versions             the last version of a record. versions_suffice says that none is reached
    multi_phase          clients stay attached during a transfer
    slow                 the leader may take a move for stuck that is not
    unloads              times that the unit is unloaded or transferred
    burials              times that the leader deletes an old record
    restarts             brokers that are restarted with the other store

Variables of the two stores, of the syncer, and of service units as without a migration
    topic_view_state, topic_view_dst, topic_view_src, topic_view_version
                         of each reader and unit: what a reader of the topic knows; nothing of a broker that uses the
                         metadata store
    node_view_state, node_view_dst, node_view_src, node_view_version
                         of each reader and unit: what a reader of the nodes knows, likewise
    topic_record_state, topic_record_dst, topic_record_src, topic_record_version, topic_record_force
                         of each unit: what one knows who has read the whole topic
    node_record_state, node_record_dst, node_record_src, node_record_version, node_record_force
                         of each unit: the node
    uses_nodes           of each broker: it uses the metadata store, and not the topic
    sync                 how far the syncer is: off, cleaned, copied, listens, active
    syncer_at            the broker at which it runs
    behind               of each reader: messages that it has not read
    message_state, message_dst, message_src, message_version, message_force
                         of each place: a message that somebody has not read
    unheard              of each reader and unit: it is about to hear that the node was written
    pending, topics, closing, to_publish, to_publish_dst, to_publish_version, existing
                         of each broker and unit: a lookup waits; the topics are open or closed; what is written once they
                         are
                         closed, and to whom; the broker was the target of an assignment when it started
    registry_holder, registry_former, registry_version
                         the node of each broker in the registry
    leader_holder, leader_former, leader_version, leads, metadata, cleans
                         the leader's node; what a broker takes for the leader and for the store; the clean-ups to do
    stage, hands_over    of each broker: how far it is with shutting down, and which units it has yet to hand over
    compactions, late_messages, timeouts, disconnects, expiries, crashes
                         count what does not happen here
    lives, link, session, former_session
                         of each broker: its process runs; its connection as it takes it; the store has its session, or one
                         of its process before the restart

Variables that count
    unloads, burials, shutdowns
                         how often each event has happened, up to the constant of that name

Actions
    read_message, read_node
                         broker: reads what was written to the store that it uses
    clean, copy_existing, listen, activate
                         syncer: starts at the leader, and empties the store to which the cluster migrates; copies there
                         what the other one has; listens to both; is active once they are alike
    reconcile            syncer: finds that they differ, and copies once more
    copy_message         syncer: reads a message, and writes or deletes the node
    copy_node            syncer: hears of a change of the node, and writes a message
    restart              broker: starts again, with the store to which the cluster migrates
    expire_dead, expire_former
                         store: the session of a process that has ended expires, with its nodes; and one from before a
                         restart
    shut_down, hand_over, give_up, hold_nothing, unregister, end
                         broker: is shut down: hands its units over, or to nobody; a unit is not its own; leaves the
                         registry; its process ends
    register, assign, wait_for_owner, stop_waiting, open_topics, detach_topics, close_topics
                         broker, client: the broker enters the registry; a lookup selects an owner, waits for one, gives up;
                         the topics are opened, closed halfway for a transfer, closed
    unload, transfer, release, tombstone, take_existing
                         broker: the unit is to go, or to another; it goes once its topics are closed; a unit given to
                         nobody
                         is deleted; a broker that starts takes over what was assigned to it
    lead, schedule_clean_up, override_overdue, tombstone_old, clean_up, free_orphan, pass_over, call_off_clean_up
                         broker: becomes the leader; which gives on the units of brokers that are gone, one by one,
                         overrides
                         what moves for too long, and deletes old records

The properties are in ``properties/service_unit_migration/suite.py``. ``BUGS`` has a line for each bug and weakening,
``properties/service_unit_migration/bugs.toml`` the releases that have it.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.language import And, Condition, ModelError, Not, Protocol
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
    """A cluster that migrates to the store ``to``; the page above has the constants."""
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

    def is_next(b: int) -> Condition:
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
