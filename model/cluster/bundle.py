"""A bundle in a cluster, with its topic: who owns it has the topic, whose messages are in ledgers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fencepost.model.language import ABSENT, And, Condition, Family, Not, Outcome, Protocol, Universe, Updates
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.topic.protocol import Topic
from fencepost.model.stand_ins.copies import WEAK as OF_COPIES
from fencepost.model.stand_ins.copies import Copies
from fencepost.model.stand_ins.ledger import WEAK as OF_LEDGERS
from fencepost.model.stand_ins.ledger import Ledger
from fencepost.model.stand_ins.ownership import WEAK as OF_OWNERSHIP
from fencepost.model.stand_ins.ownership import Ownership

TAKEN = ("open", "connect", "crash")
"""The steps of a topic that only happen within those of a cluster."""


class Bundle:
    """A bundle and its topic, with what befalls it alone.

    ``lose_session`` and ``end`` are moves: a session, and a process, is that of all bundles which a broker has.
    """

    def __init__(self, p: Protocol, broker: Universe, size: Mapping[str, bool | int], weak: Collection[str]) -> None:
        message, ledger = p.universe("message", size["messages"]), p.universe("ledger", size["ledgers"])
        crashes, unloads, disconnects, expiries = (size[name] for name in ("crashes", "unloads", "disconnects", "expiries"))
        weak = {*weak, *(["confirm_late"] if size["unfenced"] else [])}
        of_ownership, of_ledgers, of_copies = (
            [name for name in each if name in weak] for each in (OF_OWNERSHIP, OF_LEDGERS, OF_COPIES)
        )
        unowned, deleted, left, passed = (name in weak for name in OF_OWNERSHIP)
        bundle = p.include("bundle", Ownership, broker, expiries, allows=of_ownership, migrated=left or passed)
        below = p.include("ledger", Ledger, size["capacity"], created=False, deletions=True, allows=of_ledgers, per=ledger)
        topic = p.include("", Topic, broker, ledger, message, below, size, is_part=True, takes=TAKEN, apart=bundle.apart)
        if size["copies"]:
            copies = p.include("first", Copies, size["copies"], size["disk_losses"], allows=of_copies)
            _declare_copies(p, copies, size, below[0].status == "closed", drops=bool(of_copies))
        p.budget("unloads", unloads)
        p.budget("disconnects", disconnects)
        if not p.has("ids_begin_again"):  # with which a topic has that budget
            p.budget("migrations", int(left or passed))
        may_lose = expiries or unowned or deleted or passed
        gives_up = len(broker) > 1 and may_lose and size.get("gives_up", False)
        may_take = disconnects or unowned or gives_up
        may_release = crashes or unloads or disconnects or unowned
        given_up: Family[Condition] = p.flag("given_up", per=broker) if gives_up else ABSENT

        def looks_after_one_lock(b: int) -> Updates:
            return {given_up[b]: False} if gives_up else {}

        @p.step(by="b", takes="takeover", mirrors="OwnershipCache.tryAcquiringOwnership", fair=True, b=broker)
        def acquire(b: int) -> Outcome:
            """A lookup makes the broker create the node of the owner, and it takes itself for the owner.

            A broker whose node is gone creates it again, and goes on.
            """
            return bundle.acquire(b), looks_after_one_lock(b)

        @p.fault(by="b", mirrors="ResourceLockImpl.acquireWithNoRevalidation", spends="disconnects", b=broker)
        def create_unheard(b: int) -> Outcome:
            """The node of the owner is created as the connection breaks, and the broker does not hear of that."""
            return bundle.owner == NOBODY, bundle.create(b)

        @p.step(by="b", takes="metadata", mirrors="ResourceLockImpl.revalidate", fair=True, b=broker, only_if=may_take)
        def take(b: int) -> Outcome:
            """A broker finds the node that it created, and takes itself for the owner."""
            return bundle.take(b), looks_after_one_lock(b)

        @p.step(by="b", mirrors="BrokerService.loadOrCreatePersistentTopic", fair=True, b=broker)
        def load(b: int) -> Outcome:
            """A broker that takes itself for the owner opens the topic."""
            return bundle.believes[b], topic.open(b)

        @p.step(by="producer", to="b", mirrors="NamespaceService.getBrokerServiceUrlAsync", fair=True, b=broker)
        def attach(b: int) -> Outcome:
            """The producer is led to a broker that takes itself for the owner, and connects."""
            return bundle.believes[b], topic.connect(b)

        hears = "loss_unheard" not in weak

        lost = "OwnershipCache.invalidateLocalOwnerCache"

        @p.step(by="b", takes="life_after_loss", hears="store", mirrors=lost, fair=hears, b=broker, only_if=may_lose)
        def hear_loss(b: int) -> Outcome:
            """The broker hears that its node is gone, and closes the topic."""
            return And(bundle.owner != b, bundle.sees(b)), bundle.lose(b), topic.leave(b)

        told = "OwnershipCache.handleOwnershipTakenOver, OwnershipCache.stopServingTakenOverBundle"

        @p.step(by="b", mirrors=told, b=broker, only_if=gives_up)
        def stop_serving(b: int) -> Outcome:
            """The topic has met the fence of the next owner, and the session is still lost: the broker closes its topics, and
            forgets the bundle. The lock stays with LockManagerImpl."""
            return And(topic.is_fenced(b), bundle.owner != b), bundle.lose(b), topic.leave(b), {given_up[b]: True}

        @p.step(by="b", takes="metadata", mirrors="LockManagerImpl.handleSessionEvent", b=broker, only_if=gives_up)
        def recreate(b: int) -> Outcome:
            """With its next session the broker looks after that lock, and creates the node again if there is none. It serves
            the bundle when a lookup there makes it."""
            return And(bundle.owner == NOBODY, given_up[b]), bundle.create(b), {given_up[b]: False}

        @p.step(by="b", takes="unloads", mirrors="OwnedBundle.handleUnloadRequest", spends="unloads", b=broker)
        def unload(b: int) -> Outcome:
            """The broker gives the bundle up: it closes the topic, whatever is under way, and will delete its node."""
            return bundle.owner == b, bundle.lose(b), topic.leave(b)

        goes = "node_left" not in weak

        @p.step(by="store", takes="metadata", mirrors="ResourceLockImpl.release", fair=goes, b=broker, only_if=may_release)
        def vanish(b: int) -> Outcome:
            """The node of a broker that gave the bundle up is deleted, and that of a dead one vanishes with its session."""
            return Not(bundle.believes[b]), bundle.release(b)

        @p.fault(by="store", mirrors="ResourceLockImpl.release", b=broker, only_if=deleted)
        def meet_deletion(b: int) -> Outcome:
            """A deletion that was meant for an earlier node meets that of an owner, which goes on until it hears of that."""
            return bundle.believes[b], bundle.release(b)

        migrated = (
            "MigrationCoordinator.startMigration, MigrationCoordinator.waitForPreparation, "
            "DualMetadataStore.watchForMigrationEvents"
        )

        @p.step(
            by="coordinator",
            to="b",
            mirrors=migrated,
            spends="migrations",
            b=broker,
            only_if=left,
        )
        def migrate_without(b: int) -> Outcome:
            """The metadata are migrated to another store. A broker whose session is gone is not waited for and hears nothing:
            it goes on with the former store, where it lists its ledgers from now on."""
            return And(bundle.owner != b, topic.has_the_list(b)), bundle.leave_behind(b)

        @p.fault(
            by="b",
            mirrors=migrated,
            spends="migrations",
            b=broker,
            only_if=passed,
        )
        def migrate_past(b: int) -> Outcome:
            """The same of a broker that is cut off and has its session: it is waited for, but for a minute only."""
            return And(bundle.owner == b, topic.has_the_list(b)), bundle.leave_behind(b)

        @p.move(by="b", b=broker)
        def lose_session(b: int) -> Outcome:
            """The session of a broker that lives expires: the node of the owner, if it is its own, vanishes."""
            return bundle.expire(b)

        @p.move(by="b", b=broker)
        def end(b: int) -> Outcome:
            """The process of an owner ends, and forgets everything."""
            return bundle.lose(b), topic.crash(b), looks_after_one_lock(b)

        self.lose_session, self.end, self._bundle = lose_session, end, bundle

    def is_owned_by(self, b: int) -> Condition:
        """The formula: the broker has the node of the owner, and takes itself for the owner."""
        return And(self._bundle.believes[b], self._bundle.owner == b)


def _declare_copies(p: Protocol, copies: Copies, size: Mapping[str, bool | int], is_closed: Condition, *, drops: bool) -> None:
    """Declares what becomes of the copies of the first ledger: auto-recovery works on a ledger that is closed."""
    most = size["copies"]

    @p.fault(by="bookie", takes="disk_losses", only_if=size["disk_losses"])
    def lose_disk() -> Outcome:
        """A bookie that has a copy of the first ledger loses its disk."""
        return is_closed, copies.lose(1)

    @p.step(by="worker", takes="repair", mirrors="ReplicationWorker.rereplicate", fair=True)
    def replicate() -> Outcome:
        """Auto-recovery copies the first ledger, and the metadata name as many bookies that have it as they should."""
        return And(is_closed, copies.copies > 0), copies.restore(most)

    @p.fault(by="worker", mirrors="LedgerFragmentReplicator.updateEnsembleInfo", only_if=drops)
    def drop_copy() -> Outcome:
        """By a bug of auto-recovery the metadata name one copy fewer."""
        return And(is_closed, copies.copies == most), copies.drop(most - 1)
