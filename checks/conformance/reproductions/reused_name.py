"""A producer starts under a name that another one had: with deduplication its messages are missing in the other cluster.

The source has no deduplication, so the new producer counts from the first number again. The other cluster knows a message by
the name of its producer and that number, and takes it for a duplicate. The source then counts it as replicated.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.reproduction import Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.two_clusters import SMALL, TwoClusters

MESSAGES = 3


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the second producer has a name of its own. Raises ToolchainError and SessionError."""
    clusters = TwoClusters(stage, release, deduplication=True)
    for name in ("p", "q" if control else "p"):
        sent = clusters.send(name, [SMALL] * MESSAGES)
        clusters.await_copies()
        stage.say(f"a producer {name} starts, sends {', '.join(sent)}, and ends; c counts all as replicated")
    return clusters.observation()


REUSED_NAME = Reproduction(
    name="reused-name",
    harm="messages in the other cluster: those of a producer whose name another one had before are taken for duplicates",
    control="the second producer has a name of its own",
    system="Pulsar",
    releases=("3.0.7",),
    seconds=180,
    page="docs/reference/geo_replication.md",
    take=take,
)
