"""A durable subscription: what a consumer has acknowledged, one message at a time, and what is left of that after a restart.

Mirrors ManagedCursorImpl of managed-ledger, as read in 2.10.1, 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1, and
PersistentSubscription of the broker. What of a position and its ranges is written is in ``ranges.py``, the variables in
``cursor.py``, the steps in ``acknowledgements.py``, ``seeks.py``, ``writes.py`` and ``protocol.py``.

A cursor has a position, before which everything is acknowledged, and the acknowledged messages behind it, whose holes are
ranges. An acknowledgement changes both in memory. It is then written, with all ranges, as an entry of the cursor's ledger,
and answered when that is stored. While a read is under way, or a ledger for the cursor is created, it waits in a queue; of
a queue only the last entry is written, and all are answered. A seek is written and answered the same way, and changes the
memory when it is stored. A cursor that is closed writes the node in the metadata store instead. Whoever opens the topic
next goes by what was written last, so it is one place here.

Two ways in which an acknowledged message comes again are no bugs. With managedLedgerDefaultMarkDeleteRateLimit an
acknowledgement may be answered before it is written: a killed broker forgets it (``limited``). Of more than
managedLedgerMaxUnackedRangesToPersist ranges the others are kept in memory only (``limit``). The strict property
``answered_acks_are_kept`` shows both; ``stored_acks_are_kept`` is about what was written and is within the limit.

Not modelled: indexes of batches, transactions, consumers and what is dispatched to which of them, a write of the cursor
that fails, a ledger of the cursor that cannot be read or is full, a cursor that is closed while it writes or gets a
ledger, two owners, trimming, messages that come after a seek. An acknowledgement is one step: between its change in
memory and its write another connection may acknowledge, and here does not. An entry of the queue is written with the
position of the cursor; with its own, as in the releases, only with the bug ``queued_position_kept``. A message is
acknowledged once: ManagedCursorImpl.asyncDelete answers a second time at once where no range is left, even if the first
is not stored. What is acknowledged up to a message is not answered before it is written, and waits for a ledger, not
for a read. What a killed broker is writing is not stored.

Constants
    messages             messages of the topic, all of them stored
    capacity             entries of a ledger of the topic; a range ends with its ledger
    limit                managedLedgerMaxUnackedRangesToPersist
    node_limit           managedLedgerMaxUnackedRangesToPersistInMetadataStore: a cursor that is closed with more ranges
                         writes its ledger once more, and not the node; with a limit of 0 always the node
    long_arrays          managedLedgerPersistIndividualAckAsLongArray: a ledger of the cursor has a bit for each entry
    limited              managedLedgerDefaultMarkDeleteRateLimit: an acknowledgement may be answered before it is written
    one_above            a range above the limit is stored as well (up to 4.2.4)
    counts_own           a ledger counts against the limit of long arrays, and not only those before it; where that leaves out
                         all, ranges are written (since 5.0.1)
    sets_last            a seek is the position that was last given to be written as soon as it begins (up to 4.0.8)
    cuts_ranges          as a position is stored, the ranges before it are forgotten, also where a seek has gone back since
                         (up to 4.0.8). Without a bug there are none
    seeks                times that a client or an administrator moves the subscription
    unloads              times that the topic is unloaded
    crashes              times that the broker dies

Variables of the store
    stored_mark, stored_acked
                         the position that was written last, and the ranges with it

Variables of the broker
    state                ManagedCursorImpl.State: none is not loaded. flushing is no state there: it is the moment in which what
                         is queued is given to be written
    mark, acked          markDeletePosition, as the number of messages before it, and individualDeletedMessages
    last                 lastMarkDeleteEntry: the position that was last given to be written
    persisted            persistentMarkDeletePosition; -1 is none
    queued               pendingMarkDeleteOps: acknowledgements, a seek as the last of them, or a seek and acknowledgements
                         behind it
    writing, place, ranges
                         up to two writes under way, which are stored in order: of what, the position, and the acknowledged
                         messages with it. both is an acknowledgement whose answer is that of a seek as well
    target               where a seek that is under way goes; -1 is none

Variables of the clients
    asked, meanwhile     what was acknowledged since the last seek, or is before where it went; and while one is under way
    answered, promised   which acknowledgements were answered, and which of them as stored and within the limit, which was not
                         exceeded since

Variables that only bugs have
    in_progress          bugs with which an acknowledgement may find a later position: inProgressMarkDeletePersistPosition, the
                         latest position that is being written; -1 is none. A seek forgets it as it begins
    waits_at             queued_position_kept: the position of the last entry in the queue

Variables that count
    seeks, unloads, crashes
                         how often each event has happened, up to the constant of that name

Actions
    load                 broker: opens the topic, and recovers the cursor
    acknowledge, acknowledge_during_read
                         consumer: acknowledges a message; and as a read is under way
    acknowledge_up_to    consumer: acknowledges everything up to a message
    acknowledge_at_rest  consumer: the same of one message, which is answered before it is written. Only with limited
    flush_at_rest, flush_during_read
                         broker: the timer writes what was answered before; and as a read is under way. Only with limited
    seek, seek_during_read
                         client: moves the subscription; and as a read is under way
    create_ledger        broker: the cursor has a ledger of its own
    end_read             broker: the read is over
    flush_acks, flush_seek
                         broker: the read or the creation is over: what is queued is given to be written, before anything else
                         happens
    store                broker: the first write is stored, and answered
    unload               admin: the topic is closed, and with it the cursor
    crash                broker, a fault: the process ends

Actions that only bugs have
    skip, skip_acks      an acknowledgement, or those that wait, are answered without a write, as a later position is stored
    skip_seek            a seek, and acknowledgements behind it, are taken for an old position: answered and not written
    flush_both           a seek is answered as the acknowledgement behind it is stored

The properties are in ``properties/subscription/suite.py``. ``BUGS`` has a line for each bug,
``properties/subscription/bugs.toml`` the releases that have it.
"""

from fencepost.model.pulsar.subscription.protocol import subscription

__all__ = ["subscription"]
