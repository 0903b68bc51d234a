"""What a worker does with a ledger: it checks, chooses new bookies, copies, and has the metadata name them."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication.checker import Checker
from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.bookkeeper.replication.tasks import Tasks
from fencepost.model.language import And, Choice, Condition, If, Implies, Not, Or, Outcome, Updates, all_of, any_of, at_least


def declare_workers(s: State, checker: Checker, tasks: Tasks) -> None:
    """The steps of workers; those of a replacement are also those of the command ``recover``."""
    _declare_checks(s, checker, tasks)
    _declare_replacement(s)


def _declare_checks(s: State, checker: Checker, tasks: Tasks) -> None:
    p = s.protocol

    @p.rule
    def is_closed() -> Condition:
        """Nobody will add to the fragment any more (LedgerFragment.isClosed)."""
        return s.status == "closed"

    is_closed.instead("open_fragment_replicated", lambda: True)

    @p.step(by="w", w=s.locking, fair=True, mirrors="LedgerChecker.checkLedger, ReplicationWorker.getUnderreplicatedFragments")
    def find_whole(w: int) -> Outcome:
        """Every member answers for the entries that it should have."""
        return And(s.phase[w].among("checking", "checking_again"), checker.finds_nothing()), {s.phase[w]: "clean"}

    @p.step(by="w", w=s.locking, fair=True, mirrors="LedgerChecker.checkLedger, ReplicationWorker.rereplicate")
    def find_bad(w: int) -> Outcome:
        """A member does not answer, or lacks an entry. An open fragment is left for the grace period."""
        begun = s.begins(w, s.bookie.where(checker.is_bad))
        waits = {s.phase[w]: "grace"}
        updates = {target: If(is_closed(), value, waits.get(target, target)) for target, value in begun.items()}
        return And(s.phase[w] == "checking", Not(checker.finds_nothing())), updates

    @p.step(by="w", w=s.locking, fair=True, mirrors="ReplicationWorker.rereplicate")
    def find_bad_again(w: int) -> Outcome:
        """The check after the replacements finds a bad place: the ledger has failed for this time."""
        return And(s.phase[w] == "checking_again", Not(checker.finds_nothing())), {s.phase[w]: "failed"}

    @p.step(by="w", w=s.locking, fair=True, only_if=s.opened, mirrors="ReplicationWorker.deferLedgerLockRelease")
    def recover_after_grace(w: int) -> Outcome:
        """After 30 seconds a ledger that is still open and has a bad place is opened with recovery, which closes it."""
        stays = Or(checker.finds_nothing(), Not(can_recover(s)))
        return s.phase[w] == "grace", s.closes(Not(stays)), tasks.given_back(w)


def can_recover(s: State) -> Condition:
    """A recovery of the ledger can end: it reads every entry."""
    return all_of(Implies(s.confirmed.has(e), s.readable(e)) for e in s.entry)


def _declare_replacement(s: State) -> None:
    p, bookie, entry = s.protocol, s.bookie, s.entry

    def is_choice(w: int, n: int) -> Condition:
        """The bookie is registered, was not in the ensemble at the check, and is not chosen yet."""
        return And(s.registered(n), Not(s.excluded[w].has(n)), Not(s.is_target(w, n)))

    @p.step(
        by="w",
        w=s.worker,
        o=bookie,
        n=bookie,
        fair=True,
        mirrors="BookKeeperAdmin.getReplacementBookiesByIndexes, EnsemblePlacementPolicy.replaceBookie",
    )
    def choose(w: int, o: int, n: int) -> Outcome:
        """A bookie is chosen for one that is bad."""
        due = And(s.phase[w] == "choosing", s.bad[w].has(o), s.moves[w, o] == "none")
        return And(o != n, due, is_choice(w, n)), {s.moves[w, o]: n}

    @p.rule
    def takes_copies(b: int) -> Condition:
        """The bookie stores what is added to it past a fence: BookieImpl.recoveryAddEntry."""
        return s.reached(b)

    if s.refuses is not None:
        takes_copies.instead("collected_is_refused", lambda b: And(s.up[b], Not(s.refuses[b])))

    @p.step(
        by="w",
        w=s.worker,
        e=entry,
        fair=True,
        mirrors="LedgerFragmentReplicator.recoverLedgerFragmentEntry, LedgerFragmentReplicator.replicateFragmentInternal",
    )
    def copy(w: int, e: int) -> Outcome:
        """An entry is read from any member and added to each new bookie, past a fence; all acknowledge it."""
        due = And(s.phase[w] == "choosing", s.all_chosen(w), s.fragment(w).has(e), Not(s.copied[w].has(e)))
        answer = all_of(Implies(s.is_target(w, b), takes_copies(b)) for b in bookie)
        added = s.added_where(lambda b: s.is_target(w, b), e)
        return And(due, s.readable(e), answer), {s.copied[w]: s.copied[w].plus(e), **added}

    @p.rule
    def is_copied(w: int) -> Condition:
        """Every entry of the fragment is copied."""
        return (s.fragment(w) & ~s.copied[w]).is_empty

    @p.rule
    def is_new(w: int) -> Condition:
        """None of the new bookies is in the ensemble, as it is now."""
        return all_of(Implies(s.is_target(w, b), Not(s.named(b))) for b in bookie)

    @p.rule
    def is_there(w: int) -> Condition:
        """Each new bookie is up, and has what it has acknowledged."""
        has_its_copies = {b: all_of(Implies(s.copied[w].has(e), s.has_good(b, e)) for e in entry) for b in bookie}
        return all_of(Implies(s.is_target(w, b), And(s.registered(b), s.reached(b), has_its_copies[b])) for b in bookie)

    is_copied.instead("replaced_before_copy", lambda w: True)
    is_new.instead("target_is_a_member", lambda w: True)
    is_there.instead("target_not_asked_again", lambda w: True)

    def done(w: int) -> Updates:
        """The worker checks again; the command ends."""
        return {**s.forgets_work(w), s.phase[w]: "checking_again" if w in s.locking else "stopped"}

    @p.step(
        by="w",
        w=s.worker,
        fair=True,
        mirrors="LedgerFragmentReplicator.updateEnsembleInfo, MetadataUpdateLoop.writeLoop,"
        " LedgerFragmentReplicator.SingleFragmentCallback.processResult",
    )
    def replace(w: int) -> Outcome:
        """By compare-and-set each old bookie becomes its new one where it still is, whoever has the lock."""

        def after(i: int) -> Choice[int]:
            value: Choice[int] = s.member[i]
            for o in bookie:
                for n in (n for n in bookie if n != o):
                    value = If(And(s.member[i] == o, s.moves[w, o] == n), n, value)
            return value

        ready = And(s.phase[w] == "choosing", s.all_chosen(w), is_copied(w), is_new(w), is_there(w))
        return ready, {**{s.member[i]: after(i) for i in s.place}, **done(w)}

    @p.step(
        by="w",
        w=s.worker,
        fair=True,
        mirrors="ReplicationWorker.rereplicate, ReplicationWorker.tryReadingFaultyEntries, BookKeeperAdmin.recoverLedger",
    )
    def fail(w: int) -> Outcome:
        """There is no bookie to choose, a new one does not answer or is a member by now, or nobody can read an entry."""
        nobody_left = And(Not(s.all_chosen(w)), Not(at_least(1, (is_choice(w, n) for n in bookie))))
        silent = And(Not(is_copied(w)), any_of(And(s.is_target(w, b), Not(takes_copies(b))) for b in bookie))
        unreadable = any_of(And(s.fragment(w).has(e), Not(s.copied[w].has(e)), Not(s.readable(e))) for e in entry)
        refused = Or(Not(is_new(w)), Not(is_there(w)))
        return And(s.phase[w] == "choosing", Or(nobody_left, silent, unreadable, refused)), done(w)
