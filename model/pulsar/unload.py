"""How a broker gives a bundle up: it stops serving, closes the topics, and lets the lock go.

Mirrors OwnedBundle.handleUnloadRequest, BrokerService.unloadServiceUnit and OwnershipCache.removeOwnership as read in Pulsar
4.0.8, 4.2.4 and 5.0.0-M1, with the modular load manager, on the locks of resource_lock.py. (What
OwnershipCache.disableOwnership writes beforehand is part of ownership.) All three have the bug ``stale_unload``, which is
left out unless it is switched on.

Which bundle is unloaded, and when, is free: what holds here holds for every shedder. A topic of the bundle stands for all of
them. Unloading waits for them to close, no longer than its timeout: then it goes on, and a topic may stay open at a broker
that does not own it. A failure to close is ignored. A bundle whose lock is lost leaves the cache at once; its topics close
later.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fencepost.model.language import And, ModelError, Not, Or, Protocol
from fencepost.model.pulsar import lock_bugs
from fencepost.model.pulsar.lock_steps import declare_locks, declare_releases
from fencepost.model.pulsar.resource_lock import ResourceLocks
from fencepost.model.pulsar.shared_bugs import SHARED
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.zookeeper.sessions_and_nodes import Sessions, Updates, merged

UNLOAD = ("none", "closing", "releasing")

BUGS = {
    "unload_not_exclusive": "an unload begins although another one of the same bundle is under way",
    "released_before_close": "the lock is released before the topics are closed",
    "active_after_failed_close": "pulsar#3574: after a failure to close a topic the bundle is served again, and yet released",
    "active_after_failed_release": "pulsar#7517, #7773: after a release whose answer is lost the bundle is served again",
    "release_skipped_on_failure": "pulsar#163, #164, #174: after a failure to close a topic the lock is not released",
    "stale_unload": SHARED["stale_unload"],
    "deletion_sent_again": SHARED["deletion_sent_again"],
    "lone_release_fails": SHARED["lone_release_fails"],
    "recreated_behind_release": SHARED["recreated_behind_release"],
    "found_lock_unattended": SHARED["found_lock_unattended"],
    "close_waits_for_unload": "pulsar#21332: to close, a topic asks who owns it, and is answered when the unload is over",
}


def unload(
    *,
    brokers: int = 2,
    bundles: int = 1,
    unloads: int = 1,
    timeouts: int = 0,
    failures: int = 0,
    disconnects: int = 0,
    expiries: int = 0,
    crashes: int = 0,
    reacquires: bool = True,
    acquires_when_lost: bool = True,
    metadata_store: str = "zk",
    fixed: bool = False,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The unloading of ``bundles`` by the ``brokers`` that own them.

    ``unloads``, ``timeouts`` and ``failures`` bound how often a bundle is unloaded, the topics do not close in time, and they
    fail to close; ``disconnects``, ``expiries`` and ``crashes`` how often a broker is cut off, loses its session while it
    lives, and dies. ``reacquires``, ``acquires_when_lost`` and ``fixed`` as in ownership.
    """
    if brokers < 1 or bundles < 1:
        raise ModelError("unload: brokers and bundles are at least 1")
    parameters = stated({name: value for name, value in locals().items() if name != "bugs"})
    p = Protocol("unload", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)

    broker = p.universe("broker", brokers)
    bundle = p.universe("bundle", bundles, "u")
    kind = store_named(metadata_store, "unload", brokers=brokers, faults=disconnects + expiries)
    store = Sessions(p, broker, disconnects=disconnects, expiries=expiries, crashes=crashes, kind=kind)
    locks = ResourceLocks(p, store, bundle, fixed=fixed, reacquires=reacquires, acquires_when_lost=acquires_when_lost)
    lock_bugs.put_in_shared(locks)
    bundle_state = locks.bundle_state
    unloading = p.choice("unloading", UNLOAD, per=(broker, bundle))
    topic_open = p.flag("topic_open", per=(broker, bundle))
    overdue = p.flag("overdue", per=(broker, bundle))
    p.budget("unloads", unloads)
    p.budget("timeouts", timeouts)
    p.budget("failures", failures)

    def at_start(b: int) -> Updates:
        idle = {unloading[b, u]: "none" for u in bundle}
        closed = {flag[b, u]: False for u in bundle for flag in (topic_open, overdue)}
        return merged(locks.forgotten(b), idle, closed)

    @p.rule
    def is_unloaded(b: int, u: int) -> Any:
        """A broker does not set out to acquire what it is still unloading."""
        return unloading[b, u] == "none"

    is_unloaded.instead("stale_unload", lambda b, u: True)

    store.declare(
        at_start=at_start,
        on_lost=lambda b: {},
        on_reconnected=locks.retried,
        on_reestablished=locks.revalidated,
        listener="LockManagerImpl.handleSessionEvent",
    )
    declare_locks(locks, seems_free=is_unloaded)
    declare_releases(locks, releases=unloads > 0, on_released=lambda b, u: {unloading[b, u]: "none"})
    lock_bugs.declare_shared(locks)

    @p.step(
        by="client",
        mirrors="BrokerService.checkTopicNsOwnership {ownedByThisInstance}, OwnershipCache.checkOwnershipAsync, "
        "BrokerService.getTopic",
        b=broker,
        u=bundle,
    )
    def open_topic(b: int, u: int) -> Any:
        """A client is served: a topic of the bundle is opened. A bundle that is being unloaded refuses."""
        refused = Or(bundle_state[b, u] != "active", topic_open[b, u])
        return And(store.lives[b], Not(refused)), {topic_open[b, u]: True, overdue[b, u]: False}

    @p.rule
    def may_unload(b: int, u: int) -> Any:
        """Only a bundle that is active is unloaded."""
        return bundle_state[b, u] == "active"

    may_unload.instead("unload_not_exclusive", lambda b, u: Not(locks.acquires(b, u)))

    @p.step(
        by="b",
        mirrors="OwnedBundle.handleUnloadRequest, NamespaceService.unloadNamespaceBundle, "
        "BrokerService.cleanUnloadedTopicFromCache",
        spends="unloads",
        b=broker,
        u=bundle,
    )
    def start_unload(b: int, u: int) -> Any:
        """The bundle goes from active to inactive by compare-and-set, so that one unload only gets through.

        A topic that was late for an earlier unload is forgotten since then, and not waited for again.
        """
        inactive = {bundle_state[b, u]: "inactive", unloading[b, u]: "closing"}
        return And(store.lives[b], may_unload(b, u)), inactive

    @p.rule
    def is_to_close(b: int, u: int) -> Any:
        """A topic closes because its bundle is being unloaded or was lost."""
        return Or(unloading[b, u] != "none", bundle_state[b, u] == "absent")

    is_to_close.instead("close_waits_for_unload", lambda b, u: And(unloading[b, u] == "none", bundle_state[b, u] == "absent"))

    @p.step(
        by="b",
        mirrors="BrokerService.unloadServiceUnit, OwnershipCache.OwnedServiceUnitCacheLoader.asyncLoad",
        fair=True,
        b=broker,
        u=bundle,
    )
    def close_topic(b: int, u: int) -> Any:
        """The topic is closed, because its bundle is being unloaded or was lost."""
        closed = {topic_open[b, u]: False, overdue[b, u]: False}
        return And(store.lives[b], topic_open[b, u], is_to_close(b, u)), closed

    @p.rule
    def after_failure(b: int, u: int) -> Updates:
        """The unload goes on after a failure to close."""
        return {}

    after_failure.instead("release_skipped_on_failure", lambda b, u: {unloading[b, u]: "none"})
    after_failure.instead("active_after_failed_close", lambda b, u: {bundle_state[b, u]: "active"})

    @p.fault(
        by="b",
        mirrors="OwnedBundle.handleUnloadRequest, BrokerService.cleanUnloadedTopicFromCache",
        spends="failures",
        b=broker,
        u=bundle,
    )
    def fail_to_close(b: int, u: int) -> Any:
        """The topic does not close properly: that is ignored, and the broker forgets it."""
        closing = And(store.lives[b], topic_open[b, u], unloading[b, u] == "closing")
        return closing, merged({topic_open[b, u]: False}, after_failure(b, u))

    @p.fault(by="b", mirrors="BrokerService.unloadServiceUnit", spends="timeouts", b=broker, u=bundle)
    def time_out_closing(b: int, u: int) -> Any:
        """The topics are not closed after 60 seconds: the unload goes on without them."""
        return And(store.lives[b], topic_open[b, u], unloading[b, u] == "closing"), {overdue[b, u]: True}

    @p.rule
    def is_closed(b: int, u: int) -> Any:
        """An unload has waited for the topics, as long as it waits."""
        return Or(Not(topic_open[b, u]), overdue[b, u])

    is_closed.instead("released_before_close", lambda b, u: True)

    @p.step(
        by="b",
        mirrors="OwnedBundle.handleUnloadRequest, OwnershipCache.removeOwnership, ResourceLockImpl.release",
        fair=True,
        b=broker,
        u=bundle,
    )
    def start_release(b: int, u: int) -> Any:
        """The topics are closed, or late: the lock is released.

        Not before, because whoever gets the lock opens the same topics. It is released once, and only if it is still there.
        """
        held = And(store.lives[b], unloading[b, u] == "closing", locks.may_release(b, u), Not(locks.acquires(b, u)))
        return And(held, is_closed(b, u)), merged({unloading[b, u]: "releasing"}, locks.releasing(b, u))

    @p.step(
        by="b",
        mirrors="OwnershipCache.removeOwnership, ResourceLockImpl.release",
        fair=True,
        b=broker,
        u=bundle,
        only_if=unloads and (expiries or (crashes and not fixed)),
    )
    def stop_unload(b: int, u: int) -> Any:
        """The lock was lost meanwhile, and the bundle with it: nothing is left to be released."""
        return And(store.lives[b], unloading[b, u] != "none", bundle_state[b, u] == "absent"), {unloading[b, u]: "none"}

    @p.fault(
        by="b",
        mirrors="OwnedBundle.handleUnloadRequest",
        spends="disconnects",
        b=broker,
        u=bundle,
        only_if=p.has("active_after_failed_release"),
    )
    def release_unheard(b: int, u: int) -> Any:
        """The node is deleted as the connection breaks: the broker takes the release for failed."""
        reaches, updates = store.lost_answer(b, locks.nodes[u].vanished(locks.nodes[u].is_own(b)))
        back = {bundle_state[b, u]: "active", locks.stage[b, u]: "valid", unloading[b, u]: "none"}
        return And(reaches, locks.stage[b, u] == "releasing"), updates | merged(locks.nodes[u].unheard(b), back)

    return p
