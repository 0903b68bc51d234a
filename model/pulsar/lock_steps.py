"""What can happen to the locks of resource_lock.py: they are acquired, revalidated, lost and released.

Mirrors ResourceLockImpl, LockManagerImpl and the loader of OwnershipCache; each step names its methods.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.language import And, Condition, Not, Or, Outcome, Truth, Updates
from fencepost.model.pulsar.resource_lock import ResourceLocks
from fencepost.model.zookeeper.sessions_and_nodes import merged, updates_if


def declare_locks(
    locks: ResourceLocks,
    *,
    seems_free: Callable[[int, int], Truth] = lambda b, u: True,
    on_creation: Callable[[int, int], Updates] = lambda b, u: {},
    on_deletion: Callable[[int, int], Updates] = lambda b, u: {},
) -> None:
    """Declares the steps of locks, except those of their release.

    ``seems_free`` says when a broker knows of no owner, ``on_creation`` what the creation of its own node does besides, and
    ``on_deletion`` what the notification of a deletion does.
    """
    p, store, stage, nodes = locks.protocol, locks.store, locks.stage, locks.nodes
    broker, bundle = locks.broker, locks.bundle

    def finds(b: int, u: int, node: Condition) -> Condition:
        """The formula: the read of a revalidation is answered, with such a node."""
        return And(store.reaches(b), stage[b, u] == "checking", node)

    @p.step(
        by="b",
        mirrors="OwnershipCache.tryAcquiringOwnership, OwnershipCache.OwnedServiceUnitCacheLoader.asyncLoad, "
        "LockManagerImpl.acquireLock, NamespaceService.searchForCandidateBroker",
        fair=True,
        b=broker,
        u=bundle,
    )
    def try_to_own(b: int, u: int) -> Outcome:
        """A lookup has led to this broker, which sets out to acquire the bundle.

        Whoever sent it here found no owner, by the node as it is or as it was; or the node is from before a restart. Since
        4.0.8 a node of this session will do, too, for which the broker has no lock.
        """
        idle = Or(And(stage[b, u] == "none", locks.acquires(b, u)), And(stage[b, u] == "valid", locks.is_given_up(b, u)))
        free = Or(nodes[u].absent, nodes[u].deleted[b], nodes[u].is_held(b, former=True))
        wanted = Or(free, nodes[u].is_own(b)) if locks.reacquires else free
        led = And(store.lives[b], idle, seems_free(b, u), wanted)
        return And(led, locks.may_write(b), locks.may_acquire(b)), locks.begun(b, u)

    @p.step(
        by="b",
        mirrors="ResourceLockImpl.acquireWithNoRevalidation, ResourceLockImpl.acquire, ResourceLockImpl.silentRevalidateOnce",
        fair=True,
        b=broker,
        u=bundle,
    )
    def create(b: int, u: int) -> Outcome:
        """The node is created, if it is absent: expected version -1. The lock is valid, and the bundle is served.

        BadVersion: an acquisition looks whose node it is. For a revalidation the lock is lost, even if the node is its own
        from a request whose answer it did not hear.
        """
        created = merged(locks.created(b, u), locks.valid(b, u), on_creation(b, u))
        busy = {stage[b, u]: "checking"} if locks.fixed else locks.lost(b, u)
        refused = updates_if(stage[b, u] == "acquiring", locks.meets_node(b, u), busy)
        sent = stage[b, u].among("acquiring", "recreating")
        answered = updates_if(nodes[u].absent, created, refused)
        return And(store.reaches(b), sent), merged(answered, locks.remembers(b, u, True))

    @p.fault(
        by="b",
        mirrors="ZKMetadataStore.batchOperation, ResourceLockImpl.acquireWithNoRevalidation",
        spends="disconnects",
        b=broker,
        u=bundle,
    )
    def creation_unheard(b: int, u: int) -> Outcome:
        """The node is created as the connection breaks; the request will be sent again."""
        reaches, updates = store.lost_answer(b, locks.node_created(b, u))
        return And(reaches, stage[b, u].among("acquiring", "recreating"), nodes[u].absent), updates

    @p.step(
        by="b",
        hears="store",
        mirrors="ResourceLockImpl.revalidate {!optGetResult.isPresent()}, ResourceLockImpl.setVersion",
        fair=True,
        b=broker,
        u=bundle,
    )
    def find_missing(b: int, u: int) -> Outcome:
        """A revalidation finds no node: it creates it again, and forgets which version it had."""
        recreates = {stage[b, u]: "recreating", **locks.knows(b, u, locks.unknown)}
        return finds(b, u, nodes[u].absent), locks.unless_refused(b, u, recreates)

    @p.step(
        by="b",
        hears="store",
        mirrors="ResourceLockImpl.revalidate {newValue.equals(existingValue) && res.getStat().isCreatedBySelf()}",
        fair=True,
        b=broker,
        u=bundle,
    )
    def find_own(b: int, u: int) -> Outcome:
        """The node is the broker's own, from this session: the lock is valid."""
        return finds(b, u, nodes[u].is_own(b)), locks.found_own(b, u)

    @p.step(
        by="b",
        hears="store",
        mirrors="ResourceLockImpl.revalidate {newValue.equals(existingValue) && !res.getStat().isCreatedBySelf()}",
        fair=True,
        b=broker,
        u=bundle,
        only_if=store.leaves_sessions,
    )
    def find_former(b: int, u: int) -> Outcome:
        """The node is the broker's own, from a former session that may be about to expire: it is deleted first."""
        guard = finds(b, u, nodes[u].is_held(b, former=True))
        retakes = {stage[b, u]: "retaking", **locks.knows(b, u, nodes[u].version, of_node=True)}
        return guard, locks.unless_refused(b, u, retakes)

    @p.step(by="b", mirrors="ResourceLockImpl.revalidate", fair=True, b=broker, u=bundle, only_if=locks.retakes)
    def retake(b: int, u: int) -> Outcome:
        """The node of the former session is deleted, if its version is the one seen.

        If it is gone already, or another one with another version is there, the acquisition fails. (A revalidation comes
        here only with etcd: elsewhere a broker that is back has no locks yet.)
        """
        stale = locks.retake_deletes(b, u)
        recreates = locks.unless_refused(b, u, {stage[b, u]: "recreating", **locks.knows(b, u, locks.unknown)})
        outcome = updates_if(stale, recreates, locks.lost(b, u))
        gone = nodes[u].vanished(stale) | outcome
        return And(store.reaches(b), stage[b, u] == "retaking"), merged(gone, locks.remembers(b, u, False))

    @p.step(
        by="b",
        hears="store",
        mirrors="ResourceLockImpl.revalidate {!newValue.equals(existingValue) && !res.getStat().isCreatedBySelf()}, "
        "ResourceLockImpl.silentRevalidateOnce, OwnershipCache.OwnedServiceUnitCacheLoader.asyncLoad, "
        "OwnershipCache.invalidateLocalOwnerCache",
        fair=True,
        b=broker,
        u=bundle,
    )
    def find_other(b: int, u: int) -> Outcome:
        """The node is another broker's: the lock is lost, or was not won."""
        of_another = And(Not(nodes[u].absent), nodes[u].holder != b)
        return finds(b, u, of_another), merged({locks.revalidate_when_back[b, u]: False}, locks.lost(b, u))

    @p.step(
        by="b",
        hears="store",
        mirrors="LockManagerImpl.handleDataNotification, ResourceLockImpl.lockWasInvalidated, MetadataCacheImpl.accept",
        fair=True,
        b=broker,
        u=bundle,
    )
    def hear_of_deletion(b: int, u: int) -> Outcome:
        """A notification says that the node was deleted: a valid lock is looked after."""
        return And(store.hears(b), nodes[u].deleted[b]), merged(nodes[u].unheard(b), locks.invalidated(b, u), on_deletion(b, u))

    @p.step(
        by="b",
        mirrors="ResourceLockImpl.silentRevalidateOnce, ResourceLockImpl.acquire, LockManagerImpl.acquireLock",
        fair=True,
        b=broker,
        u=bundle,
        only_if=store.expiries,
    )
    def fail(b: int, u: int) -> Outcome:
        """A request fails for good: an acquisition is given up, a revalidation is left for later."""
        under_way = stage[b, u].among("acquiring", "checking", "recreating", "retaking")
        given_up = {stage[b, u]: "none", locks.revalidate_when_back[b, u]: False, **locks.knows(b, u, 0)}
        return And(store.is_zombie(b), under_way), updates_if(locks.acquires(b, u), given_up, locks.unanswered(b, u))

    @p.step(
        by="b",
        mirrors="ResourceLockImpl.silentRevalidateOnce",
        b=broker,
        u=bundle,
        only_if=store.disconnects or store.expiries,
    )
    def time_out(b: int, u: int) -> Outcome:
        """A revalidation fails for want of a connection, and is left for later."""
        under_way = stage[b, u].among("checking", "recreating", "retaking")
        cut_off = And(store.lives[b], store.link[b] != "connected", Not(locks.acquires(b, u)))
        return And(cut_off, under_way), locks.unanswered(b, u)

    @p.step(
        by="b",
        mirrors="ResourceLockImpl.silentRevalidateOnce",
        fair=True,
        b=broker,
        u=bundle,
        only_if=(store.disconnects or store.expiries) and not store.kind.tells,
    )
    def look_again(b: int, u: int) -> Outcome:
        """A revalidation that failed is tried again by a timer, as nobody tells the broker that its connection is back."""
        due = And(store.reaches(b), locks.revalidate_when_back[b, u], stage[b, u] == "valid")
        return due, {stage[b, u]: "checking", locks.revalidate_when_back[b, u]: False}


