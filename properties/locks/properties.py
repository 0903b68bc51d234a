"""What must hold of locks on owner nodes, whichever protocol they are part of, and why it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, Truth, Universe, all_of, any_of, at_least
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.resource_lock import Stage
from fencepost.model.pulsar.stores import store_of
from fencepost.model.zookeeper.store import Store
from fencepost.properties.locks.variables import LockVariables
from fencepost.properties.vocabulary import Leads, Suite


@dataclass(frozen=True)
class Pairs:
    """Every member of a universe with every one of another, as often as they are gone through."""

    first: Universe
    second: Universe

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for one in self.first:
            for other in self.second:
                yield one, other


@dataclass(frozen=True)
class Locks:
    """The locks of an instance, in the words of their properties; ``releases`` says whether bundles are given up."""

    p: Protocol
    releases: bool

    @property
    def pairs(self) -> Pairs:
        """Every broker with every bundle."""
        return Pairs(self.p.universes["broker"], self.p.universes["bundle"])

    def budget(self, fault: str) -> bool:
        """Whether the instance has this kind of fault."""
        return bool(self.p.parameters[fault])

    @property
    def several(self) -> bool:
        """Whether there are several brokers."""
        return self.p.universes["broker"].size > 1

    @property
    def fixed(self) -> bool:
        """Whether the locks are as the findings would have them, not as upstream."""
        return bool(self.p.parameters["fixed"])

    @property
    def kind(self) -> Store:
        """What the metadata store differs in from others."""
        return store_of(self.p.parameters)

    @property
    def gives_up(self) -> bool:
        """Whether a broker may give a session up that goes on, and take its nodes for those of a former one."""
        return self.budget("disconnects") and self.kind.renews

    @property
    def forgets(self) -> bool:
        """Whether a broker that meets the fence of the next owner forgets the bundle, and not the lock."""
        return bool(self.p.parameters.get("gives_up")) and (self.budget("disconnects") or self.budget("expiries"))

    def is_given_up(self, b: int, u: int) -> Truth:
        """The formula: the broker has forgotten the bundle, and looks after its lock."""
        return LockVariables.now(self.p).bundle_state[b, u] == "given_up" if self.forgets else False

    @property
    def deletes_others(self) -> bool:
        """Whether a deletion by version can meet the node of another broker.

        By a broker that is back after a crash, or that releases a bundle which it does not know to have lost.
        """
        meets = self.budget("crashes") or self.gives_up or (self.budget("expiries") and self.releases)
        return self.several and not self.fixed and meets and self.kind.reuses_versions

    @property
    def forsakes(self) -> bool:
        """Whether a re-creation whose answer is lost can make a broker take its own node for another's."""
        recreates = self.budget("expiries") or self.budget("crashes") or self.releases or self.gives_up
        return not self.fixed and self.budget("disconnects") and recreates

    @property
    def is_left(self) -> bool:
        """Whether nobody takes up again what a broker owns without knowing it."""
        return self.forsakes and not self.p.parameters.get("reacquires", False)

    @property
    def misses(self) -> bool:
        """Whether the deletion of a broker's node can go unheard by it."""
        return self.deletes_others and self.budget("disconnects") and not self.kind.catches_up

    @property
    def strands(self) -> bool:
        """Whether a release can fail for good: with its session, or because the store takes a missing node for another version,
        or has no deletion of any version."""
        fails = self.budget("expiries") or (self.kind.refuses_missing and (self.deletes_others or self.gives_up))
        return self.releases and not self.fixed and fails

    @property
    def keeps_nodes(self) -> bool:
        """Whether a release can fail and leave its broker's node: of a lock that creates its node again, and that unheard,
        where there is no deletion of any version."""
        return self.strands and self.forsakes and not self.kind.deletes_any

    def is_live(self, b: int) -> Condition:
        """The formula: the process goes on and its session is there."""
        return And(LockVariables.now(self.p).lives[b], LockVariables.now(self.p).session[b])

    def holds(self, b: int, u: int) -> Condition:
        """The formula: the node is there, from the broker's present session."""
        return And(LockVariables.now(self.p).owner_holder[u] == b, Not(LockVariables.now(self.p).owner_former[u]))

    def is_active(self, b: int, u: int) -> Condition:
        """The formula: the broker serves the bundle."""
        return LockVariables.now(self.p).bundle_state[b, u] == "active"

    def is_up_to_date(self, b: int, u: int) -> Condition:
        """The formula: the lock is valid, and the broker is connected and has heard of all that has happened to its node.

        Where nobody tells it of its connection it is, besides, not to look after the lock by itself.
        """
        s = LockVariables.now(self.p)
        heard = [Not(s.owner_deletion[u, b]), *([] if self.kind.tells else [Not(s.revalidate_when_back[b, u])])]
        return And(self.is_live(b), s.link[b] == "connected", s.lock[b, u] == "valid", *heard)


