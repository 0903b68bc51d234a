"""Updates of a topic's properties, which are in the node of its list: an admin's, or the epoch of an exclusive producer.

Such an update waits for ManagedLedgerImpl.metadataMutex, and tries again every 100 ms as long as it is held. Left out: what the
properties are, one that is written as a ledger is being created, and a slow update of the list beside one.
"""

from __future__ import annotations

from fencepost.model.language import And, Outcome, Protocol, either
from fencepost.model.pulsar.topic.fence import Fence
from fencepost.model.pulsar.topic.state import NONE, State


class PropertyUpdates:
    """ManagedLedgerImpl.asyncUpdateProperties."""

    def __init__(self, p: Protocol, s: State, fence: Fence) -> None:
        self.protocol, self.s, self.fence = p, s, fence

    def declare(self) -> None:
        """Declares the steps."""
        p, s = self.protocol, self.s

        @p.step(
            by="admin",
            to="b",
            mirrors="ManagedLedgerImpl.asyncSetProperties, ManagedLedgerImpl.asyncSetProperty",
            spends="property_updates",
            b=s.broker,
        )
        def set_properties(b: int) -> Outcome:
            """A broker that has the topic is asked to set its properties."""
            return And(s.is_loaded(b), s.topic[b] != "closing", s.asked[b] == "nothing"), {s.asked[b]: "waiting"}

        @p.step(by="b", takes="metadata", to="store", mirrors="ManagedLedgerImpl.asyncUpdateProperties", fair=True, b=s.broker)
        def write_properties(b: int) -> Outcome:
            """The node is written by compare-and-set, with the list that the broker knows, and the request answered.

            BadVersion: the managed ledger is fenced, and the request fails.
            """
            free = And(s.fresh[b] == NONE, s.may_update(b))
            going = And(s.is_loaded(b), s.asked[b] == "waiting", free, s.has_room())
            return (
                going,
                either(s.knows_the_version(b), s.written(b, s.known[b]), self.fence.becomes_fenced(b)),
                {s.asked[b]: "nothing"},
            )