def declare_releases(
    locks: ResourceLocks,
    *,
    releases: bool = True,
    on_released: Callable[[int, int], Updates] = lambda b, u: {},
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
    def release(b: int, u: int) -> Outcome:
        """The node is deleted, if its version is the one that the lock knows; the bundle leaves the broker's cache.

        If the node is gone already, NotFound, that is as good; but etcd and Oxia take that for another version. If another
        one is there, the release fails, for good. A lock that is just creating its node again knows no version: with
        ZooKeeper whatever node is there goes, its own or another's, and elsewhere the release fails.
        """
        deleted, node = locks.release_deletes(b, u), nodes[u]
        gone = Or(node.absent, node.holder != b) if locks.fixed else locks.finds_gone(b, u)
        answered = And(store.reaches(b), stage[b, u] == "releasing", Or(deleted, gone))
        released = merged(locks.released(b, u), on_released(b, u), locks.remembers(b, u, False))
        return answered, node.vanished(deleted) | released

    @p.step(
        by="b",
        mirrors="ResourceLockImpl.release {!(ex.getCause() instanceof MetadataStoreException.NotFoundException)}",
        fair=True,
        b=broker,
        u=bundle,
        only_if=releases and not locks.fixed and (store.expiries or locks.writes or misses),
    )
    def release_fails(b: int, u: int) -> Outcome:
        """The release fails: its session is gone, or the node that is there, or that none is, does not fit its version."""
        met = And(Not(locks.finds_gone(b, u)), Not(locks.release_deletes(b, u)))
        fails = Or(store.is_zombie(b), And(store.reaches(b), met))
        return And(stage[b, u] == "releasing", fails), {stage[b, u]: "stranded"}

    @p.step(by="b", fair=True, b=broker, u=bundle, only_if=releases and locks.fixed and store.expiries)
    def release_with_session(b: int, u: int) -> Outcome:
        """The session is gone, and the node with it: the release is done."""
        return And(store.is_zombie(b), stage[b, u] == "releasing"), merged(locks.released(b, u), on_released(b, u))
