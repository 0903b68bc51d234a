"""What must hold of the ownership of bundles while the metadata are moved to another store."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.properties.locks.properties import Locks
from fencepost.properties.ownership.variables import OwnershipVariables
from fencepost.properties.vocabulary import Leads, Suite


def migration_properties(suite: Suite, locks: Locks) -> None:
    """Adds the properties of an instance whose metadata are migrated."""
    p, pairs = suite.protocol, locks.pairs
    s, n = OwnershipVariables.of(p)
    broker, bundle = p.universes["broker"], p.universes["bundle"]

    @suite.always
    def nodes_go_with_their_brokers() -> Condition:
        """A node names a broker that lives, or a session that is yet to expire: no dead broker owns a bundle for good."""

        def may_go(b: int) -> Condition:
            return Or(s.lives[b], s.session[b], s.former_session[b])

        return all_of(Implies(s.owner_holder[u] == b, may_go(b)) for b, u in pairs)

    @suite.step
    def migrations_keep_owners() -> Condition:
        """A broker that lives, and has a bundle's node in the source, has it in the target."""
        completes = And(s.migration != "completed", n.migration == "completed")

        def keeps(b: int, u: int) -> Condition:
            return Implies(And(s.lives[b], locks.holds(b, u)), n.owner_holder[u] == b)

        return all_of(Implies(completes, keeps(b, u)) for b, u in pairs)

    @suite.step
    def nothing_is_written_meanwhile() -> Condition:
        """A broker that is prepared writes nothing until it hears that the migration is complete."""

        def writes(b: int, u: int) -> Condition:
            return And(n.owner_holder[u] == b, s.owner_holder[u] != b)

        prepared = {b: And(s.prepared[b], n.migration == "preparing") for b in broker}
        return all_of(Implies(prepared[b], Not(writes(b, u))) for b, u in pairs)

    stays = "a release that failed with its session is never tried again"

    @suite.leads_to(strict=stays, when=locks.strands)
    def owned_in_the_end() -> Leads:
        """A bundle that is looked up again and again is served, in the end."""
        return [(True, any_of(And(s.lives[b], locks.is_active(b, u)) for b in broker)) for u in bundle]

    @suite.leads_to
    def migrations_end() -> Leads:
        """A migration that has begun is completed, and every broker that lives hears of that. No release keeps this where a
        connection is lost (start_missed, completion_missed)."""

        def has_heard(b: int) -> Condition:
            return And(Not(s.read_only[b]), Not(s.apart[b]) if hasattr(s, "apart") else True)

        done = And(s.migration == "completed", *(Or(Not(s.lives[b]), has_heard(b)) for b in broker))
        return [(s.migration != "none", done)]

    if locks.releases:

        @suite.leads_to(strict=stays, when=locks.strands)
        def releases_end() -> Leads:
            """A bundle that is given up leaves the broker's cache, in the end."""
            return [(s.bundle_state[b, u] == "inactive", s.bundle_state[b, u] != "inactive") for b, u in pairs]

    # --- what must be possible

    @suite.sometimes
    def owned_before_and_after() -> Condition:
        """A bundle is served when the migration is complete, by a broker that has heard of that."""
        return any_of(And(s.migration == "completed", locks.is_active(b, u), Not(s.read_only[b])) for b, u in pairs)

    @suite.sometimes
    def unowned_afterwards() -> Condition:
        """A bundle has no node in the target."""
        return any_of(And(s.migration == "completed", s.owner_holder[u] == NOBODY) for u in bundle)
