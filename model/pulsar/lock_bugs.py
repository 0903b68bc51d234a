"""Known bugs of locks: what each of them makes of a rule of resource_lock.py, or which step it adds."""

from __future__ import annotations

from fencepost.model.language import ABSENT, And, Condition, Family, If, Not, Or, Outcome, Updates
from fencepost.model.pulsar.resource_lock import ResourceLocks
from fencepost.model.pulsar.shared_bugs import SHARED
from fencepost.model.zookeeper.sessions_and_nodes import merged

BUGS = {
    "released_without_version": "a released lock's node is deleted whatever its version",
    "not_revalidated": "pulsar#10351: locks are not revalidated when a session is re-established",
    "deletion_ignored": "pulsar#10351: a lock whose node is deleted is not revalidated",
    "reconnection_flag_never_set": "pulsar#17664: a revalidation that failed is not tried again on reconnection",
    "concurrent_revalidations": "pulsar#13004, #13006: two revalidations of one lock run at once, and one meets the node "
    "of the other",
    "busy_lock_kept": "pulsar#17700: a lock that another broker holds is never forgotten",
    "both_contenders_lose": "a broker that meets another's node on acquiring cleans it up",
    "lost_lock_served": "pulsar#12194: a broker whose lock is lost goes on to serve the bundle until it is restarted",
    "endless_revalidation": "pulsar#14736, #17759: each revalidation deletes and creates the node again, and hears of that",
    "failed_creation_left": "an acquisition gives up although its creation took effect: owned, but not served",
    "version_goes_back": "pulsar#19817: a revalidation falls back to an earlier version of the node, and the release fails",
    "recreated_behind_release": SHARED["recreated_behind_release"],
    "deletion_sent_again": SHARED["deletion_sent_again"],
    "lone_release_fails": SHARED["lone_release_fails"],
    "event_lost": SHARED["event_lost"],
    "found_lock_unattended": SHARED["found_lock_unattended"],
}
"""Each bug in one line, with its number upstream if it has one."""


def put_in(locks: ResourceLocks) -> None:
    """Puts what the bugs that are switched on make of a rule in its place; before the steps of locks are declared."""
    p, nodes = locks.protocol, locks.nodes
    stage, bundle_state = locks.stage, locks.bundle_state

    def unless_acquiring(b: int, u: int, lock: str) -> Updates:
        """The lock is lost, but what was served goes on to be."""
        acquires = locks.acquires(b, u)
        return {stage[b, u]: If(acquires, "none", lock), bundle_state[b, u]: If(acquires, "absent", "active")}

    locks.revalidated.instead("not_revalidated", lambda b: {})
    locks.invalidated.instead("deletion_ignored", lambda b, u: {})
    locks.unanswered.instead("reconnection_flag_never_set", lambda b, u: {stage[b, u]: "valid"})
    locks.lost.instead("lost_lock_served", lambda b, u: unless_acquiring(b, u, "none"))
    locks.lost.instead("busy_lock_kept", lambda b, u: unless_acquiring(b, u, "valid"))
    locks.meets_node.instead("both_contenders_lose", lambda b, u: merged(nodes[u].vanished(), {stage[b, u]: "checking"}))
    locks.found_own.instead(
        "endless_revalidation",
        lambda b, u: {stage[b, u]: "retaking", **locks.knows(b, u, nodes[u].version, of_node=True)},
    )
    locks.retake_deletes.instead(
        "endless_revalidation", lambda b, u: Or(locks.has_known_version(b, u, former=True), nodes[u].is_own(b))
    )
    locks.retakes |= p.has("endless_revalidation")
    locks.found_version.instead("version_goes_back", lambda b, u: 0)
    locks.release_deletes.instead("released_without_version", lambda b, u: Not(nodes[u].absent))
    put_in_shared(locks)


def put_in_shared(locks: ResourceLocks) -> None:
    """Of ``put_in`` what unloads and splits have too."""
    nodes, stage, revalidate_when_back = locks.nodes, locks.stage, locks.revalidate_when_back
    unattended = _flag(locks, "unattended", "found_lock_unattended")
    orphan = _flag(locks, "orphan", "recreated_behind_release")

    locks.releasing.instead(
        "recreated_behind_release",
        lambda b, u: merged(
            locks.release_begun(b, u),
            {orphan[b, u]: Or(orphan[b, u], stage[b, u] == "checking")},
        ),
    )

    def looked_after(b: int, u: int) -> Updates:
        return {stage[b, u]: If(And(stage[b, u] == "valid", Not(unattended[b, u])), "checking", stage[b, u])}

    locks.begins.instead("found_lock_unattended", lambda b, u: {unattended[b, u]: False})
    locks.found_own.instead(
        "found_lock_unattended",
        lambda b, u: merged(
            locks.valid(b, u),
            {revalidate_when_back[b, u]: False, unattended[b, u]: locks.acquires(b, u)},
            locks.knows(b, u, nodes[u].version, of_node=True),
        ),
    )
    locks.revalidated.instead(
        "found_lock_unattended", lambda b: merged(locks.not_due(b), *(looked_after(b, u) for u in locks.bundle))
    )
    locks.invalidated.instead("found_lock_unattended", looked_after)


