"""Brokers of a real Pulsar in one JVM, for tests that ask for them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fencepost.checks.conformance.java_side.harness import OPTIONS
from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.java_side.servers import pulsar_brokers
from fencepost.checks.conformance.java_side.toolchain import toolchain

SOURCE = Path(__file__).parent / "java" / "Cluster.java"
EXTENSIBLE = "org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl"
MODULAR = "org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl"


@contextmanager
def brokers(folder: Path, count: int, manager: str, version: str = "4.2.4", keys: tuple[str, ...] = ()) -> Iterator[list[str]]:
    """The addresses of the Admin REST interfaces of brokers that are running; they end with this. With ``keys``, a secret in
    base64 and the token of the role ``super``, they ask everybody for a token."""
    tools = toolchain().at_least(21 if version.startswith("5.") else 17, f"Pulsar {version}")
    path = os.pathsep.join(map(str, jars(pulsar_brokers(version), tools)))
    subprocess.run([tools.javac, "-nowarn", "-proc:none", "-d", folder, "-cp", path, SOURCE], check=True, timeout=300)
    command = [tools.java, *OPTIONS, "-Xmx768m", f"-Djava.io.tmpdir={folder}", "-cp", f"{folder}{os.pathsep}{path}", "Cluster"]
    with subprocess.Popen(
        [*command, str(count), manager, *keys], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
    ) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        try:
            lines: list[str] = []
            for line in running.stdout:
                lines.append(line)
                if line.startswith("READY "):
                    yield line.split()[1:]
                    return
            raise AssertionError("the brokers did not start: " + "".join(lines[-20:]))
        finally:
            running.stdin.close()
            try:
                running.wait(timeout=60)
            except subprocess.TimeoutExpired:
                running.kill()
