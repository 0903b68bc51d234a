"""A confirmed entry is lost, with processes: three bookies and ZooKeeper on the loopback interface, and ``kill -9``.

An old writer holds a ledger without an entry. A recovery fences it at the bookies and closes it. All bookies are killed and
started again; they have forgotten the fence, because none of them had ever seen the ledger, and the journal's record of a
fence has no master key. The old writer adds an entry, which is confirmed, and the ledger ends before it.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.bookkeeper_cluster import BookKeeperCluster
from fencepost.checks.conformance.reproductions.reproduction import Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage

BOOKIES = 3


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the bookies know the ledger. Raises ToolchainError, and SessionError if a process fails."""
    cluster = BookKeeperCluster(stage, release)
    writer, reader = cluster.client("writer"), cluster.client("reader")
    writer.ask({"do": "format"})
    for _ in range(BOOKIES):
        cluster.bookie().start()
    cluster.ready(writer)
    stage.say("starts ZooKeeper and three bookies, each a process")
    ledger = writer.ask({"do": "create"})["ledger"]
    if control:
        stage.say(f"the old writer creates ledger {ledger}; e{writer.ask({'do': 'add'})['confirmed']} is acknowledged")
    else:
        stage.say(f"the old writer creates ledger {ledger} and adds nothing")
    stage.say(f"a recovery fences ledger {ledger} and closes it at {reader.ask({'do': 'recover', 'ledger': ledger})['last']}")
    for bookie in cluster.bookies:
        bookie.kill()
    cluster.registered(writer, 0)
    for bookie in cluster.bookies:
        bookie.start()
    cluster.ready(writer)
    stage.say("kill -9 of the three bookies; they start again")
    answer = writer.ask({"do": "add"})
    confirmed: int | None = answer.get("confirmed")
    refusal = answer.get("refused", "")
    outcome = f"refused: {refusal}" if confirmed is None else f"e{confirmed} is acknowledged"
    stage.say(f"the old writer adds an entry: {outcome}")
    last = reader.ask({"do": "recover", "ledger": ledger})["last"]
    stage.say(f"a reader opens ledger {ledger}: it is closed at {last}")
    harmed = confirmed is not None and confirmed > last
    stage.say(f"acknowledged and not readable: {f'e{confirmed} of ledger {ledger}' if harmed else 'nothing'}")
    return Observation(harmed, {"confirmed": confirmed, "refusal": refusal, "last": last})


FENCE_FORGOTTEN = Reproduction(
    name="fence-forgotten",
    harm="an acknowledged entry: bookies forget the fence of a ledger that they had never seen",
    control="the old writer adds an entry before the recovery, so the bookies know the ledger",
    system="BookKeeper",
    releases=("4.18.0", "4.17.3", "4.18.2"),
    seconds=90,
    page="docs/findings/ledger/fence-of-an-unknown-ledger-is-forgotten.md",
    take=take,
)
