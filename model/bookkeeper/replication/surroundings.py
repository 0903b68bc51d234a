"""What auto-recovery works on: the writer of the ledger, as a stand-in, and bookies that go and come back."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication.integrity import metadata_read
from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.language import And, Condition, If, Not, Outcome, Updates, any_of, at_least


def declare_surroundings(s: State, *, ack_quorum: int) -> None:
    """The steps of the stand-in of the writer, and the faults of bookies."""
    p, bookie, entry = s.protocol, s.bookie, s.entry

    def takes(b: int) -> Condition:
        return And(s.named(b), s.reached(b))

    @p.step(by="writer", e=entry, only_if=s.opened, mirrors="LedgerHandle.asyncAddEntry")
    def write(e: int) -> Outcome:
        """The writer adds an entry at every member that is up; a member in limbo is fenced, and fails it."""
        fenced = any_of(And(takes(b), s.limbo[b]) for b in bookie) if s.integrity else False
        enough = at_least(ack_quorum, (takes(b) for b in bookie))
        added = s.added_where(takes, e)
        return And(enough, Not(fenced)), s.ledger.confirm(e), added

    @p.step(by="writer", only_if=s.opened, mirrors="LedgerHandle.doAsyncCloseInternal")
    def close() -> Outcome:
        """The writer closes the ledger."""
        return s.ledger.end(0)

    @p.rule
    def audited_before(b: int) -> Condition | bool:
        """Whether the auditor takes the absence that begins for one that it has audited: it has heard of the return before."""
        return False

    audited_before.instead("return_unseen", lambda b: s.audited[b])

    cut = s.cut

    def uncut(b: int) -> Updates:
        """A process that ends is cut off from nothing."""
        return {} if cut is None else {cut[b]: "no"}

    def after_going(b: int) -> Condition | bool:
        """Whether a bookie that goes counts as audited: one that the store did not know has gone before."""
        return audited_before(b) if cut is None else If(cut[b] == "store", s.audited[b], audited_before(b))

    @p.fault(by="b", spends="crashes", b=bookie)
    def crash(b: int) -> Outcome:
        """The bookie goes away, with its data."""
        return s.up[b], {s.up[b]: False, s.audited[b]: after_going(b), **uncut(b), **s.process_gone(b)}

    @p.step(by="b", b=bookie, mirrors="BookieImpl.start", only_if=p.budgets["crashes"])
    def restart(b: int) -> Outcome:
        """The bookie is back."""
        return And(Not(s.up[b]), Not(s.gone[b])), {s.up[b]: True, **metadata_read(s, b)}

    @p.fault(by="b", spends="losses", b=bookie)
    def lose_disk(b: int) -> Outcome:
        """The bookie's disk is lost with it. Without its cookie it does not start."""
        limbo = {s.limbo[b]: False, s.needs_check[b]: False} if s.integrity else {}
        lost = {s.up[b]: False, s.gone[b]: True, s.audited[b]: after_going(b), **s.forgets_all(b), **limbo}
        return And(Not(s.gone[b]), s.up[b]), {**lost, **uncut(b), **s.process_gone(b)}

    @p.step(
        by="operator",
        b=bookie,
        fair=True,
        only_if=s.emptied,
        mirrors="LegacyCookieValidation.checkCookies, LegacyCookieValidation.stampNewCookie,"
        " DataIntegrityCookieValidation.checkCookies",
    )
    def start_empty(b: int) -> Outcome:
        """An operator has deleted the cookie of a bookie whose disk was lost: it starts under its name, as a new one."""
        return s.gone[b], {s.gone[b]: False, s.up[b]: True, **metadata_read(s, b)}

    if cut is not None:

        @p.fault(by="b", spends="cuts", b=bookie, mirrors="ZKRegistrationManager.registerBookie")
        def lose_store(b: int) -> Outcome:
            """The bookie is cut off from the metadata store, and its registration goes; clients still reach it."""
            return And(s.up[b], cut[b] == "no"), {cut[b]: "store", s.audited[b]: audited_before(b)}

        @p.fault(by="b", spends="cuts", b=bookie)
        def lose_clients(b: int) -> Outcome:
            """The bookie is cut off from clients, auto-recovery among them; its registration stays."""
            return And(s.up[b], cut[b] == "no"), {cut[b]: "clients"}

        @p.step(by="b", b=bookie, mirrors="ZKRegistrationManager.registerBookie")
        def end_cut(b: int) -> Outcome:
            """The bookie is reached again, or registers again."""
            return And(s.up[b], cut[b] != "no"), {cut[b]: "no"}

    @p.fault(by="b", spends="gaps", b=bookie, e=entry)
    def lose_entry(b: int, e: int) -> Outcome:
        """A bookie loses an entry, and does not know."""
        rotten = {} if s.rotten is None else {s.rotten[b]: s.rotten[b].minus(e)}
        return s.stored[b].has(e), {s.stored[b]: s.stored[b].minus(e), **rotten}

    @p.fault(by="b", spends="rots", b=bookie, e=entry)
    def rot(b: int, e: int) -> Outcome:
        """A copy goes bad: its digest is wrong."""
        return s.has_good(b, e), {s.rotten[b]: s.rotten[b].plus(e)}
