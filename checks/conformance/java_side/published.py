"""What goes in the place of what a release names and nobody has published, and the Java that its classes are of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.toolchain import LEAST
from fencepost.model.releases import followed, numbers

ALONE = ("*:*",)
"""Exclusions: an artifact without anything that it needs."""


@dataclass(frozen=True)
class Otherwise:
    """How the class path of a release differs from what its poms say: ``settled``, ``replaced`` and ``java`` as ``Release`` has
    them, and what no artifact is to bring along (``left_out``)."""

    settled: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    java: int = LEAST


def _bookkeeper(version: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"org.apache.bookkeeper{name if name[0] == '.' else f':{name}'}:{version}" for name in names)


_OF_4_18_2 = (
    *("bookkeeper-common", "bookkeeper-common-allocator", "bookkeeper-proto", "bookkeeper-server", "circe-checksum"),
    *("bookkeeper-tools-framework", "cpu-affinity", "native-io", "stream-storage-java-client", ".stats:bookkeeper-stats-api"),
)
"""The jars of BookKeeper 4.18.2 that are published. Their poms have a parent that is not."""

_REST_OF_4_18_0 = (
    *("bookkeeper-slogger-api", "bookkeeper-slogger-slf4j", ".http:http-server", ".http:vertx-http-server"),
    *(".stats:prometheus-metrics-provider", ".stats:otel-metrics-provider", ".metadata.drivers:jetcd-core-shaded"),
    *("stream-storage-server", "stream-storage-service-api", "stream-storage-service-impl", "statelib"),
)
"""Further artifacts of BookKeeper that a broker needs."""

_DISTRIBUTED_LOG = tuple(f"org.apache.distributedlog:distributedlog-{name}:4.18.0" for name in ("common", "core", "protocol"))

_NATIVE = tuple(
    f"io.netty:{name}"
    for name in ("netty-resolver-dns-native-macos", "netty-transport-native-epoll", "netty-transport-native-io_uring")
)
"""The parts of Netty that are not Java, of which not every version is published; without them it takes Java's own sockets."""

_BOOKKEEPER_4_18_2 = Otherwise(
    settled=_bookkeeper("4.18.0", (*_OF_4_18_2, *_REST_OF_4_18_0)), replaced=_bookkeeper("4.18.2", _OF_4_18_2)
)

OTHERWISE: Mapping[tuple[str, str], Otherwise] = {
    ("bookkeeper", "4.18.2"): _BOOKKEEPER_4_18_2,
    ("pulsar", "5.0.0-M1"): Otherwise(settled=("com.fasterxml.jackson.core:jackson-annotations:2.21",)),
    ("pulsar", "5.0.1"): Otherwise(
        settled=(
            *_BOOKKEEPER_4_18_2.settled,
            *_DISTRIBUTED_LOG,
            "org.apache.zookeeper:zookeeper:3.9.5",
            "org.apache.zookeeper:zookeeper-jute:3.9.5",
            "org.asynchttpclient:async-http-client:3.0.13",
            "com.typesafe.netty:netty-reactive-streams:2.0.4",
            "com.fasterxml.jackson.module:jackson-module-jsonSchema:2.21.6",
            "com.fasterxml.jackson.core:jackson-annotations:2.21",
        ),
        replaced=_BOOKKEEPER_4_18_2.replaced,
        left_out=_NATIVE,
        java=21,
    ),
}
"""By project and release. Maven takes the version that is nearest, which for Jackson's annotations is older than the rest."""


def class_path(name: str, version: str, artifacts: Iterable[Artifact], managed: tuple[str, ...] = ()) -> Release:
    """The class path ``name`` of a release, with what is otherwise in it than its poms say.

    A build of Pulsar that is no release needs of other projects what the release that it follows does. One of BookKeeper needs
    no more than its JDK: the jars that are settled would be those of another version of itself.
    """
    project = name.partition("-")[0]
    others = OTHERWISE.get((project, followed(project, version)), Otherwise())
    if project == "bookkeeper" and version not in numbers(project):
        others = Otherwise(java=others.java)
    whole = tuple(Artifact(a.coordinates, tuple(dict.fromkeys((*a.exclusions, *others.left_out)))) for a in artifacts)
    return Release(name, version, whole, managed, others.settled, others.replaced, others.java)
