"""A dead broker owns a bundle after a migration of the metadata: the stores and locks of two brokers, over two ZooKeepers.

One broker owns a bundle, and the other has tried to acquire it. Each store remembers the path of every ephemeral node that it
has put, whatever came of that, and creates these nodes in the target with the values that it reads. The owner is slower, so its
node in the target has the session of the other broker. The owner dies before the migration is complete, and its node stays.
"""

from __future__ import annotations

import time

from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

PAUSE_MILLIS = 3000
"""By how much the owner is slower."""

LOOKS, BETWEEN_SECONDS = 3, 5


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the other broker has not tried to acquire the bundle. Raises ToolchainError and SessionError."""
    bench = whole_broker(stage, release, "MigrationBench")
    bench.ask({"do": "acquire", "broker": "a", "bundle": "u"})
    bench.ask({"do": "acquire", "broker": "b", "bundle": "v"})
    stage.say("starts two ZooKeepers, and the stores of two brokers; a owns the bundle u, b owns v")
    if not control:
        won = bench.ask({"do": "acquire", "broker": "b", "bundle": "u"})["done"]
        if won:
            raise NotSetUp("b acquires u although a owns it")
        stage.say("b tries to acquire u: refused")
    bench.ask({"do": "pause", "broker": "a", "millis": PAUSE_MILLIS})
    bench.ask({"do": "phase", "phase": "PREPARATION"})
    stage.say(f"the migration begins; a is {PAUSE_MILLIS // 1000} s slower than b")
    time.sleep(1)
    released = bench.ask({"do": "release", "broker": "b", "bundle": "v"})["done"]
    stage.say(f"b releases v: {'done' if released else 'refused'}")
    stage.progress("waiting until both brokers are prepared")
    if not stage.until(lambda: bench.ask({"do": "prepared"})["done"]):
        raise NotSetUp(f"the brokers are not prepared within {SECONDS:g} s")
    bench.ask({"do": "die", "broker": "a"})
    bench.ask({"do": "phase", "phase": "COMPLETED"})
    stage.say("both are prepared; a dies; the migration is complete")
    owners = []
    for _ in range(LOOKS):
        time.sleep(BETWEEN_SECONDS)
        seen = bench.ask({"do": "look", "broker": "b", "bundle": "u"})
        owners.append(seen["owner"])
        stage.say(f"b reads that {seen['owner']} owns u; the node has the session of {seen['session']}")
    state = bench.ask({"do": "state", "broker": "b", "bundle": "v"})["state"]
    stage.say(f"b's lock on v is {state}")
    figures: dict[str, int | str | None] = {"looks": LOOKS, "looks_at_a_dead_owner": owners.count("a"), "lock_on_v": state}
    return Observation(owners == ["a"] * LOOKS, figures)


MIGRATED_OWNER = Reproduction(
    name="migrated-owner",
    harm="service: a bundle belongs to a dead broker for as long as another one lives",
    control="the other broker has not tried to acquire the bundle",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1"),
    seconds=60,
    page="docs/findings/migration-keeps-a-dead-owner.md",
    take=take,
)
