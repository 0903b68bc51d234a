"""Kafka's controller misses a change of listeners: two servers and ZooKeeper, each a process.

A new controller reads the servers and the topics, and watches the servers' nodes after that. ZooKeeper answers the read of the
topics late, as a slow one does. Meanwhile the other server is given another address, which it registers. The controller watches
the node from then on, and does not read it again: clients are given the former address.
"""

from __future__ import annotations

import time

from fencepost.checks.conformance.java_side.servers import kafka_servers
from fencepost.checks.conformance.reproductions.kafka_cluster import kafka_server, registered
from fencepost.checks.conformance.reproductions.processes import MEMORY, PROGRAMS, free_port
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage

FORMER, CHANGED = "127.0.0.1", "localhost"
LOOKS = 4


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the address changes after the controller has begun. Raises ToolchainError, and SessionError if a
    process fails."""
    jars = kafka_servers(release)
    keeper = stage.session("zookeeper", stage.harness("kafka", "fencepost.HeldKeeper", jars, MEMORY, besides=(PROGRAMS,)))
    zookeeper = f"127.0.0.1:{keeper.ask({})['port']}"
    ports = [free_port() for _ in range(2)]
    addresses = ",".join(f"127.0.0.1:{port}" for port in ports)
    bench = stage.harness("kafka", "fencepost.KafkaClient", jars, MEMORY, besides=(PROGRAMS,))
    client = stage.session("client", bench.with_arguments(zookeeper, addresses))
    for number, port in enumerate(ports):
        server = kafka_server(stage, number, port, zookeeper, release)
        server.start()
        server.ready()
        registered(client, number, other_than=0)
    stage.say("starts ZooKeeper and two servers, each a process")
    if not control:
        keeper.ask({"do": "hold", "path": "/brokers/topics"})
    leader = int(client.ask({"do": "elect"})["broker"])
    other = 1 - leader
    if control:
        client.ask({"do": "create", "broker": other})
        stage.say(f"server {leader} is elected as the controller, and creates a topic")
    else:
        if not keeper.ask({"do": "held"})["held"]:
            raise NotSetUp("the new controller does not read the topics")
        stage.say(f"server {leader} is elected as the controller; ZooKeeper answers its read of the topics late")
    client.ask({"do": "advertise", "broker": other, "address": f"PLAINTEXT://{CHANGED}:{ports[other]}"})
    if not stage.until(lambda: CHANGED in client.ask({"do": "registration", "broker": other})["registration"]):
        raise NotSetUp(f"server {other} does not register its new address within {SECONDS:g} s")
    stage.say(f"server {other} is given the address {CHANGED} for {FORMER}, and registers it")
    if not control:
        keeper.ask({"do": "release"})
        client.ask({"do": "create", "broker": other})
        stage.say("ZooKeeper answers; the controller goes on, and creates a topic")
    address = ""
    for _ in range(LOOKS):
        address = str(client.ask({"do": "address", "broker": other})["address"])
        stage.say(f"clients are to reach server {other} at {address}")
        if address == CHANGED:
            break
        time.sleep(5)
    return Observation(address != CHANGED, {"looks": LOOKS if address != CHANGED else 1})


MISSED_ENDPOINTS = Reproduction(
    name="missed-endpoints",
    harm="service: clients are given the former address of a server, which changed as the controller began",
    control="the address changes after the controller has begun",
    system="Kafka",
    releases=("2.2.2", "3.9.2"),
    seconds=180,
    page="docs/how-to/reproduce-a-finding.md",
    take=take,
)
