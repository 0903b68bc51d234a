"""A bookie deletes the copies that have come back to it: a collected ledger is deleted from the index once it is there again.

A ledger has copies on b0 and b1. b0 is stopped, an operator recovers it to b2, and b0 starts again: it collects its copy, which
no metadata name. That deletes the ledger in memory; in the index of entries it waits for the next checkpoint. b2 goes before
that, and the operator recovers it to b0. b0 acknowledges the entries, its next checkpoint writes them to the index, and then
deletes the whole ledger there. The metadata name b0, which has nothing.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.bookkeeper_cluster import Bookie, BookKeeperCluster
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage

ENTRIES = 10
BYTES = 1000
LOOK_MILLISECONDS = 1000
"""``gcWaitTime``: how often a bookie looks for ledgers that were deleted."""
COLLECT_MILLISECONDS = 40_000
"""``gcOverreplicatedLedgerWaitTime``: how often it looks for ledgers whose metadata do not name it, a day by default."""
FLUSH_MILLISECONDS = 110_000
"""``flushInterval``, a minute by default: the copies come back between the second and the third look, and before this."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control b0 is restarted before the copies come back. Raises ToolchainError, and SessionError if a process
    fails."""
    cluster = BookKeeperCluster(stage, release)
    client = cluster.client("client")
    soon = {
        "flushInterval": FLUSH_MILLISECONDS,
        "gcWaitTime": LOOK_MILLISECONDS,
        "gcOverreplicatedLedgerWaitTime": COLLECT_MILLISECONDS,
    }
    b0, b1 = cluster.starts_with(client, soon, {})
    ledger = client.ask({"do": "create", "copies": 2, "quorum": 2})["ledger"]
    for _ in range(ENTRIES):
        client.ask({"do": "add", "bytes": BYTES})
    client.ask({"do": "close"})
    stage.say(f"starts ZooKeeper, b0 and b1, each a process; ledger {ledger} has {ENTRIES} entries on both")
    b2 = cluster.bookie()
    b2.start()
    cluster.ready(client)

    def ensemble() -> str:
        return ", ".join(cluster.ensemble(client, ledger))

    def recovers(name: str, lost: Bookie) -> None:
        shell = cluster.shell(f"recover-{name}", "recover", "-f", lost.address)
        shell.start()
        shell.ended()

    b0.stop()
    cluster.registered(client, 2)
    recovers("b0", b0)
    stage.say(f"b0 is stopped; an operator starts b2 and calls bookkeeper shell recover b0: the ledger is on {ensemble()}")
    b0.start()
    cluster.ready(client)
    if not stage.until(lambda: b0.logged() < ENTRIES * BYTES, pause=0.1):
        raise NotSetUp(f"b0 has not collected the ledger within {SECONDS:g} s")
    stage.say("b0 starts again, and collects its copy, which no metadata name")
    if control:
        b0.stop()
        cluster.registered(client, 2)
        b0.start()
        cluster.ready(client)
        stage.say("b0 is stopped, which writes all that it has in memory, and starts again")
    mark = b0.mark()
    b2.kill()
    cluster.registered(client, 2)
    recovers("b2", b2)
    if b0.mark() != mark:
        raise NotSetUp("a checkpoint of b0 comes before the copies are back")
    stage.say(f"kill -9 of b2; recover b2: the ledger is on {ensemble()}")
    if not stage.until(lambda: b0.mark() != mark):
        raise NotSetUp(f"b0 has no checkpoint within {SECONDS:g} s")
    stage.say("b0 has a checkpoint")
    b1.kill()
    cluster.registered(client, 1)
    b0.stop()
    b0.start()
    b0.ready()
    cluster.registered(client, 1)
    read = client.ask({"do": "read", "ledger": ledger})["read"]
    stage.say(f"kill -9 of b1 alone; b0 is restarted: a reader gets {read} of {ENTRIES} entries")
    return Observation(read < ENTRIES, {"acknowledged": ENTRIES, "read": read, "ensemble": ensemble()})


RETURNED_COPIES = Reproduction(
    name="returned-copies",
    harm="copies: a bookie deletes those that have come back to it with those that it had collected",
    control="the bookie is restarted before the copies come back",
    system="BookKeeper",
    releases=("4.18.2", "4.17.3"),
    seconds=600,
    page="docs/findings/returned-copies.md",
    take=take,
)
