"""How the release of a lock ends; the protocols say how it begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fencepost.model.language import And, Not, Or
from fencepost.model.pulsar.metadata_store import merged
from fencepost.model.pulsar.resource_lock import ResourceLocks


def declare_releases(
    locks: ResourceLocks,
    *,
    releases: bool = True,
    on_released: Callable[[int, int], Mapping[Any, Any]] = lambda b, u: {},
) -> None:
    """Declares the steps that end a release.

    ``releases`` says whether locks are ever released, and ``on_released`` what a release does besides.
    """
    p, store, stage, nodes = locks.protocol, locks.store, locks.stage, locks.nodes
    broker, bundle = locks.broker, locks.bundle
    goes_unnoticed = store.disconnects or (store.leaves_sessions and store.kind.reuses_versions)
    misses = store.kind.refuses_missing and goes_unnoticed

    @p.step(
        by="b",
        mirrors="ResourceLockImpl.release, OwnershipCache.OwnedServiceUnitCacheLoader.asyncLoad, "
        "OwnershipCache.invalidateLocalOwnerCache",
        fair=True,
        b=broker,
        u=bundle,
        only_if=releases,
    )
    def release(b: int, u: int) -> Any:
        """The node is deleted, if its version is the one that the lock knows; the bundle leaves the broker's cache.

        If the node is gone already, NotFound, that is as good; but etcd and Oxia take that for another version. If another
        one is there, the release fails, for good. A lock that is just creating its node anew knows no version: with
        ZooKeeper whatever node is there goes, its own or another's, and elsewhere the release fails.
        """
        deleted, node = locks.release_deletes(b, u), nodes[u]
        gone = Or(node.absent, node.holder != b) if locks.mended else locks.finds_gone(b, u)
        answered = And(store.reaches(b), stage[b, u] == "releasing", Or(deleted, gone))
        return answered, merged(node.vanished(deleted), locks.released(b, u), on_released(b, u))

    @p.step(
        by="b",
        mirrors="ResourceLockImpl.release",
        fair=True,
        b=broker,
        u=bundle,
        only_if=releases and not locks.mended and (store.expiries or locks.writes or misses),
    )
    def strand(b: int, u: int) -> Any:
        """The release fails: its session is gone, or the node that is there, or that none is, does not fit its version."""
        met = And(Not(locks.finds_gone(b, u)), Not(locks.release_deletes(b, u)))
        fails = Or(store.is_zombie(b), And(store.reaches(b), met))
        return And(stage[b, u] == "releasing", fails), {stage[b, u]: "stranded"}

    @p.step(by="b", fair=True, b=broker, u=bundle, only_if=releases and locks.mended and store.expiries)
    def release_with_session(b: int, u: int) -> Any:
        """The session is gone, and the node with it: the release is done."""
        return And(store.is_zombie(b), stage[b, u] == "releasing"), merged(locks.released(b, u), on_released(b, u))
