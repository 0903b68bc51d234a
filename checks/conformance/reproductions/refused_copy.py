"""The other cluster refuses a message while later ones are under way: with deduplication it is missing there.

The topic has the same limit for the size of messages in both clusters. A copy has more metadata than its message, so it can be
larger than is allowed. The connection stays when a message is refused, so what is behind it is stored. The message is then sent
again, below the highest position that is stored: it is taken for a duplicate, or the receipt of what follows confirms it. The
source counts it as replicated either way.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage
from fencepost.checks.conformance.reproductions.two_clusters import LARGE, LIMIT, SMALL, TwoClusters

BEHIND = 2
"""How many messages are sent behind the one that is refused."""

ATTEMPTS = 4

CONTROL = "later messages are sent when that one is stored"


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control nothing is behind the message while it is refused. Raises ToolchainError and SessionError."""
    return refused(stage, release, control, deduplication=True)


def refused(stage: Stage, release: str, control: bool, *, deduplication: bool) -> Observation:
    """The same, with deduplication in the other cluster or without.

    Which answer comes first is a race: the run is taken again on the same clusters until a message is missing.
    """
    clusters = TwoClusters(stage, release, deduplication=deduplication)
    for _ in range(1 if control else ATTEMPTS):
        _take(stage, clusters, control)
        seen = clusters.observation()
        if seen.harmed:
            break
    return seen


def _take(stage: Stage, clusters: TwoClusters, control: bool) -> None:
    clusters.limit(LIMIT)
    stage.say(f"the topic's maxMessageSize is {LIMIT} in c and d")
    (large, *behind) = clusters.send("p", [LARGE, *([] if control else [SMALL] * BEHIND)])
    stage.say(f"a producer sends {', '.join((large, *behind))} in c; {large} has {LARGE} bytes and its metadata")
    _await(stage, clusters, large, behind)
    clusters.limit(2 * LIMIT)
    stage.say(f"an administrator raises both limits to {2 * LIMIT}")
    clusters.await_copies()
    if control:
        behind = clusters.send("q", [SMALL] * BEHIND)
        stage.say(f"c counts it as replicated; a producer sends {', '.join(behind)} in c")
        clusters.await_copies()
    stage.say("c counts all as replicated")


def _await(stage: Stage, clusters: TwoClusters, large: str, behind: list[str]) -> None:
    """Waits until d has refused that message, and has stored what is behind it. Raises NotSetUp if it does not."""
    if not stage.until(lambda: clusters.received() > len(behind) and set(behind) <= set(clusters.copies())):
        raise NotSetUp(f"d was not sent {', '.join((large, *behind))} within {SECONDS:g} s")
    if large in clusters.copies():
        raise NotSetUp(f"d did not refuse {large}")
    stage.say(f"d refuses {large}" + (f", and has {', '.join(behind)}" if behind else ""))


REFUSED_COPY = Reproduction(
    name="refused-copy",
    harm="a message in the other cluster, which refuses it while later ones are under way",
    control=CONTROL,
    system="Pulsar",
    releases=("4.2.4", "5.0.1"),
    seconds=60,
    page="docs/reference/geo_replication.md",
    take=take,
)
