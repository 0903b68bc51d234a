"""A transfer comes back to its source, whose topics then stay fenced: a whole broker of the extensible load manager.

A bundle is unloaded towards a broker that is dead by then. With ``loadBalancerMultiPhaseBundleUnload``, the default, the source
closes its topics halfway first: they are fenced and still loaded. The monitor of the channel then chooses the source itself,
the only broker there is. It owns the bundle again, and leaves its topics as they are.
"""

from __future__ import annotations

import time

from fencepost.checks.conformance.reproductions.reproduction import Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

DEAD = "127.0.0.1:1"
LONGEST_SECONDS = 120
"""How long the source may take to own the bundle again."""

LOOKS = 3
PAUSE_SECONDS = 5


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; the control closes topics in one phase. Raises ToolchainError and SessionError."""
    broker = whole_broker(stage, release, "TransferBench")
    broker.ask({"do": "start", "multi_phase": not control})
    setting = f"loadBalancerMultiPhaseBundleUnload={'false' if control else 'true'}"
    stage.say(f"starts ZooKeeper, a bookie and a broker, {setting}")
    acknowledged = sum(broker.ask({"do": "send"})["acknowledged"] for _ in range(5))
    stage.say(f"a producer sends 5 messages: {acknowledged} are acknowledged")
    broker.ask({"do": "transfer", "to": DEAD})
    stage.say("the bundle is transferred to a broker that is dead by then")
    stage.progress("waiting until the source owns the bundle again")
    end = time.monotonic() + LONGEST_SECONDS
    while not (seen := broker.ask({"do": "look"}))["owned_here"] and time.monotonic() < end:
        time.sleep(1)
    stage.say(f"the source owns the bundle again: {_yes(seen['owned_here'])}")
    taken = [seen["producer"] or seen["new_producer"]]
    for _ in range(LOOKS):
        time.sleep(PAUSE_SECONDS)
        seen = broker.ask({"do": "look"})
        taken.append(seen["producer"] or seen["new_producer"])
        stage.say(f"its producer can send: {_yes(seen['producer'])}; a new producer can: {_yes(seen['new_producer'])}")
    harmed = bool(seen["owned_here"]) and not any(taken[1:])
    if harmed:
        broker.ask({"do": "unload"})
        time.sleep(PAUSE_SECONDS)
        seen = broker.ask({"do": "look"})
        stage.say(f"an administrator unloads the bundle; a new producer can send: {_yes(seen['new_producer'])}")
    return Observation(harmed, {"acknowledged": acknowledged, "looks": LOOKS, "looks_with_service": sum(map(bool, taken[1:]))})


def _yes(value: bool) -> str:
    return "yes" if value else "no"


TRANSFER_COMES_BACK = Reproduction(
    name="transfer-comes-back",
    harm="service: a topic whose transfer comes back to its broker stays fenced until somebody unloads it",
    control="loadBalancerMultiPhaseBundleUnload=false",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1"),
    seconds=210,
    page="docs/findings/transfer-comes-back.md",
    take=take,
    bug="transfer_back_unfinished",
)
