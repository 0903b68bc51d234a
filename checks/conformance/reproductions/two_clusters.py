"""Two clusters of one broker each, in one JVM: a topic of the one is replicated to the other."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage
from fencepost.checks.conformance.reproductions.whole_broker import older_broker

SMALL = 10
"""Bytes of a message that nobody refuses."""

LIMIT, LARGE = 1_000, 930
"""A topic's largest message in bytes with its metadata, and the bytes of a message that is no larger, and whose copy is."""


class TwoClusters:
    """The cluster c, whose messages are copied to the cluster d. What it does raises ToolchainError and SessionError."""

    def __init__(self, stage: Stage, release: str, *, deduplication: bool) -> None:
        self._stage = stage
        self._sent: list[str] = []
        self._session = older_broker(stage, release, "ClustersBench")
        self._session.ask({"do": "start"})
        self._session.ask({"do": "start_other", "deduplication": deduplication})
        self._session.ask({"do": "connect"})
        setting = f"brokerDeduplicationEnabled={'true' if deduplication else 'false'}"
        stage.say(f"starts the clusters c and d, each with ZooKeeper, a bookie and a broker; {setting} in d")

    def send(self, producer: str, sizes: Sequence[int]) -> list[str]:
        """The names of the messages of these sizes that a new producer sends in c, which are acknowledged there."""
        self._session.ask({"do": "send", "producer": producer, "bytes": list(sizes)})
        names = [f"m{len(self._sent) + number}" for number in range(len(sizes))]
        self._sent += names
        return names

    def limit(self, size: int) -> None:
        """From now on c and d refuse messages of the topic that are larger than this, in bytes with their metadata."""
        self._session.ask({"do": "limit", "bytes": size})

    def received(self) -> int:
        """How many messages d was sent, stored or not."""
        return int(self._session.ask({"do": "received"})["messages"])

    def await_copies(self) -> None:
        """Waits until c counts all as replicated. Raises NotSetUp if it does not."""
        if not self._stage.until(lambda: not self._session.ask({"do": "backlog"})["messages"]):
            raise NotSetUp(f"c has messages left to replicate after {SECONDS:g} s")

    def copies(self) -> list[str]:
        """The names of the messages that a reader gets in d."""
        return [str(name) for name in self._session.ask({"do": "read"})["messages"]]

    def observation(self) -> Observation:
        """What is missing in d of all that was acknowledged in c."""
        copies = self.copies()
        missing = [name for name in self._sent if name not in copies]
        self._stage.say(f"a reader gets in d: {', '.join(copies)}; missing: {', '.join(missing) or 'nothing'}")
        return Observation(bool(missing), {"acknowledged": len(self._sent), "read": len(copies), "missing": len(missing)})
