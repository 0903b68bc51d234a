"""Auto-recovery of one ledger: a bookie that is away is replaced, and its entries are copied.

Mirrors Auditor, ReplicationWorker, LedgerChecker, LedgerFragmentReplicator, BookKeeperAdmin, ZkLedgerUnderreplicationManager,
ScanAndCompareGarbageCollector and DataIntegrityCheckImpl of bookkeeper-server 4.17.3 and 4.18.0, without the bugs that are
switches. ``protocol.py`` says how these work together, and what is one step; ``checker.py``, ``tasks.py``, ``workers.py``,
``by_hand.py``, ``collector.py``, ``integrity.py`` and ``readers.py`` have a class or two each.

Not modelled: several fragments, lostBookieRecoveryDelay, placement, deletion of ledgers, limbo after an unclean stop.

Constants
    bookies, ensemble    bookies in the cluster, and in the ensemble, which is the write quorum
    ack_quorum           how many members the writer of an open ledger waits for
    entries              entries of the ledger
    workers, commands    workers of auto-recovery, and runs of recover
    disable              what an operator does before recover: no, nothing; switch, disable auto-recovery; wait, also wait
                         for tasks under way
    opened               whether the ledger is open at first, with a writer
    collects             whether bookies collect copies that no metadata name
    integrity            whether a bookie whose disk was replaced gets its entries back (dataIntegrityChecking)
    daily                whether the auditor looks again (auditorPeriodicBookieCheckInterval)
    weekly               whether the auditor checks every ledger (auditorPeriodicCheckInterval), where a member that is up can
                         lack an entry
    emptied              whether a bookie whose disk was lost comes back under its name with an empty disk, its cookie deleted
    crashes, losses      how often a bookie goes away, and a disk is lost
    expiries             how often the session of a worker expires
    gaps, rots           how often a bookie loses one entry, and a copy goes bad, without notice
    decommissions        how often an operator decommissions a bookie
    failed_audits        how often an audit fails
    elections            how often the auditor dies, and another one starts
    cuts                 how often a bookie is cut off, from the metadata store or from clients
    handle               whether a client has had the ledger open for reading since before anything happened

Variables
    status, confirmed    the ledger: open or closed, and its confirmed entries
    member               the list of places of its ensemble. Nothing keeps a bookie from having two
    handle               the ensemble as the client's handle has it
    cut                  whether a bookie that is up is cut off from the metadata store, or from clients
    up, gone             whether a bookie is up, and whether its disk was lost
    stored, rotten       the copies of a bookie, and those whose digest is wrong
    limbo, needs_check, cached
                         a bookie with a new disk: it denies nothing, its integrity check is not done, whom the metadata
                         named as it booted
    task, task_version, missing
                         the task, its version, the replicas that it lists
    audited              whether the auditor has looked at the present absence of a bookie
    starting             whether a new auditor has not made its first check
    lock                 who has the lock of the ledger: a worker, or a collector
    surplus              the collector has read that no metadata name its bookie
    loaded, refuses      a bookie has got a copy since it started; it has deleted the ledger after that, and refuses it
    switch               whether auto-recovery is disabled
    decommissions_wait   the bookies that decommissionbookie waits for
    phase, zombie        what a worker or a command does, and whether its session is gone without its knowledge
    seen                 the version of the task that the worker saw
    excluded, bad, moves the ensemble at the check, the bookies that are to be replaced, and by whom
    copied, known        what the new bookies have acknowledged, and what a worker took for the fragment
    crashes, losses, expiries, gaps, rots, decommissions, failed_audits, elections, cuts
                         how often each has happened

Actions
    audit                auditor: hears that a bookie has gone, and publishes the ledger if it names one that is away: once
                         for each absence
    audit_again          auditor: the daily audit
    fail_audit           auditor: an audit fails
    replace_auditor, check_at_start, skip_check_at_start
                         auditor: another one starts; its first check; a first check that ends at once
    check_all            auditor: the weekly check of every ledger
    take                 worker: takes the task: reads its version and creates the lock
    find_whole, find_bad, find_bad_again
                         worker: what a check finds, before and after the replacements
    choose               worker, command: chooses a bookie for one that is bad: up, and not in the ensemble as it was
                         checked
    copy                 worker, command: reads an entry from a member and adds it to every new bookie
    replace              worker, command: the compare-and-set, whoever has the lock
    fail                 worker, command: gives the replacement up: no bookie to choose, no answer, an entry that nobody has
    mark_replicated, give_up
                         worker: deletes task and lock, or releases the lock
    recover_after_grace  worker: has an open ledger recovered
    expire, shut_down    worker: the session expires; the daemon hears of it, and is started again
    recover              command: begins to replace a bookie
    disable, enable      operator: the switch of auto-recovery
    decommission, find_decommissioned
                         operator: waits until no metadata name the bookie
    start_empty          operator: starts a bookie with an empty disk under its old name, after its cookie was deleted
    lock_surplus, look, collect
                         bookie: the collector takes the lock, reads the metadata again, and deletes
    replace_disk, end_limbo, refill, end_check
                         bookie: boots with an empty disk, recovers what is in limbo, gets its entries back, and clears the
                         flag
    hear_of_ensemble     reader: the handle that is open hears of a new ensemble
    write, close         writer: the part that the protocol ledger refines
    lose_store, lose_clients, end_cut
                         bookie: it is cut off from the metadata store, or from clients; it is there again
    crash, restart, lose_disk, lose_entry, rot
                         bookie: faults, and the return

The properties are in ``properties/replication/suite.py``, with ``conduct.py``, ``liveness.py``, ``refinement.py`` beside it.
``BUGS`` has a line for each bug and weakening, ``properties/replication/bugs.toml`` the releases that have it.
"""

from fencepost.model.bookkeeper.replication.protocol import replication

__all__ = ["replication"]
