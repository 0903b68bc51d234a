"""A whole broker of a release, with ZooKeeper and a bookie, in one JVM on the loopback interface."""

from __future__ import annotations

from fencepost.checks.conformance.java_side.harness import OF_PULSAR, OVER_WIRES
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


WHOLE = "reproductions/whole"
"""The folder of the broker itself."""


def whole_broker(stage: Stage, version: str, main: str) -> Session:
    """A harness of ``java/reproductions/broker``. Raises ToolchainError and SessionError."""
    return _started(stage, version, main, "broker", (*OF_PULSAR, WHOLE))


def older_broker(stage: Stage, version: str, main: str) -> Session:
    """A harness of ``java/reproductions/older``, which fits releases from 3.0.7 on. Raises ToolchainError and SessionError."""
    return _started(stage, version, main, "older", (*OVER_WIRES, WHOLE))


def _started(stage: Stage, version: str, main: str, folder: str, besides: tuple[str, ...]) -> Session:
    bench = stage.harness(folder, f"fencepost.{main}", pulsar_brokers(version), OPTIONS, besides)
    stage.progress("starting ZooKeeper, a bookie and a broker")
    return stage.session("broker", bench)
