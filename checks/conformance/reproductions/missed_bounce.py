"""Kafka's controller misses a restart: two servers and ZooKeeper, each a process.

The controller pauses, as in a long collection of garbage. Meanwhile the other server stops and starts again. When the
controller goes on, the ids of the servers are what they were, so it sees no change and tells the new process nothing: that one
does not know what it leads. It was KAFKA-7235; since 2.2 the controller compares incarnations as well.
"""

from __future__ import annotations

import time

from fencepost.checks.conformance.java_side.servers import kafka_servers
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.kafka_cluster import kafka_server, registered
from fencepost.checks.conformance.reproductions.processes import MEMORY, PROGRAMS, free_port
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage

MESSAGES = 3
LOOKS = 3
CONTROL_LOOKS = 20
"""In the control it ends with the first that is acknowledged: on a machine with other work that may take a while."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the controller does not pause. Raises ToolchainError, and SessionError if a process fails."""
    jars = kafka_servers(release)
    keeper = stage.session("zookeeper", stage.harness("kafka", "fencepost.Keeper", jars, MEMORY, besides=(PROGRAMS,)))
    zookeeper = f"127.0.0.1:{keeper.ask({})['port']}"
    ports = [free_port() for _ in range(2)]
    controller, other = (kafka_server(stage, number, port, zookeeper, release) for number, port in enumerate(ports))
    addresses = ",".join(f"127.0.0.1:{port}" for port in ports)
    bench = stage.harness("kafka", "fencepost.KafkaClient", jars, MEMORY, besides=(PROGRAMS,))
    client = stage.session("client", bench.with_arguments(zookeeper, addresses))
    for number, server in enumerate((controller, other)):
        server.start()
        server.ready()
        registered(client, number, other_than=0)
    leader = client.ask({"do": "controller"})["broker"]
    stage.say(f"starts ZooKeeper and two servers, each a process; server {leader} is the controller")
    client.ask({"do": "create", "broker": 1})
    if not stage.until(lambda: len(_sent(client)) == MESSAGES):
        raise NotSetUp(f"the {MESSAGES} messages are not acknowledged within {SECONDS:g} s before the restart")
    before = _sent(client)
    if len(before) < MESSAGES:
        raise NotSetUp(f"only {len(before)} of {MESSAGES} messages are acknowledged before the restart")
    stage.say(f"a topic whose replica is on server 1; {MESSAGES} messages are acknowledged, with the offsets {_listed(before)}")
    incarnation = registered(client, 1, other_than=0)
    if not control:
        controller.pause()
        stage.say("the controller pauses")
    other.stop()
    other.start()
    registered(client, 1, other_than=incarnation)
    other.ready()
    stage.say("server 1 stops and starts again")
    if not control:
        controller.resume()
        stage.say("the controller goes on, with its session")
    after: list[int] = []
    for _ in range(CONTROL_LOOKS if control else LOOKS):
        time.sleep(5)
        after = _sent(client)
        offsets = f", with the offsets {_listed(after)}" if after else ""
        stage.say(f"{len(after)} of {MESSAGES} messages are acknowledged{offsets}")
        if after:
            break
    return Observation(not after, {"before": MESSAGES, "after": len(after)})


def _sent(client: Session) -> list[int]:
    """The offsets of the messages that are acknowledged."""
    return list(client.ask({"do": "send", "messages": MESSAGES})["offsets"])


def _listed(offsets: list[int]) -> str:
    return ", ".join(map(str, offsets))


MISSED_BOUNCE = Reproduction(
    name="missed-bounce",
    harm="service: a partition whose server restarts while the controller pauses has no leader that knows of it",
    control="the controller does not pause",
    system="Kafka",
    releases=("1.0.2",),
    seconds=120,
    page="docs/how-to/reproduce-a-finding.md",
    take=take,
)
