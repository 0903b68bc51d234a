"""How a broker gives a bundle up while bundles are split, other than by its own split."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, Not, Or
from fencepost.model.pulsar.metadata_store import merged
from fencepost.model.pulsar.resource_lock import ResourceLocks


def declare_unloads(locks: ResourceLocks, *, view: Any, stage: Any, parent: Any, children: Any) -> None:
    """Declares the steps; the brokers' ``view``, ``stage``, ``parent`` and ``children`` are as in split."""
    p, store, serves, broker, bundle = locks.protocol, locks.store, locks.serves, locks.broker, locks.bundle

    @p.step(
        by="b",
        mirrors="OwnedBundle.handleUnloadRequest, OwnershipCache.removeOwnership, ResourceLockImpl.release",
        spends="releases",
        b=broker,
        u=bundle,
    )
    def start_release(b: int, u: int) -> Any:
        """The broker gives a bundle of the layout up, whether or not it is being split: an unload, or a shedding."""
        held = And(store.lives[b], locks.may_release(b, u), serves[b, u] == "active")
        return And(held, view[b].has(u)), merged({serves[b, u]: "inactive"}, locks.releasing(b, u))

    @p.step(by="b", fair=True, b=broker, u=bundle, only_if=locks.mended)
    def drop(b: int, u: int) -> Any:
        """A broker gives up what is not in the layout, as it knows it, and is not part of its own split."""
        own = And(stage[b] != "none", Or(parent[b] == u, children[b].has(u)))
        held = And(store.lives[b], locks.may_release(b, u), serves[b, u] == "active")
        return And(held, Not(view[b].has(u)), Not(own)), merged({serves[b, u]: "inactive"}, locks.releasing(b, u))
