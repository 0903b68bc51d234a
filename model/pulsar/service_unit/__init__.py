"""Which broker owns a service unit, as the extensible load manager decides it: by one record for each (PIP-192).

Mirrors ServiceUnitStateChannelImpl and what is around it as read in Pulsar 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1. ``protocol.py``
says which module has what, and what is free. The record of a unit is in a topic or in the metadata store; each broker has a
copy of all records, and acts on what it reads. How a cluster changes from one store to the other is the protocol
``service_unit_migration``, whose page is ``migration.py``.

Not modelled: 3.0.7, whose channel is another one; unloads by force; that the topic is not to be had while it moves; how a
leader is elected (the protocol ``election``); time, and so what a broker of 5.0.1 waits for as it shuts down
(ServiceUnitStateChannelImpl.cleanOwnerships, waitForCleanups). docs/explanation/deviations.md has more, and what each leaves
out.

Constants
    brokers              how many there are
    units                service units, which are the bundles
    store                where the records are: topic or metadata (loadManagerServiceUnitStateTableViewClassName)
    lag                  messages of the topic that a broker may not have read yet
    versions             the last version, after which they start again. versions_suffice says that none is reached. Over
                         the metadata store it may be 0, for proofs: then there are 2^62, and a run ends before they would
                         start again
    multi_phase          clients stay attached during a transfer (loadBalancerMultiPhaseBundleUnload)
    slow                 the leader may take a move for stuck that is not, and a clean-up goes on without having read
                         everything
    attempts             times that a split tries to change the layout (BUNDLE_SPLIT_RETRY_LIMIT)
    rounds               runs of the leader's monitor within which a dead broker's unit is to be served; they are not
                         counted if 0
    unloads              times that a unit is unloaded or transferred
    splits               times that u0 is to be split; with any there are two units
    conflicts            times that a split finds that the layout was changed
    timeouts             times that topics do not close in time
    burials              times that the leader deletes an old record
    compactions          times that the topic is compacted
    late_messages        times that a message is stored twice
    disconnects          times that a broker loses its connection to the metadata store
    expiries             times that the session of a live broker expires
    crashes              times that a broker dies
    shutdowns            times that a broker is shut down gracefully

Variables of sessions (zookeeper/sessions_and_nodes.py)
    lives                its process runs
    link                 its connection as it takes it: connected, suspended, or lost, when it has given its session up
    session, former_session
                         the store has its session; and one of its process before a restart

Variables of the channel
    view_state, view_dst, view_src, view_version
                         of each broker and unit: the record as the broker knows it
    record_state, record_dst, record_src, record_version, record_force
                         of each unit: over the metadata store the node; over the topic what a broker that has read
                         everything knows, without record_force
    behind               of each broker: messages that it has not read. Topic only, as all to message_gone
    message_state, message_dst, message_src, message_version, message_force, message_of
                         of each place: a message that somebody has not read, and of which unit it is
    message_counts, message_gone
                         of each place: whether a compaction would leave it, and has not left it
    unheard              of each broker and unit: the broker is about to hear that the node was written. Metadata store only
    pending              of each broker and unit: a lookup waits there
    dropped              of each broker and unit: no event ends it. Only with the bug newer_lookup_dropped
    topics               of each broker and unit: closed, open, detaching (being closed halfway, for a transfer), attached
                         (closed halfway: fenced, their clients still there), late (not closed in time, and forgotten), or
                         lingering (not closed halfway in time; still in the broker's map)
    closing              of each broker and unit: the broker closes its topics, clients and all: the unit is another's, to
                         be free, or has come back
    to_publish, to_publish_dst, to_publish_version
                         of each broker and unit: what it writes once they are closed, and to whom and after which version
    layout_split         the layout of the namespace has u1 in the place of u0. With splits only, as all to split_tries
    layout_copy          of each broker: so has the broker's copy of it
    split_stage, split_version, split_tries
                         of each broker: what a split does next at the broker (owning, changing, deleting), the version of
                         the record that asked for it, and how often the layout was changed in between
    existing             of each broker and unit: it has found itself as the target of an assignment when it started
    registry_holder, registry_former, registry_version
                         of each broker: whether the broker's node is in the registry, whether it is of a former session,
                         and its version, always 0
    leader_holder, leader_former, leader_version
                         the leader's node, likewise
    leads                of each broker: it takes itself for the leader
    metadata             of each broker: what it takes the metadata store for: stable, jittery, unstable
    cleans               of each broker and broker and unit: a clean-up at the first after the second has yet to look at the
                         unit
    stage                of each broker: runs, or how far it is with shutting down: disabled (it hands over what it owns),
                         skips (nobody led, so that it does not), unregistered. With shutdowns only, as hands_over
    hands_over           of each broker and unit: a broker that shuts down has yet to look at the unit
    found_dead           of each unit: in how many runs of the monitor on end, since the last fault, the unit was found with
                         a dead broker. With rounds only

Variables that count
    unloads, splits, conflicts, timeouts, burials, compactions, late_messages, disconnects, expiries, crashes, shutdowns
                         how often each event has happened, up to the constant of that name

Actions of sessions (zookeeper/sessions_and_nodes.py)
    disconnect, lose, reconnect, resume
                         a fault: its connection breaks; it takes its session for lost by its own clock; it is back before
                         that; after it, and the session is still there
    expire, learn_of_expiry, reestablish
                         a fault: the store drops the session of a process that lives, with its nodes; it hears so; it opens
                         a new one
    crash, restart       a fault: its process ends; it is started again, with a new session
    expire_dead, expire_former
                         the session of a process that has ended expires, with its nodes; and one from before a restart

Actions of the channel
    reestablish_unheard  broker: opens a new session, and nobody is told. Only with the bug event_lost
    read                 broker: reads the next message, or the node that was written, and acts on it
    compact              topic, a fault: of each unit the last message is left
    store_again          topic, a fault: a message is stored twice
    register             broker: enters itself in the registry
    assign               client: a unit without an owner is looked up: the broker selects one, and waits
    wait_for_owner       client: the unit is about to come, or its owner is not registered: the lookup waits
    stop_waiting         broker: a lookup has waited for 30 seconds
    open_topics          client: is served by a broker that takes itself for the owner
    detach_topics        broker: the topics are closed halfway, for a transfer: their clients stay
    close_topics         broker: the topics are closed, clients and all
    time_out_closing     broker, a fault: the topics are not closed in time: the release goes on
    close_late           broker: such topics are closed
    unload               broker: somebody wants a unit unloaded: Releasing
    transfer             broker: somebody wants it to go to another broker: Releasing, to that one
    release              broker: the topics are closed, or late: Free, or Assigning
    tombstone            broker: a unit that was taken from the broker and given to nobody is closed: a tombstone
    take_existing        broker: a broker that has started takes over what was assigned to it before
    split                broker: somebody wants u0 split: Splitting
    own_child            broker: the splitting broker writes itself down as the owner of the child, if it knows of no record
                         of it
    change_layout        broker: it changes the layout, and its topics are those of the child
    meet_conflict        broker, a fault: BadVersion: it begins again, or gives up
    delete_parent        broker: it writes that the unit is deleted
    learn_layout         broker: a broker hears that the layout was changed
    lead                 broker: becomes the leader, where there is none
    settle               broker: the last session event was three minutes ago
    schedule_clean_up    broker: the leader finds units of a broker that is not registered
    monitor              broker: the leader's monitor runs again, a minute after what the last run began is done. With
                         rounds only; without, schedule_clean_up is all of it
    override_overdue     broker: the leader overrides a unit that has been moving for too long
    tombstone_old        broker: the leader deletes an old record
    clean_up             broker: a unit of a broker that is gone is given to another one
    free_orphan          broker: it is given to nobody, as no other one is registered
    pass_over            broker: a unit is not that of the broker that is gone
    call_off_clean_up    broker: the broker is healthy, nobody leads, or who cleans up shuts down and takes every broker for
                         healthy: the clean-up ends
    shut_down            broker: somebody shuts the broker down: it is disabled. With shutdowns only, as all to end
    hand_over            broker: it sends a unit of its own to Releasing, for another broker
    give_up              broker: it gives the unit to nobody, as no other broker is registered
    hold_nothing         broker: a unit is not its own
    unregister           broker: it owns nothing, and leaves the registry and the election
    end                  broker: the process ends
    drop_newer_lookup    broker: a lookup that has ended takes the next one out of the map. Only with the bug
                         newer_lookup_dropped
    assign_late          client: the unit got an owner while a broker was selected: the record is rejected. Only with the
                         bug selected_late

The properties are in ``properties/service_unit/suite.py``, with ``conduct.py``, ``liveness.py``, ``refinement.py`` beside it;
the proof in ``properties/service_unit/invariant.py``. ``BUGS`` has a line for each bug and weakening,
``properties/service_unit/bugs.toml`` the releases that have it.
"""

from fencepost.model.pulsar.service_unit.bugs import BUGS
from fencepost.model.pulsar.service_unit.migration import service_unit_migration
from fencepost.model.pulsar.service_unit.protocol import OUTSIDE, STORES, service_unit

__all__ = ["BUGS", "OUTSIDE", "STORES", "service_unit", "service_unit_migration"]
