"""A cluster, from a producer's acknowledgement to the reader: who owns the bundle has the topic, whose messages are in ledgers.

It is made of parts. Ownership and ledgers are stand-ins, which the protocols of locks and of BookKeeper refine
(stand_ins/ownership.py, stand_ins/ledger.py); the topic is the whole one (pulsar/topic). A broker that takes itself for the
owner opens the topic, and the producer is led to such a broker. A broker whose session has expired goes on until it hears of
that, or creates its node again and goes on as the owner.

One bundle with one topic is enough: topics share only the store and the sessions, and a session that expires takes the nodes of
all bundles at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fencepost.model.language import And, Protocol
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.pulsar.topic.defects import DEFECTS as OF_TOPICS
from fencepost.model.pulsar.topic.protocol import Topic
from fencepost.model.stand_ins.ledger import WEAK as OF_LEDGERS
from fencepost.model.stand_ins.ledger import Ledger
from fencepost.model.stand_ins.ownership import NOBODY, Ownership
from fencepost.model.stand_ins.ownership import WEAK as OF_OWNERSHIP

UNFAIR = {
    "loss_unheard": "a broker never hears that its node is gone",
    "node_left": "the node of a broker that gave the bundle up, or died, stays",
}
"""What need not happen in the end with certain mistakes of ownership: each of their steps is one of the stand-in."""
DEFECTS = {**OF_TOPICS, **OF_LEDGERS, "taken_unowned": OF_OWNERSHIP["taken_unowned"], **UNFAIR}
"""The mistakes of a topic, and what the stand-ins of ledgers and of ownership allow with mistakes of those.

To a topic it is the same whether the node of an owner is deleted or goes with its session: there is no mistake for that.
"""

TAKEN = ("open", "connect", "crash")
"""The steps of a topic that only happen within those of a cluster."""


def cluster(
    *,
    brokers: int = 2,
    messages: int = 2,
    ledgers: int = 3,
    capacity: int = 3,
    openings: int = 2,
    connections: int = 2,
    rolls: int = 0,
    failures: int = 0,
    add_failures: int = 0,
    recoveries: int = 0,
    expiries: int = 1,
    crashes: int = 0,
    disconnects: int = 0,
    unloads: int = 0,
    terminations: int = 0,
    closings: int = 0,
    trims: int = 0,
    deletions: int = 0,
    snapshots: int = 0,
    subscription: bool = False,
    lazy: bool = False,
    timeouts: bool = True,
    elsewhere: bool = False,
    metadata_store: str = "zk",
    unfenced: bool = False,
    dedup: bool = True,
    defects: Iterable[str] = (),
) -> Protocol:
    """A cluster with one topic.

    ``openings`` and ``connections`` bound how often the topic is opened and the producer connects; ``expiries``, ``crashes``
    and ``unloads`` how often the session of an owner expires, its process ends, and it gives the bundle up; ``disconnects`` how
    often a broker does not hear that its node is created. The others are those of the topic. ModelError if there is no such
    metadata store.
    """
    parameters = stated({name: value for name, value in locals().items() if name != "defects"})
    store_named(metadata_store, "cluster", brokers=brokers, faults=0)
    p = Protocol("cluster", doc=__doc__, parameters=parameters, defects=DEFECTS, active=defects)
    broker = p.universe("broker", brokers)
    message = p.universe("message", messages)
    ledger = p.universe("ledger", ledgers)
    weak = tuple(name for name in OF_LEDGERS if p.has(name) or (unfenced and name == "confirm_late"))
    unowned = p.has("taken_unowned")
    bundle = p.include("bundle", Ownership, broker, expiries, allows=("taken_unowned",) if unowned else ())
    below = p.include("ledger", Ledger, capacity, created=False, deletions=True, allows=weak, per=ledger)
    topic = p.include("", Topic, broker, ledger, message, below, parameters, is_part=True, takes=TAKEN)
    p.budget("unloads", unloads)
    p.budget("disconnects", disconnects)
    may_take, may_lose = disconnects or unowned, expiries or unowned
    may_release = crashes or unloads or disconnects or unowned

    @p.step(by="b", mirrors="OwnershipCache.tryAcquiringOwnership", fair=True, b=broker)
    def acquire(b: int) -> Any:
        """A lookup makes the broker create the node of the owner, and it takes itself for the owner.

        A broker whose node is gone creates it again, and goes on.
        """
        return bundle.acquire(b)

    @p.fault(by="b", mirrors="ResourceLockImpl.acquireWithNoRevalidation", spends="disconnects", b=broker)
    def create_unheard(b: int) -> Any:
        """The node of the owner is created as the connection breaks, and the broker does not hear of that."""
        return bundle.owner == NOBODY, bundle.create(b)

    @p.step(by="b", mirrors="ResourceLockImpl.revalidate", fair=True, b=broker, only_if=may_take)
    def take(b: int) -> Any:
        """A broker finds the node that it created, and takes itself for the owner."""
        return bundle.take(b)

    @p.step(by="b", mirrors="BrokerService.loadOrCreatePersistentTopic", fair=True, b=broker)
    def load(b: int) -> Any:
        """A broker that takes itself for the owner opens the topic."""
        return bundle.believes[b], topic.open(b)

    @p.step(by="producer", to="b", mirrors="NamespaceService.getBrokerServiceUrlAsync", fair=True, b=broker)
    def attach(b: int) -> Any:
        """The producer is led to a broker that takes itself for the owner, and connects."""
        return bundle.believes[b], topic.connect(b)

    @p.fault(by="b", b=broker)
    def expire(b: int) -> Any:
        """The session of an owner that lives expires: its node vanishes, and the broker goes on until it hears of that.

        It is the same where a deletion that another broker asked for by version meets the node.
        """
        return And(bundle.believes[b], bundle.owner == b), bundle.expire(b)

    hears = not p.has("loss_unheard")

    @p.step(by="b", hears="store", mirrors="OwnershipCache.invalidateLocalOwnerCache", fair=hears, b=broker, only_if=may_lose)
    def hear_loss(b: int) -> Any:
        """The broker hears that its node is gone, and closes the topic."""
        return bundle.owner != b, bundle.lose(b), topic.leave(b)

    @p.fault(by="b", b=broker)
    def die(b: int) -> Any:
        """The process of an owner ends, and forgets everything."""
        return bundle.lose(b), topic.crash(b)

    @p.step(by="b", mirrors="OwnedBundle.handleUnloadRequest", spends="unloads", b=broker)
    def unload(b: int) -> Any:
        """The broker gives the bundle up: it closes the topic, whatever is under way, and will delete its node."""
        return bundle.owner == b, bundle.lose(b), topic.leave(b)

    goes = not p.has("node_left")

    @p.step(by="store", mirrors="ResourceLockImpl.release", fair=goes, b=broker, only_if=may_release)
    def vanish(b: int) -> Any:
        """The node of a broker that gave the bundle up is deleted, and that of a dead one vanishes with its session."""
        return bundle.release(b)

    return p
