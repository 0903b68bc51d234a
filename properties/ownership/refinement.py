"""The ownership of a bundle refines its stand-in: each of its steps is, for a topic, a step of the stand-in or nothing.

So a cluster is made of the stand-in, and what always holds there holds with locks. A bug of locks enters the cluster by the
weak moves that its table names (``allows``). With ``stale_unload`` none are enough: a broker deletes its node and stops in
one step. To a topic that is nothing new, because the stand-in does so in two.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.model.language import And, Condition, Not
from fencepost.model.stand_ins.ownership import MOVES, stand_in
from fencepost.properties.locks.properties import Locks
from fencepost.properties.ownership.variables import OwnershipVariables
from fencepost.properties.vocabulary import Suite

NAME = "is_the_owner_that_a_topic_has"
"""The property that says so."""

FIRST = 0
"""The bundle of which it says so: bundles are alike."""


def moves(locks: Locks) -> tuple[str, ...]:
    """The moves of the stand-in to which an instance leads. Others are allowed: that no step is one needs more lemmas."""
    cut_off, expires, crashes = (locks.budget(fault) for fault in ("disconnects", "expiries", "crashes"))
    leads = {
        "take": cut_off,
        "create": cut_off or expires or locks.deletes_others,
        "lose": expires or crashes or locks.releases,
        "release": crashes or locks.releases,
    }
    return tuple(move for move in MOVES if leads.get(move, True))


def allowed(locks: Locks) -> tuple[str, ...]:
    """The weak moves that the stand-in needs without any bug.

    With ZooKeeper a deletion by version can meet the node of another broker, because versions begin again with each node.
    With etcd a broker can give up a session that goes on, and the nodes that it goes on to serve by then go with that.
    """
    return ("deleted_while_owned",) if locks.deletes_others or locks.gives_up else ()


def ownership_refinement(suite: Suite, locks: Locks, weak: Collection[str] | None = None) -> None:
    """Adds to a suite that each step is one of the stand-in, or changes nothing there.

    ``weak`` are the weak moves that the stand-in has; if None, those that it needs without bugs.
    """
    p = suite.protocol
    s, settings = OwnershipVariables.now(p), p.parameters
    weak = allowed(locks) if weak is None else weak
    migrated = hasattr(s, "apart")
    coarse = stand_in(settings["brokers"], settings["expiries"], allows=weak, migrated=migrated)

    @suite.refines(coarse, reached=MOVES if p.active else moves(locks))
    def is_the_owner_that_a_topic_has() -> dict[str, object]:
        """A topic sees whose node is there, which brokers take themselves for the owner, how many sessions are lost, and which
        of these brokers goes on with a former store."""

        def believes(b: int) -> Condition:
            return And(s.lives[b], s.bundle_state[b, FIRST] == "active")

        def apart(b: int) -> Condition:
            return And(believes(b), s.apart[b], Not(s.told[b]))

        seen = {"owner": s.owner_holder[FIRST], "believes": believes, "expiries": s.expiries}
        return {**seen, "apart": apart} if migrated else seen
