"""Deduplication acknowledges messages that were never stored, on a whole broker whose ZooKeeper session expires.

Producers send without a pause to topics whose ledgers are small. ZooKeeper's server ends the broker's session, as it does when
it hears nothing of the broker for too long, and the broker connects again. Meanwhile a new ledger cannot be created, so pending
messages fail and producers are disconnected. Nothing of the broker is held, delayed or replaced.
"""

from __future__ import annotations

import time

from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

TOPICS = 4
ENTRIES = 100
"""Of a ledger: with few of them one is being created whenever a session expires."""

EXPIRIES = 8
PAUSE_SECONDS = 0.7
ROUNDS = 4
"""It is a race: a round that loses nothing is followed by another."""

CONTROL_ROUNDS = 2
MOST_RANGES = 5
"""Of lost messages, by the numbers of their producer, that are printed."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; the control has deduplication off. Raises ToolchainError and SessionError."""
    broker = whole_broker(stage, release, "TopicsBench")
    broker.ask({"do": "start", "deduplication": not control, "entries": ENTRIES})
    stage.say(f"starts ZooKeeper, a bookie and a broker, brokerDeduplicationEnabled={'false' if control else 'true'}")
    figures: dict[str, int] = {}
    for number in range(1, (CONTROL_ROUNDS if control else ROUNDS) + 1):
        broker.ask({"do": "send", "topics": TOPICS})
        time.sleep(PAUSE_SECONDS)
        for _ in range(EXPIRIES):
            broker.ask({"do": "expire"})
            time.sleep(PAUSE_SECONDS)
        stage.say(f"round {number}: {TOPICS} producers send; ZooKeeper's server ends the broker's session {EXPIRIES} times")
        stage.progress("waiting for acknowledgements, reading")
        answer = broker.ask({"do": "stop"})
        sums = {name: value for name, value in answer.items() if isinstance(value, int)}
        figures = {name: figures.get(name, 0) + value for name, value in sums.items()}
        if not sums["acknowledged"]:
            raise NotSetUp("no message is acknowledged")
        stage.say(f"acknowledged {sums['acknowledged']:,} of {sums['sent']:,} messages; readers then get {sums['read']:,}")
        stage.say(f"acknowledged and not readable: {sums['lost']:,}, {sums['lost_as_duplicates']:,} of them as duplicates")
        for lost in answer["lost_ranges"][:MOST_RANGES]:
            stage.say(f"lost: {lost}")
        stage.say(f"behind a later message of their producer: {sums['out_of_order']:,}; read twice: {sums['twice']:,}")
        if figures["lost"]:
            break
    return Observation(figures["lost"] > 0, figures)


DEDUP_LOSES = Reproduction(
    name="dedup-loses",
    harm="acknowledged messages: deduplication acknowledges as duplicates what was never stored",
    control="deduplication off; messages may then be out of order or stored twice",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1", "5.0.1"),
    seconds=130,
    page="docs/findings/deduplication-loses-messages.md",
    take=take,
)
