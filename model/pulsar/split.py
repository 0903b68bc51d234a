"""How a bundle is split in two: the layout of the namespace is changed by compare-and-set, and locks change hands.

Mirrors NamespaceService.splitAndOwnBundle, NamespaceBundleFactory, LocalPoliciesResources and BundleSplitterTask as read in
Pulsar 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1, on the locks of resource_lock.py, the sessions of sessions_and_nodes.py and the
arithmetic of hash_range.

The layout is one persistent node. Every broker has a copy in its cache, with its version; a notification of a change empties
the cache, and so does a split that the broker has written; the return of a connection does not. (Upstream the leader's is
emptied as it orders a split, too; that is left out.) A layout is a set of bundles out of all that a small
hash range can have, so that a gap or an overlap is nothing special. Lookups follow a broker's own copy: what is not in it is
not acquired.

The owner of a bundle splits it: it asks for the locks of the children, without waiting for them, and writes the layout that
follows from its copy, if the version is the one of the copy. BadVersion: it waits 100 ms, by when notifications under way
have arrived, and begins again from its copy, up to ``attempts`` times. Any other failure ends the split. When the layout is
written, and the namespace's policies after it, the parent is taken out of service and its lock released; its topics are the
children's by then. A boundary is chosen again in each attempt. Which bundle is split, and when, is free: what holds here holds
for every policy.

A broker splits one bundle at a time, in two.

Not modelled: several boundaries in one split, the admin command, which ignores the maximum, other changes of the policies,
topics, and since 5.0.1 the wait for the release of the parent (NamespaceService.splitAndOwnBundleOnceAndRetry), and that this
waits for an acquisition of it (OwnershipCache.serialize). docs/explanation/deviations.md says of each what that leaves out.

Constants
    brokers              brokers that may own and split bundles
    hashes               hashes of the range
    bundles              bundles at first (defaultNumberOfNamespaceBundles)
    maximum              bundles up to which a split is decided on (loadBalancerNamespaceMaximumBundles)
    algorithm            where a bundle is cut (defaultNamespaceBundleSplitAlgorithm): in the middle by
                         range_equally_divide, anywhere inside by the others
    unload_after_split   whether children are unloaded (loadBalancerAutoUnloadSplitBundlesEnabled)
    attempts             how often a split is tried; 8 in Pulsar
    splits               splits that begin
    releases             times that a broker gives a bundle up, even one that it is splitting
    disconnects          times that a broker loses its connection, or the answer to a request with it
    expiries             times that the session of a live broker expires
    crashes              times that a broker dies
    in_order             whether the store carries out the requests of a session in order, as ZooKeeper does: then the
                         children's locks are asked for before the layout is written
    reacquires           a lookup at a broker that finds its own node, on which it has no lock, makes it acquire the bundle,
                         as since 4.0.8
    acquires_when_lost   a broker that has heard of the loss of its session acquires bundles, as up to 5.0.0-M1
    metadata_store       the store by the scheme of its URL: zk, etcd, oxia, rocksdb or memory
    policies             whether what the namespace's policies say of the boundaries is a variable
    fixed                not upstream. A deletion names the creation that it means. A split waits for the children's locks,
                         and until it can write the policies. Each attempt checks the maximum. The layout is read again when
                         a connection is back. A broker gives up bundles that are not in the layout

Variables of sessions (zookeeper/sessions_and_nodes.py)
    lives                its process runs
    link                 its connection as it takes it: connected, suspended, or lost, when it has given its session up
    session, former_session
                         the store has its session; and one of its process before a restart

Variables of the store
    owner_holder         of each bundle: who created the node, and so whom its value names; nobody if there is none
    owner_former, owner_version
                         it is of a former session of that client; its version, 0 when it is created, one more with each
                         write
    owner_deletion       of each client: a notification of its deletion is on its way
    owner_knows_version  of each client: the version that it knows is of the node that is there. Only with Oxia
    layout               the bundles of the namespace
    layout_version       rises by one with every write
    layout_change        for each broker, whether a notification of a change is on its way

Variables of the locks of each broker (resource_lock.py)
    lock                 which request is out: acquiring and recreating create the node, checking reads it, retaking deletes
                         what a former session left, releasing deletes it for good. Or none is: none, valid, and stranded if
                         a release has failed, after which nothing looks after the lock
    bundle_state         the bundle in the broker's own cache: absent, active, inactive while it is given up
    lock_version         the version of the node as the lock knows it; -1, which is any, while it creates the node again
    revalidate_when_back a revalidation has failed: the lock is looked after when the connection is back
    unattended, orphan   with the bugs found_lock_unattended and recreated_behind_release: the lock was acquired by finding
                         its own node; a read that was out as the release began may still create the node

Variables of splits, of each broker (policies are the store's)
    view                 a broker's copy of the layout
    view_version         the version of the copy
    split                how far a broker's split is: none, preparing, writing (the layout is about to be written), waiting
                         (after BadVersion), written; with policies also recorded, after the policies
    parent               the bundle that it splits
    children             what it cuts it into
    proposed             the layout that it is about to write
    based_on             the version of the copy that this follows from
    attempt              how often it has tried
    policies             the boundaries that the namespace's policies have, as a set of bundles. Only with policies
    hung                 whether the split will never end. Only with the bug load_fails_unanswered

Variables that count
    splits, releases, disconnects, expiries, crashes
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

Actions of splits, by the broker
    hear_of_layout       hears that the layout was changed, and reads it
    start_split          is told to split a bundle that it owns
    prepare              chooses a boundary, asks for the children's locks, and works out the new layout from its
                         copy
    find_parent_missing  the parent is not in its copy any more: the split is given up
    write                writes the layout, if its version is the expected one
    write_unheard        a fault: writes it as the connection breaks. The request is sent again, and meets the
                         version that it has written
    meet_bad_version     the version is another one: the split begins again, or is given up
    begin_again          100 ms later
    fail_to_write        the request fails for want of a session, or of a connection if the store carries it out
                         alone: the split is given up
    fail_to_load         cannot read the layout: nobody completes the split. Only with the bug load_fails_unanswered
    write_policies       writes the policies, after the layout, whatever their version. Only with policies
    leave_policies       cannot write them, and goes on with the split: not upstream, and not with fixed. Only with
                         policies
    fail_to_write_policies
                         has written the layout and cannot write the policies: the split counts as failed. Only with
                         the bug policies_unwritten
    hand_over            takes the parent out of service, sets out to release its lock, and unloads the children if
                         configured
    start_release        gives a bundle of the layout up: an unload
    drop                 gives up what is not in the layout. Only with fixed

The properties are in ``properties/split/suite.py``, with ``conduct.py`` beside it; the proof in
``properties/split/invariant.py``. ``BUGS`` has a line for each bug and weakening, ``properties/split/bugs.toml`` the releases
that have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from fencepost.model.language import (
    ABSENT,
    And,
    Condition,
    Family,
    If,
    Implies,
    ModelError,
    Not,
    Or,
    Outcome,
    Protocol,
    Subset,
    Truth,
    Updates,
    all_of,
    any_of,
    at_least,
    minimum,
)
from fencepost.model.pulsar import lock_bugs
from fencepost.model.pulsar.hash_range import ALGORITHMS, HashRange
from fencepost.model.pulsar.hash_range.universe import Bundles
from fencepost.model.pulsar.lock_steps import declare_locks, declare_releases
from fencepost.model.pulsar.resource_lock import ResourceLocks
from fencepost.model.pulsar.split_bugs import BUGS, declare_steps
from fencepost.model.pulsar.split_policies import RECORDED, declare_policies
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.zookeeper.sessions_and_nodes import PersistentNode, Sessions, merged, updates_if

Stage = Literal["none", "preparing", "writing", "waiting", "written", "recorded"]
STAGES: tuple[Stage, ...] = ("none", "preparing", "writing", "waiting", "written")
NOTHING: Literal["nothing"] = "nothing"


def split(
    *,
    brokers: int = 2,
    hashes: int = 5,
    bundles: int = 1,
    maximum: int = 4,
    algorithm: str = "range_equally_divide",
    unload_after_split: bool = False,
    attempts: int = 2,
    splits: int = 1,
    releases: int = 0,
    disconnects: int = 0,
    expiries: int = 0,
    crashes: int = 0,
    in_order: bool = True,
    reacquires: bool = True,
    acquires_when_lost: bool = True,
    metadata_store: str = "zk",
    policies: bool = False,
    fixed: bool = False,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The splits of a namespace that begins with ``bundles``, none of them owned; the page above has the constants."""
    parameters = stated({name: value for name, value in locals().items() if name != "bugs"})
    p = Protocol("split", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)
    if algorithm not in ALGORITHMS:
        raise ModelError(f"split: algorithm is one of {', '.join(ALGORITHMS)}, not {algorithm!r}")
    if hashes < 2 or not 1 <= bundles <= hashes // 2:
        raise ModelError(f"split: {hashes} hashes cannot be cut into {bundles} bundles; set hashes to at least {2 * bundles}")
    if brokers < 1 or attempts < 1 or maximum < bundles:
        raise ModelError("split: brokers and attempts are at least 1, and maximum at least bundles")
    unchecked = frozenset(p.active) & {"boundaries_unchecked"}
    ranges = Bundles.of(HashRange(hashes - 1, unchecked), algorithm, bundles)

    broker = p.universe("broker", brokers)
    bundle = p.universe("bundle", len(ranges.members), "u", names=ranges.names)
    kind = store_named(metadata_store, "split", brokers=brokers, faults=disconnects + expiries)
    store = Sessions(p, broker, disconnects=disconnects, expiries=expiries, crashes=crashes, kind=kind)
    locks = ResourceLocks(p, store, bundle, fixed=fixed, reacquires=reacquires, acquires_when_lost=acquires_when_lost)
    lock_bugs.put_in_shared(locks)
    bundle_state = locks.bundle_state
    first = ranges.numbers(ranges.first)
    layout = p.subset("layout", bundle, init=first)
    node = PersistentNode(store, "layout", writes=splits)
    view = p.subset("view", bundle, per=broker, init=first)
    view_version = p.number("view_version", 0, splits, per=broker)
    stages: Sequence[Stage] = (*STAGES, RECORDED) if policies else STAGES
    stage = p.choice("split", stages, per=broker)
    parent = p.choice("parent", bundle, per=broker, none=NOTHING)
    children = p.subset("children", bundle, per=broker)
    proposed = p.subset("proposed", bundle, per=broker)
    based_on = p.number("based_on", 0, splits, per=broker)
    attempt = p.number("attempt", 0, attempts + 1, per=broker)
    hung: Family[Condition] = p.flag("hung", per=broker) if p.has("load_fails_unanswered") else ABSENT
    p.budget("splits", splits)
    p.budget("releases", releases)

    # Splits can get in each other's way, and one that does not know of its own success is in its own.
    contended = (splits > 1 and brokers > 1) or (splits > 0 and disconnects > 0)
    misses_parent = (splits > 1 and contended) or (fixed and contended)
    # What a split left before a crash can keep a child's lock from the next one.
    refusable = contended or (splits > 1 and crashes > 0)

    def over(b: int) -> Updates:
        """The split has ended, one way or the other."""
        idle = {stage[b]: "none", parent[b]: NOTHING, attempt[b]: 0}
        idle |= {hung[b]: False} if p.has("load_fails_unanswered") else {}
        return merged(idle, {children[b]: (), proposed[b]: (), based_on[b]: 0})

    def current(b: int) -> Updates:
        """The broker has read the layout."""
        return {view[b]: layout, view_version[b]: node.version, node.changed[b]: False}

    def has_room(b: int, *, among: Iterable[Condition] = ()) -> Condition:
        """The formula: as far as the broker knows, the namespace may have one more bundle, after those among others."""
        return Not(at_least(maximum, [*(view[b].has(u) for u in bundle), *among]))

    store.declare(
        at_start=lambda b: merged(locks.forgotten(b), over(b), current(b)),
        on_lost=lambda b: {},
        on_reconnected=lambda b: merged(locks.retried(b), {node.changed[b]: True} if fixed else {}),
        on_reestablished=lambda b: merged(locks.revalidated(b), {node.changed[b]: True} if fixed else {}),
        listener="LockManagerImpl.handleSessionEvent",
    )
    declare_locks(locks, seems_free=lambda b, u: view[b].has(u))
    declare_releases(locks, releases=releases + splits > 0)
    lock_bugs.declare_shared(locks)

    @p.rule
    def reread(b: int) -> Updates:
        """Who is told of a change of the layout forgets its copy and reads another."""
        return current(b)

    reread.instead("layout_not_watched", lambda b: {node.changed[b]: False})

    @p.step(
        by="b",
        hears="store",
        mirrors="NamespaceBundleFactory.handleMetadataStoreNotification, NamespaceBundleFactory.loadBundles, "
        "LocalPoliciesResources.getLocalPoliciesWithVersion",
        fair=True,
        b=broker,
    )
    def hear_of_layout(b: int) -> Outcome:
        """A notification says that the layout was changed: the broker forgets its copy and reads another."""
        return And(store.reaches(b), node.changed[b]), reread(b)

    # --- a split

    def splittable(b: int, u: int) -> bool:
        return ranges.splittable(u)

    def cuttable(b: int, u: int, boundary: int) -> bool:
        return bool(ranges.parts(u, boundary))

    @p.rule
    def has_bundle(b: int, u: int) -> Condition:
        """A bundle is split by the broker that has it."""
        return And(locks.stage[b, u] == "valid", bundle_state[b, u] == "active")

    has_bundle.instead("splits_unloaded_bundle", lambda b, u: True)

    @p.rule
    def decided() -> list[Condition]:
        """The splits that the leader has decided on count, each as a bundle more."""
        return [stage[x] != "none" for x in broker]

    decided.instead("splits_not_counted", list)

    @p.rule
    def may_split() -> Condition:
        """The leader decides on a split only as long as there are fewer bundles than the maximum; who leads is free."""
        return any_of(And(store.lives[x], has_room(x, among=decided())) for x in broker)

    may_split.instead("maximum_ignored", lambda: True)

    @p.step(
        by="b",
        mirrors="NamespacesBase.internalSplitNamespaceBundleAsync, PulsarWebResource.validateNamespaceBundleOwnershipAsync, "
        "ModularLoadManagerImpl.checkNamespaceBundleSplit, BundleSplitterTask.findBundlesToSplit, "
        "NamespaceService.splitAndOwnBundle",
        spends="splits",
        b=broker,
        u=bundle,
        only_if=splittable,
    )
    def start_split(b: int, u: int) -> Outcome:
        """The owner is told to split a bundle of the layout: by the leader, who sees fewer of them than the maximum.

        The leader counts the splits that it has decided on. Who leads, and how current that broker's copy is, is free. Whoever
        does not own the bundle, or has it no more in its copy of the layout, refuses.
        """
        begins = And(store.lives[b], stage[b] == "none", has_bundle(b, u), view[b].has(u), may_split())
        return begins, {stage[b]: "preparing", parent[b]: u}

    @p.rule
    def is_loaded(b: int) -> bool:
        """The broker has a copy of the layout, or can read one."""
        return True

    is_loaded.instead("load_fails_unanswered", lambda b: Not(hung[b]))

    @p.rule
    def finds_parent(b: int, u: int) -> Condition:
        """A bundle is split only if it is in the copy of the layout."""
        return view[b].has(u)

    finds_parent.instead("splits_missing_bundle", lambda b, u: True)

    @p.rule
    def to_write(b: int, cut: Subset) -> Subset:
        """What is written is the broker's copy of the layout, as it is in this attempt, with the parent cut."""
        return cut

    to_write.instead("stale_parent", lambda b, cut: If(attempt[b] == 0, cut, proposed[b]))

    @p.step(
        by="b",
        mirrors="NamespaceService.splitAndOwnBundleOnceAndRetry, NamespaceBundleFactory.splitBundles, "
        "OwnershipCache.tryAcquiringOwnership",
        fair=True,
        b=broker,
        u=bundle,
        boundary=range(hashes),
        only_if=cuttable,
    )
    def prepare(b: int, u: int, boundary: int) -> Outcome:
        """A boundary is chosen, the children's locks are asked for, and the layout to be written follows from the copy."""
        parts = ranges.parts(u, boundary)
        room = has_room(b) if fixed else True
        cut = view[b].minus(u)
        for part in parts:
            cut = cut.plus(part)
        asked = {c: And(locks.stage[b, c] == "none", locks.acquires(b, c)) for c in parts}
        ready = And(store.lives[b], stage[b] == "preparing", parent[b] == u, is_loaded(b))
        return And(ready, finds_parent(b, u), room), merged(
            {locks.stage[b, c]: If(asked[c], "acquiring", locks.stage[b, c]) for c in parts},
            *(updates_if(asked[c], locks.begins(b, c), {}) for c in parts),
            {stage[b]: "writing", children[b]: parts, proposed[b]: to_write(b, cut), based_on[b]: view_version[b]},
            {attempt[b]: minimum(attempt[b] + 1, attempts + 1)},
        )

    @p.step(
        by="b",
        mirrors="NamespaceBundleFactory.splitBundles, NamespaceService.splitAndOwnBundleOnceAndRetry",
        fair=True,
        b=broker,
        u=bundle,
        only_if=lambda b, u: misses_parent and ranges.splittable(u),
    )
    def find_parent_missing(b: int, u: int) -> Outcome:
        """The parent is not in the layout any more, by the broker's copy: the split is given up."""
        refused = Or(Not(view[b].has(u)), Not(has_room(b))) if fixed else Not(view[b].has(u))
        return And(store.lives[b], stage[b] == "preparing", parent[b] == u, is_loaded(b), refused), over(b)

    changed_layout = {b: {layout: proposed[b], **node.written(b)} for b in broker}

    def is_through(b: int, c: int) -> Truth:
        """The formula: the request for a child's lock was carried out, as far as the request to write comes after that."""
        if fixed:
            return And(locks.stage[b, c] == "valid", bundle_state[b, c] == "active")
        return locks.stage[b, c] != "acquiring" if in_order else True

    def may_write(b: int) -> Condition:
        """The formula: the request to write the layout is carried out."""
        sent = all_of(Implies(children[b].has(c), is_through(b, c)) for c in bundle)
        return And(store.reaches(b), stage[b] == "writing", sent)

    @p.rule
    def is_expected(b: int) -> Condition:
        """The layout is written only if its version is the one of the copy."""
        return node.version == based_on[b]

    is_expected.instead("writes_blindly", lambda b: True)

    def fits(b: int) -> Condition:
        """The formula: the version is the expected one."""
        return And(node.is_countable, is_expected(b))

    @p.step(
        by="b",
        mirrors="NamespaceService.updateNamespaceBundles, LocalPoliciesResources.setLocalPoliciesWithVersion, "
        "NamespaceBundleFactory.invalidateBundleCache",
        fair=True,
        b=broker,
    )
    def write(b: int) -> Outcome:
        """The layout is written, if its version is the one that the copy had. The broker's cache is emptied.

        With another version another split came between, and the layout of this one would take that back.
        """
        known = {view[b]: proposed[b], view_version[b]: node.version + 1, stage[b]: "written"}
        return And(may_write(b), fits(b)), merged(changed_layout[b], known)

    @p.fault(
        by="b",
        mirrors="ZKMetadataStore.batchOperation, LocalPoliciesResources.setLocalPoliciesWithVersion",
        spends="disconnects",
        b=broker,
    )
    def write_unheard(b: int) -> Outcome:
        """The layout is written as the connection breaks; sent again, the request meets the version that it has written."""
        _, updates = store.lost_answer(b, changed_layout[b])
        return And(may_write(b), fits(b)), updates

    @p.rule
    def has_attempts_left(b: int) -> Condition:
        """A split begins again only so often."""
        return attempt[b] < attempts

    has_attempts_left.instead("endless_attempts", lambda b: True)

    @p.step(
        by="b", hears="store", mirrors="NamespaceService.splitAndOwnBundleOnceAndRetry", fair=True, b=broker, only_if=contended
    )
    def meet_bad_version(b: int) -> Outcome:
        """The layout has another version: the split begins again, if it has not done so too often."""
        return And(may_write(b), Not(fits(b))), updates_if(has_attempts_left(b), {stage[b]: "waiting"}, over(b))

    @p.rule
    def has_arrived(b: int) -> Condition:
        """By the next attempt, 100 ms later, what was under way to the broker has arrived."""
        return Not(node.changed[b])

    has_arrived.instead("retries_on_stale_cache", lambda b: True)

    @p.step(by="b", mirrors="NamespaceService.splitAndOwnBundleOnceAndRetry", fair=True, b=broker, only_if=contended)
    def begin_again(b: int) -> Outcome:
        """100 ms later: what was under way to the broker has arrived."""
        ready = store.reaches(b) if fixed else store.lives[b]
        return And(ready, stage[b] == "waiting", has_arrived(b)), {stage[b]: "preparing"}

    @p.step(
        by="b",
        mirrors="NamespaceService.splitAndOwnBundleOnceAndRetry",
        fair=True,
        b=broker,
        only_if=disconnects or expiries or (fixed and refusable),
    )
    def fail_to_write(b: int) -> Outcome:
        """The request to write fails for want of a session, or of a connection if it is carried out alone: the split ends."""
        cut_off = Not(store.reaches(b))
        if fixed:
            cut_off = Or(cut_off, *(And(children[b].has(c), locks.stage[b, c] == "none") for c in bundle))
        return And(store.lives[b], stage[b] == "writing", cut_off), over(b)

    @p.rule
    def parent_let_go(b: int, u: int) -> Updates:
        """The parent's lock is released when the split is done."""
        return locks.releasing(b, u)

    parent_let_go.instead("parent_never_released", lambda b, u: {})

    @p.step(
        by="b",
        mirrors="NamespaceService.splitAndOwnBundleOnceAndRetry, OwnershipCache.updateBundleState, "
        "OwnershipCache.removeOwnership",
        fair=True,
        b=broker,
        u=bundle,
        only_if=splittable,
    )
    def hand_over(b: int, u: int) -> Outcome:
        """The parent is taken out of service and its lock released; its children are unloaded, if configured and served yet.

        This comes after the layout is written: until then lookups lead to the parent.
        """
        given_up = [(u, stage[b] == stages[-1], parent_let_go(b, u))]
        if unload_after_split:
            given_up += [(c, children[b].has(c), locks.releasing(b, c)) for c in bundle if c != u]
        updates = over(b)
        for x, meant, releasing in given_up:
            held = And(meant, locks.may_release(b, x), bundle_state[b, x] == "active")
            updates |= updates_if(held, {bundle_state[b, x]: "inactive", **releasing}, {})
        return And(store.lives[b], stage[b] == stages[-1], parent[b] == u), updates

    declare_steps(p, store, stage=stage, attempt=attempt, attempts=attempts, hung=hung)
    declare_policies(
        p, store, with_policies=policies, fixed=fixed, first=first, layout=layout, proposed=proposed, stage=stage, over=over
    )
    # --- a bundle given up other than by its own split

    @p.step(
        by="b",
        mirrors="OwnedBundle.handleUnloadRequest, OwnershipCache.removeOwnership, ResourceLockImpl.release",
        spends="releases",
        b=broker,
        u=bundle,
    )
    def start_release(b: int, u: int) -> Outcome:
        """The broker gives a bundle of the layout up, whether or not it is being split: an unload, or a shedding."""
        held = And(store.lives[b], locks.may_release(b, u), bundle_state[b, u] == "active")
        return And(held, view[b].has(u)), merged({bundle_state[b, u]: "inactive"}, locks.releasing(b, u))

    @p.step(by="b", fair=True, b=broker, u=bundle, only_if=locks.fixed)
    def drop(b: int, u: int) -> Outcome:
        """A broker gives up what is not in the layout, as it knows it, and is not part of its own split."""
        own = And(stage[b] != "none", Or(parent[b] == u, children[b].has(u)))
        held = And(store.lives[b], locks.may_release(b, u), bundle_state[b, u] == "active")
        return And(held, Not(view[b].has(u)), Not(own)), merged({bundle_state[b, u]: "inactive"}, locks.releasing(b, u))

    return p