def lock_properties(suite: Suite, locks: Locks) -> None:
    """Adds what must hold of locks to the suite of a protocol that uses them."""
    p = suite.protocol
    s, n = LockVariables.of(p)
    settings = p.parameters
    broker, bundle, pairs = p.universes["broker"], p.universes["bundle"], locks.pairs
    several, deletes_others, misses, forsakes = locks.several, locks.deletes_others, locks.misses, locks.forsakes
    expires, crashes = locks.budget("expiries"), locks.budget("crashes")
    is_live, holds, is_active, is_up_to_date = locks.is_live, locks.holds, locks.is_active, locks.is_up_to_date

    # --- what must always hold

    unheard = "a broker that was cut off does not hear that its node was deleted, and looks after no lock when it is back"

    @suite.strict(unheard, when=misses)
    def owner_holds_the_node() -> Condition:
        """A broker that is up to date and has a valid lock holds the node."""
        return all_of(Implies(is_up_to_date(b, u), holds(b, u)) for b, u in pairs)

    @suite.strict(
        "a re-creation whose answer is lost is sent again and meets its own node, which the broker takes for another's",
        when=forsakes,
    )
    def holder_is_responsible() -> Condition:
        """The node of a broker's present session belongs to a lock that the broker knows of: what is owned is served."""
        return all_of(Implies(And(holds(b, u), is_live(b)), s.lock[b, u] != "none") for b, u in pairs)

    @suite.always
    def valid_locks_are_served() -> Condition:
        """A broker whose lock is valid has the bundle in its cache or has given it up; one in the cache belongs to a lock."""
        return all_of(
            And(
                Implies(s.lock[b, u] == "valid", s.bundle_state[b, u] != "absent"),
                Implies(is_active(b, u), s.lock[b, u] != "none"),
            )
            for b, u in pairs
        )

    if settings.get("disables"):

        @suite.always
        def owner_knows_the_version() -> Condition:
            """A broker that is up to date and holds the node knows its version."""
            return all_of(
                Implies(And(is_up_to_date(b, u), holds(b, u)), s.lock_version[b, u] == s.owner_version[u]) for b, u in pairs
            )

    if several:

        @suite.strict(
            "a zombie goes on to serve until it hears that its session is gone; what it writes meets the fence of the ledger",
            when=expires or deletes_others,
        )
        def single_server() -> Condition:
            """At most one broker serves a bundle, zombies included."""
            return all_of(Not(at_least(2, [And(s.lives[b], is_active(b, u)) for b in broker])) for u in bundle)

        @suite.strict(
            "a broker with a new session goes on to serve until it has looked after its locks",
            when=expires or deletes_others,
        )
        def single_owner() -> Condition:
            """At most one broker with a session serves a bundle."""
            return all_of(Not(at_least(2, [And(is_live(b), is_active(b, u)) for b in broker])) for u in bundle)

        @suite.strict(unheard, when=misses)
        def single_owner_up_to_date() -> Condition:
            """At most one broker that is up to date serves a bundle."""
            return all_of(Not(at_least(2, [And(is_up_to_date(b, u), is_active(b, u)) for b in broker])) for u in bundle)

    # --- what every step must respect

    @suite.step
    def node_is_taken_when_free() -> Condition:
        """Nobody takes a node from its holder: it is deleted before another one is created."""
        return all_of(
            Or(s.owner_holder[u] == NOBODY, n.owner_holder[u] == NOBODY, n.owner_holder[u] == s.owner_holder[u]) for u in bundle
        )

    @suite.step
    def locks_create_nodes() -> Condition:
        """A node is created only by a broker whose lock asks for it: nothing writes for a lock that is released."""
        return all_of(
            Implies(And(s.owner_holder[u] == NOBODY, n.owner_holder[u] == b), s.lock[b, u].among("acquiring", "recreating"))
            for b, u in pairs
        )

    if several and not deletes_others:

        @suite.step
        def node_of_another_is_kept() -> Condition:
            """The node of a live broker goes only with its session, or when that broker's own lock lets it go."""
            return all_of(
                Implies(
                    And(holds(b, u), is_live(b), n.owner_holder[u] == NOBODY, n.session[b], n.lives[b]),
                    Or(n.lock[b, u] != s.lock[b, u], And(s.lock[b, u] == "releasing", n.link[b] != s.link[b])),
                )
                for b, u in pairs
            )

    @suite.step
    def released_when_inactive() -> Condition:
        """A broker's node goes, but with its session, only when it does not serve the bundle any more or creates it again."""
        return all_of(
            Implies(
                And(holds(b, u), s.lock[b, u] == "releasing", n.owner_holder[u] != b),
                s.bundle_state[b, u] == "inactive",
            )
            for b, u in pairs
        )

    @suite.ends
    def no_deadlock() -> Condition:
        """Nothing comes to a standstill before some broker has, or takes itself to have, each bundle."""
        has_it: Sequence[Stage] = ("valid", "releasing", "stranded")
        return all_of(any_of(Or(holds(b, u), s.lock[b, u].among(*has_it)) for b in broker) for u in bundle)

    # --- what must happen in the end

    @suite.leads_to(
        strict="the node of a session that is there belongs to no lock: nobody serves the bundle, and nobody may take it",
        when=locks.is_left or locks.keeps_nodes,
    )
    def owned_in_the_end() -> Leads:
        """A bundle that is looked up again and again is served, in the end."""
        return [(True, any_of(And(s.lives[b], is_active(b, u)) for b in broker)) for u in bundle]

    if expires or crashes:
        lock_liveness(suite, locks)

    if locks.releases:

        @suite.leads_to(
            strict="a release that fails, as with its session, is never tried again, and the bundle stays inactive at that "
            "broker until it is restarted",
            when=locks.strands,
        )
        def releases_end() -> Leads:
            """A bundle that is given up leaves the broker's cache, in the end."""
            return [(s.bundle_state[b, u] == "inactive", s.bundle_state[b, u] != "inactive") for b, u in pairs]

    # --- what must be possible

    @suite.sometimes
    def all_owned() -> Condition:
        """Every bundle is owned and served."""
        return all_of(any_of(And(is_up_to_date(b, u), is_active(b, u)) for b in broker) for u in bundle)

    if several and expires:

        @suite.sometimes
        def zombie_serves_beside_the_owner() -> Condition:
            """A zombie serves a bundle that another broker owns."""
            return any_of(
                And(s.lives[z], Not(s.session[z]), is_active(z, u), is_up_to_date(b, u), is_active(b, u))
                for u in bundle
                for z in broker
                for b in broker.but(z)
            )

        @suite.sometimes
        def owner_returns() -> Condition:
            """A broker that lost its session creates the node again, and serves the bundle without a break."""
            return any_of(And(s.lock[b, u] == "recreating", is_active(b, u), s.owner_holder[u] == NOBODY) for b, u in pairs)

    if crashes:

        @suite.sometimes
        def former_node_found() -> Condition:
            """A broker that is back finds the node of its former session."""
            return any_of(And(s.lock[b, u] == "retaking", s.owner_holder[u] == b, s.owner_former[u]) for b, u in pairs)


def lock_liveness(suite: Suite, locks: Locks) -> None:
    """Adds what locks come to in the end, whatever they are for."""
    s = LockVariables.now(suite.protocol)

    @suite.leads_to
    def revalidations_end() -> Leads:
        """A lock that is looked after is valid, or lost, in the end, and nothing more is to be heard."""

        def is_out(b: int, u: int) -> Condition:
            return s.lock[b, u].among("checking", "recreating", "retaking")

        return [(is_out(b, u), And(Not(is_out(b, u)), Not(s.owner_deletion[u, b]))) for b, u in locks.pairs]
