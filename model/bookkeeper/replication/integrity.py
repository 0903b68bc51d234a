"""How a bookie whose disk was replaced gets its entries back: dataIntegrityChecking."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.bookkeeper.replication.workers import can_recover
from fencepost.model.language import And, Condition, Not, Outcome, Updates, all_of


def declare_integrity_check(s: State) -> None:
    """The boot with an empty disk, the end of limbo, and the refill."""
    p, bookie, entry = s.protocol, s.bookie, s.entry
    if not s.integrity:
        return

    @p.step(by="b", b=bookie, mirrors="DataIntegrityCheckImpl.runPreBootSequence, DataIntegrityCheckImpl.processPreBoot")
    def replace_disk(b: int) -> Outcome:
        """The bookie boots with an empty disk: an open ledger that names it is in limbo and fenced."""
        return s.gone[b], {
            s.gone[b]: False,
            s.up[b]: True,
            s.needs_check[b]: True,
            s.limbo[b]: And(s.status == "open", s.named(b)),
            **metadata_read(s, b),
        }

    @p.step(
        by="b",
        b=bookie,
        fair=True,
        only_if=s.opened,
        mirrors="DataIntegrityCheckImpl.recoverLedgerIfInLimbo, DataIntegrityCheckImpl.checkAndRecoverLedgers",
    )
    def end_limbo(b: int) -> Outcome:
        """The bookie opens the ledger with recovery, which closes it, and clears the limbo, before it has a copy."""
        return And(s.up[b], s.limbo[b], can_recover(s)), s.closes(), {s.limbo[b]: False}

    @p.rule
    def is_asked(b: int, x: int) -> Condition:
        """The refill of a bookie reads from another: the metadata name both."""
        return And(s.named(b), s.named(x))

    @p.rule
    def is_taken(x: int, e: int) -> Condition:
        """The refill takes the copy that it has read: its digest is right."""
        return s.has_good(x, e)

    @p.rule
    def should_have(b: int) -> Condition:
        """The metadata name the bookie."""
        return s.named(b)

    is_asked.instead("refill_by_boot_metadata", lambda b, x: And(s.cached[b].has(b), s.cached[b].has(x)))
    should_have.instead("refill_by_boot_metadata", lambda b: s.cached[b].has(b))
    is_taken.instead("refill_ignores_digest", lambda x, e: s.stored[x].has(e))

    def lacks(b: int, e: int) -> Condition:
        return And(should_have(b), s.confirmed.has(e), Not(s.stored[b].has(e)))

    @p.step(
        by="b",
        b=bookie,
        x=bookie,
        e=entry,
        fair=True,
        mirrors="DataIntegrityCheckImpl.checkAndRecoverLedgerEntries, EntryCopierImpl.BatchImpl.copyFromAvailable",
    )
    def refill(b: int, x: int, e: int) -> Outcome:
        """The bookie reads an entry that it should have from another, and stores it."""
        works = And(b != x, s.up[b], s.needs_check[b], Not(s.limbo[b]), lacks(b, e))
        rotten = False if s.rotten is None else s.rotten[x].has(e)
        return And(works, is_asked(b, x), s.up[x], is_taken(x, e)), s.stores(b, e, rotten=rotten)

    @p.step(by="b", b=bookie, fair=True, mirrors="DataIntegrityCheckImpl.runFullCheck")
    def end_check(b: int) -> Outcome:
        """The bookie has all that it should have: the flag of the check is cleared."""
        done = all_of(Not(lacks(b, e)) for e in entry)
        return And(s.up[b], s.needs_check[b], Not(s.limbo[b]), done), {s.needs_check[b]: False}


def metadata_read(s: State, b: int) -> Updates:
    """A bookie that boots keeps the metadata in memory."""
    return {} if s.cached is None else {s.cached[b]: s.bookie.where(s.named)}
