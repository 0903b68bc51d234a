"""The collector of each bookie, which deletes a ledger that no metadata name it for."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.language import And, Condition, If, Not, Or, Outcome, Truth, Updates, any_of
from fencepost.model.nobody import NOBODY


def declare_collector(s: State) -> None:
    """The steps of removeOverReplicatedledgers, once a day at most."""
    p, bookie = s.protocol, s.bookie

    def is_surplus(b: int) -> Condition:
        return And(s.up[b], s.status == "closed", Not(s.named(b)))

    @p.rule
    def may_delete(b: int) -> Condition:
        """The metadata still do not name the bookie, and nobody is copying the ledger to it, with the lock or without."""
        return And(is_surplus(b), Not(any_of(s.is_target(w, b) for w in s.worker)))

    @p.rule
    def may_lock(b: int) -> Condition:
        """Nobody replicates the ledger."""
        return s.lock == NOBODY

    @p.rule
    def after_deletion(b: int) -> Updates:
        """What a bookie keeps of a ledger that it has deleted: nothing."""
        return {}

    # The bookie means to mark a ledger that is fenced. Its index has forgotten the ledger by then, which counts as fenced
    # (HandleFactoryImpl.markIfConflictWritingOccurs).
    if s.refuses is not None:
        after_deletion.instead(
            "collected_is_refused",
            lambda b: {
                s.refuses[b]: Or(s.refuses[b], And(may_delete(b), s.loaded[b])),
                s.loaded[b]: And(s.loaded[b], Not(may_delete(b))),
            },
        )
    may_delete.instead("collector_trusts_the_lock", lambda b: True)
    may_delete.instead("collector_takes_no_lock", lambda b: True)
    may_lock.instead("collector_takes_no_lock", lambda b: True)
    locks = not p.has("collector_takes_no_lock")

    def has_lock(b: int) -> Truth:
        return s.lock == f"gc{b}" if locks else True

    def released() -> Updates:
        return {s.lock: NOBODY} if locks else {}

    @p.step(
        by="b",
        b=bookie,
        only_if=s.collects and locks,
        mirrors="ScanAndCompareGarbageCollector.removeOverReplicatedledgers,"
        " ZkLedgerUnderreplicationManager.acquireUnderreplicatedLedger",
    )
    def lock_surplus(b: int) -> Outcome:
        """The collector, which does one thing at a time, finds a closed ledger that does not name its bookie, and locks it."""
        return And(is_surplus(b), Not(s.stored[b].is_empty), Not(s.surplus[b]), may_lock(b)), {s.lock: f"gc{b}"}

    @p.step(
        by="b",
        b=bookie,
        fair=locks,
        only_if=s.collects,
        mirrors="ScanAndCompareGarbageCollector.removeOverReplicatedledgers,"
        " ScanAndCompareGarbageCollector.isNotBookieIncludedInLedgerEnsembles",
    )
    def look(b: int) -> Outcome:
        """It reads the metadata again, and releases the lock if they name the bookie by now."""
        ready = And(has_lock(b), s.up[b], Not(s.surplus[b]), Not(s.stored[b].is_empty))
        freed = {target: If(is_surplus(b), target, value) for target, value in released().items()}
        return ready, {s.surplus[b]: is_surplus(b), **freed}

    @p.step(
        by="b", b=bookie, fair=True, only_if=s.collects, mirrors="ScanAndCompareGarbageCollector.removeOverReplicatedledgers"
    )
    def collect(b: int) -> Outcome:
        """It deletes the copies of the bookie, and releases the lock."""
        return And(s.surplus[b], s.up[b]), {
            **s.forgets_all(b, may_delete(b)),
            **after_deletion(b),
            s.surplus[b]: False,
            **released(),
        }
