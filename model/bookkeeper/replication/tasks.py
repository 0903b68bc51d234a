"""Who publishes that a ledger lacks copies, who takes the task, and how task and lock go."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.bookkeeper.replication.checker import Checker
from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.language import And, Condition, If, Not, Number, Or, Outcome, Subset, Updates, any_of, how_many, minimum
from fencepost.model.nobody import NOBODY


class Tasks:
    """The steps of the auditor, and of a worker as it takes a task and gives it back."""

    def __init__(self, s: State, checker: Checker, *, expiries: int, daily: bool, weekly: bool) -> None:
        self._s = s
        p = s.protocol

        @p.rule
        def lock_deleted(w: int) -> Updates:
            """A worker deletes its own lock."""
            return {s.lock: If(s.lock == f"w{w}", NOBODY, s.lock)}

        lock_deleted.instead("deletes_lock_of_successor", lambda w: {s.lock: NOBODY})
        self._lock_deleted = lock_deleted
        self._declare_auditor(checker, daily, weekly)
        self._declare_holding(expiries)

    def given_back(self, w: int) -> Updates:
        """The worker has done with the task, and deletes its lock; the command ends."""
        s = self._s
        if w in s.commanded:
            return {**s.forgets_work(w), s.phase[w]: "stopped"}
        return {**s.forgets_work(w), s.phase[w]: "idle", s.seen[w]: 0, **self._lock_deleted(w)}

    def _declare_auditor(self, checker: Checker, daily: bool, weekly: bool) -> None:
        s = self._s
        p, bookie = s.protocol, s.bookie

        @p.rule
        def is_news(b: int) -> bool:
            """A mark is written, and raises the version of the task, also where the task lists the bookie already."""
            return True

        is_news.instead("listed_replica_is_no_news", lambda b: Not(And(s.task, s.missing.has(b))))

        def published(replicas: Subset, marks: Number | int) -> Updates:
            """So many marks, of which the first creates the task if there is none."""
            raised = If(s.task, s.task_version + marks, marks - 1)
            return {
                s.task: Or(s.task, Not(replicas.is_empty)),
                s.missing: s.missing | replicas,
                s.task_version: If(replicas.is_empty, s.task_version, minimum(raised, s.versions)),
            }

        published_by = (
            "AuditorTask.publishSuspectedLedgersAsync, ZkLedgerUnderreplicationManager.markLedgerUnderreplicatedAsync,"
            " ZkLedgerUnderreplicationManager.handleLedgerUnderreplicatedAlreadyMarked"
        )

        def is_away(b: int) -> Condition:
            """The metadata name the bookie, and it is not registered."""
            return And(s.named(b), Not(s.registered(b)))

        def all_published() -> Updates:
            """One audit marks the ledger for each member that is away, whichever has gone last."""
            marks = {b: And(is_away(b), is_news(b)) for b in bookie}
            return published(bookie.where(is_away), how_many(*marks.values()))

        def is_lost(b: int) -> Condition:
            """The auditor knows the bookie, and it is away."""
            return And(Not(s.registered(b)), Not(s.audited[b]))

        def known() -> Updates:
            """The auditor takes who is away off the bookies that it knows, and adds who is up."""
            return {s.audited[b]: Not(s.registered(b)) for b in bookie}

        @p.step(
            by="auditor",
            fair=True,
            mirrors="Auditor.watchBookieChanges, Auditor.submitAuditTask, AuditorBookieCheckTask.startAudit,"
            f" AuditorBookieCheckTask.auditBookies, BookieLedgerIndexer.getBookieToLedgerIndex, {published_by}",
        )
        def audit() -> Outcome:
            """The auditor hears of a change among the bookies. If one is away that it knows, it publishes the ledgers of all
            that are away."""
            lost = any_of(is_lost(b) for b in bookie)
            marks = {target: If(lost, value, target) for target, value in all_published().items()}
            changed = any_of(s.audited[b] == s.registered(b) for b in bookie)
            return And(s.is_enabled(), changed), {**known(), **marks}

        @p.rule
        def after_failure(b: int) -> Condition:
            """The auditor still knows the bookies whose audit has failed: the next attempt finds them."""
            return s.audited[b]

        after_failure.instead("audit_not_repeated", lambda b: Not(s.registered(b)))

        @p.fault(by="auditor", spends="failed_audits", mirrors="Auditor.submitAuditTask, AuditorBookieCheckTask.startAudit")
        def fail_audit() -> Outcome:
            """An audit fails: the metadata of a ledger cannot be read, a mark cannot be written, or the store does not say
            whether replication is enabled."""
            return And(s.is_enabled(), any_of(is_lost(b) for b in bookie)), {s.audited[b]: after_failure(b) for b in bookie}

        @p.step(
            by="auditor",
            fair=True,
            only_if=daily,
            mirrors=f"AuditorBookieCheckTask.runTask, AuditorBookieCheckTask.auditBookies, {published_by}",
        )
        def audit_again() -> Outcome:
            """Once a day the auditor publishes the ledgers of all bookies that are away."""
            unlisted = any_of(And(is_away(b), Not(And(s.task, s.missing.has(b)))) for b in bookie)
            return And(s.is_enabled(), unlisted), all_published()

        self._declare_elections(all_published)

        @p.step(
            by="auditor",
            fair=True,
            mirrors="AuditorCheckAllLedgersTask.runTask, LedgerChecker.checkLedger",
            only_if=weekly
            and (s.opened or s.integrity or s.emptied or s.cut is not None or p.budgets["gaps"] or p.budgets["rots"]),
        )
        def check_all() -> Outcome:
            """Once a week the auditor checks every ledger, and publishes one that lacks copies."""
            finding = any_of(And(s.registered(b), checker.is_bad(b)) for b in bookie)
            return And(s.is_enabled(), Not(s.task), finding), published(bookie.where(checker.is_bad), 1)

    def _declare_elections(self, all_published: Callable[[], Updates]) -> None:
        s = self._s
        p, bookie, starting = s.protocol, s.bookie, s.starting
        if starting is None:
            return

        @p.rule
        def unknown_at_start(b: int) -> Condition | bool:
            """Whether a new auditor does not know the bookie: it knows all that have a cookie, and hears at once who is up."""
            return False

        unknown_at_start.instead("lost_before_the_auditor", lambda b: Not(s.registered(b)))

        @p.fault(by="auditor", spends="elections", mirrors="AuditorElector.submitElectionTask, Auditor.start")
        def replace_auditor() -> Outcome:
            """The auditor dies, and another one starts: it is to check all bookies once."""
            return True, {starting: True, **{s.audited[b]: unknown_at_start(b) for b in bookie}}

        @p.step(by="auditor", fair=True, mirrors="Auditor.scheduleBookieCheckTask, AuditorBookieCheckTask.runTask")
        def check_at_start() -> Outcome:
            """The first check, whatever auditorPeriodicBookieCheckInterval says: the ledgers of all that are away."""
            return And(starting, s.is_enabled()), {starting: False, **all_published()}

        @p.fault(by="auditor", spends="failed_audits", mirrors="AuditorBookieCheckTask.auditBookies")
        def skip_check_at_start() -> Outcome:
            """The store does not say whether replication is enabled: the first check ends, and the auditor goes on."""
            return starting, {starting: False}

    def _declare_holding(self, expiries: int) -> None:
        s = self._s
        p = s.protocol

        @p.step(
            by="w",
            w=s.locking,
            fair=True,
            mirrors="ZkLedgerUnderreplicationManager.getLedgerToRereplicateFromHierarchy,"
            " ZkLedgerUnderreplicationManager.getLedgerToRereplicate",
        )
        def take(w: int) -> Outcome:
            """The worker finds the task, reads its version, and creates the lock, an ephemeral node."""
            free = And(s.phase[w] == "idle", s.task, s.lock == NOBODY, Not(s.zombie[w]), s.is_enabled())
            return free, {s.phase[w]: "checking", s.lock: f"w{w}", s.seen[w]: s.task_version}

        @p.rule
        def is_as_seen(w: int) -> Condition:
            """The worker has its lock, and the task the version that it has seen: nobody has marked the ledger since."""
            return And(s.lock == f"w{w}", s.task_version == s.seen[w])

        is_as_seen.instead("task_deleted_without_lock", lambda w: s.task_version == s.seen[w])
        is_as_seen.instead("task_deleted_blindly", lambda w: True)

        @p.step(by="w", w=s.locking, fair=True, mirrors="ZkLedgerUnderreplicationManager.markLedgerReplicated")
        def mark_replicated(w: int) -> Outcome:
            """The worker deletes the task by its version, and its lock. A task that was created again counts from 0."""
            same = And(s.task, is_as_seen(w))
            gone = {s.task: And(s.task, Not(same)), s.missing: If(same, (), s.missing)}
            counted = {s.task_version: If(same, 0, s.task_version)}
            return s.phase[w] == "clean", {**gone, **counted, **self.given_back(w)}

        @p.step(
            by="w",
            w=s.locking,
            fair=True,
            mirrors="ReplicationWorker.deferLedgerLockReleaseOfFailedLedger,"
            " ZkLedgerUnderreplicationManager.releaseUnderreplicatedLedger",
        )
        def give_up(w: int) -> Outcome:
            """After 9 to 300 seconds the worker releases the lock of a ledger that is not whole; the task stays."""
            return s.phase[w] == "failed", self.given_back(w)

        @p.fault(by="w", spends="expiries", w=s.locking)
        def expire(w: int) -> Outcome:
            """The worker's session expires, and its lock goes. Its client has a new session, and the worker goes on."""
            return And(s.phase[w] != "idle", Not(s.zombie[w])), {
                s.zombie[w]: True,
                s.lock: If(s.lock == f"w{w}", NOBODY, s.lock),
            }

        @p.step(
            by="w",
            w=s.locking,
            fair=True,
            only_if=expiries,
            mirrors="AutoRecoveryMain.shutdown, ReplicationWorker.shutdown, ZkLedgerUnderreplicationManager.close",
        )
        def shut_down(w: int) -> Outcome:
            """The daemon hears of the expiry and shuts down: it deletes the lock that it takes for its own. It is started
            again."""
            held = s.phase[w] != "idle"
            release = {target: If(held, value, target) for target, value in self._lock_deleted(w).items()}
            return s.zombie[w], {**self.given_back(w), **release, s.zombie[w]: False}
