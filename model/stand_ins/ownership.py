"""Who owns a bundle, as its topics know it: a stand-in for the protocol of bundles that are owned by locks, which refines it.

The owner has an ephemeral node in the metadata store. A broker takes itself for the owner when its node is there, and
goes on when the node has vanished with its session, until it hears of that, or has created the node again. Sessions, requests
and revalidations are behind these moves.

With certain bugs the metadata are moved to another store, and a broker does not know: the owner's node is in the other store
from then on, and that broker goes on with the former one, alone.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.model.language import (
    ABSENT,
    And,
    Condition,
    Family,
    If,
    ModelError,
    Not,
    Or,
    Outcome,
    Protocol,
    Truth,
    Universe,
    Updates,
    any_of,
)
from fencepost.model.nobody import NOBODY

WEAK = {
    "taken_unowned": "a broker takes itself for the owner, and the node is another's or not there",
    "deleted_while_owned": "the node of a broker that takes itself for the owner is deleted, and its session is there",
    "left_behind": "a broker whose session is gone goes on with the former store as the metadata are migrated",
    "passed_over": "a broker that has its node goes on with the former store as the metadata are migrated",
}
"""What else may happen with certain bugs of Pulsar, by name: a weaker guard of a move."""

MOVES = ("take", "acquire", "create", "lose", "expire", "release")


class Ownership:
    """A bundle that one of these brokers owns; ``expiries`` bounds how often the session of an owner expires.

    ``owner`` is the broker whose node is there, ``believes`` says which brokers take themselves for the owner: lookups lead
    clients to these. ``allows`` names weak moves, ``moves`` those that there are. If the metadata are ``migrated``, ``apart``
    says which broker goes on with the former store.
    """

    def __init__(
        self,
        p: Protocol,
        broker: Universe,
        expiries: int,
        *,
        allows: Collection[str] = (),
        moves: Collection[str] = MOVES,
        migrated: bool = False,
    ) -> None:
        for name in allows:
            if name not in WEAK:
                raise ModelError(f"{p.name}: ownership has no weak move {name!r}; it has {', '.join(WEAK)}")
        owner = self.owner = p.choice("owner", broker, none=NOBODY)
        believes = self.believes = p.flag("believes", per=broker)
        apart: Family[Condition] = p.flag("apart", per=broker) if migrated else ABSENT
        self.apart = apart
        p.budget("expiries", expiries)
        unowned = "taken_unowned" in allows
        leaves = migrated and ("left_behind" in allows or "passed_over" in allows)

        @p.move(by="b", b=broker, only_if="take" in moves)
        def take(b: int) -> Outcome:
            """The broker takes itself for the owner: its node is there."""
            return And(Not(believes[b]), unowned or owner == b, self.sees(b)), {believes[b]: True}

        @p.move(by="b", b=broker, only_if="acquire" in moves)
        def acquire(b: int) -> Outcome:
            """The broker creates the node of the owner, and takes itself for the owner, or goes on to do so."""
            return And(owner == NOBODY, self.sees(b)), {owner: b, believes[b]: True}

        @p.move(by="b", b=broker, only_if="create" in moves)
        def create(b: int) -> Outcome:
            """The node of the owner is made this broker's, which does not take itself for the owner any more than before.

            Either there was none, or that of a broker that does not take itself for the owner goes at once.
            """
            free = any_of(And(owner == x, believes[x]) for x in broker.but(b))
            return And(True if "deleted_while_owned" in allows else Not(free), self.sees(b)), {owner: b}

        @p.move(by="b", b=broker, only_if="lose" in moves)
        def lose(b: int) -> Outcome:
            """The broker does not take itself for the owner any more: it gives the bundle up, hears of its loss, or dies."""
            forgets: Updates = {apart[b]: False} if migrated else {}
            return believes[b], {believes[b]: False, **forgets}

        @p.move(by="b", spends="expiries", b=broker)
        def expire(b: int) -> Outcome:
            """The session of a broker that lives expires: its node, if it is there, vanishes, and the broker does not know."""
            return True, {owner: If(owner == b, NOBODY, owner)}

        @p.move(by="b", b=broker, only_if="release" in moves)
        def release(b: int) -> Outcome:
            """The node of a broker that does not take itself for the owner is deleted, or vanishes with its session."""
            idle = True if "deleted_while_owned" in allows else Not(believes[b])
            return And(owner == b, idle), {owner: NOBODY}

        @p.move(by="b", b=broker, only_if=leaves)
        def leave_behind(b: int) -> Outcome:
            """The metadata are moved to another store, and one broker that takes itself for the owner goes on with the former
            one: in the other there is no node of it."""
            first = Not(any_of(apart[x] for x in broker))
            left = Or(And("left_behind" in allows, owner != b), And("passed_over" in allows, owner == b))
            return And(believes[b], first, left), {apart[b]: True, owner: If(owner == b, NOBODY, owner)}

        self.take, self.acquire, self.create = take, acquire, create
        self.lose, self.expire, self.release, self.leave_behind = lose, expire, release, leave_behind

    def sees(self, b: int) -> Truth:
        """The formula: the broker uses the store that has the owner's node."""
        return True if self.apart is None else Not(self.apart[b])


def stand_in(
    brokers: int = 2,
    expiries: int = 1,
    *,
    allows: Collection[str] = (),
    moves: Collection[str] = MOVES,
    migrated: bool = False,
) -> Protocol:
    """The ownership of a bundle alone."""
    parameters = {"brokers": brokers, "expiries": expiries, "allows": ",".join(sorted(allows))}
    p = Protocol("stand-in", doc=__doc__, parameters=parameters)
    Ownership(p, p.universe("broker", brokers), expiries, allows=allows, moves=moves, migrated=migrated)
    return p
