"""What must hold of the ownership of bundles, and why it does."""

from __future__ import annotations

from typing import Any

from model.language import And, Implies, Not, Protocol, all_of
from properties.resource_lock import NOBODY, Locks, lock_lemmas, lock_properties
from properties.vocabulary import Suite


def ownership(p: Protocol) -> Suite:
    """The properties of an instance that ``model.ownership.ownership`` built."""
    s, n, settings = p.state, p.next, p.parameters
    suite = Suite(p)
    locks = Locks(p, settings["releases"] + settings["disables"] > 0)
    pairs = locks.pairs

    lock_properties(suite, locks)

    if locks.several:

        @suite.always
        def caches_agree_with_the_store() -> Any:
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
        def disabled_owners_are_not_named() -> Any:
            """A lookup does not name an owner whose node says that it gives the bundle up."""
            return all_of(
                Implies(And(n.cached[b, u] != s.cached[b, u], n.cached[b, u] != NOBODY), Not(s.owner_disabled[u]))
                for b, u in pairs
            )

    lock_lemmas(suite, locks)

    @suite.lemma
    def own_nodes_are_not_cached() -> Any:
        """A broker does not have itself in its cache: it knows what it owns without it."""
        return all_of(s.cached[b, u] != b for b, u in pairs)

    if locks.several:

        @suite.lemma
        def caches_follow_deletions() -> Any:
            """What a connected broker has in its cache is the owner, or its deletion is on its way."""
            return caches_agree_with_the_store()

    return suite
