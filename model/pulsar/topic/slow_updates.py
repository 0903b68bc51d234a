"""An update of the list that is slow, not failed: it outlasts the time-out of the creation of its ledger.

ManagedLedgerImpl.metadataMutex is held from the request to its answer, and keeps other updates of the broker waiting. Left out:
such an update that fails in the end, and a termination or a close of the managed ledger while one is under way.
"""

from __future__ import annotations

from fencepost.model.language import And, Not, Or, Outcome, Protocol, either
from fencepost.model.language.effects import Happens, Updates
from fencepost.model.pulsar.topic.fence import Fence
from fencepost.model.pulsar.topic.rollover import Rollover
from fencepost.model.pulsar.topic.state import NONE, State


class SlowUpdates:
    """ManagedLedgerImpl.internalAsyncAddEntry where a ledger has been under creation for too long, and what comes of it."""

    def __init__(self, p: Protocol, s: State, fence: Fence, rollover: Rollover) -> None:
        self.protocol, self.s, self.fence, self.rollover = p, s, fence, rollover

    def declare(self) -> None:
        """Declares the steps."""
        p, s, fence, state = self.protocol, self.s, self.fence, self.s.state

        @p.fault(
            by="b",
            takes="slow_update",
            mirrors="ManagedLedgerImpl.updateLedgersListAfterRollover, MetaStoreImpl.asyncUpdateLedgerIds",
            spends="slow_updates",
            b=s.broker,
            k=s.ledger,
        )
        def list_slowly(b: int, k: int) -> Outcome:
            """The update of the list is sent, and the metadata store does not answer within the time-out."""
            sends = And(state[b] == "creating", s.fresh[b] == k, Not(s.mutex[b]))
            return sends, {s.slow[b]: k, s.mutex[b]: True}

        @p.step(
            by="b",
            takes="task",
            mirrors="ManagedLedgerImpl.internalAsyncAddEntry, ManagedLedgerImpl.createComplete",
            b=s.broker,
        )
        def time_out_creation(b: int) -> Outcome:
            """A write comes after twice metadataOperationsTimeoutSeconds: the creation is declared failed, though its ledger is
            there, and so does whatever is pending. Nothing ends the update."""
            waits = And(s.length[b] > s.arrived[b], state[b] == "creating", s.slow[b] != NONE, s.fresh[b] == s.slow[b])
            failed = {state[b]: "write_failed", s.fresh[b]: NONE, s.arrived[b]: 0, s.sent[b]: 0}
            return waits, s.without_first(b, s.arrived[b] + 1), failed, fence.write_failed(b)

        def gives_up(b: int, k: int) -> tuple[Updates, Happens]:
            """The list has the ledger, which is deleted: the next update drops it."""
            unchanged = {s.known[b]: s.known[b], s.mutex[b]: False, s.slow[b]: NONE}
            return {**s.written(b, s.known[b].plus(k), {k: 0}), **unchanged}, s.ledgers[k].delete()

        def opens(b: int, k: int) -> tuple[Updates, Happens]:
            """The ledger becomes the current one, and has what is pending, whatever the state."""
            return self.rollover.opened(b, k, {})

        done = opens if p.has("listed_after_time_out") else gives_up

        @p.step(
            by="b",
            takes="metadata",
            mirrors="ManagedLedgerImpl.createComplete, ManagedLedgerImpl.updateLedgersIdsComplete",
            fair=True,
            b=s.broker,
            k=s.ledger,
        )
        def list_late(b: int, k: int) -> Outcome:
            """The metadata store carries the slow update out, whose creation was declared failed: it should leave the list as
            it is, and its ledger be deleted. In all releases nothing tells one creation from another.

            The next ledger, if it is under creation, is there by then: so it makes no difference when it was created.
            """
            next_one = Or(state[b] != "creating", s.fresh[b] != NONE)
            late = And(state[b].among("creating", "closed_ledger", "write_failed"), s.slow[b] == k, s.fresh[b] != k, next_one)
            refused = (fence.refused(b), s.ledgers[k].delete())
            return And(late, s.has_room()), either(s.knows_the_version(b), done(b, k), refused)
