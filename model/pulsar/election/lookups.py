"""One lookup of a bundle without an owner, which needs the leader; a part of the election.

Mirrors of NamespaceService.searchForCandidateBroker the part that asks the leader. The lookup wanders from broker to broker,
until some broker takes the bundle: only the leader may choose a broker for it; that one is told so (the lookup is then
authoritative) and takes it. Choices are free: the policy of placement is no matter here. Where the leader is not active, any
broker chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.model.language import ABSENT, And, Choice, Condition, Family, Not, Or, Outcome, Protocol
from fencepost.model.nobody import NOBODY, Nobody
from fencepost.model.zookeeper.sessions_and_nodes import Sessions

if TYPE_CHECKING:
    from fencepost.model.pulsar.election.protocol import Role, Stage


def declare_lookup(
    p: Protocol,
    store: Sessions,
    *,
    stage: Family[Choice[Stage]],
    role: Family[Choice[Role]],
    cached: Family[Choice[int | Nobody]],
    lookups: bool,
    snapshot: bool,
) -> None:
    """Declares the steps of the lookup, if there is one; the brokers' ``stage``, ``role`` and ``cached`` are as in election.

    ``snapshot`` says that who leads is read in a cache, as up to 4.0.8, and not in what the last election came to.
    """
    broker = store.client
    asked: Choice[int | Nobody] = p.choice("asked", broker, none=NOBODY) if lookups else ABSENT
    authoritative: Condition = p.flag("authoritative") if lookups else ABSENT

    def is_active(x: int) -> Condition:
        """The formula: the broker's own node among the live ones is there: it has a session."""
        return And(store.lives[x], store.session[x])

    def knows_active_leader(b: int) -> Condition:
        return Or(*(And(cached[b] == x, is_active(x)) for x in broker))

    @p.step(by="client", mirrors="NamespaceService.findBrokerServiceUrl", b=broker, only_if=lookups)
    def ask(b: int) -> Outcome:
        """A client looks the bundle up at some broker."""
        return And(asked == NOBODY, store.lives[b]), {asked: b}

    @p.step(
        by="b",
        mirrors="NamespaceService.searchForCandidateBroker, NamespaceService.createLookupResult, "
        "NamespaceService.isBrokerActive",
        fair=True,
        b=broker,
        x=broker,
        only_if=lookups,
    )
    def redirect(b: int, x: int) -> Outcome:
        """A broker that does not lead sends the lookup on to the leader that it knows of, if that one is active.

        One that was chosen keeps the lookup: sent on once more, it could wander forever.
        """
        sends = And(asked == b, Not(authoritative), store.lives[b], role[b] != "leading")
        return And(b != x, sends, cached[b] == x, is_active(x)), {asked: x}

    @p.rule
    def may_ask(b: int) -> Condition:
        """A broker waits for the end of its election before it takes the leader for unknown.

        From 4.2.4 on it waits only while it believes in no leader: an election that a session event began leaves it with the
        old one until it is over.
        """
        return stage[b] == "settled" if snapshot else role[b] != "no_leader"

    may_ask.instead("asks_during_election", lambda b: True)

    @p.rule
    def says_so(b: int) -> bool:
        """Whoever chooses a broker tells it that it was chosen."""
        return True

    says_so.instead("redirects_without_authority", lambda b: role[b] == "leading")

    @p.step(
        by="b",
        mirrors="NamespaceService.searchForCandidateBroker, NamespaceService.getLeastLoadedFromLoadManager, "
        "NamespaceService.createLookupResult",
        fair=True,
        b=broker,
        x=broker,
        only_if=lookups,
    )
    def choose(b: int, x: int) -> Outcome:
        """The leader, or where none is known to be active any broker, chooses a broker for the bundle.

        The chosen broker takes the bundle, and does not choose in its turn.
        """
        unknown = And(may_ask(b), Not(knows_active_leader(b)))
        chooses = And(asked == b, Not(authoritative), store.lives[b], Or(role[b] == "leading", unknown))
        if b == x:
            return chooses, {asked: NOBODY}
        return And(chooses, is_active(x)), {asked: x, authoritative: says_so(b)}

    @p.step(
        by="b",
        mirrors="NamespaceService.searchForCandidateBroker, OwnershipCache.tryAcquiringOwnership",
        fair=True,
        b=broker,
        only_if=lookups,
    )
    def take(b: int) -> Outcome:
        """The broker that was chosen takes the bundle, and the lookup is answered."""
        return And(asked == b, authoritative, store.lives[b]), {asked: NOBODY, authoritative: False}

    @p.step(by="client", fair=True, b=broker, only_if=lookups)
    def give_up(b: int) -> Outcome:
        """The broker that was asked is dead: the lookup fails, and the client may begin again."""
        return And(asked == b, Not(store.lives[b])), {asked: NOBODY, authoritative: False}
