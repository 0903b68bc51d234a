"""Who publishes that a ledger lacks copies, who takes the task, and how task and lock go."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication.checker import Checker
from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.language import And, Condition, If, Not, Outcome, Subset, Truth, Updates, any_of, minimum
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

        is_news.instead("listed_replica_is_no_news", lambda b: Not(s.missing.has(b)))

        def published(replicas: Subset, news: Truth) -> Updates:
            raised = If(And(s.task, news), minimum(s.task_version + 1, s.versions), s.task_version)
            return {s.task: True, s.missing: s.missing | replicas, s.task_version: raised}

        published_by = (
            "AuditorTask.publishSuspectedLedgersAsync, ZkLedgerUnderreplicationManager.markLedgerUnderreplicatedAsync,"
            " ZkLedgerUnderreplicationManager.handleLedgerUnderreplicatedAlreadyMarked"
        )

        def published_if_named(b: int) -> Updates:
            marks = published(bookie.where(lambda x: x == b), is_news(b))
            return {target: If(s.named(b), value, target) for target, value in marks.items()}

        @p.step(
            by="auditor",
            b=bookie,
            fair=True,
            mirrors=f"AuditorBookieCheckTask.auditBookies, Auditor.submitAuditTask, {published_by}",
        )
        def audit(b: int) -> Outcome:
            """The auditor finds that a bookie is away, and publishes the ledgers that name it then: once for each absence."""
            return And(s.is_enabled(), Not(s.up[b]), Not(s.audited[b])), {s.audited[b]: True, **published_if_named(b)}

        @p.step(
            by="auditor",
            b=bookie,
            fair=True,
            only_if=daily,
            mirrors=f"AuditorBookieCheckTask.runTask, AuditorBookieCheckTask.auditBookies, {published_by}",
        )
        def audit_again(b: int) -> Outcome:
            """Once a day the auditor publishes the ledgers of all bookies that are away."""
            listed = And(s.task, s.missing.has(b))
            return And(s.is_enabled(), Not(s.up[b]), s.named(b), Not(listed)), published_if_named(b)

        @p.step(
            by="auditor",
            fair=True,
            mirrors="AuditorCheckAllLedgersTask.runTask, LedgerChecker.checkLedger",
            only_if=weekly and (s.opened or s.integrity or s.emptied or p.budgets["gaps"] or p.budgets["rots"]),
        )
        def check_all() -> Outcome:
            """Once a week the auditor checks every ledger, and publishes one that lacks copies."""
            finding = any_of(And(s.up[b], checker.is_bad(b)) for b in bookie)
            return And(s.is_enabled(), Not(s.task), finding), published(bookie.where(checker.is_bad), True)

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
