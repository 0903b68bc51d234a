"""What an operator does: recover, decommission, and the switch of auto-recovery."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.bookkeeper.replication.workers import can_recover
from fencepost.model.language import And, Not, Outcome, Truth, all_of

DISABLE = ("no", "switch", "wait")


def declare_commands(s: State) -> None:
    """The commands ``recover``, ``decommissionbookie`` and ``autorecovery -disable``.

    Of ``disable``, ``switch`` disables auto-recovery before ``recover``, and ``wait`` also waits for tasks that are under way.
    """
    p, bookie = s.protocol, s.bookie

    def may_begin() -> Truth:
        if s.switch is None:
            return True
        return And(s.switch == "disabled", Not(s.any_works()) if s.disable == "wait" else True)

    @p.step(
        by="w",
        w=s.commanded,
        b=bookie,
        only_if=len(s.commanded),
        mirrors="BookKeeperAdmin.recoverLedger, BookKeeperAdmin.recoverBookieData",
    )
    def recover(w: int, b: int) -> Outcome:
        """The ledger of a bookie is recovered: no lock is taken, and no task looked at. An open ledger is closed before."""
        ready = And(s.phase[w] == "idle", s.named(b), may_begin(), can_recover(s) if s.opened else True)
        return ready, s.closes(), s.begins(w, bookie.where(lambda x: x == b))

    @p.step(by="operator", only_if=s.disable != "no", mirrors="ZkLedgerUnderreplicationManager.disableLedgerReplication")
    def disable() -> Outcome:
        """Auto-recovery is disabled: no task is published or taken any more."""
        return s.switch == "on", {s.switch: "disabled"}

    @p.step(
        by="operator", fair=True, only_if=s.disable != "no", mirrors="ZkLedgerUnderreplicationManager.enableLedgerReplication"
    )
    def enable() -> Outcome:
        """Auto-recovery is enabled again, once no command is under way."""
        return And(s.switch == "disabled", all_of(s.phase[w].among("idle", "stopped") for w in s.commanded)), {
            s.switch: "enabled"
        }

    @p.step(
        by="operator",
        b=bookie,
        spends="decommissions",
        mirrors="BookKeeperAdmin.decommissionBookie, BookKeeperAdmin.triggerAudit,"
        " Auditor.submitLostBookieRecoveryDelayChangedEvent",
    )
    def decommission(b: int) -> Outcome:
        """The command refuses a bookie that is up, has an audit begun, whatever was audited before, and waits."""
        begun = {s.decommissions: s.decommissions.plus(b), s.audited[b]: False}
        return And(Not(s.up[b]), s.named(b), Not(s.decommissions.has(b))), begun

    @p.step(
        by="operator",
        b=bookie,
        fair=True,
        only_if=p.budgets["decommissions"],
        mirrors="BookKeeperAdmin.waitForLedgersToBeReplicated",
    )
    def find_decommissioned(b: int) -> Outcome:
        """No metadata name the bookie: the command ends."""
        return And(s.decommissions.has(b), Not(s.named(b))), {s.decommissions: s.decommissions.minus(b)}
