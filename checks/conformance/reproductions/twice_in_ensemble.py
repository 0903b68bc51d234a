"""A bookie is twice in an ensemble: auto-recovery replaces one bookie while the command ``recover`` replaces another.

A ledger has copies on b0 and b1. b0 is away, and an operator recovers it, which copies to b2. Before that is done b0 is back
and b1 goes, and auto-recovery copies b1's share, to b2 as well: each of the two looks at the ensemble as it was. Both writes of
the metadata succeed. Then the ledger has one copy, on b2, and nothing finds fault with it.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.bookkeeper_cluster import BookKeeperCluster
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage

ENTRIES = 40
BYTES = 1000
RATE = 1000
"""Bytes a second (``-rate``, ``replicationRateByBytes``): copying takes as long as with larger ledgers, 40 s."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the command ends before b1 goes. Raises ToolchainError, and SessionError if a process fails."""
    cluster = BookKeeperCluster(stage, release)
    client = cluster.client("client")
    b0, b1 = cluster.starts_with(client, {}, {})
    ledger = client.ask({"do": "create", "copies": 2, "quorum": 2})["ledger"]
    for _ in range(ENTRIES):
        client.ask({"do": "add", "bytes": BYTES})
    client.ask({"do": "close"})
    copies = f"ledger {ledger} with two copies: {ENTRIES} entries are acknowledged"
    stage.say(f"starts ZooKeeper, b0 and b1, each a process; {copies}")
    b2 = cluster.bookie()
    b2.start()
    cluster.ready(client)
    b0.kill()
    cluster.registered(client, 2)
    recover = cluster.shell("recover", "recover", "-f", "-rate", str(RATE), b0.address)
    recover.start()
    stage.say("starts b2; kill -9 of b0; an operator calls bookkeeper shell recover b0")
    if control:
        recover.ended()
        stage.say("the command ends")
    b0.start()
    b0.ready()
    cluster.registered(client, 3)
    b1.kill()
    cluster.registered(client, 2)
    recovery = cluster.auto_recovery(replicationRateByBytes=RATE)
    recovery.start()
    if recover.runs() == control:
        raise NotSetUp("the command recover ends before b1 goes" if not control else "the command recover does not end")
    still = "the command is over" if control else "the command still runs"
    stage.say(f"b0 starts again; kill -9 of b1; auto-recovery is started; {still}")
    if not control:
        recover.ended()
        stage.say(f"the command ends: the ledger is on {', '.join(cluster.ensemble(client, ledger))}")
    if not stage.until(lambda: "b1" not in cluster.ensemble(client, ledger), pause=0.5):
        raise NotSetUp(f"auto-recovery does not replace b1 within {SECONDS:g} s")
    final = cluster.ensemble(client, ledger)
    stage.say(f"auto-recovery has replaced b1: the ledger is on {', '.join(final)}")
    recovery.kill()
    b1.start()
    b1.ready()
    cluster.registered(client, 3)
    b2.kill()
    cluster.registered(client, 2)
    read = client.ask({"do": "read", "ledger": ledger})["read"]
    stage.say(f"b1 starts again; kill -9 of b2 alone: a reader gets {read} of {ENTRIES} entries")
    harmed = read < ENTRIES
    return Observation(harmed, {"acknowledged": ENTRIES, "read": read, "bookies": len(set(final))})


TWICE_IN_ENSEMBLE = Reproduction(
    name="twice-in-ensemble",
    harm="a copy: the command recover and auto-recovery leave a ledger with one bookie that counts as two",
    control="the command is over before the second bookie goes",
    system="BookKeeper",
    releases=("4.18.0", "4.17.3", "4.18.2"),
    seconds=210,
    page="docs/findings/bookie-twice-in-an-ensemble.md",
    take=take,
)
