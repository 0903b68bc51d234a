"""An audit that fails is over: the ledgers of a lost bookie stay without a copy.

A ledger has copies on b0 and b1, and auto-recovery runs. The metadata of another ledger cannot be read for a moment, and b0 is
killed then. The auditor's audit fails, and nothing repeats it though the metadata can be read again: b2 gets no copy. The next
check of all bookies comes after auditorPeriodicBookieCheckInterval, a day. The command ``triggeraudit`` shows that this was all
that was missing.
"""

from __future__ import annotations

import time

from fencepost.checks.conformance.reproductions.bookkeeper_cluster import BookKeeperCluster
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage

ENTRIES = 10
BYTES = 1000
MOMENT = 10.0
"""For how many seconds the metadata of another ledger cannot be read after b0 has gone: the auditor hears of it at once."""
PATIENCE = 45.0
"""For how many seconds somebody waits for auto-recovery. It takes less than ten where the audit does not fail."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control all metadata can be read. Raises ToolchainError, and SessionError if a process fails."""
    cluster = BookKeeperCluster(stage, release)
    client = cluster.client("client")
    b0, _ = cluster.starts_with(client, {}, {})
    other, ledger = (client.ask({"do": "create", "copies": 2, "quorum": 2})["ledger"] for _ in range(2))
    for _ in range(ENTRIES):
        client.ask({"do": "add", "bytes": BYTES})
    client.ask({"do": "close"})
    cluster.bookie().start()
    cluster.ready(client)
    recovery = cluster.auto_recovery()
    recovery.start()
    if not stage.until(lambda: bool(client.ask({"do": "audited"})["audited"]), pause=0.5):
        raise NotSetUp(f"the auditor has made no check within {SECONDS:g} s")
    stage.say(f"starts ZooKeeper, three bookies and auto-recovery; ledger {ledger} has {ENTRIES} entries on b0 and b1")
    if not control:
        client.ask({"do": "spoil", "ledger": other})
        stage.say(f"the metadata of ledger {other} cannot be read")
    b0.kill()
    cluster.registered(client, 2)
    stage.say("kill -9 of b0; its registration is gone")
    if not control:
        time.sleep(MOMENT)
        client.ask({"do": "mend", "ledger": other})
        stage.say(f"{MOMENT:g} s later the metadata of ledger {other} can be read again")
    whole = stage.until(lambda: "b0" not in cluster.ensemble(client, ledger), seconds=PATIENCE, pause=0.5)
    within = cluster.ensemble(client, ledger)
    stage.say(f"the ledger is on {', '.join(within)}" + ("" if whole else f" {PATIENCE:g} s later"))
    if not recovery.runs():
        raise NotSetUp("auto-recovery has ended")
    after = within
    if not whole:
        shell = cluster.shell("triggeraudit", "triggeraudit")
        shell.start()
        shell.ended()
        stage.until(lambda: "b0" not in cluster.ensemble(client, ledger), seconds=PATIENCE, pause=0.5)
        after = cluster.ensemble(client, ledger)
        stage.say(f"an operator calls bookkeeper shell triggeraudit: the ledger is on {', '.join(after)}")
    return Observation(not whole, {"within_45_s": ", ".join(within), "after_triggeraudit": ", ".join(after)})


FAILED_AUDIT = Reproduction(
    name="failed-audit",
    harm="a copy: an audit that fails is over, and auto-recovery leaves a ledger without a copy for a day",
    control="the metadata of every ledger can be read all the time",
    system="BookKeeper",
    releases=("4.18.0", "4.17.3", "4.18.2"),
    seconds=150,
    page="docs/findings/failed-audit.md",
    take=take,
)
