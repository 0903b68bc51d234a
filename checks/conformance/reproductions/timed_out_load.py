"""The load of a topic waits for an answer that never comes: after its time-out each lookup gets that failure.

A read of the topic's metadata is left without an answer. The timer fails the future that all lookups of the topic are given,
and only the end of the attempt to load it takes that future away. The store answers all other requests, and would answer a
later attempt; there is none. An unload of the namespace, whose bundle the broker gets back, leaves the future where it is.
"""

from __future__ import annotations

import re

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.whole_broker import older_broker

TIMEOUT_SECONDS = 5
"""topicLoadTimeoutSeconds: a short one, so that it is soon over."""

LOOKS = 3


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the answer comes after the time-out. Raises ToolchainError and SessionError."""
    broker = older_broker(stage, release, "LoadingBench")
    broker.ask({"do": "start", "timeout": TIMEOUT_SECONDS})
    stage.say(f"starts ZooKeeper, a bookie and a broker, topicLoadTimeoutSeconds={TIMEOUT_SECONDS}")
    if not _is_served(stage, broker):
        raise NotSetUp("a producer cannot send before anything has happened")
    broker.ask({"do": "silence"})
    stage.say("the topic is unloaded; the next read of its metadata gets no answer")
    if _is_served(stage, broker) or not broker.ask({"do": "silent"})["read"]:
        raise NotSetUp("the topic is loaded without that answer")
    if control:
        broker.ask({"do": "answer"})
        stage.say("the answer comes")
    served = sum(_is_served(stage, broker) for _ in range(LOOKS))
    broker.ask({"do": "unload"})
    stage.say("an administrator unloads the namespace; the broker gets its bundle back")
    served += _is_served(stage, broker)
    return Observation(not served, {"looks": LOOKS + 1, "looks_with_service": served})


def _is_served(stage: Stage, broker: Session) -> bool:
    """Whether a new producer can send."""
    refusal = str(broker.ask({"do": "look"})["refusal"])
    reason = re.search(r'"errorMsg":"([^"]*)"', refusal)
    stage.say(f"a new producer {f'cannot send: {reason.group(1) if reason else refusal}' if refusal else 'can send'}")
    return not refusal


TIMED_OUT_LOAD = Reproduction(
    name="timed-out-load",
    harm="service: a topic whose load has timed out is out of service until its broker is restarted or loses its bundle",
    control="the answer comes after the time-out",
    system="Pulsar",
    releases=("4.2.4", "3.0.7", "5.0.1"),
    seconds=240,
    page="docs/reference/topic_loading.md",
    take=take,
)
