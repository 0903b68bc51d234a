"""Which broker owns a bundle: lookups that make a broker try, locks that are looked after, releases.

Mirrors what lookups in NamespaceService and OwnershipCache ask and answer, and when a lock is let go, as read in Pulsar
4.0.8, 4.2.4 and 5.0.0-M1. The locks themselves, and what OwnershipCache and OwnedBundle know of them, are in
resource_lock.py; sessions are in sessions_and_nodes.py.

A lookup of a bundle that nobody serves makes some broker try to acquire it. Which broker that is, and on what stale view of
the store it was chosen, is free: whatever the policy of placement, and whoever takes himself for the leader, his choice is
among those considered. A broker that does not own the bundle answers from its cache of the owner node, which it reads where
it has nothing; notifications of deletions and the return of a connection empty it. The bundle may be released at any time, as
often as ``releases`` says; ``disables`` bounds how often a broker says beforehand that it will
(OwnershipCache.disableOwnership, which nothing in these releases calls but tests).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fencepost.model.language import And, ModelError, Not, Or, Protocol
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar import lock_bugs, store_migration
from fencepost.model.pulsar.lock_steps import declare_locks, declare_releases
from fencepost.model.pulsar.resource_lock import ResourceLocks
from fencepost.model.pulsar.shared_bugs import SHARED
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.zookeeper.sessions_and_nodes import Sessions, Updates, merged, updates_if

BUGS = {
    **lock_bugs.BUGS,
    "cache_kept_on_disconnect": SHARED["cache_kept_on_disconnect"],
    "answers_disabled": "a lookup names the owner that is giving the bundle up",
    "stale_unload": SHARED["stale_unload"],
    **store_migration.BUGS,
}


def ownership(
    *,
    brokers: int = 2,
    bundles: int = 1,
    disconnects: int = 0,
    expiries: int = 0,
    crashes: int = 0,
    releases: int = 0,
    disables: int = 0,
    reacquires: bool = True,
    acquires_when_lost: bool = True,
    metadata_store: str = "zk",
    migration: bool = False,
    fixed: bool = False,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The ownership of ``bundles`` by ``brokers``.

    ``disconnects``, ``expiries``, ``crashes``, ``releases`` and ``disables`` bound how often a broker is cut off, loses its
    session while it lives, dies, releases a bundle, and disables it beforehand. With ``reacquires``, as since 4.0.8, a lookup
    at a broker that finds its own node, on which it has no lock, makes it acquire the bundle. Without ``acquires_when_lost``,
    as since 5.0.1, a broker that has heard of the loss of its session acquires nothing. With ``migration`` the metadata are
    moved to another store once (store_migration.py). ``fixed`` is not upstream: deletions then name the creation of the node
    that they mean, a re-creation that meets a node looks whose it is, and a release that fails with its session counts as done.
    """
    if brokers < 1 or bundles < 1:
        raise ModelError("ownership: brokers and bundles are at least 1")
    parameters = stated({name: value for name, value in locals().items() if name != "bugs"})
    p = Protocol("ownership", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)

    broker = p.universe("broker", brokers)
    bundle = p.universe("bundle", bundles, "u")
    kind = store_named(metadata_store, "ownership", brokers=brokers, faults=disconnects + expiries)
    store = Sessions(p, broker, disconnects=disconnects, expiries=expiries, crashes=crashes, kind=kind)
    writes = 1 if disables else 0
    acquires = {"reacquires": reacquires, "acquires_when_lost": acquires_when_lost}
    locks = ResourceLocks(p, store, bundle, fixed=fixed, writes=writes, **acquires)
    lock_bugs.put_in(locks)
    owners, stage, bundle_state = locks.nodes, locks.stage, locks.bundle_state
    moves = store_migration.Migration(locks) if migration else None
    cached = p.choice("cached", broker, per=(broker, bundle), none=NOBODY)
    cleanup: Any = p.flag("cleanup", per=(broker, bundle)) if p.has("stale_unload") else None
    p.budget("releases", releases)
    p.budget("disables", disables)

    def uncached(b: int) -> Updates:
        return {cached[b, u]: NOBODY for u in bundle}

    def at_start(b: int) -> Updates:
        nothing_left = {cleanup[b, u]: False for u in bundle} if p.has("stale_unload") else {}
        return merged(locks.forgotten(b), uncached(b), nothing_left, moves.at_start(b) if moves else {})

    @p.rule
    def refreshed(b: int) -> Updates:
        """The caches are emptied when a connection is back."""
        return uncached(b)

    refreshed.instead("cache_kept_on_disconnect", lambda b: {})

    store.declare(
        at_start=at_start,
        on_lost=lambda b: {},
        on_reconnected=lambda b: merged(locks.retried(b), refreshed(b)),
        on_reestablished=lambda b: merged(locks.revalidated(b), refreshed(b)),
        listener="LockManagerImpl.handleSessionEvent",
    )

    declare_locks(
        locks,
        seems_free=lambda b, u: cached[b, u] == NOBODY,
        on_deletion=lambda b, u: {cached[b, u]: NOBODY},
    )

    def taken_out(b: int, u: int) -> Updates:
        """A release that is done unloads what is still active, as the loss of a lock does."""
        return {cleanup[b, u]: Or(cleanup[b, u], bundle_state[b, u] == "active")} if p.has("stale_unload") else {}

    declare_releases(locks, releases=bool(releases or disables) or p.has("stale_unload"), on_released=taken_out)
    lock_bugs.declare_steps(locks)

    @p.rule
    def is_named(u: int) -> Any:
        """A lookup names an owner unless its node says that it is being unloaded."""
        return Not(owners[u].marks["disabled"]) if disables else True

    is_named.instead("answers_disabled", lambda u: True)

    @p.step(
        by="b",
        hears="store",
        mirrors="OwnershipCache.getOwnerAsync, LockManagerImpl.readLock, MetadataCacheImpl.get, "
        "NamespaceService.findBrokerServiceUrl",
        b=broker,
        u=bundle,
    )
    def read_owner(b: int, u: int) -> Any:
        """A lookup reads the node of another broker, and answers that, unless the node says that it is being unloaded.

        A broker that serves the bundle itself answers so, without reading.
        """
        present = And(Not(owners[u].absent), owners[u].holder != b, is_named(u))
        return And(store.reaches(b), locks.acquires(b, u), present), {cached[b, u]: owners[u].holder}

    @p.step(
        by="b",
        mirrors="OwnershipCache.disableOwnership, OwnershipCache.updateBundleState, ResourceLockImpl.updateValue",
        spends="disables",
        b=broker,
        u=bundle,
    )
    def disable(b: int, u: int) -> Any:
        """The broker writes that it is about to give the bundle up, if the version is the one that it knows.

        From then on it does not serve the bundle: lookups elsewhere do not name it any more.
        """
        known = And(owners[u].is_own(b), owners[u].version == locks.version[b, u], owners[u].version < 1)
        ready = And(store.reaches(b), stage[b, u] == "valid", bundle_state[b, u] == "active", locks.may_write(b))
        return And(ready, known), merged(locks.disabled(b, u), {bundle_state[b, u]: "inactive"})

    @p.step(
        by="b",
        mirrors="OwnershipCache.removeOwnership, ResourceLockImpl.release",
        fair=True,
        b=broker,
        u=bundle,
        only_if=disables,
    )
    def release_disabled(b: int, u: int) -> Any:
        """What was disabled is released."""
        return And(store.lives[b], locks.may_release(b, u), bundle_state[b, u] == "inactive"), locks.releasing(b, u)

    @p.step(
        by="b",
        mirrors="OwnedBundle.handleUnloadRequest, OwnershipCache.removeOwnership, ResourceLockImpl.release",
        spends="releases",
        b=broker,
        u=bundle,
    )
    def start_release(b: int, u: int) -> Any:
        """The broker gives the bundle up: it serves it no longer, and will delete its node.

        Only what was acquired is given up, and once: a second deletion could meet the node of the next owner.
        """
        held = And(store.lives[b], locks.may_release(b, u), Not(locks.acquires(b, u)))
        return And(held, locks.may_begin_release(b)), merged({bundle_state[b, u]: "inactive"}, locks.releasing(b, u))

    @p.step(
        by="b",
        mirrors="OwnershipCache.OwnedServiceUnitCacheLoader.asyncLoad, NamespaceService.unloadNamespaceBundle",
        b=broker,
        u=bundle,
        only_if=p.has("stale_unload"),
    )
    def lose_in_background(b: int, u: int) -> Any:
        """The lock is found lost: the bundle leaves the cache, and what else is to be cleaned up is left for later.

        Nothing is left of a bundle that was disabled: an unload is refused of one that is not active.
        """
        of_another = And(Not(owners[u].absent), owners[u].holder != b)
        guard = And(store.reaches(b), stage[b, u] == "checking", of_another, Not(locks.acquires(b, u)))
        left = Or(cleanup[b, u], bundle_state[b, u] == "active")
        return guard, merged({cleanup[b, u]: left}, locks.lost(b, u))

    @p.step(
        by="b",
        mirrors="OwnedBundle.handleUnloadRequest, OwnershipCache.removeOwnership",
        b=broker,
        u=bundle,
        only_if=p.has("stale_unload"),
    )
    def clean_up(b: int, u: int) -> Any:
        """The clean-up comes to release the lock that the broker has by now, whichever that is.

        It has taken out of service what was lost. What was acquired meanwhile stays active until the release is answered.
        """
        has_it = And(locks.may_release(b, u), Not(locks.acquires(b, u)))
        given_up = updates_if(has_it, locks.releasing(b, u), {})
        return And(store.lives[b], cleanup[b, u]), merged(given_up, {cleanup[b, u]: False})

    if moves:
        moves.declare(on_switched=uncached)
    return p
