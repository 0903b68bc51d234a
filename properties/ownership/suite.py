"""What must hold of the ownership of bundles, and why it does."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.properties.locks.conduct import lock_conduct
from fencepost.properties.locks.lemmas import lock_lemmas
from fencepost.properties.locks.properties import Locks, lock_properties
from fencepost.properties.ownership.migration import migration_properties
from fencepost.properties.ownership.refinement import ownership_refinement
from fencepost.properties.ownership.variables import OwnershipVariables
from fencepost.properties.vocabulary import Leads, Suite


def ownership(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.ownership.ownership`` built."""
    s, n = OwnershipVariables.of(p)
    settings = p.parameters
    suite = Suite(p)
    locks = Locks(p, bool(settings["releases"] or settings["disables"]))
    broker, pairs = p.universes["broker"], locks.pairs

    if settings.get("migration"):
        migration_properties(suite, locks)
        return suite
    lock_properties(suite, locks)

    if locks.several:

        @suite.always
        def caches_agree_with_the_store() -> Condition:
            """A broker that is connected and has heard of all that has happened names the owner that the store names."""
            return all_of(
                Implies(
                    And(locks.is_live(b), s.link[b] == "connected", s.cached[b, u] != NOBODY, Not(s.owner_deletion[u, b])),
                    s.cached[b, u] == s.owner_holder[u],
                )
                for b, u in pairs
            )

    if settings["disables"]:

        @suite.step
        def disabled_owners_are_not_named() -> Condition:
            """A lookup does not name an owner whose node says that it gives the bundle up."""
            return all_of(
                Implies(And(n.cached[b, u] != s.cached[b, u], n.cached[b, u] != NOBODY), Not(s.owner_disabled[u]))
                for b, u in pairs
            )

    @suite.step
    def healthy_owners_keep_their_bundles() -> Condition:
        """A broker that is up to date and has the node stops serving, or lets it go, only on request."""
        is_asked = Or(n.releases > s.releases, n.disables > s.disables)

        def follows(b: int, u: int) -> Condition:
            healthy = And(locks.is_up_to_date(b, u), locks.holds(b, u), locks.is_active(b, u))
            lets_go = Or(n.bundle_state[b, u] != "active", n.lock[b, u] == "releasing")
            return Implies(And(healthy, n.lives[b], lets_go), is_asked)

        return all_of(follows(b, u) for b, u in pairs)

    @suite.leads_to(
        strict="a release that failed with its session leaves the bundle inactive at that broker, where each lookup fails; or "
        "a node whose broker has no lock on it names that broker for good",
        when=locks.is_left or locks.strands,
    )
    def lookups_are_answered() -> Leads:
        """A lookup at any broker that lives is answered in the end, by a broker that serves the bundle."""

        def is_answered(b: int, u: int) -> Condition:
            named = {x: And(s.owner_holder[u] == x, s.cached[b, u].among(NOBODY, x)) for x in broker if x != b}
            by_another = any_of(And(is_named, s.lives[x], locks.is_active(x, u)) for x, is_named in named.items())
            is_unknown = Or(s.bundle_state[b, u] == "absent", locks.is_given_up(b, u))
            return Or(locks.is_active(b, u), And(is_unknown, by_another))

        return [(s.lives[b], Or(Not(s.lives[b]), is_answered(b, u))) for b, u in pairs]

    @suite.step
    def lookups_follow_the_node() -> Condition:
        """A broker without the bundle names the owner that it has read, and acquires only while it knows of none."""

        def follows(b: int, u: int) -> Condition:
            reaches = And(locks.is_live(b), s.link[b] == "connected")
            answers = And(n.cached[b, u] != s.cached[b, u], n.cached[b, u] != NOBODY)
            begins = And(s.lock[b, u].among("none", "valid"), n.lock[b, u] == "acquiring")
            is_unknown = Or(s.bundle_state[b, u] == "absent", locks.is_given_up(b, u))
            read = And(reaches, is_unknown, n.cached[b, u] == s.owner_holder[u])
            return And(Implies(answers, read), Implies(begins, s.cached[b, u] == NOBODY))

        return all_of(follows(b, u) for b, u in pairs)

    if settings["disables"]:
        _disabling(suite, locks)
    if locks.forgets:
        _giving_up(suite, locks)

    lock_conduct(suite, locks)
    lock_lemmas(suite, locks)

    @suite.lemma
    def own_nodes_are_not_cached() -> Condition:
        """A broker does not have itself in its cache: it knows what it owns without it."""
        return all_of(s.cached[b, u] != b for b, u in pairs)

    if locks.several:

        @suite.lemma
        def caches_follow_deletions() -> Condition:
            """What a connected broker has in its cache is the owner, or its deletion is on its way."""
            return caches_agree_with_the_store()

        if p.formulates("sometimes"):
            ownership_refinement(suite, locks)

    return suite


def _giving_up(suite: Suite, locks: Locks) -> None:
    """Adds when a broker may give up what another one has taken over, and what can come of that."""
    s, n = OwnershipVariables.of(suite.protocol)

    @suite.step
    def given_up_when_taken_over() -> Condition:
        """A broker gives up only what it served, when it has lost its session, and the node is not its own any more."""

        def follows(b: int, u: int) -> Condition:
            gives_up = And(n.bundle_state[b, u] == "given_up", s.bundle_state[b, u] != "given_up")
            return Implies(gives_up, And(locks.is_active(b, u), s.link[b] == "lost", Not(locks.holds(b, u))))

        return all_of(follows(b, u) for b, u in locks.pairs)

    @suite.sometimes
    def owner_has_given_up() -> Condition:
        """The node names a broker that has given the bundle up, and that created the node again with its next session."""
        return any_of(And(locks.is_live(b), locks.holds(b, u), locks.is_given_up(b, u)) for b, u in locks.pairs)


def _disabling(suite: Suite, locks: Locks) -> None:
    """Adds what the mark that a node is disabled must say."""
    s, n = OwnershipVariables.of(suite.protocol)
    pairs = locks.pairs
    bundle = suite.protocol.universes["bundle"]

    @suite.step
    def owners_disable_their_nodes() -> Condition:
        """A node is disabled by its owner with a valid lock, or created so by one that serves no more; and stays so."""

        def disables(b: int, u: int) -> Condition:
            may = And(locks.is_live(b), s.link[b] == "connected", s.lock[b, u] == "valid", locks.holds(b, u))
            return And(may, n.owner_disabled[u], n.owner_version[u] == s.owner_version[u] + 1)

        def follows(b: int, u: int) -> Condition:
            created = And(s.owner_holder[u] == NOBODY, n.owner_holder[u] == b)
            return Implies(created, n.owner_disabled[u] == (s.bundle_state[b, u] == "inactive"))

        stays = [Implies(And(s.owner_disabled[u], n.owner_holder[u] != NOBODY), n.owner_disabled[u]) for u in bundle]
        by_somebody = any_of(disables(b, u) for b, u in pairs)
        return And(*stays, *(follows(b, u) for b, u in pairs), Implies(n.disables > s.disables, by_somebody))

    @suite.lemma
    def absent_nodes_are_not_disabled() -> Condition:
        """A node that is not there is not disabled."""
        return all_of(Implies(s.owner_holder[u] == NOBODY, Not(s.owner_disabled[u])) for u in bundle)
