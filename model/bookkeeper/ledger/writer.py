"""What the writer of a ledger does, and the store for it: adds, confirmations, changes of ensemble, the close.

Mirrors LedgerHandle and PendingAddOp of bookkeeper-server.
"""

from __future__ import annotations

from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.bookkeeper.ledger.unsetting import Unsetting
from fencepost.model.language import And, Condition, If, Not, Or, Outcome, Protocol, Subset, Truth, Updates, any_of, at_least


def declare_writer(p: Protocol, s: LedgerState) -> None:
    """Declares the steps of the writer, and those of the store that answer it."""
    bookie, entry, writers, published = s.bookie, s.entry, s.writers, s.published
    writer, sent, lac, confirmed, piggybacked_lac = s.writer, s.sent, s.lac, s.confirmed, s.piggybacked_lac
    sent_to, taken_by_bookie, acked, status = s.sent_to, s.taken_by_bookie, s.acked, s.status
    unsetting = Unsetting(p, s) if p.has("confirms_while_unsetting") else None

    def lives() -> Condition:
        return writer.among("writing", "changing", "changed")

    def forgets_acks() -> Updates:
        return {acked[b]: () for b in bookie}

    def is_stale(e: int) -> Condition:
        """The add was sent to an ensemble that is not the writer's any more: somebody of its write set was not sent it."""
        return any_of(And(writers.holds(b, e), Not(sent_to[b].has(e))) for b in bookie)

    def taken(e: int) -> Condition:
        return any_of(sent_to[b].has(e) for b in bookie)

    @p.step(
        by="writer",
        takes="messages",
        e=entry,
        only_if=p.has("captured_ensemble"),
        mirrors="LedgerHandle.asyncAddEntry, PendingAddOp.create",
    )
    def take_ensemble(e: int) -> Outcome:
        """The thread that adds takes the ensemble for the entry, and has still to queue the add."""
        return And(writer == "writing", sent == e - 1, Not(taken(e))), {
            sent_to[b]: If(writers.holds(b, e), sent_to[b].plus(e), sent_to[b]) for b in bookie
        }

    @p.rule
    def goes_to(b: int, e: int) -> Condition:
        """The add goes to the bookie: it is of the entry's write set, by the ensemble as it is when the add is queued."""
        return writers.holds(b, e)

    goes_to.instead("captured_ensemble", lambda b, e: And(writers.holds(b, e), Not(taken(e))))

    @p.step(
        by="writer",
        takes="task" if p.has("captured_ensemble") else "messages",
        posts=sent_to,
        e=entry,
        fair=True,
        mirrors="LedgerHandle.doAsyncAddEntry, PendingAddOp.initiate, PendingAddOp.sendWriteRequest",
    )
    def send(e: int) -> Outcome:
        """The application adds entry e: it goes to its write set, and carries the last add confirmed as of now.

        Entries follow each other without a gap, and none is sent while the ensemble changes.
        """
        return And(writer == "writing", sent == e - 1), {
            sent: e,
            piggybacked_lac[e]: lac,
            **{sent_to[b]: If(goes_to(b, e), sent_to[b].plus(e), sent_to[b]) for b in bookie},
        }

    @p.rule
    def is_of_write_set(b: int, e: int) -> Condition:
        """An acknowledgement counts if the bookie is of the entry's write set: PendingAddOp compares with its ensemble."""
        return writers.holds(b, e)

    is_of_write_set.instead("replaced_acks_kept", lambda b, e: True)
    is_of_write_set.instead("captured_ensemble", lambda b, e: Or(writers.holds(b, e), is_stale(e)))
    if unsetting is not None:
        is_of_write_set.instead("confirms_while_unsetting", unsetting.accepts_ack)

    @p.step(
        by="writer",
        takes="journal",
        hears="b",
        b=bookie,
        e=entry,
        fair=True,
        mirrors="PendingAddOp.writeComplete, RoundRobinDistributionSchedule.AckSetImpl.completeBookieAndCheck",
    )
    def ack(b: int, e: int) -> Outcome:
        """The bookie's acknowledgement reaches the writer while it waits for the entry and still counts on the bookie.

        That of a bookie that has left the write set is void: neither readers nor recovery will look for the entry there.
        """
        awaited = And(sent >= e, Not(confirmed.has(e)), Not(acked[b].has(e)), is_of_write_set(b, e))
        return And(lives(), taken_by_bookie[b].has(e), awaited), {acked[b]: acked[b].plus(e)}

    @p.rule
    def counts(b: int, e: int) -> Condition:
        """The bookie has acknowledged the entry, and the metadata say that it is there."""
        return And(acked[b].has(e), writers.holds(b, e))

    @p.rule
    def is_next(e: int) -> Condition:
        """The entry follows what is confirmed: only the head of the pending adds can be."""
        return lac == e - 1

    @p.rule
    def may_confirm() -> Condition:
        """No change of ensemble is under way."""
        return writer == "writing"

    counts.instead("replaced_acks_kept", lambda b, e: acked[b].has(e))
    counts.instead("captured_ensemble", lambda b, e: And(acked[b].has(e), Or(writers.holds(b, e), is_stale(e))))
    counts.instead("confirms_while_changing", lambda b, e: acked[b].has(e))
    is_next.instead("confirms_with_gaps", lambda e: And(lac < e, Not(confirmed.has(e))))
    may_confirm.instead("confirms_while_changing", lives)
    if unsetting is not None:
        counts.instead("confirms_while_unsetting", unsetting.counts)
        may_confirm.instead("confirms_while_unsetting", unsetting.may_confirm)

    @p.step(
        by="writer",
        takes="task",
        e=entry,
        fair=True,
        mirrors="LedgerHandle.sendAddSuccessCallbacks, PendingAddOp.sendAddSuccessCallbacks, PendingAddOp.submitCallback",
    )
    def confirm(e: int) -> Outcome:
        """The next entry is confirmed to the application: an ack quorum has it. This waits while the ensemble changes.

        It is the next one, because recovery takes all up to the last add confirmed for stored. The ack quorum is one of the
        write set that the metadata name, because copies anywhere else are not found again; until a change is in force, which
        that is remains open.
        """
        acknowledged = at_least(s.ack_quorum, (counts(b, e) for b in bookie))
        return And(may_confirm(), is_next(e), sent >= e, acknowledged), {
            lac: e,
            confirmed: confirmed.plus(e),
            **{acked[b]: acked[b].minus(e) for b in bookie},
        }

    # --- a change of ensemble

    @p.rule
    def asked() -> str:
        """The store is asked for the change, and confirmations wait for its answer."""
        return "changing"

    @p.rule
    def may_wait(o: int, e: int) -> Condition:
        """The entry may be waiting for bookie o."""
        return writers.holds(o, e)

    def failed_late(o: int) -> Truth:
        """An add to bookie o may have failed when others had confirmed the entry: LedgerHandle.notifyWriteFailed."""
        may_be = s.ack_quorum < s.write_quorum
        return any_of(And(e <= lac, sent_to[o].has(e), writers.holds(o, e)) for e in entry) if may_be else False

    asked.instead("change_not_committed", lambda: "changed")
    may_wait.instead("confirms_while_unsetting", lambda o, e: And(writers.holds(o, e), Not(acked[o].has(e))))

    @p.step(
        by="writer",
        takes="bookie_failures",
        to="" if p.has("change_not_committed") else "store",
        spends="changes",
        o=bookie,
        n=bookie,
        mirrors="LedgerHandle.handleBookieFailure, LedgerHandle.ensembleChangeLoop, EnsembleUtils.replaceBookiesInEnsemble, "
        "LedgerHandle.notifyWriteFailed, LedgerHandle.maybeHandleDelayedWriteBookieFailure",
    )
    def replace(o: int, n: int) -> Outcome:
        """A pending add to bookie o fails or times out: the writer wants bookie n in its place, from entry LAC + 1 on.

        It changes its own copy of the ensembles and asks the store to do the same. There is a reason only if an entry waits for
        o, or if one that was confirmed without o has failed there since, which the next add finds, wherever that one goes; n is
        not in the ensemble yet. What is confirmed stays where it is stored, so the change begins after it.
        """
        waits_for_it = any_of(And(lac < e, e <= sent, may_wait(o, e)) for e in entry)
        is_needed = Or(waits_for_it, And(lac < sent, failed_late(o)))
        return And(o != n, writer == "writing", is_needed, writers.may_replace(o, n, lac + 1)), {
            writer: asked(),
            **writers.replaced(o, n, lac + 1),
        }

    @p.rule
    def is_allowed() -> Condition:
        """The ledger is OPEN, whatever its version: an update that conflicts is tried again with what it finds."""
        return status == "open"

    is_allowed.instead("change_ignores_version", lambda: True)

    @p.step(
        by="store",
        takes="metadata",
        fair=True,
        only_if=s.changes,
        mirrors="MetadataUpdateLoop.writeLoop, LedgerManager.writeLedgerMetadata",
    )
    def publish_change() -> Outcome:
        """The store replaces the last ensemble, or appends one, if the ledger is still OPEN.

        Recovery marks it before it asks any bookie, so that from then on the writer cannot go to bookies of which recovery does
        not know. The ensembles before the last stay as the store has them: auto-recovery may have replaced bookies there.
        """
        return And(writer == "changing", is_allowed(), s.may_update), {
            writer: "changed",
            status: "open",  # the metadata are written as a whole
            **published.end_copied_from(writers),
            **s.after_update,
        }

    def held(b: int) -> Subset:
        return entry.where(lambda e: writers.holds(b, e))

    @p.rule
    def kept_acks() -> Updates:
        """The acknowledgements of whoever has left a write set are void: PendingAddOp.unsetSuccessAndSendWriteRequest."""
        return {acked[b]: acked[b] & held(b) for b in bookie}

    @p.rule
    def is_through() -> bool:
        """All pending adds are gone through at once: nothing is confirmed meanwhile."""
        return True

    @p.rule
    def loop_ended() -> Updates:
        """No loop is to be ended."""
        return {}

    if unsetting is not None:
        unsetting.declare(p)
        is_through.instead("confirms_while_unsetting", unsetting.is_through)
        loop_ended.instead("confirms_while_unsetting", unsetting.ended)
    kept_acks.instead("replaced_acks_kept", dict)

    @p.step(
        by="writer",
        takes="network",
        hears="store",
        posts=sent_to,
        fair=True,
        only_if=s.changes,
        mirrors="LedgerHandle.unsetSuccessAndSendWriteRequest, PendingAddOp.unsetSuccessAndSendWriteRequest, "
        "LedgerHandle.ensembleChangeLoop, EnsembleUtils.diffEnsemble",
    )
    def resend() -> Outcome:
        """The writer learns that its change is in force.

        Acknowledgements of the bookie that left are void; the one that joined is sent what is not confirmed yet.
        """

        def pending(b: int) -> Subset:
            return entry.where(lambda e: And(lac < e, e <= sent, writers.holds(b, e)))

        return And(writer == "changed", is_through()), {
            writer: "writing",
            **{sent_to[b]: sent_to[b] | pending(b) for b in bookie},
            **kept_acks(),
            **loop_ended(),
        }

    # --- the end

    @p.rule
    def not_closed() -> Condition:
        """Nobody has closed the ledger. Over a recovery in progress the writer closes as well."""
        return status.among("open", "in_recovery")

    not_closed.instead("writer_closes_blindly", lambda: True)

    @p.step(
        by="writer",
        takes="never",
        fair=True,
        mirrors="LedgerHandle.doAsyncCloseInternal, LedgerHandle.handleUnrecoverableErrorDuringAdd, MetadataUpdateLoop.run",
    )
    def close() -> Outcome:
        """The writer closes at its last add confirmed: asked to, an add is hopeless, or no bookie can replace a failed one.

        Only CLOSED stops it, because an end that was published may have been relied on.
        """
        return And(lives(), not_closed(), s.may_update), {
            writer: "closed",
            status: "closed",
            s.last: lac,
            s.length: lac + 1,
            **forgets_acks(),
            **s.after_update,
        }

    @p.step(
        by="writer",
        takes="life_after_loss",
        hears="store",
        fair=True,
        mirrors="LedgerHandle.doAsyncCloseInternal, LedgerHandle.ensembleChangeLoop",
    )
    def find_closed() -> Outcome:
        """The writer finds the ledger closed: at its own last add confirmed that is success, at another end an error.

        The ends are the same if the lengths are, too.
        """
        is_own_end = And(s.last == lac, s.length == lac + 1)
        return And(lives(), status == "closed"), {writer: If(is_own_end, "closed", "failed"), **forgets_acks()}

    @p.step(
        by="writer",
        takes="metadata",
        hears="store",
        only_if=p.has("length_after_refusal") and s.changes,
        mirrors="LedgerHandle.ensembleChangeLoop, LedgerHandle.setLedgerMetadata, LedgerHandle.drainPendingAddsAndAdjustLength",
    )
    def find_closed_by_change() -> Outcome:
        """The change of ensemble is refused, because the ledger is closed: the handle takes over the last entry and length.

        Then it drains its pending adds, subtracts them from that length, and closes: if there was one, with another length.
        """
        agrees = And(s.last == lac, s.length == lac + 1, s.sent == lac)
        return And(writer == "changing", status == "closed"), {
            writer: If(agrees, "closed", "failed"),
            **forgets_acks(),
        }

    @p.step(
        by="writer",
        spends="explicit_lacs",
        b=bookie,
        mirrors="ExplicitLacFlushPolicy.ExplicitLacFlushPolicyImpl.asyncExplicitLacFlush, PendingWriteLacOp.initiate, "
        "BookieImpl.setExplicitLac",
    )
    def send_explicit_lac(b: int) -> Outcome:
        """The writer tells a bookie its last add confirmed without an entry, and the bookie keeps it.

        It goes to bookies of the last ensemble that know of less. (PendingWriteLacOp sends it to the write set of the last add
        confirmed, whatever they know.)
        """
        asks = And(writer == "writing", s.up[b], writers.in_last(b), s.explicit_lac[b] < lac)
        return asks, {s.explicit_lac[b]: lac}

    @p.step(by="store", spends="deletions", mirrors="LedgerDeleteOp.initiate, LedgerManager.removeLedgerMetadata")
    def delete() -> Outcome:
        """The closed ledger is deleted from the metadata. (Upstream deletes whatever the state; that is left out.)"""
        return And(status == "closed", s.may_update), {status: "deleted", **s.after_update}
