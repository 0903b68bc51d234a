"""Which broker owns a bundle: lookups that make a broker try, locks that are looked after, releases.

Mirrors what lookups in NamespaceService and OwnershipCache ask and answer, and when a lock is let go, as read in Pulsar
4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1. The locks themselves, and what OwnershipCache and OwnedBundle know of them, are in
resource_lock.py; sessions are in sessions_and_nodes.py.

A lookup of a bundle that nobody serves makes some broker try to acquire it. Which broker that is, and on what stale view of
the store it was chosen, is free: whatever the policy of placement, and whoever takes himself for the leader, his choice is
among those considered. A broker that does not own the bundle answers from its cache of the owner node, which it reads where
it has nothing; notifications of deletions and the return of a connection empty it. The bundle may be released at any time, as
often as ``releases`` says; ``disables`` bounds how often a broker says beforehand that it will
(OwnershipCache.disableOwnership, which nothing in these releases calls but tests).

Not modelled: which broker a lookup chooses, topics (the protocol ``unload``), namespaces, isolation policies, the broker's own
data in the store, answers that leave the client waiting, that 5.0.1 does one thing after the other with a bundle
(OwnershipCache.serialize). docs/explanation/deviations.md says of each what that leaves out.

Constants
    brokers              brokers that may own a bundle
    bundles              how many there are
    disconnects          times that a broker loses its connection, or the answer to a creation with it
    expiries             times that the session of a live broker expires
    crashes              times that a broker dies
    releases             times that a broker gives a bundle up
    disables             times that it writes so beforehand (OwnershipCache.disableOwnership, which only tests call in these
                         releases)
    reacquires           whether a lookup at a broker that finds its own node, on which it has no lock, makes it acquire the
                         bundle, as since 4.0.8 (#23515)
    acquires_when_lost   whether a broker that has heard of the loss of its session acquires bundles, as up to 5.0.0-M1
    gives_up             whether a broker that has heard of the loss of its session gives a bundle up when it meets the fence of
                         the next owner, as since 5.0.1
    metadata_store       the store by the scheme of its URL: zk, etcd, oxia, rocksdb or memory
    migration            whether the metadata are moved to another store once (DualMetadataStore, since 4.2)
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
    owner_disabled       its value says that its owner is about to give it up

Variables of the locks of each broker (resource_lock.py)
    lock                 which request is out: acquiring and recreating create the node, checking reads it, retaking deletes
                         what a former session left, releasing deletes it for good. Or none is: none, valid, and stranded if
                         a release has failed, after which nothing looks after the lock
    bundle_state         the bundle in the broker's own cache: absent, active, inactive while it is unloaded; given_up, only
                         with gives_up, is absent while the lock is still looked after
    unattended           whether the lock was acquired by finding its own node. Only with the bug found_lock_unattended
    orphan               whether a read that was out as the release began may still create the node. Only with the bug
                         recreated_behind_release
    revalidate_when_back whether a revalidation failed, and the lock is to be looked after when the connection is back
    lock_version         the version of the node as the lock knows it; -1 while it creates the node again, which the store
                         takes for any version where a node is deleted

Variables of the caches
    cached               whom a broker takes for the bundle's owner, other than itself, or nobody
    cleanup              whether the clean-up after a lost lock is still to come. Only with the bug stale_unload

Variables of a migration (store_migration.py), with migration=yes
    migration            none, preparing, or completed: the target takes the place of the source
    read_only            whether the broker refuses to write
    prepared             whether the broker has created its nodes in the target
    target_owner         the broker that a bundle's node in the target names
    target_session       the broker whose session created that node
    told                 whether the broker is told, of what it has not handled yet. Only with the bugs start_missed,
                         goes_on_unprepared and completion_missed
    apart                whether the migration is complete, and the broker goes on with the source. Only with the bugs
                         start_missed and goes_on_unprepared
    puts                 whether the broker has put a bundle's node and not deleted it since. Only with the bug
                         recreates_of_others

Variables that count
    disconnects, expiries, crashes, releases, disables
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
    try_to_own           a lookup has led here: the broker sets out to acquire the bundle
    create               creates the node if it is absent, and serves. If it is there, an acquisition looks whose it is; a
                         revalidation takes the lock for lost
    creation_unheard     a fault: the node is created as the connection breaks. The request will be sent again
    find_missing         a revalidation finds no node: it will create it again
    find_own             finds its own node of this session: the lock is valid
    find_former          finds its own node of a former session: it will delete it
    retake               deletes that, if the version is the one seen
    find_other           finds another broker's node: the lock is lost, and the bundle with it
    hear_of_deletion     hears that the node was deleted: a valid lock is looked after
    fail                 a request fails because its session is gone
    time_out             a revalidation fails for want of a connection
    look_again           a revalidation that failed is tried again by a timer. Only where nobody tells a broker that its
                         connection is back, as with Oxia
    release              deletes the node, if the version is the one that the lock knows, and forgets the bundle
    release_fails        a release fails: its session is gone, or another node is there
    release_with_session instead of release_fails with fixed=yes: the session has taken the node along
    deletion_unheard     the node that is released or retaken is deleted as the connection breaks, and the deletion is out
                         once more. Only with the bug deletion_sent_again
    lone_release_unheard the store carries the deletion out alone, or does not, as the connection breaks: the release fails
                         for good. Only with the bug lone_release_fails
    reestablish_unheard  opens a new session, and nobody is told. Only with the bug event_lost
    lone_creation_unheard
                         the store carries the creation out alone as the connection breaks: the acquisition fails, and the
                         node is there. Only with the bug failed_creation_left
    create_concurrently, recreate_behind_release
                         with the bugs concurrent_revalidations and recreated_behind_release: another revalidation has
                         created the node; a read that was out as the release began has it created for a lock that is gone

Actions of ownership and of a migration, by the broker
    give_up              meets the fence of the next owner, having lost its session: forgets the bundle, and keeps the lock.
                         Only with gives_up
    read_owner           a lookup reads another broker's node and answers that, unless the node says disabled
    disable              writes that it is about to give the bundle up
    release_disabled     does so
    start_release        gives the bundle up without having written so
    lose_in_background, clean_up
                         with the bug stale_unload: the bundle leaves the cache, and its clean-up is left for later; it
                         releases the lock that the broker has by then
    start_migration, complete
                         the coordinator begins a migration of the metadata, and completes it when every broker is prepared
    hear_of_preparation, prepare
                         a broker refuses further writes; with none under way it creates its nodes in the target
    hear_of_completion   a broker writes to the target from now on, and looks after its locks
    lose_keeper          a node that names another broker than the one whose session it has goes with that session

The properties are in ``properties/ownership/suite.py``, with ``refinement.py`` beside it. ``BUGS`` has a line for each bug
and weakening, ``properties/ownership/bugs.toml`` the releases that have it.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.language import ABSENT, And, Condition, Family, ModelError, Not, Or, Outcome, Protocol, Truth, Updates
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar import lock_bugs, store_migration
from fencepost.model.pulsar.lock_steps import declare_locks, declare_releases
from fencepost.model.pulsar.resource_lock import RELEASES as RELEASES_OF_LOCKS
from fencepost.model.pulsar.resource_lock import ResourceLocks
from fencepost.model.pulsar.shared_bugs import SHARED
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.releases import both, changed
from fencepost.model.zookeeper.sessions_and_nodes import Sessions, merged, updates_if

RELEASES = both(RELEASES_OF_LOCKS, changed("gives_up", since="5.0.1", before=False, after=True))
"""What behaves otherwise from release to release: the locks, and whether a broker gives up what another one has taken over
(OwnershipCache.handleOwnershipTakenOver)."""

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
    gives_up: bool = False,
    metadata_store: str = "zk",
    migration: bool = False,
    fixed: bool = False,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The ownership of ``bundles`` by ``brokers``; the page above has the constants."""
    if brokers < 1 or bundles < 1:
        raise ModelError("ownership: brokers and bundles are at least 1")
    parameters = stated({name: value for name, value in locals().items() if name != "bugs"})
    p = Protocol("ownership", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)

    broker = p.universe("broker", brokers)
    bundle = p.universe("bundle", bundles, "u")
    kind = store_named(metadata_store, "ownership", brokers=brokers, faults=disconnects + expiries)
    store = Sessions(p, broker, disconnects=disconnects, expiries=expiries, crashes=crashes, kind=kind)
    writes = 1 if disables else 0
    acquires = {"reacquires": reacquires, "acquires_when_lost": acquires_when_lost, "gives_up": gives_up}
    locks = ResourceLocks(p, store, bundle, fixed=fixed, writes=writes, **acquires)
    lock_bugs.put_in(locks)
    owners, stage, bundle_state = locks.nodes, locks.stage, locks.bundle_state
    moves = store_migration.Migration(locks) if migration else None
    cached = p.choice("cached", broker, per=(broker, bundle), none=NOBODY)
    cleanup: Family[Condition] = p.flag("cleanup", per=(broker, bundle)) if p.has("stale_unload") else ABSENT
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
        may_reopen=moves.may_reopen if moves else lambda b: True,
    )

    declare_locks(
        locks,
        seems_free=lambda b, u: cached[b, u] == NOBODY,
        on_creation=lambda b, u: {cached[b, u]: NOBODY} if locks.gives_up else {},
        on_deletion=lambda b, u: {cached[b, u]: NOBODY},
    )

    def taken_out(b: int, u: int) -> Updates:
        """A release that is done unloads what is still active, as the loss of a lock does."""
        return {cleanup[b, u]: Or(cleanup[b, u], bundle_state[b, u] == "active")} if p.has("stale_unload") else {}

    declare_releases(locks, releases=bool(releases or disables) or p.has("stale_unload"), on_released=taken_out)
    lock_bugs.declare_steps(locks)

    @p.step(
        by="b",
        mirrors="OwnershipCache.handleOwnershipTakenOver, OwnershipCache.stopServingTakenOverBundle, "
        "ManagedLedgerImpl.fenceByAnotherWriter",
        b=broker,
        u=bundle,
        only_if=locks.gives_up,
    )
    def give_up(b: int, u: int) -> Outcome:
        """A broker that has heard of the loss of its session meets the fence of the next owner: it forgets the bundle.

        The lock stays with LockManagerImpl, which looks after it with the next session.
        """
        served = And(stage[b, u].among("valid", "checking", "recreating", "retaking"), bundle_state[b, u] == "active")
        taken_over = And(store.lives[b], store.link[b] == "lost", store.is_used(b), Not(owners[u].is_own(b)))
        return And(served, taken_over), {bundle_state[b, u]: "given_up"}

    @p.rule
    def is_named(u: int) -> Truth:
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
    def read_owner(b: int, u: int) -> Outcome:
        """A lookup reads the node of another broker, and answers that, unless the node says that it is being unloaded.

        A broker that serves the bundle itself answers so, without reading.
        """
        present = And(Not(owners[u].absent), owners[u].holder != b, is_named(u))
        return And(store.reaches(b), locks.is_unknown(b, u), present), {cached[b, u]: owners[u].holder}

    @p.step(
        by="b",
        mirrors="OwnershipCache.disableOwnership, OwnershipCache.updateBundleState, ResourceLockImpl.updateValue",
        spends="disables",
        b=broker,
        u=bundle,
    )
    def disable(b: int, u: int) -> Outcome:
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
    def release_disabled(b: int, u: int) -> Outcome:
        """What was disabled is released."""
        return And(store.lives[b], locks.may_release(b, u), bundle_state[b, u] == "inactive"), locks.releasing(b, u)

    @p.step(
        by="b",
        mirrors="OwnedBundle.handleUnloadRequest, OwnershipCache.removeOwnership, ResourceLockImpl.release",
        spends="releases",
        b=broker,
        u=bundle,
    )
    def start_release(b: int, u: int) -> Outcome:
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
    def lose_in_background(b: int, u: int) -> Outcome:
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
    def clean_up(b: int, u: int) -> Outcome:
        """The clean-up comes to release the lock that the broker has by now, whichever that is.

        It has taken out of service what was lost. What was acquired meanwhile stays active until the release is answered.
        """
        has_it = And(locks.may_release(b, u), Not(locks.acquires(b, u)))
        given_up = updates_if(has_it, locks.releasing(b, u), {})
        return And(store.lives[b], cleanup[b, u]), merged(given_up, {cleanup[b, u]: False})

    if moves:
        moves.declare(on_switched=uncached)
    return p
