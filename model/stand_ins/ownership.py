"""Who owns a bundle, as its topics know it: a stand-in for the protocol of bundles that are owned by locks. It is a reading of
model/pulsar/ownership.py; whether that protocol refines it is not checked.

The owner has an ephemeral node in the metadata store. A broker takes itself for the owner when its node is there, and
goes on when the node has vanished with its session, until it hears of that. Sessions, requests and revalidations are behind
these moves.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fencepost.model.language import And, ModelError, Not, Protocol, Universe

WEAK = {
    "taken_unowned": "a broker takes itself for the owner, and the node is another's or not there",
    "deleted_while_owned": "the node of a broker that takes itself for the owner is deleted, and its session is there",
}
"""What else may happen with certain mistakes of Pulsar, by name: a weaker guard of a move."""

NOBODY = "nobody"


class Ownership:
    """A bundle that one of these brokers owns; ``expiries`` bounds how often the session of an owner expires.

    ``owner`` is the broker whose node is there, ``believes`` says which brokers take themselves for the owner: lookups lead
    clients to these. ``allows`` names weak moves.
    """

    def __init__(self, p: Protocol, broker: Universe, expiries: int, *, allows: Collection[str] = ()) -> None:
        for name in allows:
            if name not in WEAK:
                raise ModelError(f"{p.name}: ownership has no weak move {name!r}; it has {', '.join(WEAK)}")
        owner = self.owner = p.choice("owner", broker, none=NOBODY)
        believes = self.believes = p.flag("believes", per=broker)
        p.budget("expiries", expiries)
        unowned = "taken_unowned" in allows

        @p.move(by="b", b=broker)
        def take(b: int) -> Any:
            """The broker takes itself for the owner: its node is there."""
            return And(Not(believes[b]), unowned or owner == b), {believes[b]: True}

        @p.move(by="b", b=broker)
        def acquire(b: int) -> Any:
            """The broker creates the node of the owner, and takes itself for the owner."""
            return And(owner == NOBODY, Not(believes[b])), {owner: b, believes[b]: True}

        @p.move(by="b", b=broker)
        def lose(b: int) -> Any:
            """The broker does not take itself for the owner any more: it gives the bundle up, hears of its loss, or dies."""
            return believes[b], {believes[b]: False}

        @p.move(by="b", spends="expiries", b=broker)
        def expire(b: int) -> Any:
            """The session of the owner expires: its node vanishes, and it does not know."""
            return owner == b, {owner: NOBODY}

        @p.move(by="b", b=broker)
        def release(b: int) -> Any:
            """The node of a broker that does not take itself for the owner is deleted, or vanishes with its session."""
            idle = True if "deleted_while_owned" in allows else Not(believes[b])
            return And(owner == b, idle), {owner: NOBODY}

        self.take, self.acquire = take, acquire
        self.lose, self.expire, self.release = lose, expire, release


def stand_in(brokers: int = 2, expiries: int = 1, *, allows: Collection[str] = ()) -> Protocol:
    """The ownership of a bundle alone."""
    parameters = {"brokers": brokers, "expiries": expiries, "allows": ",".join(sorted(allows))}
    p = Protocol("stand-in", doc=__doc__, parameters=parameters)
    Ownership(p, p.universe("broker", brokers), expiries, allows=allows)
    return p
