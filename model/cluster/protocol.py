"""A cluster, from a producer's acknowledgement to the reader: who owns the bundle has the topic, whose messages are in ledgers.

It is made of parts. Ownership and ledgers are stand-ins, which the protocols of locks and of BookKeeper refine
(stand_ins/ownership.py, stand_ins/ledger.py); the topic is the whole one (pulsar/topic). With ``copies`` the first ledger has
the stand-in that auto-recovery refines, too (stand_ins/copies.py): what holds of that ledger holds of each. A broker that takes
itself for the owner opens the topic, and the producer is led to such a broker. A broker whose session has expired goes on until
it hears of that, or creates its node again and goes on as the owner.

One bundle with one topic is enough: bundles share only the store and the sessions, and a session that expires takes the nodes
of all bundles at once. With ``bundles=2`` this is shown: what a property of one of them sees is one bundle, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fencepost.model.cluster.bundle import Bundle
from fencepost.model.language import ModelError, Outcome, Protocol
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.pulsar.topic.bugs import BUGS as OF_TOPICS
from fencepost.model.stand_ins.copies import WEAK as OF_COPIES
from fencepost.model.stand_ins.ledger import WEAK as OF_LEDGERS
from fencepost.model.stand_ins.ownership import WEAK as OF_OWNERSHIP

UNFAIR = {
    "loss_unheard": "a broker never hears that its node is gone",
    "node_left": "the node of a broker that gave the bundle up, or died, stays",
}
"""What need not happen in the end with certain bugs of ownership: each of their steps is one of the stand-in."""
WEAK = {**OF_LEDGERS, **OF_COPIES, **OF_OWNERSHIP, **UNFAIR}
"""What the stand-ins of ledgers, of their copies and of ownership allow with bugs of those, by name."""
BUGS = {**OF_TOPICS, **WEAK}
"""The bugs of a topic, and the weak moves."""


class OfPart(NamedTuple):
    """A bug of a part: what it is, and the weak moves by which it enters a cluster."""

    what: str
    moves: tuple[str, ...]


NO_PARTS: Mapping[str, OfPart] = {}


def cluster(
    *,
    brokers: int = 2,
    bundles: int = 1,
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
    slow_updates: int = 0,
    truncations: int = 0,
    transfers: int = 0,
    property_updates: int = 0,
    copies: int = 0,
    disk_losses: int = 0,
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
    parts: Mapping[str, OfPart] = NO_PARTS,
) -> Protocol:
    """A cluster with one topic.

    ``openings`` and ``connections`` bound how often the topic is opened and the producer connects; ``expiries``, ``crashes``
    and ``unloads`` how often the session of an owner expires, its process ends, and it gives the bundle up; ``disconnects`` how
    often a broker does not hear that its node is created. ``copies`` is how many copies the first ledger is to have, where that
    is looked at, and ``disk_losses`` how many disks with one are lost. The others are those of the topic, of each if there are
    two ``bundles``. ModelError if there is no such metadata store, for more bundles, for crashes of brokers that have two, and
    for disks of no copies. ``parts`` are bugs of the parts, by name: each is a switch, too.
    """
    parameters = stated({name: value for name, value in locals().items() if name not in ("bugs", "parts")})
    store_named(metadata_store, "cluster", brokers=brokers, faults=0)
    if bundles not in (1, 2) or (bundles == 2 and crashes):
        raise ModelError("cluster: there is one bundle, or there are two whose brokers do not crash")
    if disk_losses and not copies:
        raise ModelError("cluster: disk_losses are those of copies: set copies to 2 or more")
    switches = {**BUGS, **{name: bug.what for name, bug in parts.items()}}
    p = Protocol("cluster", doc=__doc__, parameters=parameters, bugs=switches, active=bugs)
    weak = {move for name in p.active for move in (parts[name].moves if name in parts else (name,))}
    broker = p.universe("broker", brokers)
    bundle = p.include("", Bundle, broker, parameters, weak)
    other = p.include("other", Bundle, broker, parameters, weak) if bundles == 2 else None

    @p.fault(by="b", takes="expiries", b=broker)
    def expire(b: int) -> Outcome:
        """The session of an owner that lives expires: its node vanishes, and the broker goes on until it hears of that.

        Of several bundles the nodes of all that it owns vanish. Then a session expires whatever the broker owns.
        """
        if other is None:
            return bundle.is_owned_by(b), bundle.lose_session(b)
        return True, bundle.lose_session(b), other.lose_session(b)

    @p.fault(by="b", takes="broker_kills", b=broker, only_if=other is None)
    def die(b: int) -> Outcome:
        """The process of an owner ends, and forgets everything."""
        return True, bundle.end(b)

    return p
