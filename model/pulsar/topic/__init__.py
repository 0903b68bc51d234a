"""An acknowledged message: one topic, its managed ledger, the brokers that open it, and a producer.

Mirrors ManagedLedgerImpl, MetaStoreImpl, OpAddEntry, ManagedCursorImpl, PersistentTopic and MessageDeduplication of Pulsar
4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1. There is a module for each matter of these classes: ``opening.py``, ``adds.py``,
``rollover.py``, ``slow_updates.py``, ``property_updates.py``, ``fence.py``, ``producer.py``, ``deduplication.py``,
``cursors.py``, ``trimming.py``, ``renumbering.py``, ``termination.py``, ``deletion.py``.

The metadata store has one node for a topic, the list of its ledgers, which a broker writes by compare-and-set. A broker that
opens the topic recovers the last ledger, creates another one and lists it. A message passes the topic's fence and
deduplication, waits for the topic's executor, is sent to the current ledger, and is acknowledged when its entry is confirmed.
A write that fails fences the topic. Who owns the bundle is open: any broker may open the topic at any time (``protocol.py``).

Not modelled: batches, chunks, transactions, offloading, compaction, a second producer or subscription, a second opening
beside one that is under way, a slow update of the list that fails in the end or meets a termination or an unload, how long
anything is retained. docs/explanation/not-modelled.md has what no model has.

Constants
    brokers              brokers that may open the topic
    messages             messages of the producer
    ledgers              ledgers that may be created
    capacity             entries of a full ledger: managedLedgerMaxEntriesPerLedger
    openings             times that a broker opens the topic
    connections          times that the producer connects
    rolls                times that a ledger is closed for its age
    failures             times that a ledger cannot be created, or an update of the list fails with the session
    add_failures         times that an add fails or times out
    recoveries           times that somebody else recovers a ledger
    crashes              times that a broker dies
    terminations         times that the topic is terminated
    closings             times that the topic is unloaded
    trims                times that ledgers are trimmed
    deletions            times that the topic is deleted as inactive
    snapshots            snapshots of deduplication
    slow_updates         times that an update of the list outlasts twice managedLedgerMetadataOperationsTimeoutSeconds
    truncations          times that the topic is truncated
    property_updates     times that a broker is asked to set the topic's properties
    transfers            times that the extensible load manager transfers the topic
    subscription         whether there is a durable subscription
    lazy                 whether cursors are recovered after the topic is served: lazyCursorRecovery
    timeouts             whether an add may time out: managedLedgerAddEntryTimeoutSeconds
    elsewhere            whether BookKeeper's metadata come by a session of their own: bookkeeperMetadataServiceUri
    metadata_store       the metadata store. A cache of cursors can be stale in one whose notifications are not in order
                         with its answers, and one in process has one broker
    unfenced             whether a fence may not hold: an entry is confirmed past the end of its ledger
    closes_timed_out     whether an add that fails or times out closes the handle of its ledger and waits for that, as since
                         5.0.1
    gives_up             whether a broker that meets a fence fences its managed ledger if its session is lost, as since 5.0.1
    aborts_rollover      whether what waits for a rollover as the topic is terminated fails with it, as since 5.0.1
    dedup                whether there is deduplication: brokerDeduplicationEnabled

Variables of the store
    listed, version      the ledgers of the list, and the version of its node
    entries              what the list says of each ledger; 0 of its last one
    ended, final         whether the list has a terminated position, and which
    cursor               the stored mark-delete position of the subscription
    snapshot, snapshot_at
                         what was persisted at the last snapshot of deduplication, and the position of its cursor
    trimmed, discarded   which ledgers were trimmed, and whether the topic was deleted by a broker that knew its list
    former               the ledgers from before the metadata were migrated. Only with the bug ids_begin_again

Variables of each ledger (stand_ins/ledger.py)
    ledger.status        none, open, or closed; deleted, when it is
    ledger.sent, ledger.confirmed, ledger.end
                         how many entries were sent, how many are confirmed, and where it ends once it is closed
    content              the message in each of its entries

Variables of each broker
    state                ManagedLedgerImpl.State: none is not loaded, opening and recovered are before the first opened
    known, known_entries, known_version
                         its copy of the list
    current, fresh       the ledger that it writes, and one that it has created and is about to list
    slow, mutex          a ledger whose update of the list is slow, and whether metadataMutex is held. Only with
                         slow_updates, the mutex also with property_updates and the bug trim_keeps_mutexes
    queue, length        the messages that have passed the fence and are not answered
    arrived, sent        how many of them the managed ledger has, and how many are sent to the current ledger
    filled               the first of them has filled its ledger, and waits for the close
    owed                 the topic waits for a write that is never answered. Only with bugs
    counted, stuck       of the client's connection: how many of the last messages in the queue came by it, and whether it
                         counts a write that is never answered. Only with bugs
    transferring         the topic is transferred. Only with transfers and a bug
    asked                an update of properties waits for metadataMutex, or is never answered. Only with property_updates
    late                 the answer of an add that timed out is yet to come. Only with the bug fenced_reopened
    topic                PersistentTopic: serving, fenced or closing
    pushed, persisted    how many messages deduplication takes for pushed and for persisted
    deleting             the trimmed ledgers that it has still to delete
    has_cursor, mark     whether it knows of the subscription, and the subscription's position in its memory
    trim_mark            with the bug trim_mark_in_memory: a position in its memory that trimming takes for stored

Variables of the clients
    connected, link      where the producer is; attached, about to be disconnected, or removed
    next_out, acked      the next message of its stream, and how many are acknowledged
    consumed             the position that the consumer has acknowledged

Variables that count
    openings, connections, rolls, failures, add_failures, recoveries
                         how often each event has happened, up to the constant of that name
    crashes, terminations, closings, trims, deletions, snapshots, slow_updates, truncations, transfers
                         likewise
    property_updates     likewise
    migrations           likewise, only with the bug ids_begin_again

Actions
    open                 broker: reads the list
    recover_last, drop_missing, find_empty
                         broker: recovers the last ledger; or there is none
    create_ledger        broker: creates a ledger, at the opening and at a rollover
    list_first           broker: lists the first ledger of its own, reads the cursors and replays the log
    list_first_stale, list_first_unreadable, drop_unseen
                         broker, a fault: the same with a stale list of cursors, or an unreadable cursor; the last ledger is
                         not seen. Only with bugs
    connect, lose_connection, hear_error
                         producer: connects; loses the connection; closes it after an error
    publish              producer: a message arrives, and passes the fence and deduplication, or does not
    add, add_waits, add_refused
                         broker: the managed ledger sends it, keeps it for the next ledger, or refuses it
    confirm, hear_close  broker: the entry is confirmed and the message answered, the last one of a ledger after the close
    hear_close_refused   broker: the close is refused. Only with unfenced
    hear_fence, find_deleted, fail_when_fenced
                         broker: an add meets the fence: the ledger's end is looked up, unless it is deleted or the managed
                         ledger fenced
    fail_to_look_up      broker, a fault: it cannot be looked up: the managed ledger fences itself
    fail_add, time_out_add
                         broker, a fault: an add fails, or is not answered in time
    give_up              broker: an add meets the fence, and the broker's session is lost: the managed ledger fences itself.
                         Only with gives_up
    recover_elsewhere    auditor, a fault: somebody else recovers a ledger
    roll_over            broker: the current ledger is closed for its age
    creation_fails, list_fails
                         broker, a fault: no ledger is created, or its update of the list fails, done or not
    list_new             broker: the new ledger is listed and gets everything pending; or the managed ledger is fenced
    list_slowly          broker, a fault: the update of the list is sent, and the metadata store does not answer for now
    time_out_creation    broker: a write comes two minutes later: the creation is declared failed, and so is what is pending
    list_late            broker: the slow update is carried out after that, and its ledger deleted. In all releases it is
                         opened
    disconnect           broker: the producer is disconnected
    forget_producer      broker: the connection forgets the producer, later. Only with a bug
    unfence              broker: nothing is under way: the topic takes writes again
    leave_topic          broker: a topic that is being closed is gone
    take_snapshot        broker: a snapshot of deduplication
    truncate_topic       admin: the cursor of deduplication moves to the end. Only with dedup
    consume              consumer: acknowledges the next entry
    persist_position, recover_cursor
                         broker: writes the subscription's position; reads it, with lazy
    trim, delete_ledger  broker: ledgers leave the list, and are deleted
    set_properties, write_properties
                         admin, broker: properties of the topic are to be set, and are written into the node of the list
    terminate, list_end, drop_new
                         admin, broker: the topic is terminated, and the list says where; a ledger that was being created is
                         dropped
    abort_rollover       broker: no ledger is created for a topic that was terminated meanwhile: what waits for it fails.
                         Only with aborts_rollover
    close                admin: the topic is unloaded
    transfer             broker: the topic is transferred: closed first, and its clients are disconnected later
    collect_inactive     broker: deletes the topic as inactive
    crash                broker, a fault: the process ends

Actions that only bugs have
    create_another, list_early
                         another ledger is created beside one that has just been; a ledger is listed that is yet to be
                         created
    fail_to_look_up_late
                         an add that timed out meets a fence as the next ledger is being listed, and the end of its ledger
                         cannot be looked up
    write_early          what is pending goes to the new ledger before the list has it
    list_end_too_late    the broker's own rollover has written the list before the termination: BadVersion
    payload_fails        an interceptor fails an entry, and those behind it are written
    read_old             a reader opens a ledger that is not the last one, which recovers it
    trim_breaks_off      trimming would leave no ledger, and ends with both mutexes held
    trim_fails           the update fails with the session: the ledgers are gone from memory already
    migrate, trim_unread the metadata are copied without the counter of ledger ids; a ledger made later leaves the list, for a
                         cursor is at one with a larger id

The properties are in ``properties/topic/suite.py``, with ``conduct.py``, ``liveness.py`` beside it. ``BUGS`` has a line for
each bug and weakening, ``properties/topic/bugs.toml`` the releases that have it.
"""

from fencepost.model.pulsar.topic.protocol import RELEASES, topic

__all__ = ["RELEASES", "topic"]
