"""What a bookie does with the requests for one ledger, and what can happen to it.

Mirrors BookieImpl, LedgerDescriptorImpl and the read and write processors of bookkeeper-server.
"""

from __future__ import annotations

from typing import NamedTuple

from fencepost.model.bookkeeper.ledger.disk import Fences, Saves, WriteCache
from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.language import And, Condition, If, Not, Number, Or, Outcome, Protocol, Truth, Updates, at_least, maximum
from fencepost.model.language.moves import Rule


class Answers(NamedTuple):
    """How bookies treat the requests of a recovery, which are one step with the recovery's hearing of the answer."""

    fence: Rule[[int], Updates]
    """The updates: a read of the last add confirmed fences."""
    fence_by_read: Rule[[int, bool], Updates]
    """The updates: a recovery's read of an entry fences, and is answered with the entry or, if so it says, denied."""
    no_such_entry: Rule[[int, Number], Condition]
    """The formula: the bookie answers that it has no such entry."""
    fences: Fences
    """What storing an entry does for the fence."""
    saves: Saves
    """What storing an entry does for what a failed flush has left."""
    write_cache: WriteCache
    """What storing an entry does for the last add confirmed that the bookie answers with."""


def declare_bookies(p: Protocol, s: LedgerState) -> Answers:
    """Declares the steps and the faults of bookies; returns how they answer recoveries."""
    bookie, entry, stored, rotten, fenced, limbo = s.bookie, s.entry, s.stored, s.rotten, s.fenced, s.limbo
    up, taken_by_bookie, piggybacked_lac = s.up, s.taken_by_bookie, s.piggybacked_lac
    bookie_lac, explicit_lac = s.bookie_lac, s.explicit_lac
    checked = p.subset("checked", entry, per=bookie) if p.has("fence_checked_apart") else None
    fences, saves, write_cache = Fences(p, s), Saves(p, s), WriteCache(p, s)

    @p.rule
    def arrives(b: int, e: int) -> Condition:
        """The writer has sent the add to the bookie."""
        return s.sent_to[b].has(e)

    @p.rule
    def takes_add(b: int, e: int) -> Condition:
        """The ledger is not fenced at the bookie: LedgerDescriptorImpl.isFenced, under the lock that fencing takes as well."""
        return Not(fenced[b])

    takes_add.instead("ignores_fence", lambda b, e: True)
    if checked is not None:
        takes_add.instead("fence_checked_apart", lambda b, e: checked[b].has(e))

        @p.step(
            by="b",
            takes="task",
            hears="writer",
            b=bookie,
            e=entry,
            fair=True,
            mirrors="HandleFactoryImpl.getHandle, LedgerDescriptorImpl.isFenced",
        )
        def check_fence(b: int, e: int) -> Outcome:
            """An add finds that the ledger is not fenced, by a descriptor other than the one that a fence uses meanwhile."""
            comes = And(up[b], arrives(b, e), Not(taken_by_bookie[b].has(e)), Not(checked[b].has(e)), Not(s.fenced[b]))
            return comes, {checked[b]: checked[b].plus(e)}

    arrives.instead("captured_ensemble", lambda b, e: And(s.sent_to[b].has(e), e <= s.sent))

    @p.step(
        by="b",
        takes="task",
        hears="writer",
        b=bookie,
        e=entry,
        fair=True,
        mirrors="BookieImpl.addEntry, BookieImpl.addEntryInternal, LedgerDescriptorImpl.isFenced, "
        "WriteEntryProcessorV3.getAddResponse, WriteEntryProcessor.processPacket",
    )
    def add(b: int, e: int) -> Outcome:
        """The bookie stores an add of the writer, unless the ledger is fenced there.

        Nothing else keeps an add that is still under way from being acknowledged when recovery has already found the end of
        the ledger before it.
        """
        is_new = Not(And(stored[b].has(e), taken_by_bookie[b].has(e)))
        return And(up[b], arrives(b, e), is_new, takes_add(b, e)), {
            stored[b]: stored[b].plus(e),
            rotten[b]: rotten[b].minus(e),
            taken_by_bookie[b]: taken_by_bookie[b].plus(e),
            **write_cache.after_entry(b, e, piggybacked_lac[e]),
            **fences.after_entry(b),
            **saves.after_entry(b, e),
        }

    # --- what can happen to a bookie

    @p.rule
    def after_crash(b: int) -> Updates:
        """What is journaled, entries, fences and explicit last adds confirmed, survives."""
        return {}

    after_crash.instead("fence_not_durable", lambda b: {fenced[b]: False})
    after_crash.instead(
        "deleted_fence_in_memory",
        lambda b: {fenced[b]: And(fenced[b], Not(And(s.status == "deleted", stored[b].is_empty)))},
    )
    after_crash.instead("explicit_lac_lost", lambda b: {explicit_lac[b]: -1})

    def without_entries(b: int, when: Truth) -> Updates:
        return {
            stored[b]: If(when, (), stored[b]),
            rotten[b]: If(when, (), rotten[b]),
            bookie_lac[b]: If(when, -1, bookie_lac[b]),
        }

    # The first entry is journaled before the master key, and is lost as long as it is alone.
    after_crash.instead(
        "key_record_after_entry",
        lambda b: without_entries(b, Not(at_least(2, (stored[b].has(e) for e in entry)))),
    )
    after_crash.instead(
        "one_directory_marks_for_all", lambda b: {**without_entries(b, True), fenced[b]: False, explicit_lac[b]: -1}
    )

    @p.fault(by="b", takes="bookie_kills", spends="crashes", b=bookie, mirrors="BookieImpl.shutdown")
    def crash(b: int) -> Outcome:
        """The bookie stops or is killed; while it is down it does nothing."""
        forgotten = {} if checked is None else {checked[b]: ()}
        losses = {**fences.after_crash(b), **saves.after_crash(b), **forgotten, **after_crash(b)}
        return up[b], {up[b]: False, **write_cache.on_disk(b, losses)}

    @p.step(
        by="b",
        takes="restart",
        b=bookie,
        fair=True,
        only_if=p.budgets["crashes"],
        mirrors="BookieImpl.readJournal, BookieImpl.start",
    )
    def restart(b: int) -> Outcome:
        """The bookie comes back with its data, unless its disk is lost."""
        return And(Not(up[b]), Not(s.is_gone(b))), {up[b]: True, **fences.after_boot(b), **saves.after_boot(b)}

    @p.rule
    def fenced_at_boot(b: int) -> bool:
        """A bookie that may have lost fences fences its open ledgers at boot: DataIntegrityCheckImpl.runPreBootCheck."""
        return True

    @p.rule
    def limbo_at_boot(b: int) -> bool:
        """A bookie that may have lost entries puts its open ledgers into limbo: what it has not is unknown, not absent."""
        return True

    def back_with(b: int, keep: int) -> Updates:
        left = stored[b]
        for e in range(keep, s.entries):
            left = left.minus(e)
        return {
            stored[b]: left,
            rotten[b]: rotten[b] & left,
            bookie_lac[b]: maximum(-1, *(If(stored[b].has(e), piggybacked_lac[e], -1) for e in range(keep))),
            explicit_lac[b]: -1,
        }

    fenced_at_boot.instead("limbo_not_fenced", lambda b: False)
    limbo_at_boot.instead("limbo_answers_no_such_entry", lambda b: False)

    @p.fault(
        by="b",
        takes="bookie_kills",
        spends="unclean_shutdowns",
        b=bookie,
        keep=p.upto(s.entries),
        mirrors="UncleanShutdownDetectionImpl.lastShutdownWasUnclean, DataIntegrityCheckImpl.runPreBootCheck, "
        "SingleDirectoryDbLedgerStorage.setLimboState",
    )
    def unclean_shutdown(b: int, keep: int) -> Outcome:
        """A bookie that writes no journal is killed, and back with its entries below ``keep``.

        It may have lost entries and fences, so its open ledgers are fenced, and in limbo.
        """
        boot = {fenced[b]: fenced_at_boot(b), limbo[b]: limbo_at_boot(b)}
        return up[b], {**write_cache.on_disk(b, back_with(b, keep)), **boot, **saves.after_loss(b)}

    @p.rule
    def back_without_disk(b: int) -> Updates:
        """The cookie is missing on the empty disk: the bookie does not start any more (LegacyCookieValidation.checkCookies).

        With dataIntegrityChecking and dataIntegrityStampMissingCookies it is back, its open ledgers fenced and in limbo
        (DataIntegrityCookieValidation.checkCookies).
        """
        return {fenced[b]: True, limbo[b]: True} if s.gone is None else {up[b]: False, s.gone[b]: True}

    back_without_disk.instead("cookie_deleted_after_wipe", lambda b: {fenced[b]: False, limbo[b]: False})

    @p.fault(
        by="b",
        takes="wiped" if p.has("cookie_deleted_after_wipe") else "disk_losses",
        spends="losses",
        b=bookie,
        mirrors="LegacyCookieValidation.checkCookies, DataIntegrityCookieValidation.checkCookies, "
        "DataIntegrityCheckImpl.runPreBootCheck, SingleDirectoryDbLedgerStorage.setLimboState",
    )
    def lose_disk(b: int) -> Outcome:
        """The bookie's disk is lost, and an empty one is in its place."""
        return up[b], {**write_cache.on_disk(b, back_with(b, 0)), **back_without_disk(b), **saves.after_loss(b)}

    @p.fault(by="b", spends="rots", b=bookie, e=entry)
    def rot(b: int, e: int) -> Outcome:
        """The bookie's copy of an entry goes bad on its disk; whoever reads it finds that the digest does not match."""
        return And(stored[b].has(e), Not(rotten[b].has(e))), {rotten[b]: rotten[b].plus(e)}

    @p.rule
    def fence_of_a_deleted(b: int) -> Updates:
        """That a deleted ledger was fenced stays known: HandleFactoryImpl.ledgerDeleted."""
        return {}

    fence_of_a_deleted.instead("fence_forgotten_on_delete", lambda b: {fenced[b]: False})
    fence_of_a_deleted.instead("deleted_fence_in_memory", fences.after_deletion)

    @p.step(
        by="b",
        b=bookie,
        fair=True,
        only_if=p.budgets["deletions"],
        mirrors="ScanAndCompareGarbageCollector.gc, SingleDirectoryDbLedgerStorage.deleteLedger, "
        "HandleFactoryImpl.ledgerDeleted",
    )
    def collect(b: int) -> Outcome:
        """The bookie drops the entries of a deleted ledger; that it is fenced stays known.

        Otherwise an add that arrives late would be accepted, and acknowledged, as that of a new ledger.
        """
        has_some = And(up[b], s.status == "deleted", Not(stored[b].is_empty))
        dropped = {stored[b]: (), rotten[b]: (), bookie_lac[b]: -1}
        return has_some, {**write_cache.on_disk(b, dropped), **fence_of_a_deleted(b), **saves.after_loss(b)}

    # --- how it answers a recovery

    @p.rule
    def fence(b: int) -> Updates:
        """The ledger is fenced, whether the bookie has any of it or not: BookieImpl.fenceLedger."""
        return {fenced[b]: True, **fences.after_fencing(b, stored[b].is_empty)}

    @p.rule
    def fence_by_read(b: int, denies: bool) -> Updates:
        """A recovery's read of an entry fences as well."""
        return fence(b) | fences.after_fencing(b, denies)

    @p.rule
    def no_such_entry(b: int, e: Number) -> Condition:
        """The bookie has no such entry, and knows that it never had."""
        return And(Not(stored[b].has(e)), Not(limbo[b]))

    fence.instead("no_fence_on_unknown_ledger", lambda b: {fenced[b]: Or(fenced[b], Not(stored[b].is_empty))})
    fence_by_read.instead("recovery_reads_do_not_fence", lambda b, denies: {})
    no_such_entry.instead("no_such_entry_though_stored", lambda b, e: Not(limbo[b]))
    return Answers(fence, fence_by_read, no_such_entry, fences, saves, write_cache)
