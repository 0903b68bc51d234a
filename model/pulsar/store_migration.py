"""What becomes of locks while the metadata are moved to another store: DualMetadataStore, and who moves them.

Mirrors DualMetadataStore and MigrationCoordinator of pulsar-metadata as read in Pulsar 4.2.4, 5.0.0-M1 and 5.0.1; older
releases have neither. Without a migration a DualMetadataStore passes everything on to the store that it wraps, and nothing
here exists.

The coordinator writes that a preparation has begun. A broker that hears of it refuses further puts and deletions, waits for
those that are under way, creates its ephemeral nodes in the target, and deletes the node by which it takes part. When all have
done so the coordinator copies everything else and writes that the migration is complete. A broker that hears of that uses the
target, and looks after all of its locks, as with a new session.

A put in the target is unconditional: the first creates the node, which has the session of whoever put it. Others write the
value that is there already. So a node may name one broker and go with the session of another: such a node is ``owner_former``,
and no session of its holder keeps it.

A broker reads the flag of the migration as its process starts, and whenever it is told that the flag has changed; it should
read it with every new session, and be waited for again. With ``start_missed`` and ``goes_on_unprepared`` it may not know of the
migration when that is complete: it is ``apart`` then, and goes on with the source, where the target's brokers do not meet it.
What its topics come to is in ``cluster``.

What is left out: a broker reads the source until it hears of the completion, and here all that are not apart see the target at
once. What a broker that is apart does with the source, and that one which serves nothing goes on with it; and that one which
has missed the start is back before the completion, of which it then hears. In no release is a broker waited for that has lost
its session once since its process started; here it takes part again with its next session. A broker's session with the target
is lost only with its process until the completion, and a migration never fails: so DualMetadataStore.deleteEphemeral of 5.0.1,
which deletes copies of nodes in the target of a migration that has failed, is not there either.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.language import ABSENT, And, Condition, Family, If, Not, Or, Outcome, Truth, Updates, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.resource_lock import ResourceLocks
from fencepost.model.zookeeper.sessions_and_nodes import merged

BUGS = {
    "recreates_of_others": "in a migration of the metadata a broker creates nodes in the target that are not its own",
    "release_refused": "a release that is refused while the metadata are migrated is never tried again",
    "goes_on_unprepared": "a migration of the metadata goes on after 60 seconds though a broker is not prepared",
    "start_missed": "a broker that is cut off as a migration of the metadata begins never hears of that",
    "completion_missed": "a broker that is cut off as a migration of the metadata ends never hears of that",
}
"""Each bug in one line."""


class Migration:
    """The one migration of a run, as the coordinator and the brokers see it."""

    def __init__(self, locks: ResourceLocks) -> None:
        p, broker, bundle = locks.protocol, locks.broker, locks.bundle
        self.locks = locks
        self.phase = p.choice("migration", ["none", "preparing", "completed"])
        self.read_only = p.flag("read_only", per=broker)
        self.prepared = p.flag("prepared", per=broker)
        self.target_owner = p.choice("target_owner", broker, per=bundle, none=NOBODY)
        self.target_session = p.choice("target_session", broker, per=bundle, none=NOBODY)
        self._puts: Family[Condition] = p.flag("puts", per=(broker, bundle)) if p.has("recreates_of_others") else ABSENT
        locks.refuses = self.read_only
        locks.strands_refused = p.has("release_refused")
        if self._puts is not None:
            locks.remembered = self._puts
        leaves = p.has("start_missed") or p.has("goes_on_unprepared")
        self._told: Family[Condition] = p.flag("told", per=broker) if leaves or p.has("completion_missed") else ABSENT
        self._apart: Family[Condition] = p.flag("apart", per=broker) if leaves else ABSENT
        if self._told is not None:
            locks.store.watched.append(self)
        if self._apart is not None:
            locks.store.elsewhere = [And(self._apart[b], Not(self._told[b])) for b in broker]

    def unheard(self, c: int) -> Updates:
        """What changed while it was cut off a broker never hears of; the flag is read again by the next process only.

        Left out: that one which was not prepared is told of the completion, and cut off before it handles that.
        """
        return {self._told[c]: False if self._apart is None else And(self._told[c], self._apart[c])}

    def may_reopen(self, c: int) -> Truth:
        """The formula: the broker may open a session. One that has missed the start does so after the completion only."""
        if not self.locks.protocol.has("start_missed"):
            return True
        return Or(self.phase != "preparing", self.read_only[c], self._told[c])

    def _goes_on(self, b: int) -> Condition:
        """The formula: the broker serves a bundle, and has not heard that a migration has begun."""
        serves = any_of(self.locks.bundle_state[b, u] == "active" for u in self.locks.bundle)
        return And(self.locks.store.lives[b], Not(self.read_only[b]), serves)

    def at_start(self, b: int) -> Updates:
        """What a process that has ended has put in the target goes; the next one hears of the migration as it starts."""
        bundle = self.locks.bundle
        flags: Updates = {self.read_only[b]: False, self.prepared[b]: False}
        flags |= {self._told[b]: self.phase != "none"} if self._told is not None else {}
        flags |= {self._apart[b]: False} if self._apart is not None else {}
        flags |= {self._puts[b, u]: False for u in bundle} if self._puts is not None else {}
        gone = {u: And(self.phase == "preparing", self.target_session[u] == b) for u in bundle}
        target = {each[u]: If(gone[u], NOBODY, each[u]) for u in bundle for each in (self.target_owner, self.target_session)}
        return merged(flags, target)

    def declare(self, *, on_switched: Callable[[int], Updates] = lambda b: {}) -> None:
        """Declares the steps of the migration; after those of locks. ``on_switched`` is what else a broker does that uses the
        target from now on."""
        locks, phase = self.locks, self.phase
        p, store, broker, bundle = locks.protocol, locks.store, locks.broker, locks.bundle

        @p.step(by="coordinator", mirrors="MigrationCoordinator.startMigration, MigrationCoordinator.setInitialMigrationPhase")
        def start_migration() -> Outcome:
            """An operator has the metadata moved to another store: the preparation begins."""
            told: Updates = {} if self._told is None else {self._told[b]: store.will_hear(b) for b in broker}
            return phase == "none", merged({phase: "preparing"}, told)

        @p.rule
        def hears_of_start(b: int) -> Truth:
            """A broker hears of the preparation sooner or later, whatever it was cut off from meanwhile."""
            return True

        for bug in ("start_missed", "goes_on_unprepared"):
            hears_of_start.instead(bug, lambda b: self._told[b])

        @p.step(
            by="b",
            hears="store",
            mirrors="DualMetadataStore.watchForMigrationEvents, DualMetadataStore.readCurrentState",
            fair=True,
            b=broker,
        )
        def hear_of_preparation(b: int) -> Outcome:
            """A broker hears of the preparation, or reads it as it starts: from now on it refuses puts and deletions."""
            handled = {self.read_only[b]: True, **({} if self._told is None else {self._told[b]: False})}
            return And(store.lives[b], phase == "preparing", Not(self.read_only[b]), hears_of_start(b)), handled

        def recreates(b: int, u: int) -> Condition:
            """The formula: the broker puts the node in the target, with the value that it has in the source."""
            node = locks.nodes[u]
            return node.is_own(b) if self._puts is None else And(self._puts[b, u], Not(node.absent))

        @p.step(
            by="b",
            mirrors="DualMetadataStore.handleMigrationStart, DualMetadataStore.recreateEphemeralNodesInTarget, "
            "DualMetadataStore.initializeTargetStore",
            fair=True,
            b=broker,
        )
        def prepare(b: int) -> Outcome:
            """No put or deletion is under way any more: the broker creates its ephemeral nodes in the target, and deletes its
            participant's node in the source."""
            waits = any_of(locks.stage[b, u].among("acquiring", "recreating", "retaking", "releasing") for u in bundle)
            owners = {self.target_owner[u]: If(recreates(b, u), locks.nodes[u].holder, self.target_owner[u]) for u in bundle}
            first = {u: And(recreates(b, u), self.target_session[u] == NOBODY) for u in bundle}
            sessions = {self.target_session[u]: If(first[u], b, self.target_session[u]) for u in bundle}
            begun = And(store.reaches(b), phase == "preparing", self.read_only[b], Not(self.prepared[b]))
            return And(begun, Not(waits)), merged({self.prepared[b]: True}, owners, sessions)

        @p.rule
        def all_are_prepared() -> Condition:
            """Every broker that takes part has prepared itself."""
            return all_of(Or(Not(store.lives[b]), self.prepared[b]) for b in broker)

        def all_that_are_seen() -> Condition:
            """The node by which a broker takes part is ephemeral: one without a session is not waited for."""
            return all_of(Or(Not(store.lives[b]), Not(store.session[b]), self.prepared[b]) for b in broker)

        all_are_prepared.instead("start_missed", all_that_are_seen)
        all_are_prepared.instead("goes_on_unprepared", lambda: True)

        @p.step(
            by="coordinator",
            mirrors="MigrationCoordinator.startMigration, MigrationCoordinator.waitForPreparation, "
            "MigrationCoordinator.copyPersistentData",
            fair=True,
        )
        def complete() -> Outcome:
            """All are prepared, and the rest is copied: the target takes the place of the source."""
            switched = (
                {
                    node.holder: self.target_owner[u],
                    node.former: self.target_owner[u] != self.target_session[u],
                    node.version: 0,
                }
                for u, node in zip(bundle, locks.nodes, strict=True)
            )
            told = {} if self._told is None else {self._told[b]: Or(self._told[b], store.will_hear(b)) for b in broker}
            apart: Updates = {} if self._apart is None else {self._apart[b]: self._goes_on(b) for b in broker}
            return And(phase == "preparing", all_are_prepared()), merged({phase: "completed"}, told, apart, *switched)

        @p.rule
        def is_told(b: int) -> Truth:
            """A broker hears of the completion sooner or later, whatever it was cut off from meanwhile."""
            return True

        is_told.instead("completion_missed", lambda b: self._told[b])

        @p.step(
            by="b",
            hears="store",
            mirrors="DualMetadataStore.handleMigrationComplete, DualMetadataCache.handleSwitchToTargetStore, "
            "LockManagerImpl.handleSessionEvent",
            fair=True,
            b=broker,
        )
        def hear_of_completion(b: int) -> Outcome:
            """A broker hears of the completion: it uses the target, with empty caches, and looks after its locks.

            One that was not prepared does so, too, if it is told. In 4.2.4, which alone goes on without such a broker, it does
            not: it has no target to use. Left out: what it asks of its store fails from then on.
            """
            heard, here = And(self.read_only[b], is_told(b)), dict[Condition, bool]()
            if self._apart is not None:
                late = And(self._apart[b], self._told[b], not p.has("goes_on_unprepared"))
                heard, here = Or(heard, late), {self._apart[b]: False}
            changes = merged({self.read_only[b]: False}, here, locks.revalidated(b), on_switched(b))
            return And(store.lives[b], phase == "completed", heard), changes

        @p.step(
            by="store",
            mirrors="ZooKeeperServer.expire, DataTree.killSession",
            fair=True,
            u=bundle,
            only_if=store.leaves_sessions,
        )
        def lose_keeper(u: int) -> Outcome:
            """The session that created the node in the target is gone, and so is the node, whoever it names."""
            node = locks.nodes[u]
            dead = any_of(And(self.target_session[u] == b, Not(store.lives[b])) for b in broker)
            gone = And(node.former, Not(any_of(And(node.holder == b, store.former[b]) for b in broker)))
            return And(phase == "completed", gone, dead), node.vanished()
