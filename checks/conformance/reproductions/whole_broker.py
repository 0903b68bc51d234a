"""A whole broker of a release, with ZooKeeper and a bookie, in one JVM on the loopback interface."""

from __future__ import annotations

from fencepost.checks.conformance.java_side.harness import OF_PULSAR
from fencepost.checks.conformance.java_side.servers import pulsar_brokers
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.stage import Stage

OPTIONS = (
    "-Xmx1g",
    "-XX:MaxDirectMemorySize=600m",
    "-Djava.net.preferIPv4Stack=true",
    "-Dzookeeper.forceSync=no",
    "-Dzookeeper.admin.enableServer=false",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/sun.net=ALL-UNNAMED",
    "--add-opens=java.management/sun.management=ALL-UNNAMED",
    "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
)


def whole_broker(stage: Stage, version: str, main: str) -> Session:
    """A harness of ``java/reproductions/broker``. Raises ToolchainError and SessionError."""
    bench = stage.harness("broker", f"fencepost.{main}", pulsar_brokers(version), OPTIONS, besides=OF_PULSAR)
    stage.progress("starting ZooKeeper, a bookie and a broker")
    return stage.session("broker", bench)
