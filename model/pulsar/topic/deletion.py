"""Deletion of a topic that nobody uses: PersistentTopic.checkGC, ManagedLedgerImpl.asyncDelete."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Not, Outcome, Protocol, Updates, either
from fencepost.model.language.effects import Happens
from fencepost.model.pulsar.topic.state import State


class Deletion:
    """A broker with no producer of the topic, and no backlog, deletes it: all ledgers that it knows, and the node."""

    def __init__(self, p: Protocol, s: State) -> None:
        self.protocol, self.s = p, s

    def declare(self) -> None:
        """Declares the step."""
        p, s = self.protocol, self.s

        @p.step(
            by="b",
            takes="inactive",
            to="store",
            mirrors="PersistentTopic.checkGC, ManagedLedgerImpl.asyncDelete, ManagedLedgerImpl.deleteAllLedgers, "
            "MetaStoreImpl.removeManagedLedger",
            spends="deletions",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def collect_inactive(b: int, k: int) -> Outcome:
            """The topic is deleted as inactive. The list is trimmed first, by compare-and-set, if there is more than the
            current ledger. It is deleted here with an open ledger only; ManagedLedgerImpl.asyncDelete asks for no state.

            A broker that has lost the topic should meet BadVersion in any case; but the node is deleted at any version, and all
            three releases go through if there was nothing to trim.
            """
            idle = And(s.state[b] == "opened", s.topic[b] == "serving", s.connected != b, s.length[b] == 0, s.known[b].has(k))
            idle = And(idle, s.shares(b))
            if s.cursor is not None:
                idle = And(idle, s.has_cursor[b], s.mark[b] >= k * s.capacity + s.length_of(k))
            alone = And(*(Not(s.known[b].has(j)) for j in s.ledger if j != k))
            current = s.known_version[b] == s.version
            passes: Condition = current
            deleted = [either(s.known[b].has(j), s.ledgers[j].delete(), {}) for j in s.ledger]
            emptied: Updates = {s.listed: (), s.version: s.version + 1, **{s.entries[j]: 0 for j in s.ledger}}
            met: Happens = ({s.state[b]: "fenced"},)
            if p.has("zombie_deletes"):
                passes = current | alone
            done: Happens = (emptied, {s.discarded: s.discarded | current}, s.gone(b), *deleted)
            return And(idle, s.has_room()), either(passes, done, met)
