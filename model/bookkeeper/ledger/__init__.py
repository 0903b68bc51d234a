"""The life of one BookKeeper ledger: written, handed from bookie to bookie, fenced, recovered, closed.

``protocol.py`` says how the network is modelled, and each party has its steps in a module.

Mirrors LedgerHandle, PendingAddOp, LedgerRecoveryOp, ReadLastConfirmedOp, ReadOnlyLedgerHandle and MetadataUpdateLoop at the
client, BookieImpl, LedgerDescriptorImpl and ReadEntryProcessor at the bookie (bookkeeper-server 4.17.3 and 4.18.0).

Not modelled: batches of recovery reads; deferred sync and journals that do not sync; delayEnsembleChange; placement, so any
bookie may replace another; re-replication (the protocol ``replication``); the disk below an entry (the protocol ``bookie``);
deletion of a ledger that is not closed. docs/explanation/deviations.md says of each what that leaves out.

Constants
    bookies              all bookies, in the ensemble or beside it
    ensemble, write_quorum, ack_quorum
                         as in BookKeeper: ack quorum <= write quorum <= ensemble <= bookies
    entries              adds that the application makes, at most
    recoverers           runs of recovery
    readers              readers that follow the tail
    changes              changes of ensemble, by the writer and by recoveries together
    crashes              times that a bookie stops and later comes back with its data
    losses               disks that are lost: the bookie does not start again, or with data_integrity it is back with an
                         empty one
    unclean_shutdowns    times that a bookie without a journal is killed, and comes back with the last of its entries lost;
                         with data_integrity only
    rots                 copies that go bad on disk
    explicit_lacs        LACs that the writer sends without an entry
    deletions            deletions of the ledger: 0 or 1
    failed_saves         flushes of a bookie's storage that fail, as on a full disk; with storage=db only
    storage              what bookies store in: db, sorted or interleaved, for DbLedgerStorage and so on. Only some bugs
                         depend on it
    data_integrity       dataIntegrityChecking with dataIntegrityStampMissingCookies: a bookie that may have lost entries is
                         back fenced and in limbo (BookKeeper 4.15.0 and later, storage=db)

Variables of the metadata store
    status               open, in_recovery, closed or deleted
    version              rises with every update
    last, length         of a closed ledger: its last entry, -1 if it is empty, and its length in entries
    published_fragments, published_first, published_ensemble
                         the ensembles: how many, the first entry of each, its bookies

Variables of a bookie
    up                   it runs
    stored, rotten       the entries on its disk, and those whose digest does not match
    bookie_lac           the last add confirmed (LAC) that its last entry carried
    explicit_lac         the highest LAC that came without an entry
    fenced               it refuses the writer's adds
    limbo                it cannot know what an unclean stop has lost
    gone                 its disk is lost, and it does not start again

Variables of the writer
    writer               writing, changing (it has asked for another ensemble), changed (the store has done it), closed, failed
    sent, lac            the last entry that it has sent, and the last that is confirmed
    confirmed            the entries that are confirmed to the application
    piggybacked_lac      the LAC that an entry carries
    sent_to, taken_by_bookie, acked
                         for each bookie the adds that were sent, taken, and acknowledged as far as that still counts
    writer_fragments, writer_first, writer_ensemble
                         its copy of the ensembles

Variables of a recovery
    phase                idle, fencing, reading, adding (it stores again what it has read), done
    recovery_lac         up to here it knows the entries to be in the ledger; it reads the next one
    coverage             the bookies whose LAC it has heard, which are fenced
    no_such_entry        the bookies that have denied the entry
    recovery_acked       the bookies that have stored it again
    found, spoiled       the entries that it has found; the payload that it holds has a wrong digest
    new_fragments, new_first, new_ensemble
                         the ensembles that it will publish when it closes
    for_recovery_fragments, for_recovery_first, for_recovery_ensemble
                         the last ensemble when it began, from which it reads

Variable of a reader
    read_to              the last entry that it has read

Variables that only bugs have
    fence_record         what the disk has of a fence: a record that a boot replays; in the ledger index; or lost
    checked, loaded      the adds that have found no fence; whether the bookie has had a request for the ledger since it
                         started
    left, mark_passed_left, on_disk
                         the entries that a failed flush has not saved; whether the log mark has passed them; what a boot
                         has saved
    cached, last_lac     the entries in a bookie's write cache, and the last add confirmed of its last entry
    unset_to, calls_back how far the writer's loop over its pending adds is, and whether it is at one that confirms others
    recovery_length      the length with which a recovery would close

Variables that count
    changes, crashes, losses, unclean_shutdowns, rots, explicit_lacs, deletions, failed_saves
                         how often each event has happened, up to the constant of that name

Actions of the writer (writer.py) and of the store
    send                 an entry goes to its write set
    ack                  hears that a bookie has stored it
    confirm              the next entry has an ack quorum
    replace              asks the store for an ensemble with another bookie in the place of one
    publish_change       the store does that, unless somebody has closed or is recovering the ledger
    resend               hears of it, forgets who has left, and sends what is pending to who has joined
    close, find_closed   closes at its LAC; finds the ledger closed
    send_explicit_lac    tells a bookie its LAC without an entry
    delete               the store deletes a closed ledger

Actions of a bookie (bookie.py)
    add                  stores an add of the writer unless it is fenced
    late_recovery_add    stores an add of a recovery that does not hear of it
    collect              drops the entries of a deleted ledger
    crash, restart       faults: stops; comes back with its data
    lose_disk            a fault: is gone or, with data_integrity, back with nothing and in limbo
    unclean_shutdown     a fault: is back in limbo without its last entries
    rot                  a fault: a copy goes bad
    fail_to_save         a fault: a flush fails, and leaves its entries in memory and in the journal

Actions of a recovery (recovery.py)
    recover              marks the ledger as in recovery and copies its metadata
    read_lac             a bookie fences, and its LAC is heard
    fence_unheard        a bookie fences, and its answer is not heard
    start_reading        the bookies that have answered meet every ack quorum
    read_found           a bookie has the entry
    read_no_such_entry   a bookie denies it: with write_quorum - ack_quorum + 1 of these the ledger ends before it
    recovery_add         a bookie stores the entry again
    recovery_add_complete
                         an ack quorum has stored it again
    replace_in_recovery  replaces a bookie in the ensembles that it will publish
    close_recovered      closes at its LAC with these ensembles, if the ledger is still in recovery
    adopt_end            finds the ledger closed

Action of a reader (reader.py)
    read_tail            reads up to the LAC that a bookie tells

Actions that only bugs have
    idle_checkpoint, journal_fence
                         a checkpoint finds no entry to save, and the log mark passes the fence; the fence reaches the
                         journal after the denial
    check_fence          an add finds that the ledger is not fenced, and goes in later
    pass_over, empty_cache
                         a later checkpoint moves the log mark past what a failed flush left; a checkpoint saves the write
                         cache
    unset, take_ensemble the writer's loop comes to a pending add; a thread takes the ensemble for an add, and has still to
                         queue it
    find_closed_by_change
                         a refused change of ensemble finds the ledger closed
    read_unanswered      a bookie does not answer a read, and counts among those that do not have the entry

``bugs.py`` has a line for each bug and weakening, ``properties/ledger/bugs.toml`` the releases that have it. The properties
are in ``properties/ledger/suite.py`` (no_truncation: a closed ledger ends at or after every confirmed entry), the proof in
``properties/ledger/invariant``.
"""

from fencepost.model.bookkeeper.ledger.bugs import BUGS, COVERED
from fencepost.model.bookkeeper.ledger.protocol import ledger

__all__ = ["BUGS", "COVERED", "ledger"]
