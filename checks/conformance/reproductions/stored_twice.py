"""Deduplication stores a message twice: a broker takes a snapshot while a full ledger is being closed, and unloads the topic.

ZooKeeper does not answer for a few seconds, so the ledger that a message has filled is not closed, and the message is not
answered. The timer's snapshot is marked at that message, which deduplication does not have yet. Then an admin unloads the
topic, and it is loaded again from the snapshot. The producer sends its message again. Nothing of the broker is replaced.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.reproduction import Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

ENTRIES = 5
"""Of a ledger; all but the last two are sent before the first snapshot."""

INTERVAL_SECONDS, USUAL_INTERVAL_SECONDS = 1, 120


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control no snapshot is taken while the ledger is being closed. Raises ToolchainError and SessionError."""
    interval = USUAL_INTERVAL_SECONDS if control else INTERVAL_SECONDS
    broker = whole_broker(stage, release, "SnapshotBench")
    broker.ask({"do": "start", "entries": ENTRIES, "interval": interval})
    stage.say(f"starts ZooKeeper, a bookie and a broker, brokerDeduplicationSnapshotIntervalSeconds={interval}")
    broker.ask({"do": "send", "messages": ENTRIES - 1})
    broker.ask({"do": "snapshot"})
    stage.say(f"a producer sends {ENTRIES - 1} messages; each is acknowledged, and the broker takes a snapshot")
    broker.ask({"do": "fill"})
    stage.say("ZooKeeper does not answer; one more message fills its ledger, which waits for the close")
    marked = broker.ask({"do": "snapshot"})["at_last_entry"]
    stage.say(f"the broker takes {'a' if marked else 'no'} snapshot")
    broker.ask({"do": "unload"})
    stage.say("the topic is unloaded, ZooKeeper answers again; the producer connects, and its message is acknowledged")
    broker.ask({"do": "send", "messages": 1})
    figures = {name: value for name, value in broker.ask({"do": "read"}).items() if isinstance(value, int)}
    stage.say(f"{figures['sent']} messages were sent and acknowledged; a reader gets {figures['read']}")
    return Observation(figures["twice"] > 0, figures)


STORED_TWICE = Reproduction(
    name="stored-twice",
    harm="deduplication: a message is stored twice, after a snapshot that was taken as its ledger was being closed",
    control="no snapshot is taken as the ledger is being closed (brokerDeduplicationSnapshotIntervalSeconds=120)",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1"),
    seconds=60,
    page="docs/findings/deduplication-stores-twice.md",
    take=take,
    bug="snapshot_ahead",
)
