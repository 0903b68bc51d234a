"""What a broker takes itself to own: locks on the owner nodes of bundles, acquired, revalidated and released.

Ownership, unload and split are composed of it. It mirrors what four classes do together, as Pulsar 4.0.8, 4.2.4, 5.0.0-M1 and
5.0.1 have them, which are alike in all that is said here:

- ResourceLockImpl: ``lock`` is its state and which request is out, ``lock_version`` its version, ``revalidate_when_back`` its
  flag revalidateAfterReconnection.
- LockManagerImpl tells the locks of session events and of notifications: ``revalidated``, ``retried``, ``invalidated``.
- OwnershipCache: ``bundle_state`` is absent of a bundle that is not in ownedBundlesCache. The loader of that cache acquires the
  lock, and when the lock expires, which is when it is lost or released, it takes the bundle out again: ``lost``,
  ``released``.
- OwnedBundle: ``bundle_state`` is active, or inactive while the bundle is unloaded. Since 5.0.1 it may be given up: then
  OwnershipCache has forgotten bundle and lock, and LockManagerImpl still looks after the lock.

A lock that is ``acquiring`` or ``recreating`` creates the node, ``checking`` reads it, ``retaking`` deletes what a former
session left, ``releasing`` deletes it for good. A release that fails, because its session is gone or another node is there,
leaves the lock ``stranded``: nothing looks after a lock that is being released. A lock that was acquired goes on to be served
while it is revalidated; only when another's node is found, or the creation meets one, is the lock lost and the bundle
unloaded. A request whose answer is lost with the connection is sent again, until the session is gone.

The rules are as they are meant to be; lock_bugs.py has what each bug makes of them. Six of those bugs are in all
three releases: ``failed_creation_left``, ``recreated_behind_release``, ``deletion_sent_again``, ``lone_release_fails``,
``event_lost`` and ``found_lock_unattended``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from fencepost.model.language import ABSENT, And, Condition, Family, If, Not, Number, Or, Protocol, Truth, Universe, Updates
from fencepost.model.releases import both, changed
from fencepost.model.zookeeper.sessions_and_nodes import EphemeralNode, Sessions, merged, updates_if

Stage = Literal["none", "acquiring", "valid", "checking", "recreating", "retaking", "releasing", "stranded"]
STAGES: tuple[Stage, ...] = get_args(Stage)
BundleState = Literal["absent", "active", "inactive", "given_up"]
BUNDLE_STATES: tuple[BundleState, ...] = get_args(BundleState)
ANY = -1
"""The version of a lock that creates its node again: the store takes it for "any" where a node is deleted."""
RELEASES = both(
    changed("reacquires", since="4.0.8", before=False, after=True),
    changed("acquires_when_lost", since="5.0.1", before=True, after=False),
)
"""What behaves otherwise from release to release: whether a broker acquires a bundle of its own again (pulsar#23515), and
whether one does that has heard that its session is lost (OwnershipCache.tryAcquiringOwnership asks PulsarService since
5.0.1)."""


class ResourceLocks:
    """The locks of every broker on every owner node, with the steps that are the same wherever they are used.

    ``fixed`` is not upstream: a deletion then names the creation of the node that it means, a re-creation that meets a node
    looks whose it is, and a release that fails with its session counts as done. ``reacquires`` says that a broker which is
    asked for a bundle, and finds a node of its own but no lock, acquires it (pulsar#23515, since 4.0.8); without
    ``acquires_when_lost`` a broker that has heard of the loss of its session acquires nothing. ``writes`` is how often
    a node may be written after its creation, to mark it as disabled. ``gives_up`` says that a broker gives a bundle up when
    it meets the fence of the next owner.
    """

    def __init__(
        self,
        p: Protocol,
        store: Sessions,
        bundle: Universe,
        *,
        fixed: bool,
        reacquires: bool,
        acquires_when_lost: bool,
        writes: int = 0,
        gives_up: bool = False,
    ) -> None:
        self.protocol, self.store, self.bundle, self.fixed, self.writes = p, store, bundle, fixed, writes
        self.reacquires, self.acquires_when_lost = reacquires, acquires_when_lost
        self.unknown = 0 if fixed else ANY
        marks = ("disabled",) if writes else ()
        self.nodes: Sequence[EphemeralNode] = EphemeralNode.declare(store, "owner", bundle, writes=writes, marks=marks)
        broker = self.broker = store.client
        self.stage = p.choice("lock", STAGES, per=(broker, bundle))
        self.gives_up = gives_up and (store.disconnects or store.expiries)
        bundle_states = BUNDLE_STATES if self.gives_up else BUNDLE_STATES[:-1]
        self.bundle_state = p.choice("bundle_state", bundle_states, per=(broker, bundle))
        self.revalidate_when_back = p.flag("revalidate_when_back", per=(broker, bundle))
        self.version = p.number("lock_version", self.unknown, writes, per=(broker, bundle), init=0)
        self.retakes = store.leaves_sessions

        self.refuses: Family[Condition] = ABSENT
        """Of each broker whether it refuses to write; None where the metadata are never migrated."""
        self.strands_refused = False
        """Whether a release that is refused fails for good."""
        self.remembered: Family[Condition] = ABSENT
        """Of each broker and bundle whether it has put the node; None unless that matters (store_migration.py)."""
        self.besides: dict[str, Family[Condition]] = {}
        """What only a bug makes a lock remember: flags of each broker and bundle."""
        self.begins = p.rule(self._begins)
        self.revalidated = p.rule(self._revalidated)
        self.invalidated = p.rule(self._invalidated)
        self.meets_node = p.rule(self._meets_node)
        self.found_own = p.rule(self._found_own)
        self.found_version = p.rule(self._found_version)
        self.retake_deletes = p.rule(self._retake_deletes)
        self.lost = p.rule(self._lost)
        self.unanswered = p.rule(self._unanswered)
        self.releasing = p.rule(self._releasing)
        self.release_deletes = p.rule(self._release_deletes)

    # --- formulas

    def acquires(self, b: int, u: int) -> Condition:
        """The formula: the lock was never valid; its requests belong to an acquisition."""
        return self.bundle_state[b, u] == "absent"

    def is_given_up(self, b: int, u: int) -> Truth:
        """The formula: the broker's cache has forgotten the bundle, and the lock is still looked after."""
        return self.bundle_state[b, u] == "given_up" if self.gives_up else False

    def is_unknown(self, b: int, u: int) -> Condition:
        """The formula: the broker's cache does not have the bundle, so that a lookup reads whose it is."""
        return Or(self.acquires(b, u), self.is_given_up(b, u))

    def may_acquire(self, b: int) -> Truth:
        """The formula: the broker sets out to acquire what it is asked for."""
        return True if self.acquires_when_lost else self.store.link[b] != "lost"

    def may_release(self, b: int, u: int) -> Condition:
        """The formula: the lock was acquired and is not released yet, nor forgotten by the cache, which releases locks."""
        acquired = self.stage[b, u].among("valid", "checking", "recreating", "retaking")
        return And(acquired, Not(self.is_given_up(b, u)))

    def has_known_version(self, b: int, u: int, *, former: bool) -> Condition:
        """The formula: a deletion by the version that the lock knows takes effect, on whosoever node has that version."""
        node, known = self.nodes[u], self.version[b, u]
        if self.fixed:
            return And(node.is_held(b, former=former), node.version == known)
        if self.store.kind.deletes_any:
            return And(Not(node.absent), Or(known == ANY, node.version == known))
        return node.has_version(b, known)

    def finds_gone(self, b: int, u: int) -> Truth:
        """The formula: a deletion by the version that the lock knows is answered that the node is gone, NotFound."""
        kind, absent = self.store.kind, self.nodes[u].absent
        if self.fixed or not kind.refuses_missing:
            return absent
        return And(absent, self.version[b, u] == ANY) if kind.reuses_versions else False

    def _retake_deletes(self, b: int, u: int) -> Condition:
        """The formula: what a lock retakes is deleted, by the version that was read."""
        return self.has_known_version(b, u, former=True)

    def _release_deletes(self, b: int, u: int) -> Condition:
        """The formula: what a lock releases is deleted, by the version that it knows."""
        return self.has_known_version(b, u, former=False)

    # --- what LockManagerImpl tells the locks of a broker

    def _revalidated(self, b: int) -> Updates:
        """SessionReestablished: every valid lock is looked after, those that were due first.

        ZKSessionWatcher and EtcdSessionWatcher tell of a new session as Reconnected and then SessionReestablished.
        """
        looked_after = {self.stage[b, u]: If(self.stage[b, u] == "valid", "checking", self.stage[b, u]) for u in self.bundle}
        return merged(looked_after, self.not_due(b))

    def retried(self, b: int) -> Updates:
        """Reconnected: the locks whose revalidation failed are looked after."""

        def is_due(u: int) -> Condition:
            return And(self.revalidate_when_back[b, u], self.stage[b, u] == "valid")

        return merged(
            {self.stage[b, u]: If(is_due(u), "checking", self.stage[b, u]) for u in self.bundle},
            self.not_due(b),
        )

    def not_due(self, b: int) -> Updates:
        """No lock of the broker is to be looked after when the connection is back: each is looked after now, or need not be."""
        return {self.revalidate_when_back[b, u]: False for u in self.bundle}

    def _invalidated(self, b: int, u: int) -> Updates:
        """The node was deleted: a valid lock is looked after."""
        return {self.stage[b, u]: If(self.stage[b, u] == "valid", "checking", self.stage[b, u])}

    # --- what comes of a lock

    def knows(self, b: int, u: int, version: Number | int, *, of_node: bool = False) -> Updates:
        """The version of the lock is this one, which is, or is not, that of the node that is there."""
        return {self.version[b, u]: version, **self.nodes[u].learnt(b, of_node)}

    def begun(self, b: int, u: int) -> Updates:
        """The broker sets out to acquire the lock. One that it has given the bundle up with is of no account then."""
        anew: Updates = {self.bundle_state[b, u]: "absent"} if self.gives_up else {}
        return merged({self.stage[b, u]: "acquiring"}, anew, self.knows(b, u, 0), self.begins(b, u))

    def _begins(self, b: int, u: int) -> Updates:
        """What else an acquisition begins with: nothing."""
        return {}

    def created(self, b: int, u: int) -> Updates:
        """The node is created with the lock's value."""
        return merged(self.node_created(b, u), self.knows(b, u, 0, of_node=True))

    def node_created(self, b: int, u: int) -> Updates:
        """The node is created, and the lock does not know of it."""
        marks = {"disabled": self.bundle_state[b, u] == "inactive"} if self.writes else {}
        return self.nodes[u].created(b, **marks)

    def may_write(self, b: int) -> Truth:
        """The formula: the broker does not refuse to write, as it does while the metadata are migrated."""
        return True if self.refuses is None else Not(self.refuses[b])

    def unless_refused(self, b: int, u: int, updates: Updates) -> Updates:
        """What a read leads to. Where the write is refused, an acquisition is given up, and a revalidation left for later."""
        if self.refuses is None:
            return updates
        given_up = {self.stage[b, u]: "none", self.revalidate_when_back[b, u]: False, **self.knows(b, u, 0)}
        failed = updates_if(self.acquires(b, u), given_up, self.unanswered(b, u))
        return updates_if(self.refuses[b], failed, updates)

    def remembers(self, b: int, u: int, put: bool) -> Updates:
        """Whether the broker would create the node in the target of a migration: it has put it, and not deleted it since."""
        return {} if self.remembered is None else {self.remembered[b, u]: put}

    def valid(self, b: int, u: int) -> Updates:
        """The broker has the lock. If that is new, the bundle is served from now on; an unload goes on."""
        return {self.stage[b, u]: "valid", self.bundle_state[b, u]: If(self.acquires(b, u), "active", self.bundle_state[b, u])}

    def _meets_node(self, b: int, u: int) -> Updates:
        """An acquisition meets a node, LockBusy: it looks whose it is."""
        return {self.stage[b, u]: "checking"}

    def _found_own(self, b: int, u: int) -> Updates:
        """The node is the broker's own, from this session: the lock is valid."""
        knowledge = self.knows(b, u, self.found_version(b, u), of_node=True)
        return merged(self.valid(b, u), {self.revalidate_when_back[b, u]: False}, knowledge)

    def _found_version(self, b: int, u: int) -> Number:
        """The version that a lock has when its own node is found: that of the node."""
        return self.nodes[u].version

    def _lost(self, b: int, u: int) -> Updates:
        """The lock is lost, or was not won: the bundle leaves the cache, and is unloaded."""
        return {self.stage[b, u]: "none", self.bundle_state[b, u]: "absent", **self.knows(b, u, 0)}

    def _unanswered(self, b: int, u: int) -> Updates:
        """A revalidation failed: the lock counts as valid until it can be looked after, when the connection is back."""
        return {self.stage[b, u]: "valid", self.revalidate_when_back[b, u]: True}

    def disabled(self, b: int, u: int) -> Updates:
        """The node is written to say that its owner is about to give the bundle up, and the lock knows the new version."""
        return merged(self.nodes[u].written(disabled=True), {self.version[b, u]: self.nodes[u].version + 1})

    def _releasing(self, b: int, u: int) -> Updates:
        """The broker sets out to release the lock, whatever else it does with it."""
        return self.release_begun(b, u)

    def release_begun(self, b: int, u: int) -> Updates:
        """The broker sets out to release the lock; where the write is refused, the release has failed already."""
        begun = {self.stage[b, u]: "releasing", self.revalidate_when_back[b, u]: False}
        return begun if self.refuses is None else begun | {self.stage[b, u]: If(self.refuses[b], "stranded", "releasing")}

    def may_begin_release(self, b: int) -> Truth:
        """The formula: a release may begin; one that is refused fails for good."""
        return True if self.strands_refused else self.may_write(b)

    def released(self, b: int, u: int) -> Updates:
        """The lock is released: the bundle leaves the cache."""
        return {self.stage[b, u]: "none", self.bundle_state[b, u]: "absent", **self.knows(b, u, 0)}

    def forgotten(self, b: int) -> Updates:
        """A process that ends forgets its locks."""
        stages = {self.stage[b, u]: "none" for u in self.bundle}
        absent = {self.bundle_state[b, u]: "absent" for u in self.bundle}
        flags = {self.revalidate_when_back[b, u]: False for u in self.bundle}
        besides = {flag[b, u]: False for flag in self.besides.values() for u in self.bundle}
        return merged(stages, absent, flags, besides, *(self.knows(b, u, 0) for u in self.bundle))