def _flag(locks: ResourceLocks, name: str, bug: str) -> Family[Condition]:
    """What only a bug makes a lock remember, of each broker and bundle."""
    p = locks.protocol
    if not p.has(bug):
        return ABSENT  # type: ignore[no-any-return]
    flag = locks.besides[name] = p.flag(name, per=(locks.broker, locks.bundle))
    return flag


def declare_steps(locks: ResourceLocks) -> None:
    """Declares the steps that a correct lock does not take."""
    p, store, nodes, stage = locks.protocol, locks.store, locks.nodes, locks.stage

    @p.step(
        by="b",
        mirrors="ResourceLockImpl.revalidate",
        b=locks.broker,
        u=locks.bundle,
        only_if=p.has("concurrent_revalidations"),
    )
    def create_concurrently(b: int, u: int) -> Outcome:
        """Another revalidation of the same lock has created the node."""
        return And(store.reaches(b), stage[b, u] == "recreating", nodes[u].absent), nodes[u].created(b)

    @p.fault(
        by="b",
        mirrors="ZKMetadataStore.internalStorePut, ResourceLockImpl.acquire, LockManagerImpl.acquireLock",
        spends="disconnects",
        b=locks.broker,
        u=locks.bundle,
        only_if=p.has("failed_creation_left"),
    )
    def lone_creation_unheard(b: int, u: int) -> Outcome:
        """The store carries the creation out alone as the connection breaks: it is not sent again, the acquisition fails."""
        reaches, updates = store.lost_answer(b, locks.node_created(b, u))
        given_up = merged({stage[b, u]: "none"}, locks.knows(b, u, 0))
        return And(reaches, stage[b, u] == "acquiring", nodes[u].absent), merged(updates, given_up)

    declare_shared(locks)


def declare_shared(locks: ResourceLocks) -> None:
    """Of ``declare_steps`` what unloads and splits have too."""
    p, store, nodes, stage = locks.protocol, locks.store, locks.nodes, locks.stage
    orphan = locks.besides.get("orphan", ABSENT)

    @p.step(
        by="b",
        mirrors="ResourceLockImpl.acquireWithNoRevalidation",
        b=locks.broker,
        u=locks.bundle,
        only_if=p.has("recreated_behind_release"),
    )
    def recreate_behind_release(b: int, u: int) -> Outcome:
        """A read that was out as the release began has found no node: it is created, for a lock that is in no map."""
        still_out = And(stage[b, u].among("none", "releasing"), orphan[b, u], nodes[u].absent)
        return And(store.reaches(b), still_out, locks.may_write(b)), merged(nodes[u].created(b), {orphan[b, u]: False})

    lose_answers(locks)


def lose_answers(locks: ResourceLocks) -> None:
    """Declares what becomes of a deletion whose answer is lost, as far as a bug that is switched on says so."""
    p, store, nodes, stage = locks.protocol, locks.store, locks.nodes, locks.stage

    @p.fault(
        by="b",
        mirrors="ZKMetadataStore.batchOperation, ResourceLockImpl.release",
        spends="disconnects",
        b=locks.broker,
        u=locks.bundle,
        only_if=p.has("deletion_sent_again"),
    )
    def deletion_unheard(b: int, u: int) -> Outcome:
        """The node is deleted as the connection breaks; the request will be sent again, on whatever session there is then."""
        released = And(stage[b, u] == "releasing", locks.release_deletes(b, u))
        retaken = And(stage[b, u] == "retaking", locks.retake_deletes(b, u))
        reaches, updates = store.lost_answer(b, nodes[u].vanished())
        return And(reaches, Or(released, retaken)), updates

    @p.fault(
        by="b",
        mirrors="ZKMetadataStore.internalStoreDelete, ResourceLockImpl.release",
        spends="disconnects",
        b=locks.broker,
        u=locks.bundle,
        done=range(2),
        only_if=p.has("lone_release_fails"),
    )
    def lone_release_unheard(b: int, u: int, done: int) -> Outcome:
        """The store carries the deletion out alone, and the connection breaks: it is not sent again, and the release fails."""
        deleted = And(locks.release_deletes(b, u), bool(done))
        reaches, updates = store.lost_answer(b, nodes[u].vanished(deleted))
        return And(reaches, stage[b, u] == "releasing"), merged(updates, {stage[b, u]: "stranded"})
