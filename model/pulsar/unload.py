"""How a broker gives a bundle up: it stops serving, closes the topics, and lets the lock go.

Mirrors OwnedBundle.handleUnloadRequest, BrokerService.unloadServiceUnit and OwnershipCache.removeOwnership as read in Pulsar
4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1, with the modular load manager, on the locks of resource_lock.py. (What
OwnershipCache.disableOwnership writes beforehand is part of ownership.) All three have the bug ``stale_unload``, which is
left out unless it is switched on.

Which bundle is unloaded, and when, is free: what holds here holds for every shedder. A topic of the bundle stands for all of
them. Unloading waits for them to close, no longer than its timeout: then it goes on, and a topic may stay open at a broker
that does not own it. A failure to close is ignored. A bundle whose lock is lost leaves the cache at once; its topics close
later.

Not modelled: which of several topics is late, what an open topic writes (the protocol ``topic``), the transfer to a named
broker, clients that are redirected. docs/explanation/deviations.md says of each what that leaves out.

Constants
    brokers              brokers that may own a bundle
    bundles              how many there are
    unloads              times that a bundle is unloaded
    timeouts             times that topics do not close in time
    failures             times that topics fail to close
    disconnects          times that a broker loses its connection, or the answer to a request with it
    expiries             times that the session of a live broker expires
    crashes              times that a broker dies
    reacquires           a lookup at a broker that finds its own node, on which it has no lock, makes it acquire the bundle,
                         as since 4.0.8
    acquires_when_lost   a broker that has heard of the loss of its session acquires bundles, as up to 5.0.0-M1
    metadata_store       the store by the scheme of its URL: zk, etcd, oxia, rocksdb or memory
    fixed                not upstream: a deletion names the creation that it means, a re-creation that meets a node looks
                         whose it is, and a release that fails with its session counts as done

Variables of sessions (zookeeper/sessions_and_nodes.py)
    lives                its process runs
    link                 its connection as it takes it: connected, suspended, or lost, when it has given its session up
    session, former_session
                         the store has its session; and one of its process before a restart

Variables of the store, of each bundle
    owner_holder         who created the node, and so whom its value names; nobody if there is none
    owner_former, owner_version
                         it is of a former session of that client; its version, 0 when it is created, one more with each
                         write
    owner_deletion       of each client: a notification of its deletion is on its way
    owner_knows_version  of each client: the version that it knows is of the node that is there. Only with Oxia

Variables of the locks of each broker (resource_lock.py)
    lock                 which request is out: acquiring and recreating create the node, checking reads it, retaking deletes
                         what a former session left, releasing deletes it for good. Or none is: none, valid, and stranded if
                         a release has failed, after which nothing looks after the lock
    bundle_state         the bundle in the broker's own cache: absent, active, inactive while it is given up
    lock_version         the version of the node as the lock knows it; -1, which is any, while it creates the node again
    revalidate_when_back a revalidation has failed: the lock is looked after when the connection is back
    unattended, orphan   with the bugs found_lock_unattended and recreated_behind_release: the lock was acquired by finding
                         its own node; a read that was out as the release began may still create the node

Variables of unloading, of each broker and bundle
    unloading            how far the unload is: none, closing the topics, releasing the lock
    topic_open           whether the broker has the bundle's topic open
    overdue              whether the unload has gone on without it

Variables that count
    unloads, timeouts, failures, disconnects, expiries, crashes
                         how often each event has happened, up to the constant of that name

Actions of sessions (zookeeper/sessions_and_nodes.py)
    disconnect, lose, reconnect, resume
                         a fault: its connection breaks; it takes its session for lost by its own clock; it is back before
                         that; after it, and the session is still there
    expire, learn_of_expiry, reestablish
                         a fault: the store drops the session of a process that lives, with its nodes; it hears so; it opens
                         a new one
    crash, restart       a fault: its process ends; it is started again, with a new session
    expire_dead, expire_former
                         the session of a process that has ended expires, with its nodes; and one from before a restart

Actions of locks, by the broker (lock_steps.py, lock_bugs.py)
    try_to_own, create   a lookup has led here: it sets out to acquire the bundle; creates the node if there is none, and
                         serves
    creation_unheard     a fault: the node is created as the connection breaks; the request will be sent again
    hear_of_deletion, find_missing
                         hears that the node was deleted, and looks; finds none, and will create it again
    find_own, find_other finds its node of this session: the lock is valid; finds another broker's: the lock and the bundle
                         are lost
    find_former, retake  finds its node of a former session; deletes that, if the version is the one seen
    fail, time_out, look_again
                         a request fails with its session; a revalidation fails with the connection, and is tried again by a
                         timer where nobody reports that the connection is back
    release, release_fails, release_with_session
                         deletes the node by its version, and forgets the bundle; fails, for want of a session or for
                         another's node; with fixed the session has taken the node along
    deletion_unheard, lone_release_unheard, recreate_behind_release
                         with the bugs deletion_sent_again, lone_release_fails and recreated_behind_release: the deletion is
                         out once more; the release fails for good; a read that was out creates the node again

Actions of unloading
    open_topic           client: is served: the topic is opened. A bundle that is not active refuses
    start_unload         broker: the bundle goes from active to inactive
    close_topic          broker: the topic is closed, because the bundle is unloaded or lost
    fail_to_close        broker, a fault: the topic does not close properly; the broker forgets it
    time_out_closing     broker, a fault: the topic is late: the unload goes on without it
    start_release        broker: the topic is closed, or late: the broker sets out to release the lock
    stop_unload          broker: the lock was lost meanwhile: nothing is left to release
    release_unheard      broker, a fault: the node is deleted as the connection breaks. Only with the bug
                         active_after_failed_release

The properties are in ``properties/unload/suite.py``. ``BUGS`` has a line for each bug and weakening,
``properties/unload/bugs.toml`` the releases that have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from fencepost.model.language import And, Condition, ModelError, Not, Or, Outcome, Protocol, Updates
from fencepost.model.pulsar import lock_bugs
from fencepost.model.pulsar.lock_steps import declare_locks, declare_releases
from fencepost.model.pulsar.resource_lock import ResourceLocks
from fencepost.model.pulsar.shared_bugs import SHARED
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.zookeeper.sessions_and_nodes import Sessions, merged

Unload = Literal["none", "closing", "releasing"]
UNLOAD: tuple[Unload, ...] = get_args(Unload)

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
    """The unloading of ``bundles`` by the ``brokers`` that own them; the page above has the constants."""
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
    def is_unloaded(b: int, u: int) -> Condition:
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
    def open_topic(b: int, u: int) -> Outcome:
        """A client is served: a topic of the bundle is opened. A bundle that is being unloaded refuses."""
        refused = Or(bundle_state[b, u] != "active", topic_open[b, u])
        return And(store.lives[b], Not(refused)), {topic_open[b, u]: True, overdue[b, u]: False}

    @p.rule
    def may_unload(b: int, u: int) -> Condition:
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
    def start_unload(b: int, u: int) -> Outcome:
        """The bundle goes from active to inactive by compare-and-set, so that one unload only gets through.

        A topic that was late for an earlier unload is forgotten since then, and not waited for again.
        """
        inactive = {bundle_state[b, u]: "inactive", unloading[b, u]: "closing"}
        return And(store.lives[b], may_unload(b, u)), inactive

    @p.rule
    def is_to_close(b: int, u: int) -> Condition:
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
    def close_topic(b: int, u: int) -> Outcome:
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
    def fail_to_close(b: int, u: int) -> Outcome:
        """The topic does not close properly: that is ignored, and the broker forgets it."""
        closing = And(store.lives[b], topic_open[b, u], unloading[b, u] == "closing")
        return closing, merged({topic_open[b, u]: False}, after_failure(b, u))

    @p.fault(by="b", mirrors="BrokerService.unloadServiceUnit", spends="timeouts", b=broker, u=bundle)
    def time_out_closing(b: int, u: int) -> Outcome:
        """The topics are not closed after 60 seconds: the unload goes on without them."""
        return And(store.lives[b], topic_open[b, u], unloading[b, u] == "closing"), {overdue[b, u]: True}

    @p.rule
    def is_closed(b: int, u: int) -> Condition:
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
    def start_release(b: int, u: int) -> Outcome:
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
    def stop_unload(b: int, u: int) -> Outcome:
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
    def release_unheard(b: int, u: int) -> Outcome:
        """The node is deleted as the connection breaks: the broker takes the release for failed."""
        reaches, updates = store.lost_answer(b, locks.nodes[u].vanished(locks.nodes[u].is_own(b)))
        back = {bundle_state[b, u]: "active", locks.stage[b, u]: "valid", unloading[b, u]: "none"}
        return And(reaches, locks.stage[b, u] == "releasing"), updates | merged(locks.nodes[u].unheard(b), back)

    return p
