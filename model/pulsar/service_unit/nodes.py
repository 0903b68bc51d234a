"""The ephemeral nodes of the load manager: that of the leader, and one for each broker in the registry."""

from __future__ import annotations

from fencepost.model.language import Truth, Updates
from fencepost.model.nobody import NOBODY
from fencepost.model.zookeeper.sessions_and_nodes import EphemeralNode, Sessions


class SilentNode(EphemeralNode):
    """An ephemeral node of whose deletion nobody is told: whoever wants to know looks."""

    @classmethod
    def one(cls, sessions: Sessions, name: str) -> SilentNode:
        """The variables of one node, which is absent at first."""
        p = sessions.protocol
        holder = p.choice(f"{name}_holder", sessions.client, none=NOBODY)
        node = cls(sessions, holder, p.flag(f"{name}_former"), p.number(f"{name}_version", 0, 0), {})
        sessions.nodes.append([node])
        return node

    @classmethod
    def of_each(cls, sessions: Sessions, name: str) -> list[SilentNode]:
        """The variables of one node for each client, which is there at first."""
        p, client = sessions.protocol, sessions.client
        holder = p.choice(f"{name}_holder", client, per=client, none=NOBODY, init=lambda c: c)
        former, version = p.flag(f"{name}_former", per=client), p.number(f"{name}_version", 0, 0, per=client)
        nodes = [cls(sessions, holder[c], former[c], version[c], {}) for c in client]
        sessions.nodes.append(nodes)
        return nodes

    def unheard(self, c: int) -> Updates:
        """What nobody is told of nobody misses."""
        return {}


class LastingNode(SilentNode):
    """A node that was not made ephemeral."""

    def vanished(self, *conditions: Truth, unheard_by: int | None = None) -> Updates:
        """It does not go with a session."""
        return {}

    def becomes_former(self, c: int) -> Updates:
        """It belongs to no session."""
        return {}
