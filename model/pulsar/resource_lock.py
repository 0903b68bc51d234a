"""What a broker takes itself to own: locks on the owner nodes of bundles, acquired, revalidated and released.

Mirrors ResourceLockImpl and LockManagerImpl of pulsar-metadata and OwnershipCache and OwnedBundle of the broker, as of 2026-04.
Ownership, unload and split are composed of it.

A lock's ``stage`` says which request of it is out: ``acquiring`` and ``recreating`` create the node, ``checking`` reads it,
``retaking`` deletes what a former session left, ``releasing`` deletes it for good. A release that fails, because its session is
gone or another node is there, leaves the lock ``stranded``: nothing looks after a lock that is being released. ``serves`` is
the bundle in the broker's own cache: absent, active, or inactive while it is unloaded. A lock that was acquired goes on to be
served while it is revalidated; only when another's node is found, or the creation meets one, is the lock lost and the bundle
unloaded. A request whose answer is lost with the connection is sent again, until the session is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fencepost.model.language import And, If, Not, Or, Protocol, Universe
from fencepost.model.pulsar.metadata_store import EphemeralNode, Sessions, Updates, merged

STAGES = ("none", "acquiring", "valid", "checking", "recreating", "retaking", "releasing", "stranded")
SERVES = ("absent", "active", "inactive")

DEFECTS = {
    "released_without_version": "pulsar#295: a released lock's node is deleted whatever its version",
    "not_revalidated": "pulsar#10351, #10457: locks are not revalidated when a session is re-established",
    "deletion_ignored": "pulsar#10351: a lock whose node is deleted is not revalidated",
    "reconnection_flag_never_set": "pulsar#17664: a revalidation that failed is not tried again on reconnection",
    "concurrent_revalidations": "pulsar#13004: two revalidations of one lock run at once, and one meets the node of the other",
    "busy_lock_kept": "pulsar#17700: a lock that another broker holds is never forgotten",
    "both_contenders_lose": "pulsar#11690: a broker that meets another's node on acquiring cleans it up",
    "lost_lock_served": "pulsar#23011: a broker whose lock is lost goes on to serve the bundle until it is restarted",
    "endless_revalidation": "pulsar#25001: each revalidation deletes and creates the node anew, and hears of that",
    "failed_creation_left": "pulsar#25977: an acquisition gives up although its creation took effect: owned, but not served",
    "version_goes_back": "pulsar#19817: a revalidation falls back to an earlier version of the node, and the release fails",
    "recreated_behind_release": "pulsar#17758: a revalidation under way creates the node of a lock that is released meanwhile",
}
"""Mistakes of locks, whichever protocol they are part of."""


class ResourceLocks:
    """The locks of every broker on every owner node, with the steps that are the same wherever they are used.

    ``mended`` is not upstream: a deletion then names the creation of the node that it means, a re-creation that meets a node
    looks whose it is, and a release that fails with its session counts as done. ``writes`` is how often a node may be written
    after its creation, to mark it as disabled.
    """

    def __init__(self, p: Protocol, store: Sessions, bundle: Universe, *, mended: bool, writes: int = 0) -> None:
        self.protocol, self.store, self.bundle, self.mended, self.writes = p, store, bundle, mended, writes
        self.nodes = EphemeralNode.declare(store, "owner", bundle, writes=writes, marks=("disabled",) if writes else ())
        broker = self.broker = store.client
        self.stage = p.choice("lock", STAGES, per=(broker, bundle))
        self.serves = p.choice("serves", SERVES, per=(broker, bundle))
        self.again = p.flag("again", per=(broker, bundle))
        self.version = p.number("lock_version", 0, writes, per=(broker, bundle))

    def has(self, defect: str) -> bool:
        """Whether this mistake of locks is switched on; the protocol lists those that show in it."""
        return defect in self.protocol.defects and self.protocol.has(defect)

    # --- what a session's events mean to the locks of a broker

    def forgotten(self, b: int) -> Updates:
        """A process that ends forgets its locks."""
        stages = {self.stage[b, u]: "none" for u in self.bundle}
        absent = {self.serves[b, u]: "absent" for u in self.bundle}
        flags = {self.again[b, u]: False for u in self.bundle}
        return merged(stages, absent, flags, {self.version[b, u]: 0 for u in self.bundle})

    def revalidated(self, b: int) -> Updates:
        """SessionReestablished: every valid lock is looked after."""
        if self.has("not_revalidated"):
            return {}
        return {self.stage[b, u]: If(self.stage[b, u] == "valid", "checking", self.stage[b, u]) for u in self.bundle}

    def retried(self, b: int) -> Updates:
        """Reconnected: the locks whose revalidation failed are looked after."""
        due = {u: And(self.again[b, u], self.stage[b, u] == "valid") for u in self.bundle}
        return merged(
            {self.stage[b, u]: If(due[u], "checking", self.stage[b, u]) for u in self.bundle},
            {self.again[b, u]: False for u in self.bundle},
        )

    # --- formulas

    def acquires(self, b: int, u: int) -> Any:
        """The formula: the lock was never valid; its requests belong to an acquisition."""
        return self.serves[b, u] == "absent"

    # --- updates

    def begun(self, b: int, u: int) -> Updates:
        """The broker sets out to acquire the lock."""
        return {self.stage[b, u]: "acquiring", self.version[b, u]: 0}

    def releasing(self, b: int, u: int) -> Updates:
        """The broker sets out to release the lock, whatever else it does with it."""
        still_out = self.stage[b, u] == "recreating" if self.has("recreated_behind_release") else False
        return {self.stage[b, u]: "releasing", self.again[b, u]: still_out}

    def may_release(self, b: int, u: int) -> Any:
        """The formula: the lock was acquired and is not released yet."""
        return self.stage[b, u].among("valid", "checking", "recreating", "retaking")

    def lost(self, b: int, u: int) -> Updates:
        """The lock is lost: the bundle is unloaded."""
        kept = self.has("busy_lock_kept")
        served = kept or self.has("lost_lock_served")
        acquires = self.acquires(b, u)
        return {
            self.stage[b, u]: If(And(kept, Not(acquires)), "valid", "none"),
            self.serves[b, u]: If(And(served, Not(acquires)), "active", "absent"),
        }

    def created(self, b: int, u: int) -> Updates:
        """The node is created with the lock's value."""
        marks = {"disabled": self.serves[b, u] == "inactive"} if self.writes else {}
        return merged(self.nodes[u].created(b, **marks), {self.version[b, u]: 0})

    def disabled(self, b: int, u: int) -> Updates:
        """The node is written to say that its owner is about to give the bundle up, and the lock knows the new version."""
        return merged(self.nodes[u].written(disabled=True), {self.version[b, u]: self.nodes[u].version + 1})

    def _meant(self, b: int, u: int, *, former: bool) -> Any:
        """The formula: a deletion by the version that the lock knows takes effect, on whosoever node has that version."""
        node = self.nodes[u]
        same = And(Not(node.absent), node.version == self.version[b, u])
        return And(same, node.is_held(b, former=former)) if self.mended else same

    # --- steps

    def declare(
        self,
        *,
        releases: bool = True,
        seems_free: Callable[[int, int], Any] = lambda b, u: True,
        on_released: Callable[[int, int], Mapping[Any, Any]] = lambda b, u: {},
        on_deletion: Callable[[int, int], Mapping[Any, Any]] = lambda b, u: {},
    ) -> None:
        """Declares the steps of locks.

        ``releases`` says whether locks are ever released, ``seems_free`` when a broker knows of no owner, and the last two what
        a release and the notification of a deletion do besides.
        """
        p, store, stage, serves, again = self.protocol, self.store, self.stage, self.serves, self.again
        broker, bundle, nodes = self.broker, self.bundle, self.nodes
        has = self.has

        @p.step(by="b", fair=True, b=broker, u=bundle)
        def try_to_own(b: int, u: int) -> Any:
            """A lookup has led to this broker, which sets out to acquire the bundle.

            Whoever sent it here found no owner, by the node as it is or as it was; or the node is from before a restart.
            """
            idle = And(store.lives[b], stage[b, u] == "none", self.acquires(b, u), seems_free(b, u))
            free = Or(nodes[u].absent, nodes[u].deleted[b], nodes[u].is_held(b, former=True))
            return And(idle, free), self.begun(b, u)

        @p.step(by="b", fair=True, b=broker, u=bundle)
        def create(b: int, u: int) -> Any:
            """The node is created, if it is absent: expected version -1. The lock is valid, and the bundle is served.

            If it is there, an acquisition looks whose it is. A revalidation takes the lock for lost, even if the node is its
            own from a request whose answer it did not hear.
            """
            node, first, lost = nodes[u], stage[b, u] == "acquiring", self.lost(b, u)
            free, looks = node.absent, Or(self.mended, first)
            else_node = node.vanished(first) if has("both_contenders_lose") else {}
            new_node = self.created(b, u)
            kept = If(looks, "checking", lost[stage[b, u]]), If(looks, serves[b, u], lost[serves[b, u]])
            return And(store.reaches(b), stage[b, u].among("acquiring", "recreating")), merged(
                else_node,
                {variable: If(free, value, else_node.get(variable, variable)) for variable, value in new_node.items()},
                {
                    stage[b, u]: If(free, "valid", kept[0]),
                    serves[b, u]: If(free, If(self.acquires(b, u), "active", serves[b, u]), kept[1]),
                },
            )

        @p.fault(by="b", spends="disconnects", b=broker, u=bundle)
        def creation_unheard(b: int, u: int) -> Any:
            """The node is created as the connection breaks; the request will be sent again."""
            reaches, updates = store.lost_answer(b, self.created(b, u))
            return And(reaches, stage[b, u].among("acquiring", "recreating"), nodes[u].absent), updates

        @p.step(by="b", fair=True, b=broker, u=bundle)
        def find_missing(b: int, u: int) -> Any:
            """A revalidation finds no node: it creates it again."""
            return And(store.reaches(b), stage[b, u] == "checking", nodes[u].absent), {
                stage[b, u]: "recreating",
                self.version[b, u]: 0,
            }

        @p.step(by="b", fair=True, b=broker, u=bundle)
        def find_own(b: int, u: int) -> Any:
            """The node is the broker's own, from this session: the lock is valid."""
            found = And(store.reaches(b), stage[b, u] == "checking", nodes[u].is_own(b))
            if has("endless_revalidation"):
                return found, {stage[b, u]: "retaking", self.version[b, u]: nodes[u].version}
            known = 0 if has("version_goes_back") else nodes[u].version
            valid = {stage[b, u]: "valid", again[b, u]: False, self.version[b, u]: known}
            return found, merged(valid, {serves[b, u]: If(self.acquires(b, u), "active", serves[b, u])})

        if store.leaves_sessions or has("endless_revalidation"):

            @p.step(by="b", fair=True, b=broker, u=bundle)
            def find_former(b: int, u: int) -> Any:
                """The node is the broker's own, from a former session that may be about to expire: it is deleted first."""
                found = And(store.reaches(b), stage[b, u] == "checking", nodes[u].is_held(b, former=True))
                return found, {stage[b, u]: "retaking", self.version[b, u]: nodes[u].version}

            @p.step(by="b", fair=True, b=broker, u=bundle)
            def retake(b: int, u: int) -> Any:
                """The node of the former session is deleted, if its version is the one seen.

                If it is gone already, or another one with another version is there, the acquisition fails. (A revalidation
                never comes here: a broker that is back has no locks yet.)
                """
                meant = self._meant(b, u, former=True)
                if has("endless_revalidation"):
                    meant = Or(meant, nodes[u].is_own(b))
                lost = self.lost(b, u)
                return And(store.reaches(b), stage[b, u] == "retaking"), merged(
                    nodes[u].vanished(meant),
                    {
                        stage[b, u]: If(meant, "recreating", lost[stage[b, u]]),
                        serves[b, u]: If(meant, serves[b, u], lost[serves[b, u]]),
                        self.version[b, u]: 0,
                    },
                )

        @p.step(by="b", fair=True, b=broker, u=bundle)
        def find_other(b: int, u: int) -> Any:
            """The node is another broker's: the lock is lost, or was not won."""
            of_another = And(Not(nodes[u].absent), nodes[u].holder != b)
            return And(store.reaches(b), stage[b, u] == "checking", of_another), merged({again[b, u]: False}, self.lost(b, u))

        @p.step(by="b", fair=True, b=broker, u=bundle)
        def hear_of_deletion(b: int, u: int) -> Any:
            """A notification says that the node was deleted: a valid lock is looked after."""
            acts = And(not has("deletion_ignored"), stage[b, u] == "valid")
            return And(store.lives[b], nodes[u].deleted[b]), merged(
                nodes[u].unheard(b), {stage[b, u]: If(acts, "checking", stage[b, u])}, on_deletion(b, u)
            )

        if store.expiries or has("failed_creation_left"):

            @p.step(by="b", fair=True, b=broker, u=bundle)
            def fail(b: int, u: int) -> Any:
                """A request fails for good: its session is gone. The lock counts as valid until it can be looked after."""
                under_way = stage[b, u].among("acquiring", "checking", "recreating", "retaking")
                cut_off = store.is_zombie(b)
                if has("failed_creation_left"):
                    cut_off = And(store.lives[b], store.link[b] != "connected")
                flagged = again[b, u] if has("reconnection_flag_never_set") else Not(self.acquires(b, u))
                return And(cut_off, under_way), {
                    stage[b, u]: If(self.acquires(b, u), "none", "valid"),
                    again[b, u]: flagged,
                }

        if store.disconnects or store.expiries:

            @p.step(by="b", b=broker, u=bundle)
            def time_out(b: int, u: int) -> Any:
                """A revalidation fails for want of a connection. The lock counts as valid until it can be looked after."""
                under_way = stage[b, u].among("checking", "recreating", "retaking")
                cut_off = And(store.lives[b], store.link[b] != "connected", Not(self.acquires(b, u)))
                flagged = again[b, u] if has("reconnection_flag_never_set") else True
                return And(cut_off, under_way), {stage[b, u]: "valid", again[b, u]: flagged}

        if releases:

            @p.step(by="b", fair=True, b=broker, u=bundle)
            def release(b: int, u: int) -> Any:
                """The node is deleted, if its version is the one that the lock knows; the bundle leaves the broker's cache.

                If the node is gone already, that is as good. If another one is there, the release fails, for good.
                """
                meant = Not(nodes[u].absent) if has("released_without_version") else self._meant(b, u, former=False)
                gone = Or(nodes[u].absent, self.mended and nodes[u].holder != b)
                done = merged({stage[b, u]: "none", serves[b, u]: "absent"}, on_released(b, u))
                ready = And(store.reaches(b), stage[b, u] == "releasing", Or(meant, gone))
                return ready, merged(nodes[u].vanished(meant), done)

        if releases and not self.mended and (store.expiries or self.writes):

            @p.step(by="b", fair=True, b=broker, u=bundle)
            def strand(b: int, u: int) -> Any:
                """The release fails: its session is gone, or another node than the lock's is there."""
                met = And(Not(nodes[u].absent), nodes[u].version != self.version[b, u])
                fails = Or(store.is_zombie(b), And(store.reaches(b), met))
                return And(stage[b, u] == "releasing", fails), {stage[b, u]: "stranded"}

        if releases and self.mended and store.expiries:

            @p.step(by="b", fair=True, b=broker, u=bundle)
            def release_with_session(b: int, u: int) -> Any:
                """The session is gone, and the node with it: the release is done."""
                done = {stage[b, u]: "none", serves[b, u]: "absent"}
                return And(store.is_zombie(b), stage[b, u] == "releasing"), merged(done, on_released(b, u))

        if has("concurrent_revalidations"):

            @p.step(by="b", b=broker, u=bundle)
            def create_concurrently(b: int, u: int) -> Any:
                """Another revalidation of the same lock has created the node."""
                absent = And(store.reaches(b), stage[b, u] == "recreating", nodes[u].absent)
                return absent, nodes[u].created(b)

        if has("recreated_behind_release"):

            @p.step(by="b", b=broker, u=bundle)
            def recreate_behind_release(b: int, u: int) -> Any:
                """A revalidation that was under way creates the node again after the release."""
                still_out = And(stage[b, u] == "none", again[b, u], nodes[u].absent)
                return And(store.reaches(b), still_out), merged(nodes[u].created(b), {again[b, u]: False})
