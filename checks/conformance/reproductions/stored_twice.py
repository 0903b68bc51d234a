"""Deduplication stores a message twice: a broker takes a snapshot while a full ledger is being closed, and unloads the topic.

ZooKeeper does not answer for a few seconds, so the ledger that a message has filled is not closed, and the message is not
answered. The timer's snapshot is marked at that message, which deduplication does not have yet. Then an admin unloads the
topic, and it is loaded again from the snapshot. The producer sends its message again. Nothing of the broker is replaced.
"""

from __future__ import annotations

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

ENTRIES = 5
"""Of a ledger; all but the last two are sent before the first snapshot."""

SNAPSHOT_SECONDS, NONE_SECONDS = 60, 5
"""How long a snapshot is waited for, and how long is long enough to see that there is none: the timer comes every second."""

INTERVAL_SECONDS, USUAL_INTERVAL_SECONDS = 1, 120


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control no snapshot is taken while the ledger is being closed. Raises ToolchainError and SessionError."""
    interval = USUAL_INTERVAL_SECONDS if control else INTERVAL_SECONDS
    broker = whole_broker(stage, release, "SnapshotBench")
    broker.ask({"do": "start", "entries": ENTRIES, "interval": interval})
    stage.say(f"starts ZooKeeper, a bookie and a broker, brokerDeduplicationSnapshotIntervalSeconds={interval}")
    last = broker.ask({"do": "send", "messages": ENTRIES - 1})["last"]
    marked = _snapshot(broker, SNAPSHOT_SECONDS, is_due=True)
    stage.say(f"a producer sends {ENTRIES - 1} messages, and each is acknowledged, the last as {last}; {_of(marked)}")
    if broker.ask({"do": "fill"})["acknowledged"]:
        raise NotSetUp("the message that fills the ledger is acknowledged although ZooKeeper does not answer")
    stage.say("ZooKeeper does not answer; one more message fills its ledger, which waits for the close")
    marked = _snapshot(broker, NONE_SECONDS if control else SNAPSHOT_SECONDS, is_due=not control)
    stage.say(_of(marked))
    last = broker.ask({"do": "unload"})["last"]
    stage.say(f"the topic is unloaded, ZooKeeper answers again; the producer's message is acknowledged as {last}")
    broker.ask({"do": "send", "messages": 1})
    answer = broker.ask({"do": "read"})
    figures = {name: value for name, value in answer.items() if isinstance(value, int)}
    stage.say(f"{figures['sent']} messages were sent and acknowledged; a reader gets {figures['read']}")
    for message in answer["positions_of_twice"]:
        stage.say(f"a message is stored twice: {message}")
    return Observation(figures["twice"] > 0, figures)


def _snapshot(broker: Session, seconds: int, *, is_due: bool) -> str:
    """The position at which the broker takes a snapshot, empty if it takes none. Raises NotSetUp if it does not do what it
    should."""
    marked = str(broker.ask({"do": "snapshot", "seconds": seconds})["marked"])
    if bool(marked) != is_due:
        raise NotSetUp(f"the broker takes {'a' if marked else 'no'} snapshot within {seconds} s")
    return marked


def _of(marked: str) -> str:
    return f"the broker takes a snapshot at {marked}" if marked else "the broker takes no snapshot"


STORED_TWICE = Reproduction(
    name="stored-twice",
    harm="deduplication: a message is stored twice, after a snapshot that was taken as its ledger was being closed",
    control="no snapshot is taken as the ledger is being closed (brokerDeduplicationSnapshotIntervalSeconds=120)",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1", "5.0.1"),
    seconds=60,
    page="docs/findings/deduplication-stores-twice.md",
    take=take,
)
