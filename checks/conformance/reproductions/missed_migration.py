"""A broker misses a migration of the metadata, and what it acknowledges afterwards is lost: brokers over two ZooKeepers.

A broker's session ends while it is cut off, and the metadata are migrated meanwhile. It is connected again and gets a new
session. Nobody tells it of the migration, so it goes on with the former store. Another broker opens the topic with the new
store. The broker that missed it meets the fence, opens the topic again with what the former store has, and acknowledges what
it writes to a ledger that only this store lists.
"""

from __future__ import annotations

import time

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.migration import migrate
from fencepost.checks.conformance.reproductions.reproduction import Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

MESSAGES = 2
ATTEMPTS = 3
"""How often a broker tries to write a message: what is refused has it open the topic again, as after a fence."""

SETTLED_SECONDS = 2
"""What a broker that hears of the migration may take to change the store."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the broker is connected all the time. Raises ToolchainError and SessionError."""
    bench = whole_broker(stage, release, "MissedMigrationBench")
    acknowledged: dict[str, str] = {}
    bench.ask({"do": "start", "broker": "a"})
    bench.ask({"do": "open", "broker": "a"})
    first = [_written(bench, "a", acknowledged) for _ in range(MESSAGES)]
    stage.say(f"starts two ZooKeepers and a bookie; a broker, a, opens a topic: {_all(first)}")
    if not control:
        bench.ask({"do": "cut"})
        stage.say("a is cut off, and its session ends")
    migrate(stage, bench)
    stage.say("the metadata are migrated: no participant is waited for, all is copied, the migration is complete")
    if control:
        time.sleep(SETTLED_SECONDS)
    else:
        bench.ask({"do": "mend", "broker": "a"})
        stage.say("a is connected again, with a new session")
    bench.ask({"do": "start", "broker": "b"})
    bench.ask({"do": "open", "broker": "b"})
    read = bench.ask({"do": "read", "broker": "b"})["messages"]
    stage.say(f"another broker, b, opens the topic; a reader gets {', '.join(read)}")
    stage.say(f"a writes: {_all([_written(bench, 'a', acknowledged) for _ in range(MESSAGES)])}")
    stage.say(f"b writes: {_all([_written(bench, 'b', acknowledged)])}")
    bench.ask({"do": "start", "broker": "c"})
    bench.ask({"do": "open", "broker": "c"})
    read = bench.ask({"do": "read", "broker": "c"})["messages"]
    stage.say(f"a third broker opens the topic; a reader gets {', '.join(read)}")
    lost = [f"{message}, {position}" for message, position in acknowledged.items() if message not in read]
    stage.say(f"acknowledged and not readable: {'; '.join(lost) or 'nothing'}")
    return Observation(bool(lost), {"acknowledged": len(acknowledged), "read": len(read), "lost": len(lost)})


def _written(bench: Session, broker: str, acknowledged: dict[str, str]) -> str:
    """What came of a message that a broker writes, in words; what is acknowledged is noted with its position."""
    for _ in range(ATTEMPTS):
        answer = bench.ask({"do": "add", "broker": broker})
        if position := answer.get("position"):
            acknowledged[answer["message"]] = position
            return f"{answer['message']} is acknowledged, {position}"
        bench.ask({"do": "open", "broker": broker})
    return f"{answer['message']} is refused: {answer['refused']}"


def _all(outcomes: list[str]) -> str:
    return "; ".join(outcomes)


MISSED_MIGRATION = Reproduction(
    name="missed-migration",
    harm="acknowledged messages: a broker that misses a migration of the metadata goes on with the former store",
    control="the broker is connected all the time",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1", "5.0.1"),
    seconds=60,
    page="docs/findings/missed-migration.md",
    take=take,
)
