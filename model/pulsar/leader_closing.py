"""How a broker that takes part in an election shuts down, and deletes the leader's node if it takes itself for the leader.

Mirrors what LeaderElectionImpl.asyncClose does, and what PulsarService.closeAsync does around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fencepost.model.language import And, Not, Or, Protocol
from fencepost.model.pulsar.metadata_store import EphemeralNode, Sessions, Updates, merged


def declare_closing(
    p: Protocol,
    store: Sessions,
    leader: EphemeralNode,
    *,
    stage: Any,
    role: Any,
    cached: Any,
    closing: Any,
    at_start: Callable[[int], Updates],
    closes: int,
    close: str,
    mended: bool,
) -> None:
    """Declares the steps of a shutdown; the brokers' variables and the parameters are those of election."""

    @p.fault(by="b", mirrors="LeaderElectionImpl.asyncClose, LeaderElectionService.close", spends="closes", b=store.client)
    def start_closing(b: int) -> Any:
        """The broker shuts down. It takes part in no election any more, and deletes the node if it believes to lead."""
        begun = {closing[b]: True} if p.has("closed_elects_again") else {}
        return And(store.lives[b], stage[b] != "closed"), merged(begun, {stage[b]: "closed"})

    @p.step(
        by="b",
        mirrors="CoordinationServiceImpl.close, LeaderElectionImpl.asyncClose",
        fair=True,
        b=store.client,
        only_if=p.has("closed_elects_again"),
    )
    def close_again(b: int) -> Any:
        """What was closed and has elected again is closed once more, with all that coordinates the broker."""
        return And(store.lives[b], closing[b], stage[b] != "closed"), {stage[b]: "closed"}

    @p.step(by="b", mirrors="LeaderElectionImpl.asyncClose", fair=True, b=store.client, only_if=closes)
    def delete_at_close(b: int) -> Any:
        """A leader that shuts down deletes the node: unconditionally, because the version is never remembered.

        Nor does it know of a leader then: up to 4.0.8 AbstractMetadataStore.delete takes it from the caches. (A deletion that
        finds no node fails, and upstream role and leader stay as they were; here the closing is over, and so are they.)
        With the version remembered it is the same where versions begin anew: a new node has the version of the old one.
        """
        created = leader.version == 0 if store.kind.reuses_versions else leader.has_version(b, 0)
        meant = leader.is_own(b) if mended else created if close == "by_version" else True
        closing = And(store.reaches(b), stage[b] == "closed", role[b] == "leading")
        return closing, merged(leader.vanished(meant), {role[b]: "no_leader", cached[b]: EphemeralNode.NOBODY})

    @p.fault(
        by="b",
        mirrors="ZKMetadataStore.batchOperation, LeaderElectionImpl.asyncClose",
        spends="disconnects",
        b=store.client,
        only_if=closes and p.has("deletion_sent_again"),
    )
    def deletion_at_close_unheard(b: int) -> Any:
        """The node is deleted as the connection breaks; the request will be sent again, whoever has the node by then."""
        reaches, updates = store.lost_answer(b, leader.vanished(leader.is_own(b) if mended else True))
        return And(reaches, stage[b] == "closed", role[b] == "leading", Not(leader.absent)), updates

    @p.step(by="b", mirrors="PulsarService.closeAsync, ZKMetadataStore.close", fair=True, b=store.client, only_if=closes)
    def end(b: int) -> Any:
        """The process ends and closes its session; a leader that reaches the store has deleted the node before."""
        done = Or(role[b] != "leading", Not(store.reaches(b)))
        return And(store.lives[b], stage[b] == "closed", done), merged(store.ended(b), at_start(b))
