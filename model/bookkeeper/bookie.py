"""One bookie and its disk: what it has answered for must be there after the process has ended, however it ended.

Mirrors BookieImpl, LedgerDescriptorImpl, Journal, SyncThread and the ledger storages of bookkeeper-server 4.17.3 and 4.18.0,
as they would be without the bugs in BUGS; which release has which of them, properties/bookie/bugs.toml says. The
protocol ``ledger`` takes for granted what is shown here: a bookie that is back has its entries, and its fences.

A request changes the memory of the storage first, where it can be read at once, and logs a record; the answer leaves when the
journal is synced past it. A checkpoint remembers how far the journal is, saves the storage's memory, and moves the log mark
there. A boot loads what is saved, replays the journal from the mark in order, and saves all that before it serves anybody. A
stop saves, and ends; a kill only ends.

Merged and bounded. Adds are those of one entry each, an add that is under way when the process ends is lost, and may be
made again. What is logged is written to the page cache as a whole, and synced as a whole. Saving is one step: a kill in the
midst of it leaves files that no index names, or an index whose entries replay adds again. Each record may be a file of the
journal of its own, so that all before the mark are deleted. What replay has read counts as synced, because it is saved before
the bookie serves. A save fails as a whole, and only while the bookie serves. Two journals stand for several.

A ledger is collected when no metadata name the bookie for it: it is deleted, or its copies are on other bookies. Auto-recovery
may bring its entries back later. Nothing that came before is owed after that, and an add that comes then is a new one.

Entry logs are modelled where something happens to them: see ``entry_logs.py``. A compaction is one step.

Not modelled: DEFERRED_SYNC, an entry log of a ledger's own, more than two journals, records of the journal that are broken.

Constants
    storage              db, sorted or interleaved (ledgerStorageClass)
    ledgers              how many there are
    entries              entries of each
    records              records that are ever logged
    recovery             whether recoveries write entries back
    explicit_lacs        times that each ledger's writer sends its last add confirmed without an entry
    reads                times that an entry is read
    directories          directories of ledgers; several with db only
    journals             journals (journalDirectories): 1, or 2 with db, one directory and two ledgers. Two stand for
                         several
    full_caches          times that a write cache is full; with db only
    failed_saves         times that a save fails, as on a full disk; with db and one directory only
    failed_index_saves   times that a save has written the entries, and then fails to write the index of ledgers; likewise
    collections          times that a ledger is collected; with no failed saves
    rotations, collector_looks, compactions, rebuilds
                         times that an entry log is full; that the collector deletes one; that one is compacted; that the index
                         of entries is rebuilt. With db, one directory and no failed saves only
    kills                times that the process is killed
    power_losses         times that the page cache is lost too
    stops                times that the bookie is stopped cleanly
    journal_sync_data    an answer waits until the journal is on the disk (journalSyncData)
    journal_write_data   entries go to the journal at all (journalWriteData)

Variables
    stage                the process: up, stopping, down, or replayed, which is before it serves
    stored, fenced, explicit_lac
                         what the storage has of each ledger, in memory and on the disk
    key_logged           whether the process has logged the ledger's master key, or met it in replay
    dirty                whether a directory has something written: the write cache is not empty, or somethingWritten
    paged                whether a ledger has an index page in memory. With sorted and interleaved only
    record, logged, written, synced
                         the journal: records by place, and up to where they are logged, in the page cache, on the disk
    mark, compacted      the log mark on the disk, and up to where files of the journal are deleted
    saved, saved_key, saved_fence, saved_lac
                         what the storage has on the disk
    checkpoint, taken    how far each checkpoint is, and where in the journal it was taken. With two journals it has begun
                         until it has read how far the second is
    latest               how far the journals were at the last save. With the bug checkpoints_compared_by_first_journal only
    added, recovered     what became of each add of the writer and of recovery
    fence_told, denied   whether a fencing read was answered, and of which entries with NoSuchEntry
    lac_asked, lac_told  whether an explicit last add confirmed awaits its answer; the highest that was acknowledged
    shown                what readers were given
    left, spare          the entries that a failed save has left in the cache being flushed and nothing else has saved, and
                         whether it has any. With the bug failed_save_forgotten only
    unqueued             whether the index will not write what it has of a ledger. With the bug index_update_forgotten only
    owed_from            where in the journal the records begin that a ledger is owed for: those since it was collected
    cached               what the write cache has of each ledger. This and the next with entry logs only
    copies               the entries of each ledger in the file of each entry log
    mapped, deleted      whether a log has a map of its ledgers, and whether its file is deleted
    current              the log that is written
    undeleted            whether a collected ledger is still on the disk: the next save deletes it there. With db only
    checked              whether an add has found no fence. With the bug fence_checked_apart only

Variables that count
    reads, full_caches, failed_saves, failed_index_saves, kills, power_losses, stops
                         how often each event has happened, up to the constant of that name
    collections, rotations, collector_looks, compactions, rebuilds
                         likewise

Actions
    add                  writer: an entry goes to memory, and is logged
    refuse               writer: the ledger is fenced: LedgerFenced
    check_fence          writer: an add finds no fence and goes in later. With the bug fence_checked_apart only
    recovery_add         recovery: an entry is written back, whether or not the ledger is fenced
    acknowledge, acknowledge_recovery
                         journal: the journal has the entry: an answer leaves
    fence                recovery: the first fencing read: adds are refused from now on, and the fence is logged
    answer_fencing_read, deny
                         recovery: a fencing read is answered, with an entry or with NoSuchEntry, once the fence is in the
                         journal
    read                 reader: a reader is given an entry
    set_explicit_lac, acknowledge_explicit_lac
                         writer, journal: the last add confirmed is sent alone, kept and logged; and answered
    write_journal, sync_journal
                         journal: what is logged goes to the page cache; what is there goes to the disk
    take_checkpoint, fill_cache
                         flusher: a checkpoint begins: from time to time, or because a write cache is full
    read_second_journal  flusher: with two journals: it reads how far the second is, some time after the first
    save, save_mark      flusher: the memory is saved; the log mark moves
    fail_to_save         flusher, a fault: writing what is in memory fails: the checkpoint ends, and the log mark stays
    fail_to_save_index   flusher, a fault: the entries are written, and what the index has of a ledger is not: likewise
    collect              bookie: a ledger is collected: it is forgotten, with all that is owed of it
    rotate               flusher: the current entry log is full, and gets a map of its ledgers; the next one begins
    collect_log          collector: deletes an entry log of which the bookie knows no ledger
    compact              collector: copies what an entry log has of known ledgers to the current one, and deletes it
    rebuild_index        operator: has the index of entries made again of the logs, while the bookie is down
    stop, end            bookie: the bookie saves all; its process ends
    replay, serve        bookie: a boot rebuilds the memory; it is saved, and the bookie serves
    kill, lose_power     bookie, a fault: the process ends; the page cache too

The properties are in ``properties/bookie/suite.py``, with ``conduct.py``, ``liveness.py`` beside it; the proof in
``properties/bookie/invariant.py``. ``BUGS`` has a line for each bug and weakening, ``properties/bookie/bugs.toml`` the
releases that have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fencepost.model.bookkeeper.bookie_bugs import BUGS, STORAGES
from fencepost.model.bookkeeper.bookie_variables import ADDS, CHECKPOINTS, STAGES
from fencepost.model.bookkeeper.checkpoints import SYNC, checkpoints, positions_taken
from fencepost.model.bookkeeper.collecting import declare_collections
from fencepost.model.bookkeeper.entry_logs import EntryLogs, are_modelled, declare_logs, declare_steps_of_logs
from fencepost.model.bookkeeper.journal import Journal, Replay, Saved
from fencepost.model.language import (
    ABSENT,
    And,
    Condition,
    Family,
    If,
    ModelError,
    Not,
    Number,
    Or,
    Outcome,
    Protocol,
    Subset,
    Updates,
    any_of,
    maximum,
    minimum,
)


def bookie(
    *,
    storage: str = "db",
    ledgers: int = 1,
    entries: int = 2,
    records: int = 6,
    recovery: bool = True,
    explicit_lacs: int = 0,
    reads: int = 0,
    directories: int = 1,
    journals: int = 1,
    full_caches: int = 0,
    failed_saves: int = 0,
    failed_index_saves: int = 0,
    collections: int = 0,
    rotations: int = 0,
    collector_looks: int = 0,
    compactions: int = 0,
    rebuilds: int = 0,
    kills: int = 0,
    power_losses: int = 0,
    stops: int = 0,
    journal_sync_data: bool = True,
    journal_write_data: bool = True,
    bugs: Iterable[str] = (),
) -> Protocol:
    """One bookie on its storage; the page above has the constants."""
    if storage not in STORAGES:
        raise ModelError(f"bookie: storage is {', '.join(STORAGES[:-1])} or {STORAGES[-1]}, not {storage!r}")
    if min(ledgers, entries, records, directories) < 1:
        raise ModelError("bookie: ledgers, entries, records and directories are at least 1")
    if storage != "db" and (directories > 1 or full_caches):
        raise ModelError(f"bookie: with storage {storage} there is one directory and no full write cache")
    if (failed_saves or failed_index_saves) and (storage != "db" or directories > 1):
        raise ModelError("bookie: saves fail with storage db and one directory only: set failed_saves=0 failed_index_saves=0")
    if (rotations or collector_looks or compactions or rebuilds) and (
        storage != "db" or directories > 1 or failed_saves or failed_index_saves
    ):
        raise ModelError("bookie: entry logs go with storage db, one directory and no failed saves only")
    if collections and (failed_saves or failed_index_saves):
        raise ModelError("bookie: collections go with no failed saves: set failed_saves and failed_index_saves to 0")
    if journals not in (1, 2) or (journals == 2 and (storage != "db" or directories > 1 or ledgers < 2)):
        raise ModelError("bookie: journals is 1, or 2 with storage db, one directory and at least 2 ledgers")
    parameters = {name: value for name, value in locals().items() if name != "bugs"}
    p = Protocol("bookie", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)
    on_db = storage == "db"

    ledger = p.universe("ledger", ledgers)
    entry = p.universe("entry", entries)
    p.universe("place", records)
    directory = p.universe("directory", directories)
    # Who checkpoints: SyncThread, and with a DbLedgerStorage each directory whose write cache is full.
    flushers = ("sync", *(f"cache{d}" for d in directory if full_caches))
    flusher = p.universe("flusher", len(flushers), names=flushers)

    # The process, and what the storage has in memory.
    stage = p.choice("stage", STAGES)
    stored = p.subset("stored", entry, per=ledger)
    fenced = p.flag("fenced", per=ledger)
    explicit_lac = p.number("explicit_lac", 0, explicit_lacs, per=ledger)
    key_logged = p.flag("key_logged", per=ledger)
    dirty = p.flag("dirty", per=directory)
    if not on_db:
        paged = p.flag("paged", per=ledger)
    forgets_saves = on_db and p.has("failed_save_forgotten")
    left: Family[Subset] = p.subset("left", entry, per=ledger) if forgets_saves else ABSENT
    spare: Family[Condition] = p.flag("spare", per=directory) if forgets_saves else ABSENT

    forgets_updates = p.has("index_update_forgotten") and failed_index_saves > 0
    unqueued: Family[Condition] = p.flag("unqueued", per=ledger) if forgets_updates else ABSENT

    owed_from: Family[Number] = p.number("owed_from", 0, records, per=ledger) if collections else ABSENT
    undeleted: Family[Condition] = p.flag("undeleted", per=ledger) if collections and on_db else ABSENT

    with_logs = are_modelled(p.parameters)
    if with_logs:
        declare_logs(p)
        cached = p.state.cached

    # The disk.
    journal = Journal.declare(p)
    saved = Saved.declare(p)
    replay_of = Replay(journal, saved, journal.mark)

    # The checkpoints that are under way.
    checkpoint = p.choice("checkpoint", (*CHECKPOINTS, "begun") if journals > 1 else CHECKPOINTS, per=flusher)
    per_journal = (p.universes["journal"],) if journals > 1 else ()
    taken = p.number("taken", 0, records, per=(flusher, *per_journal))
    if p.has("checkpoints_compared_by_first_journal") and journals > 1:
        p.number("latest", 0, records, per=per_journal)

    # What clients were told.
    added = p.choice("added", ADDS, per=(ledger, entry))
    recovered = p.choice("recovered", ADDS[:3], per=(ledger, entry))
    fence_told = p.flag("fence_told", per=ledger)
    denied = p.subset("denied", entry, per=ledger)
    lac_asked = p.flag("lac_asked", per=ledger)
    lac_told = p.number("lac_told", 0, explicit_lacs, per=ledger)
    shown = p.subset("shown", entry, per=ledger)
    checked: Family[Condition] = p.flag("checked", per=(ledger, entry)) if p.has("fence_checked_apart") else ABSENT

    p.budget("reads", reads)
    p.budget("full_caches", full_caches)
    p.budget("failed_saves", failed_saves)
    p.budget("failed_index_saves", failed_index_saves)
    p.budget("collections", collections)
    p.budget("rotations", rotations)
    p.budget("collector_looks", collector_looks)
    p.budget("compactions", compactions)
    p.budget("rebuilds", rebuilds)
    p.budget("kills", kills)
    p.budget("power_losses", power_losses)
    p.budget("stops", stops)

    up = stage == "up"

    def safe(of: int) -> Number:
        """What lies before this is answered."""
        return (journal.synced if journal_sync_data else journal.written)[journal.of(of)]

    def taken_at(f: int, positions: Iterable[Number | int]) -> Updates:
        """A checkpoint has these positions of the journals."""
        return dict(zip(positions_taken(p, f), positions, strict=True))

    def key_if_new(of: int) -> tuple[str, Condition]:
        """The record of the master key, unless the process has logged it, or met it in replay (BookieImpl.masterKeyCache)."""
        return "key", Not(key_logged[of])

    # --- adds

    @p.rule
    def may_add(of: int, e: int) -> Condition:
        """The writer's add is let in: the ledger is not fenced. Test and add are one, under the monitor of the descriptor."""
        return Not(fenced[of])

    @p.rule
    def key_and_entry(of: int, kind: str) -> Updates:
        """The records of an add: the master key if the process has not logged it yet, then the entry."""
        return journal.logs(of, key_if_new(of), kind)

    may_add.instead("fence_checked_apart", lambda of, e: checked[of, e])
    key_and_entry.instead("key_record_after_entry", lambda of, kind: journal.logs(of, kind, key_if_new(of)))

    @p.rule
    def is_known(of: int) -> Condition:
        """The storage has the ledger's master key, in memory at least."""
        return Or(key_logged[of], Not(stored[of].is_empty), fenced[of], explicit_lac[of] > 0)

    @p.rule
    def comes_back(of: int) -> Condition | bool:
        """What is saved of a collected ledger is found again with the next request for it."""
        return False

    is_known.instead("key_of_collected_ledger_kept", lambda of: Or(Not(stored[of].is_empty), fenced[of], explicit_lac[of] > 0))
    if undeleted is not None:
        comes_back.instead("returned_entries_deleted", lambda of: And(undeleted[of], Not(is_known(of))))

    def found(of: int) -> Updates:
        """A request with the master key lets a ledger be found again whose entries are saved, and its key is not."""
        if not (failed_index_saves or (collections and p.has("returned_entries_deleted"))):
            return {}
        lost = And(failed_index_saves > 0, Not(Or(key_logged[of], saved.key[of])))
        return {stored[of]: If(Or(lost, comes_back(of)), stored[of] | saved.entries[of], stored[of])}

    def updated(of: int) -> Updates:
        """A new update of what the index has of the ledger is queued; it has all that went before."""
        return {**found(of), **({} if unqueued is None else {unqueued[of]: False})}

    def takes(of: int, e: int, kind: str) -> Updates:
        """The entry is in the storage's memory, readable at once, and its records are logged."""
        logged = key_and_entry(of, kind) if journal_write_data else journal.logs(of, key_if_new(of))
        pages = {} if on_db else {paged[of]: True}
        known = found(of).get(stored[of], stored[of])
        cache = {cached[of]: cached[of].plus(e)} if with_logs else {}
        return {stored[of]: known.plus(e), key_logged[of]: True, dirty[of % directories]: True, **logged, **pages, **cache}

    accepted = "accepted" if journal_write_data else "acknowledged"

    @p.step(by="writer", of=ledger, e=entry, only_if=p.has("fence_checked_apart"))
    def check_fence(of: int, e: int) -> Outcome:
        """The writer's add finds that the ledger is not fenced, by a descriptor that is not the one that a fence uses."""
        return And(up, Not(fenced[of]), added[of, e] == "none"), {checked[of, e]: True}

    @p.step(by="writer", mirrors="BookieImpl.addEntry, BookieImpl.addEntryInternal, Journal.logAddEntry", of=ledger, e=entry)
    def add(of: int, e: int) -> Outcome:
        """The writer adds an entry: it goes to the storage's memory, and is logged."""
        return And(up, may_add(of, e), added[of, e] == "none", journal.has_room(2)), {
            added[of, e]: accepted,
            **takes(of, e, f"e{e}"),
        }

    @p.step(by="writer", mirrors="BookieImpl.addEntry, LedgerDescriptorImpl.isFenced", of=ledger, e=entry)
    def refuse(of: int, e: int) -> Outcome:
        """The writer adds an entry, and the ledger is fenced: LedgerFenced."""
        return And(up, fenced[of], added[of, e] == "none"), {added[of, e]: "refused"}

    @p.step(
        by="recovery", mirrors="BookieImpl.recoveryAddEntry, BookieImpl.addEntryInternal", of=ledger, e=entry, only_if=recovery
    )
    def recovery_add(of: int, e: int) -> Outcome:
        """A recovery writes an entry back: the fence is not asked."""
        return And(up, recovered[of, e] == "none", journal.has_room(2)), {
            recovered[of, e]: accepted,
            **takes(of, e, f"r{e}"),
        }

    @p.step(
        by="journal",
        to="writer",
        mirrors="WriteEntryProcessor.writeComplete",
        fair=True,
        of=ledger,
        e=entry,
        only_if=journal_write_data,
    )
    def acknowledge(of: int, e: int) -> Outcome:
        """The journal has the entry: the writer is told."""
        return And(up, added[of, e] == "accepted", Not(journal.is_past(safe(of), of, f"e{e}"))), {added[of, e]: "acknowledged"}

    @p.step(
        by="journal",
        to="recovery",
        mirrors="WriteEntryProcessor.writeComplete",
        fair=True,
        of=ledger,
        e=entry,
        only_if=recovery and journal_write_data,
    )
    def acknowledge_recovery(of: int, e: int) -> Outcome:
        """The journal has the entry: the recovery is told."""
        done = Not(journal.is_past(safe(of), of, f"r{e}"))
        return And(up, recovered[of, e] == "accepted", done), {recovered[of, e]: "acknowledged"}

    # --- fences and reads

    @p.rule
    def fence_records(of: int) -> Updates:
        """The records of a fence: the master key if the process has not logged it yet, without which replay skips the fence."""
        return {key_logged[of]: True, **journal.logs(of, key_if_new(of), "fence")}

    @p.rule
    def may_confirm(of: int) -> Condition:
        """A fencing read may be answered with an entry: the journal has the fence."""
        return Not(journal.is_past(safe(of), of, "fence"))

    @p.rule
    def may_deny(of: int) -> Condition:
        """A fencing read may be answered with NoSuchEntry or NoSuchLedger: the journal has the fence."""
        return Not(journal.is_past(safe(of), of, "fence"))

    @p.rule
    def lacks(of: int, e: int) -> Condition:
        """The bookie finds that it does not have the entry."""
        return Not(stored[of].has(e))

    fence_records.instead("master_key_with_entries_only", lambda of: journal.logs(of, "fence"))
    fence_records.instead("fence_not_journaled", lambda of: {})
    may_confirm.instead("second_fence_not_awaited", lambda of: True)
    may_deny.instead("denies_before_fence_is_journaled", lambda of: True)
    lacks.instead("denies_what_it_has", lambda of, e: True)

    @p.step(by="recovery", mirrors="BookieImpl.fenceLedger, LedgerDescriptorImpl.fenceAndLogInJournal", of=ledger)
    def fence(of: int) -> Outcome:
        """A fencing read arrives: from now on the writer's adds are refused, and the fence is logged."""
        return And(up, Not(fenced[of]), journal.has_room(2)), {**updated(of), fenced[of]: True, **fence_records(of)}

    @p.step(by="recovery", mirrors="ReadEntryProcessorV3.getReadResponse, ReadEntryProcessor.processPacket", of=ledger)
    def answer_fencing_read(of: int) -> Outcome:
        """A fencing read is answered with what the bookie has."""
        return And(up, fenced[of], may_confirm(of), Not(stored[of].is_empty), Not(fence_told[of])), {fence_told[of]: True}

    @p.step(by="recovery", mirrors="ReadEntryProcessorV3.getReadResponse, ReadEntryProcessor.processPacket", of=ledger, e=entry)
    def deny(of: int, e: int) -> Outcome:
        """A fencing read is answered with NoSuchEntry, or NoSuchLedger: the bookie does not have the entry, nor ever will."""
        return And(up, fenced[of], may_deny(of), lacks(of, e), Not(denied[of].has(e))), {
            denied[of]: denied[of].plus(e),
            fence_told[of]: True,
        }

    @p.step(by="reader", spends="reads", mirrors="BookieImpl.readEntry", of=ledger, e=entry)
    def read(of: int, e: int) -> Outcome:
        """A reader is given an entry, which the journal may not have yet."""
        return And(up, stored[of].has(e), Not(shown[of].has(e))), {shown[of]: shown[of].plus(e)}

    # --- the explicit last add confirmed

    @p.rule
    def lac_records(of: int, lac: int) -> Updates:
        """The records of an explicit last add confirmed: like those of a fence."""
        return {key_logged[of]: True, **journal.logs(of, key_if_new(of), f"lac{lac}")}

    lac_records.instead("master_key_with_entries_only", lambda of, lac: journal.logs(of, f"lac{lac}"))
    lac_records.instead("explicit_lac_in_memory", lambda of, lac: {})

    @p.step(by="writer", mirrors="BookieImpl.setExplicitLac", of=ledger, lac=range(1, explicit_lacs + 1))
    def set_explicit_lac(of: int, lac: int) -> Outcome:
        """The writer sends its last add confirmed without an entry: it goes to the storage's memory, and is logged."""
        return And(up, explicit_lac[of] == lac - 1, journal.has_room(2)), {
            **updated(of),
            explicit_lac[of]: lac,
            lac_asked[of]: True,
            **lac_records(of, lac),
        }

    @p.step(
        by="journal",
        to="writer",
        mirrors="WriteLacProcessorV3.getWriteLacResponse",
        fair=True,
        of=ledger,
        only_if=explicit_lacs,
    )
    def acknowledge_explicit_lac(of: int) -> Outcome:
        """The journal has the explicit last add confirmed: the writer is told."""
        done = Not(journal.is_past(safe(of), of, *(f"lac{n}" for n in range(1, explicit_lacs + 1))))
        value = maximum(lac_told[of], explicit_lac[of])
        return And(up, lac_asked[of], done), {lac_told[of]: value, lac_asked[of]: False}

    # --- the journal

    runs = stage.among("up", "stopping")

    which: dict[str, Any] = {"j": p.universes["journal"]} if journals > 1 else {}

    @p.step(by="journal", mirrors="Journal.run", fair=True, **which)
    def write_journal(j: int = 0) -> Outcome:
        """What is logged is written to the file: a kill does not lose it any more."""
        return And(runs, journal.written[j] < journal.end(j)), {journal.written[j]: journal.end(j)}

    @p.step(by="journal", mirrors="Journal.ForceWriteThread.syncJournal", fair=True, **which)
    def sync_journal(j: int = 0) -> Outcome:
        """What is written is forced to the disk: nothing loses it any more, and checkpoints may go that far."""
        return And(runs, journal.synced[j] < journal.written[j]), {journal.synced[j]: journal.written[j]}

    if collections:
        declare_collections(p, journal, saved)

    # --- checkpoints, and the process

    mark_after, saved_at_the_end = checkpoints(p, journal, saved, is_known)
    if with_logs:
        declare_steps_of_logs(p, saved, is_known)

    def forgotten(ends: Sequence[Number]) -> Updates:
        """The process has ended: its memory is gone, what it had accepted is not answered, and each journal has an end."""
        updates: Updates = {stage: "down", **journal.cut_at(ends)}
        for of in ledger:
            updates |= {stored[of]: (), fenced[of]: False, explicit_lac[of]: 0, key_logged[of]: False}
            for e in entry:
                updates |= {x[of, e]: If(x[of, e] == "accepted", "none", x[of, e]) for x in (added, recovered)}
        declared = (spare, unqueued, undeleted, checked, None if on_db else paged)
        gone = [*dirty, *lac_asked, *(flag for family in declared if family is not None for flag in family)]
        numbers = [*taken, *(p.state.latest if journals > 1 and p.has("checkpoints_compared_by_first_journal") else ())]
        idle = {checkpoint[f]: "none" for f in flusher} | dict.fromkeys(numbers, 0)
        if owed_from is not None:
            updates |= {owed_from[of]: minimum(owed_from[of], maximum(*ends)) for of in ledger}
        caches = [*(() if left is None else left), *(cached if with_logs else ())]
        return updates | dict.fromkeys(gone, False) | dict.fromkeys(caches, ()) | idle

    @p.step(by="bookie", spends="stops", mirrors="BookieImpl.shutdown, SyncThread.shutdown")
    def stop() -> Outcome:
        """The bookie is stopped cleanly: it takes no more requests, and saves all that it has."""
        return And(up, checkpoint[SYNC] == "none"), {
            stage: "stopping",
            checkpoint[SYNC]: "taken",
            **taken_at(SYNC, journal.synced),
        }

    flushed_again = on_db and directories == 1

    @p.step(
        by="bookie",
        mirrors="SyncThread.flush, Journal.shutdown" + (", SingleDirectoryDbLedgerStorage.shutdown" if on_db else ""),
        fair=True,
        only_if=stops,
    )
    def end() -> Outcome:
        """A stop has saved everything: the log mark moves, and the process ends.

        A DbLedgerStorage with one directory is flushed once more as it shuts down: the mark moves to what is synced by then.
        """
        return And(stage == "stopping", checkpoint[SYNC] == "saved"), {
            **saved_at_the_end(),
            **forgotten(journal.written),
            **dict(zip(journal.mark, journal.synced if flushed_again else mark_after(SYNC), strict=True)),
        }

    @p.fault(by="bookie", spends="kills")
    def kill() -> Outcome:
        """The process is killed: what is in the page cache stays."""
        return stage != "down", forgotten(journal.written)

    @p.fault(by="bookie", spends="power_losses")
    def lose_power() -> Outcome:
        """The machine is gone: what is not synced is lost."""
        return stage != "down", forgotten(journal.synced)

    @p.step(
        by="bookie",
        mirrors="BookieImpl.start, BookieImpl.readJournal, Journal.scanJournal",
        fair=True,
        only_if=kills or power_losses or stops,
    )
    def replay() -> Outcome:
        """The bookie starts: it loads what is saved, and replays the journal from the log mark, if the files are all there."""
        ends = [journal.end(j) for j in range(journals)]
        updates: Updates = {stage: "replayed", **dict(zip(journal.synced, ends, strict=True))}
        for of in ledger:
            updates |= {
                stored[of]: replay_of.stored(of),
                fenced[of]: replay_of.fence(of),
                explicit_lac[of]: replay_of.explicit_lac(of),
                key_logged[of]: replay_of.key(of),
            }
            if not on_db:
                updates[paged[of]] = replay_of.adds(of)
            if with_logs:
                updates[cached[of]] = replay_of.added(of)
        for d in directory:
            updates[dirty[d]] = any_of(replay_of.adds(of) for of in ledger if of % directories == d)
        has_a_log = EntryLogs(p).may_begin_again() if with_logs else True
        return And(stage == "down", journal.reaches_mark(), has_a_log), {
            **updates,
            **(EntryLogs(p).begins_again() if with_logs else {}),
            checkpoint[SYNC]: "taken",
            **taken_at(SYNC, ends),
        }

    @p.step(
        by="bookie",
        mirrors="BookieImpl.start, SyncThread.requestFlush, SyncThread.flush",
        fair=True,
        only_if=kills or power_losses or stops,
    )
    def serve() -> Outcome:
        """What was replayed is saved: the log mark moves to the journal's end, and the bookie takes requests."""
        return And(stage == "replayed", checkpoint[SYNC] == "saved"), {
            stage: "up",
            checkpoint[SYNC]: "none",
            **taken_at(SYNC, [0] * journals),
            **dict(zip(journal.mark, mark_after(SYNC), strict=True)),
        }

    return p
