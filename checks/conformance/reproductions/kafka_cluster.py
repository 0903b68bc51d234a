"""Servers of Kafka for reproductions, each a process."""

from __future__ import annotations

import time

from fencepost.checks.conformance.java_side.servers import kafka_servers
from fencepost.checks.conformance.java_side.session import Session, SessionError
from fencepost.checks.conformance.reproductions.processes import MEMORY, PROGRAMS, Process
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage

SESSION_MILLISECONDS = 300_000
"""Of a server with ZooKeeper: longer than any pause, on any machine."""


def kafka_server(stage: Stage, number: int, port: int, zookeeper: str, release: str) -> Process:
    """A server of Kafka in a process, which listens on that port and is not started yet."""
    harness = stage.harness("kafka", "fencepost.Daemon", kafka_servers(release), MEMORY, besides=(PROGRAMS,))
    folder = stage.folder / f"server{number}"
    settings = {
        "broker.id": number,
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT",  # of these alone, or no listener can be changed
        "zookeeper.connect": zookeeper,
        "zookeeper.session.timeout.ms": SESSION_MILLISECONDS,
        "zookeeper.connection.timeout.ms": SESSION_MILLISECONDS,
        "log.dirs": folder / "logs",
        "log.cleaner.enable": "false",
        "controlled.shutdown.enable": "false",
        "auto.create.topics.enable": "false",
        "offsets.topic.replication.factor": 1,
    }
    return stage.ends(Process(harness.with_arguments("kafka.Kafka"), folder, (), settings, port=port))


def registered(client: Session, number: int, *, other_than: int) -> int:
    """Waits until a server is registered, in another incarnation; returns that. Raises SessionError."""
    end = time.monotonic() + SECONDS
    while (incarnation := int(client.ask({"do": "registered", "broker": number})["incarnation"])) in (0, other_than):
        if time.monotonic() > end:
            raise SessionError(f"server {number} does not register within {SECONDS:g} s")
        time.sleep(0.1)
    return incarnation
