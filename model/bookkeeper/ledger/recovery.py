"""What a client does that opens a ledger with recovery: it fences, reads on from the last add confirmed, and closes.

Mirrors ReadOnlyLedgerHandle.recover, LedgerRecoveryOp, ReadLastConfirmedOp and ReadOpBase of bookkeeper-server.
"""

from __future__ import annotations

from fencepost.model.bookkeeper.ledger.bookie import Answers
from fencepost.model.bookkeeper.ledger.lengths import Lengths
from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.language import And, Condition, If, Not, Number, Or, Outcome, Protocol, Updates, at_least, maximum


def declare_recoveries(p: Protocol, s: LedgerState, answers: Answers) -> None:
    """Declares the steps of every run of recovery."""
    bookie, entry, recoverer, up, stored, rotten = s.bookie, s.entry, s.recoverer, s.up, s.stored, s.rotten
    status, version, phase, recovery_lac, bookie_lac = s.status, s.version, s.phase, s.recovery_lac, s.bookie_lac
    coverage, no_such_entry, recovery_acked = s.coverage, s.no_such_entry, s.recovery_acked
    new_ensembles, for_recovery, published, here = s.new_ensembles, s.for_recovery, s.published, s.recovered_next

    lengths = Lengths(p, s)

    # --- it fences

    @p.rule
    def marked() -> Updates:
        """The ledger is marked IN_RECOVERY, unless it is, which raises the version."""
        return {status: "in_recovery", version: If(status == "open", version + 1, version)}

    @p.rule
    def lac_before_any() -> int:
        """The last add confirmed that a recovery assumes before a bookie has told it one."""
        return -1

    marked.instead("recovery_not_marked", dict)
    lac_before_any.instead("lac_search_starts_at_zero", lambda: 0)

    @p.step(
        by="r",
        takes="rival_recoveries",
        r=recoverer,
        fair=True,
        mirrors="ReadOnlyLedgerHandle.recover, LedgerOpenOp.openWithMetadata, LedgerRecoveryOp.initiate, "
        "MetadataUpdateLoop.run",
    )
    def recover(r: int) -> Outcome:
        """A client opens the ledger with recovery: it marks it IN_RECOVERY, unless it is, and keeps a copy of the metadata.

        The mark raises the version, so that no change of ensemble by the writer gets through any more: the copy stays true.
        """
        return And(phase[r] == "idle", status.among("open", "in_recovery"), s.may_update), {
            phase[r]: "fencing",
            recovery_lac[r]: lac_before_any(),
            **new_ensembles[r].copied_from(published),
            **for_recovery[r].last_copied_from(published),
            **marked(),
        }

    @p.step(
        by="r",
        takes="journal",
        r=recoverer,
        b=bookie,
        fair=True,
        mirrors="ReadLastConfirmedOp.readEntryComplete, ReadLastConfirmedOp.initiateWithFencing, BookieImpl.fenceLedger, "
        "LedgerDescriptorImpl.fenceAndLogInJournal, ReadEntryProcessorV3.getReadResponse",
    )
    def read_lac(r: int, b: int) -> Outcome:
        """The bookie fences the ledger, and its last add confirmed reaches the recovery; in limbo it gives no answer.

        The bookies of the last ensemble are asked, to which new adds go; each of them counts once. One whose last entry has a
        digest that does not match has answered and is fenced, but its last add confirmed is not believed.
        """
        asked = And(phase[r] == "fencing", up[b], Not(s.limbo[b]), for_recovery[r].in_last(b), Not(coverage[r].has(b)))
        is_higher = And(Not(s.last_is_rotten(b)), bookie_lac[b] > recovery_lac[r])
        return asked, {
            coverage[r]: coverage[r].plus(b),
            recovery_lac[r]: If(is_higher, bookie_lac[b], recovery_lac[r]),
            **lengths.after_lac(r, b, is_higher),
            **answers.fence(b),
        }

    @p.rule
    def asks_to_fence(r: int) -> Condition:
        """Requests that fence are under way as soon as the recovery has begun, and may arrive whatever it does by then."""
        return phase[r] != "idle"

    asks_to_fence.instead("recovery_reads_do_not_fence", lambda r: And(phase[r] != "idle", phase[r] != "reading"))

    @p.step(
        by="r",
        takes="journal",
        r=recoverer,
        b=bookie,
        mirrors="BookieImpl.fenceLedger, LedgerDescriptorImpl.fenceAndLogInJournal",
    )
    def fence_unheard(r: int, b: int) -> Outcome:
        """The bookie fences the ledger for a recovery, and its answer is lost or comes too late."""
        return And(asks_to_fence(r), up[b], for_recovery[r].in_last(b), Not(s.fenced[b])), answers.fence(b)

    @p.rule
    def is_covered(r: int) -> Condition:
        """In no write set of the last ensemble are an ack quorum unheard of."""
        return for_recovery[r].covered_by(coverage[r].has, s.ack_quorum)

    @p.rule
    def lac_to_begin_with(r: int) -> Number:
        """The highest last add confirmed that was heard, or the last entry before the last ensemble."""
        return maximum(recovery_lac[r], new_ensembles[r].last_first() - 1)

    lac_to_begin_with.instead("recovery_starts_below_last_ensemble", lambda r: recovery_lac[r])
    is_covered.instead("fencing_waits_for_one", lambda r: Not(coverage[r].is_empty))
    is_covered.instead("fencing_waits_for_none", lambda r: True)

    @p.step(
        by="r",
        takes="task",
        r=recoverer,
        fair=True,
        mirrors="LedgerRecoveryOp.initiate, LedgerRecoveryOp.doRecoveryRead, "
        "RoundRobinDistributionSchedule.RRQuorumCoverageSet.checkCovered",
    )
    def start_reading(r: int) -> Outcome:
        """So many bookies are fenced that no new add can gather an ack quorum: recovery reads from the entry after the LAC.

        With fewer answers the writer could go on, and have entries confirmed beyond the end that recovery is about to find.
        What comes before the last ensemble is confirmed, whatever its bookies say.
        """
        return And(phase[r] == "fencing", is_covered(r)), {
            phase[r]: "reading",
            recovery_lac[r]: lac_to_begin_with(r),
            coverage[r]: (),
            **lengths.after_raise(r, lac_to_begin_with(r)),
        }

    # --- it reads

    def is_before_last(r: int) -> Condition:
        return here(r) < published.last_first()

    @p.rule
    def reads_from(r: int, b: int) -> Condition:
        """The bookie is of the entry's write set by the metadata for recovery, those of the start.

        An ensemble that recovery has put in its place holds only what recovery itself has stored there.
        """
        return for_recovery[r].holds(b, here(r))

    @p.rule
    def enough_denials() -> int:
        """So many bookies that have no such entry leave too few of its write set for an ack quorum."""
        return s.write_quorum - s.ack_quorum + 1

    reads_from.instead("reads_follow_current_ensemble", lambda r, b: new_ensembles[r].holds(b, here(r)))
    reads_from.instead(
        "recovery_starts_below_last_ensemble",
        lambda r, b: If(is_before_last(r), published.holds(b, here(r)), for_recovery[r].holds(b, here(r))),
    )
    enough_denials.instead("one_no_such_entry_suffices", lambda: 1)
    enough_denials.instead("no_such_entry_threshold_too_low", lambda: max(s.write_quorum - s.ack_quorum, 1))

    def at_end(r: int) -> Condition:
        """So many bookies have denied the entry that it can never have been confirmed: the ledger ends before it."""
        denied = at_least(enough_denials(), (And(no_such_entry[r].has(b), reads_from(r, b)) for b in bookie))
        return And(phase[r] == "reading", Or(recovery_lac[r] == s.entries - 1, denied))

    def asks(r: int, b: int) -> Condition:
        return And(phase[r] == "reading", Not(at_end(r)), up[b], reads_from(r, b))

    @p.rule
    def is_readable(r: int, b: int) -> Condition:
        """The copy's digest matches: DigestManager.verifyDigestAndReturnData."""
        return Not(rotten[b].has(here(r)))

    @p.rule
    def on_found(r: int) -> Updates:
        """The entry found is stored again before the next one is read."""
        return {phase[r]: "adding"}

    is_readable.instead("digest_unchecked", lambda r, b: True)
    on_found.instead(
        "closes_before_recovery_add",
        lambda r: {recovery_lac[r]: If(recovery_lac[r] < s.entries - 1, recovery_lac[r] + 1, recovery_lac[r])},
    )

    @p.step(
        by="r",
        takes="network",
        r=recoverer,
        b=bookie,
        fair=True,
        mirrors="LedgerRecoveryOp.onEntryComplete, PendingReadOp.readEntryComplete, PendingReadOp.sendReadTo, "
        "ReadEntryProcessorV3.getReadResponse",
    )
    def read_found(r: int, b: int) -> Outcome:
        """A bookie of the write set has the entry: one copy whose digest matches recovers it. The read fences too.

        It fences because a bookie that the fencing phase did not hear may accept the add after the read.
        """
        return And(asks(r, b), stored[b].has(here(r)), is_readable(r, b)), {
            no_such_entry[r]: (),
            s.found[r]: s.found[r].plus(here(r)),
            s.spoiled[r]: rotten[b].has(here(r)),
            **lengths.after_entry(r),
            **on_found(r),
            **answers.fence_by_read(b, False),
        }

    @p.step(
        by="r",
        takes="network",
        r=recoverer,
        b=bookie,
        fair=True,
        mirrors="ReadOpBase.LedgerEntryRequest.logErrorAndReattemptRead, "
        "PendingReadOp.SequenceReadRequest.logErrorAndReattemptRead, LedgerRecoveryOp.onEntryComplete, "
        "ReadEntryProcessorV3.getReadResponse",
    )
    def read_no_such_entry(r: int, b: int) -> Outcome:
        """A bookie of the write set answers NoSuchEntry; a bookie in limbo does not. The read fences too.

        A denial counts once, and only if it is true and stays true: a bookie in limbo may have had the entry and lost it, and
        one that is not fenced could accept it afterwards.
        """
        denied = And(Not(no_such_entry[r].has(b)), answers.no_such_entry(b, here(r)))
        return And(asks(r, b), denied), {no_such_entry[r]: no_such_entry[r].plus(b), **answers.fence_by_read(b, True)}

    @p.step(
        by="r",
        r=recoverer,
        b=bookie,
        only_if=p.has("unknown_counts_as_no_such_entry"),
        mirrors="ReadOpBase.LedgerEntryRequest.logErrorAndReattemptRead",
    )
    def read_unanswered(r: int, b: int) -> Outcome:
        """A bookie does not answer a read, and the recovery counts it among those that do not have the entry."""
        asked = And(phase[r] == "reading", Not(at_end(r)), reads_from(r, b), Not(no_such_entry[r].has(b)))
        return asked, {no_such_entry[r]: no_such_entry[r].plus(b)}

    # --- it stores again what it has read

    @p.rule
    def writes_to(r: int, b: int) -> Condition:
        """The bookie is of the entry's write set by recovery's own copy of the ensembles, which it publishes when it closes."""
        return new_ensembles[r].holds(b, here(r))

    # Adds go to the last ensemble, whatever entry they are of.
    writes_to.instead(
        "recovery_starts_below_last_ensemble",
        lambda r, b: If(is_before_last(r), new_ensembles[r].in_last(b), new_ensembles[r].holds(b, here(r))),
    )

    @p.step(
        by="r",
        takes="journal",
        r=recoverer,
        b=bookie,
        fair=True,
        mirrors="LedgerHandle.asyncRecoveryAddEntry, BookieImpl.recoveryAddEntry, PendingAddOp.enableRecoveryAdd, "
        "PendingAddOp.writeComplete",
    )
    def recovery_add(r: int, b: int) -> Outcome:
        """The entry found is stored again at a bookie of its write set, past the fence, and the acknowledgement is heard."""
        asked = And(phase[r] == "adding", up[b], writes_to(r, b), Not(recovery_acked[r].has(b)))
        return And(asked, recovery_lac[r] < s.entries - 1), {
            stored[b]: stored[b].plus(here(r)),
            rotten[b]: If(s.spoiled[r], rotten[b].plus(here(r)), rotten[b].minus(here(r))),
            **answers.write_cache.after_entry(b, here(r), recovery_lac[r]),  # to a recovery the entry before is confirmed
            recovery_acked[r]: recovery_acked[r].plus(b),
            **answers.fences.after_entry(b),
            **answers.saves.after_entry(b, here(r)),
        }

    @p.step(by="b", takes="never", hears="r", r=recoverer, b=bookie, e=entry, mirrors="BookieImpl.recoveryAddEntry")
    def late_recovery_add(r: int, b: int, e: int) -> Outcome:
        """An entry that recovery stores again arrives with its acknowledgement lost, or when recovery has long gone on."""
        asked = Or(new_ensembles[r].holds(b, e), for_recovery[r].holds(b, e))
        is_news = Or(Not(stored[b].has(e)), answers.write_cache.is_news(b, e, e - 1))
        return And(up[b], s.found[r].has(e), asked, is_news), {
            stored[b]: stored[b].plus(e),
            **answers.write_cache.after_entry(b, e, e - 1),
            **answers.fences.after_entry(b),
            **answers.saves.after_entry(b, e),
        }

    @p.step(
        by="r",
        takes="task",
        r=recoverer,
        fair=True,
        mirrors="LedgerRecoveryOp.addComplete, LedgerHandle.sendAddSuccessCallbacks",
    )
    def recovery_add_complete(r: int) -> Outcome:
        """An ack quorum has the entry again: recovery goes on to the next one.

        It may have been on one bookie only. Closed over that, the ledger would have an entry that one lost disk takes away.
        """
        enough = at_least(s.ack_quorum, (And(recovery_acked[r].has(b), writes_to(r, b)) for b in bookie))
        return And(phase[r] == "adding", recovery_lac[r] < s.entries - 1, enough), {
            phase[r]: "reading",
            recovery_lac[r]: recovery_lac[r] + 1,
            recovery_acked[r]: (),
        }

    @p.rule
    def changes_from(r: int) -> Number:
        """A change of ensemble in recovery begins with the entry that is not stored again yet."""
        return here(r)

    @p.rule
    def published_at_once(r: int, o: int, n: int) -> Updates:
        """What a change of ensemble in recovery changes in the store: nothing, until the ledger is closed."""
        return {}

    changes_from.instead(
        "recovery_ensemble_starts_early", lambda r: If(here(r) > new_ensembles[r].last_first(), recovery_lac[r], here(r))
    )
    published_at_once.instead(
        "recovery_publishes_at_once", lambda r, o, n: new_ensembles[r].replaced(o, n, changes_from(r), into=published)
    )

    @p.step(
        by="r",
        takes="never",
        spends="changes",
        r=recoverer,
        o=bookie,
        n=bookie,
        mirrors="ReadOnlyLedgerHandle.handleBookieFailure, LedgerHandle.unsetSuccessAndSendWriteRequest, "
        "EnsembleUtils.replaceBookiesInEnsemble",
    )
    def replace_in_recovery(r: int, o: int, n: int) -> Outcome:
        """Storing the entry again at bookie o fails: recovery puts bookie n in its place, from this entry on.

        It does so in its own copy of the ensembles only, until it closes the ledger: another recovery that reads where this one
        meant to write would find nothing there. Earlier entries were not written to n, so the change does not cover them.
        """
        failed = And(writes_to(r, o), Not(recovery_acked[r].has(o)))
        may = And(o != n, phase[r] == "adding", failed, new_ensembles[r].may_replace(o, n, changes_from(r)))
        return may, {**new_ensembles[r].replaced(o, n, changes_from(r)), **published_at_once(r, o, n)}

    # --- it closes

    @p.rule
    def may_close(r: int) -> Condition:
        """Recovery has found the end."""
        return at_end(r)

    @p.rule
    def may_be_closed() -> Condition:
        """The ledger is IN_RECOVERY, whatever its version: an update that conflicts is tried again with what it finds."""
        return status == "in_recovery"

    @p.rule
    def published_by_close(r: int) -> Updates:
        """The last ensemble and those after it become as recovery has changed them; those before it stay as the store has them.

        Auto-recovery may have replaced bookies there.
        """
        return published.end_copied_from(new_ensembles[r])

    may_close.instead("closes_at_lac", lambda r: phase[r] == "reading")
    may_be_closed.instead("recovery_closes_blindly", lambda: status != "deleted")
    may_be_closed.instead("recovery_not_marked", lambda: status.among("open", "in_recovery"))
    # Without the mark the writer may have published another ensemble meanwhile, and only recovery's own changes replace it.
    published_by_close.instead(
        "recovery_not_marked",
        lambda r: published.copied_from_if(Not(new_ensembles[r].same_last(for_recovery[r])), new_ensembles[r]),
    )

    @p.step(
        by="r",
        takes="metadata",
        r=recoverer,
        fair=True,
        mirrors="ReadOnlyLedgerHandle.closeRecovered, MetadataUpdateLoop.writeLoop",
    )
    def close_recovered(r: int) -> Outcome:
        """Recovery closes the ledger before the entry that it could not find, unless somebody else has closed it.

        Its changes of ensemble become known with this. That nobody else has changed the ensembles is what the mark is for: from
        then on the writer's changes are refused, and what recovery read, and where, is still what the metadata say.
        """
        return And(may_close(r), may_be_closed(), s.may_update), {
            phase[r]: "done",
            no_such_entry[r]: (),
            status: "closed",
            s.last: recovery_lac[r],
            s.length: lengths.at_end(r),
            **lengths.none(r),
            **published_by_close(r),
            **s.after_update,
        }

    @p.step(
        by="r",
        takes="metadata",
        hears="store",
        r=recoverer,
        fair=True,
        mirrors="ReadOnlyLedgerHandle.closeRecovered, ReadOnlyLedgerHandle.recover",
    )
    def adopt_end(r: int) -> Outcome:
        """Recovery wants to close and finds the ledger closed: that end is the end."""
        return And(at_end(r), status == "closed"), {
            phase[r]: "done",
            no_such_entry[r]: (),
            recovery_lac[r]: s.last,
            **lengths.none(r),
        }
