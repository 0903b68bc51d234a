"""A former owner deletes the topic of the present one: the managed ledgers of three brokers over ZooKeeper and a bookie.

Two brokers have a topic open for a while, since the former owner has not yet learned that it is one no more. Nobody uses the
topic there, so its collector of inactive topics deletes it: the list of ledgers at any version, and the ledgers that it knows.
The present owner goes on acknowledging. Whoever opens the topic after it finds nothing.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

BEFORE, AFTER = 10, 5


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control inactive topics are left alone. Raises ToolchainError and SessionError."""
    brokers = whole_broker(stage, release, "LedgersBench")
    brokers.ask({"do": "open", "broker": "former"})
    brokers.ask({"do": "open", "broker": "owner"})
    stage.say("starts ZooKeeper and a bookie; a broker opens a topic, then its new owner does")
    written = brokers.ask({"do": "add", "broker": "owner", "entries": BEFORE})
    acknowledged = written["acknowledged"]
    if acknowledged < BEFORE:
        raise NotSetUp(f"only {acknowledged} of the owner's {BEFORE} entries are acknowledged before the deletion")
    stage.say(f"the owner writes {BEFORE} entries: all are acknowledged, {written['first']} to {written['last']}")
    if not control:
        brokers.ask({"do": "delete", "broker": "former"})
        stage.say("the former owner deletes the topic, which has no clients there")
    written = brokers.ask({"do": "add", "broker": "owner", "entries": AFTER})
    more = written["acknowledged"]
    where = f", {written['first']} to {written['last']}" if more else ""
    stage.say(f"the owner writes {AFTER} entries: {more} are acknowledged{where}")
    brokers.ask({"do": "open", "broker": "next"})
    read = brokers.ask({"do": "read", "broker": "next"})["read"]
    acknowledged += more
    stage.say(f"another broker opens the topic; a reader gets {read} of {acknowledged} acknowledged entries")
    return Observation(read < acknowledged, {"acknowledged": acknowledged, "read": read})


DELETED_BY_FORMER_OWNER = Reproduction(
    name="deleted-by-former-owner",
    harm="a topic: a broker that owned it before deletes it as inactive while its owner acknowledges messages",
    control="inactive topics are left alone (brokerDeleteInactiveTopicsEnabled=false)",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1", "5.0.1"),
    seconds=30,
    page="docs/findings/deletion-by-a-former-owner.md",
    take=take,
)
