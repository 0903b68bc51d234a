"""The classes of a release of Pulsar: from which jars they come, and what asks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from fencepost.checks.conformance.java_side.harness import RELEASED, harness
from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.published import ALONE, class_path
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.releases import followed, is_since

OPTIONS = ("-Xmx1g", "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""Classes that are not verified do not ask for the classes of all their fields, which a load balancer never meets."""

_NOT_THERE = ("org.apache.pulsar:jetcd-core-shaded", "io.etcd:jetcd-core", "org.apache.pulsar:pulsar-opentelemetry")
"""What a broker with etcd needs, and what never was published."""

_OF_PULSAR = (
    "pulsar-broker",
    "pulsar-broker-common",
    "pulsar-client-admin-api",
    "pulsar-client-api",
    "pulsar-client-original",
    "pulsar-common",
    "pulsar-metadata",
    "pulsar-websocket",
    "managed-ledger",
)
_OF_OTHERS = (
    "com.fasterxml.jackson.core:jackson-annotations:2.17.2",
    "com.fasterxml.jackson.core:jackson-core:2.17.2",
    "com.fasterxml.jackson.core:jackson-databind:2.17.2",
    "com.github.ben-manes.caffeine:caffeine:2.9.3",
    "com.google.guava:guava:33.4.8-jre",
    "com.google.guava:failureaccess:1.0.3",
    "io.netty:netty-buffer:4.1.136.Final",
    "io.netty:netty-common:4.1.136.Final",
    "io.netty:netty-transport:4.1.136.Final",
    "io.prometheus:simpleclient:0.16.0",
    "javax.servlet:javax.servlet-api:3.1.0",
    "javax.ws.rs:javax.ws.rs-api:2.1",
    "org.apache.bookkeeper:bookkeeper-common:4.14.5",
    "org.apache.bookkeeper:bookkeeper-server:4.14.5",
    "org.apache.commons:commons-collections4:4.4",
    "org.apache.commons:commons-lang3:3.19.0",
    "org.apache.logging.log4j:log4j-api:2.25.4",
    "org.apache.logging.log4j:log4j-core:2.25.4",
    "org.apache.logging.log4j:log4j-slf4j2-impl:2.25.4",
    "org.slf4j:slf4j-api:2.0.17",
)
_OF_EXTENSIBLE = (
    "com.fasterxml.jackson.dataformat:jackson-dataformat-yaml:2.17.2",
    "com.fasterxml.jackson.datatype:jackson-datatype-jdk8:2.17.2",
    "com.fasterxml.jackson.datatype:jackson-datatype-jsr310:2.17.2",
    "com.fasterxml.jackson.module:jackson-module-parameter-names:2.17.2",
    "com.github.zafarkhaja:java-semver:0.9.0",
    "org.yaml:snakeyaml:2.2",
)
"""What the extensible manager needs besides."""


def pulsar_broker(release: str) -> Release:
    """The broker of a release; of 2.10.1 what its load balancing needs."""
    if followed("pulsar", release) == "2.10.1":
        return load_balancing(release)
    return class_path("pulsar-broker", release, (Artifact(f"org.apache.pulsar:pulsar-broker:{release}", _NOT_THERE),))


def load_balancing(release: str) -> Release:
    """The broker of a release, as far as its load balancing needs it.

    Before 4.0.8 jar by jar, with what the load balancer needs of other projects in newer releases: Maven does not resolve all
    that these brokers depend on in any sensible time, once one of their poms is not to be had.
    """
    if is_since(followed("pulsar", release), "4.0.8"):
        return pulsar_broker(release)
    own = [f"org.apache.pulsar:{name}:{release}" for name in _OF_PULSAR]
    others = (*_OF_OTHERS, *(_OF_EXTENSIBLE if is_since(followed("pulsar", release), "3.0.7") else ()))
    return class_path("pulsar-broker", release, (Artifact(name, ALONE) for name in (*own, *others)))


class Code:
    """A JVM with the classes of a release, or of a build of one's own, which answers cases. Raises ToolchainError or
    SessionError."""

    def __init__(self, release: str, own: OwnBuild = RELEASED) -> None:
        like = followed("pulsar", release)
        old = () if is_since(like, "4.0.8") else ("policy/old",)
        besides = (*old, *(("policy/extensible",) if is_since(like, "3.0.7") else ()))
        main = "fencepost.policy.PolicyBench"
        bench = harness("policy/modular", main, load_balancing(release), besides=besides, options=OPTIONS, own=own)
        self._session = Session(bench)

    def ask(self, requests: Sequence[Mapping[str, object]]) -> Sequence[Answer]:
        """An answer for each request."""
        answers: list[Answer] = self._session.ask({"cases": list(requests)})["answers"]
        return answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._session.close()
