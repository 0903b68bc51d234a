"""An acknowledged message: one topic, the ledgers that its managed ledger lists, the brokers that open it, and a producer.

It mirrors what ManagedLedgerImpl with MetaStoreImpl and OpAddEntry, PersistentTopic and MessageDeduplication do together in
Pulsar 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1. Each ledger is a stand-in (stand_ins/ledger.py). Any broker may open the topic at any
time: who owns the bundle is another matter, and a broker that goes on when another has opened the topic is a zombie, whom only
fences stop. Messages are numbered in the order in which the producer sends them; there is one producer.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.language import ABSENT, And, Condition, Family, Outcome, Parameters, Protocol, Universe, Updates
from fencepost.model.language.parts import Copies
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.pulsar.topic.adds import Adds
from fencepost.model.pulsar.topic.bugs import BUGS
from fencepost.model.pulsar.topic.cursors import Cursors
from fencepost.model.pulsar.topic.deduplication import Deduplication
from fencepost.model.pulsar.topic.deletion import Deletion
from fencepost.model.pulsar.topic.fence import Fence
from fencepost.model.pulsar.topic.opening import Opening
from fencepost.model.pulsar.topic.possible import Possible
from fencepost.model.pulsar.topic.producer import Producer
from fencepost.model.pulsar.topic.property_updates import PropertyUpdates
from fencepost.model.pulsar.topic.renumbering import Renumbering
from fencepost.model.pulsar.topic.rollover import Rollover
from fencepost.model.pulsar.topic.slow_updates import SlowUpdates
from fencepost.model.pulsar.topic.state import State
from fencepost.model.pulsar.topic.termination import Termination
from fencepost.model.pulsar.topic.trimming import Trimming
from fencepost.model.releases import both, changed
from fencepost.model.stand_ins.ledger import Ledger

RELEASES = both(
    changed("closes_timed_out", since="5.0.1", before=False, after=True),
    changed("gives_up", since="5.0.1", before=False, after=True),
    changed("aborts_rollover", since="5.0.1", before=False, after=True),
)
"""What behaves otherwise from release to release: whether the handle of a ledger is closed when an add fails or times out
(OpAddEntry.handleAddFailure), whether a managed ledger that meets a fence fences itself if its broker has lost its session
(ManagedLedgerImpl.fenceByAnotherWriter), and whether what waits for a rollover as the topic is terminated fails with that
rollover (ManagedLedgerImpl.abortRolloverAfterTerminate)."""

BUDGETS = (
    "openings",
    "connections",
    "rolls",
    "failures",
    "add_failures",
    "recoveries",
    "crashes",
    "terminations",
    "closings",
    "trims",
    "deletions",
    "snapshots",
    "slow_updates",
    "truncations",
    "transfers",
    "property_updates",
)


class Topic:
    """A topic over ledgers that somebody else declares: ``ledgers`` has one for each member of ``ledger``.

    Of a topic that ``is_part`` of a cluster a broker may also have to ``leave``, because the bundle is not its own any more. If
    the cluster's metadata were migrated, one broker may be ``apart``, and have a list of ledgers that nobody else reads.
    """

    def __init__(
        self,
        p: Protocol,
        broker: Universe,
        ledger: Universe,
        message: Universe,
        ledgers: Copies[Ledger],
        settings: Parameters,
        *,
        is_part: bool = False,
        apart: Family[Condition] = ABSENT,
    ) -> None:
        size = {name: int(settings.get(name, 0)) for name in BUDGETS}
        for name, limit in size.items():
            p.budget(name, limit)
        if p.has("ids_begin_again"):
            p.budget("migrations", 1)
        versions = (
            len(ledger) * (2 if p.has("listed_before_created") else 1)
            + size["terminations"]
            + size["trims"]
            + size["deletions"]
            + size["property_updates"]
        )
        self.state = s = State(
            p,
            broker,
            message,
            ledger,
            ledgers,
            Possible(settings),
            capacity=settings["capacity"],
            versions=versions,
            dedup=settings["dedup"],
            terminations=size["terminations"] > 0,
            trims=size["trims"] > 0,
            deletions=size["deletions"] > 0,
            subscription=settings["subscription"],
            snapshots=settings["dedup"] and size["snapshots"] + size["trims"] + size["truncations"] > 0,
            apart=apart,
        )
        fence, producer, cursors = Fence(p, s), Producer(p, s), Cursors(p, s)
        adds, deduplication = Adds(p, s, fence, producer), Deduplication(p, s, producer)
        self.open = Opening(p, s, deduplication, cursors).declare()
        self.connect = producer.declare()
        adds.declare()
        rollover = Rollover(p, s, fence, adds, cursors)
        rollover.declare()
        if size["slow_updates"]:
            SlowUpdates(p, s, fence, rollover).declare()
        if size["property_updates"]:
            PropertyUpdates(p, s, fence).declare()
        fence.declare()
        deduplication.declare()
        cursors.declare()
        if size["trims"]:
            trimming = Trimming(p, s, fence, cursors)
            trimming.declare()
            if s.former is not None:
                Renumbering(p, s, trimming).declare()
        Termination(p, s, fence).declare(
            terminations=size["terminations"], closings=size["closings"], transfers=size["transfers"]
        )
        if size["deletions"]:
            Deletion(p, s).declare()

        @p.fault(by="b", takes="broker_kills", spends="crashes", b=broker)
        def crash(b: int) -> Outcome:
            """The process ends and forgets everything."""
            ended: Updates = {} if s.stuck is None else {s.stuck[b]: False}
            if s.asked is not None:
                ended |= {s.asked[b]: "nothing"}
            return s.state[b] != "none", {**s.gone(b), **ended}

        @p.move(by="b", mirrors="PersistentTopic.close", b=broker, only_if=is_part)
        def leave(b: int) -> Outcome:
            """The broker closes the topic, if it has it, whatever is under way."""
            return True, s.gone(b)

        self.crash, self.leave = crash, leave

    def is_fenced(self, b: int) -> Condition:
        """The formula: the managed ledger of the broker is fenced."""
        return self.state.state[b] == "fenced"

    def has_the_list(self, b: int) -> Condition:
        """The formula: the broker has loaded the topic, and nobody has written the list since."""
        return And(self.state.is_loaded(b), self.state.knows_the_version(b))


def topic(
    *,
    brokers: int = 2,
    messages: int = 2,
    ledgers: int = 3,
    capacity: int = 3,
    openings: int = 2,
    connections: int = 2,
    rolls: int = 1,
    failures: int = 0,
    add_failures: int = 0,
    recoveries: int = 0,
    crashes: int = 0,
    terminations: int = 0,
    closings: int = 0,
    trims: int = 0,
    deletions: int = 0,
    snapshots: int = 0,
    slow_updates: int = 0,
    truncations: int = 0,
    transfers: int = 0,
    property_updates: int = 0,
    subscription: bool = False,
    lazy: bool = False,
    timeouts: bool = True,
    elsewhere: bool = False,
    metadata_store: str = "zk",
    unfenced: bool = False,
    closes_timed_out: bool = False,
    gives_up: bool = False,
    aborts_rollover: bool = False,
    dedup: bool = True,
    bugs: Iterable[str] = (),
) -> Protocol:
    """A topic. ModelError if there is no such metadata store, or if it is in the process of one of several brokers."""
    parameters = stated({name: value for name, value in locals().items() if name != "bugs"})
    store_named(metadata_store, "topic", brokers=brokers, faults=0)
    p = Protocol("topic", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)
    broker = p.universe("broker", brokers)
    message = p.universe("message", messages)
    ledger = p.universe("ledger", ledgers)
    weak = ("confirm_late",) if unfenced else ()
    below = p.include("ledger", Ledger, capacity, created=False, deletions=True, allows=weak, per=ledger)
    Topic(p, broker, ledger, message, below, parameters)
    return p
