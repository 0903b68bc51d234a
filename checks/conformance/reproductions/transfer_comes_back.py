"""A transfer comes back to its source, whose topics then stay fenced: a whole broker of the extensible load manager.

A bundle is unloaded towards a broker that is dead by then. With ``loadBalancerMultiPhaseBundleUnload``, the default, the source
closes its topics halfway first: they are fenced and still loaded. The monitor of the channel then chooses the source itself,
the only broker there is. It owns the bundle again, and leaves its topics as they are.
"""

from __future__ import annotations

import time

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

DEAD = "127.0.0.1:1"
MESSAGES = 5
LOOKS = 3
PAUSE_SECONDS = 5
"""Between looks, each of which waits for a producer as long as the harness has it."""


def transferred(stage: Stage, release: str, control: bool) -> Session:
    """The broker, once it owns the bundle again that it was to give to a dead one. Raises ToolchainError and SessionError."""
    broker = whole_broker(stage, release, "TransferBench")
    broker.ask({"do": "start", "multi_phase": not control})
    setting = f"loadBalancerMultiPhaseBundleUnload={'false' if control else 'true'}"
    stage.say(f"starts ZooKeeper, a bookie and a broker, {setting}")
    ids = [broker.ask({"do": "send"})["acknowledged"] for _ in range(MESSAGES)]
    if None in ids:
        raise NotSetUp(f"only {MESSAGES - ids.count(None)} of {MESSAGES} messages are acknowledged before the transfer")
    stage.say(f"a producer sends {MESSAGES} messages: all are acknowledged, {ids[0]} to {ids[-1]}")
    broker.ask({"do": "transfer", "to": DEAD})
    stage.say("the bundle is transferred to a broker that is dead by then")
    stage.progress("waiting until the source owns the bundle again")
    if not stage.until(lambda: broker.ask({"do": "owner"})["owned_here"]):
        raise NotSetUp(f"the source does not own the bundle again within {SECONDS:g} s")
    stage.say("the source owns the bundle again")
    return broker


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; the control closes topics in one phase. Raises ToolchainError and SessionError."""
    broker, taken = transferred(stage, release, control), 0
    for _ in range(LOOKS):
        seen = broker.ask({"do": "look"})
        stage.say(f"its producer can send: {_yes(seen['producer'])}; a new producer can: {_yes(seen['new_producer'])}")
        taken += bool(seen["producer"] or seen["new_producer"])
        if taken:
            break
        time.sleep(PAUSE_SECONDS)
    if not taken:
        broker.ask({"do": "unload"})
        if not stage.until(lambda: broker.ask({"do": "look"})["new_producer"]):
            raise NotSetUp(f"nobody can send within {SECONDS:g} s of an unload either: the machine may be too slow")
        stage.say("an administrator unloads the bundle; then a new producer can send")
    return Observation(not taken, {"acknowledged": MESSAGES, "looks": LOOKS, "looks_with_service": taken})


def _yes(value: bool) -> str:
    return "yes" if value else "no"


TRANSFER_COMES_BACK = Reproduction(
    name="transfer-comes-back",
    harm="service: a topic whose transfer comes back to its broker stays fenced until somebody unloads it",
    control="loadBalancerMultiPhaseBundleUnload=false",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1", "5.0.1"),
    seconds=210,
    page="docs/findings/transfer-comes-back.md",
    take=take,
)
