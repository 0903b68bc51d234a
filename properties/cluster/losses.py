"""What odds count in a cluster besides lost messages."""

from __future__ import annotations

from fencepost.model.language import And, Protocol, Truth, any_of
from fencepost.properties.cluster.variables import ClusterVariables


def rival_recovers(p: Protocol, m: int) -> Truth:
    """The formula: somebody has closed the first ledger of a broker that still serves its topic.

    It is an incident, not a message, so it is told of the first message only.
    """
    s = ClusterVariables.now(p)

    def goes_on(b: int) -> Truth:
        return And(s.bundle.believes[b], s.state[b] == "opened", s.current[b] == 0, s.bundle.owner != b)

    return And(m == 0, s.ledger.status[0] == "closed", any_of(goes_on(b) for b in p.universes["broker"]))
