"""An update of the list of ledgers that is slow, not failed, loses acknowledged messages: a whole broker over a slow ZooKeeper.

A full ledger is closed and the next one is created. ZooKeeper does not answer the update that lists it for more than twice
managedLedgerMetadataOperationsTimeoutSeconds. The next write then declares the creation failed, although its update is still
under way, and the producer's next attempt begins a second creation. The update is carried out after all: the first ledger takes
the message. The second creation makes its own ledger current, and nobody closes the first one, which stays at 0 entries in the
list. The topic's next load removes it, as it removes all that are empty. Nothing of the broker is held or replaced: only its
requests to ZooKeeper wait, as in a network that is congested or at a server that is stalled.
"""

from __future__ import annotations

import time

from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

ENTRIES = 2
"""Of a ledger."""

TIMEOUT_SECONDS, USUAL_SECONDS = 5, 60
"""managedLedgerMetadataOperationsTimeoutSeconds: a short one so that it is soon over, and the default."""

SECOND_SECONDS = 30
"""How long a second creation is waited for: the producer is connected again by then."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; the control has the default time-out. Raises ToolchainError and SessionError."""
    broker = whole_broker(stage, release, "ListingBench")
    timeout = USUAL_SECONDS if control else TIMEOUT_SECONDS
    broker.ask({"do": "start", "entries": ENTRIES, "timeout": timeout})
    stage.say(f"starts ZooKeeper, a bookie and a broker, managedLedgerMetadataOperationsTimeoutSeconds={timeout}")
    acknowledged = [broker.ask({"do": "send"})["id"], broker.ask({"do": "fill"})["id"]]
    stage.say(f"m0 and m1 are acknowledged, {' and '.join(acknowledged)}: the ledger is full, and the next one is created")
    slow = 2 * TIMEOUT_SECONDS + 1
    time.sleep(slow)
    stage.say(f"for {slow} s ZooKeeper does not answer the update that lists it")
    second = broker.ask({"do": "late", "seconds": 2 if control else SECOND_SECONDS})["second_creation"]
    stage.say(f"the producer sends m2: {'the broker begins a second creation' if second else 'it waits for the creation'}")
    acknowledged.append(broker.ask({"do": "release"})["id"])
    stage.say(f"ZooKeeper answers again; m2 is acknowledged, {acknowledged[-1]}")
    ledgers = 3 if second else 2
    if not broker.ask({"do": "settled", "ledgers": ledgers})["done"]:
        raise NotSetUp(f"the topic does not come to have {ledgers} ledgers")
    acknowledged.append(broker.ask({"do": "send"})["id"])
    listed = ", ".join(f"ledger {ledger} with {entries}" for ledger, entries in broker.ask({"do": "list"})["entries"].items())
    stage.say(f"m3 is acknowledged, {acknowledged[-1]}; the list has {listed} entries")
    broker.ask({"do": "unload"})
    read = broker.ask({"do": "read"})["messages"]
    stage.say(f"the topic is unloaded and loaded again; a reader gets {', '.join(read)}")
    lost = [f"m{number}, {position}" for number, position in enumerate(acknowledged) if f"m{number}" not in read]
    stage.say(f"acknowledged and not readable: {'; '.join(lost) or 'nothing'}")
    return Observation(bool(lost), {"acknowledged": len(acknowledged), "read": len(read), "lost": len(lost)})


SLOW_LISTING = Reproduction(
    name="slow-listing",
    harm="an acknowledged message: an update of the list of ledgers is slow, and a second creation begins beside the first",
    control="managedLedgerMetadataOperationsTimeoutSeconds=60, the default: the update takes less than twice that",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1", "5.0.1"),
    seconds=90,
    page="docs/findings/slow-listing.md",
    take=take,
)
