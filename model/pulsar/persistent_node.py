"""A node of the metadata store that outlives its creator, as its clients meet it."""

from __future__ import annotations

from fencepost.model.language import Or
from fencepost.model.pulsar.metadata_store import Sessions, Updates


class PersistentNode:
    """One node that outlives its creator, with its version and its changes not yet heard of; its value is its user's matter.

    The version is 0 at first and rises by one with each write, up to ``writes``; ``is_countable`` is the formula that it can.
    """

    def __init__(self, sessions: Sessions, name: str, *, writes: int) -> None:
        p, client = sessions.protocol, sessions.client
        self.version = p.number(f"{name}_version", 0, writes)
        self.changed = p.flag(f"{name}_change", per=client)
        self.is_countable = self.version < writes
        self._sessions = sessions
        sessions.watched.append(self)

    def written(self, c: int) -> Updates:
        """The client writes the node: its version rises, and all others who watch will hear of it.

        Where the store catches up the client hears of it, too, which matters if it never hears the answer.
        """
        others = [other for other in self._sessions.client if other != c or self._sessions.kind.catches_up]
        heard = {self.changed[other]: Or(self.changed[other], self._sessions.will_hear(other)) for other in others}
        return {self.version: self.version + 1, **heard}

    def unheard(self, c: int) -> Updates:
        """The client will not hear of changes so far."""
        return {self.changed[c]: False}
