"""Why locks are safe: the lemmas about them, whichever protocol they are part of."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Truth, all_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.resource_lock import ANY, Stage
from fencepost.properties.locks.properties import Locks
from fencepost.properties.locks.variables import LockVariables
from fencepost.properties.vocabulary import Suite


def lock_lemmas(suite: Suite, locks: Locks) -> None:
    """Adds the lemmas about locks to the suite of a protocol that uses them."""
    p = suite.protocol
    s, settings = LockVariables.now(p), p.parameters
    broker, pairs = p.universes["broker"], locks.pairs
    expires, crashes = locks.budget("expiries"), locks.budget("crashes")
    is_live, holds = locks.is_live, locks.holds

    @suite.lemma
    def dead_processes_have_no_locks() -> Condition:
        """A process that has ended holds no lock, and serves nothing."""
        return all_of(Implies(Not(s.lives[b]), And(s.lock[b, u] == "none", s.bundle_state[b, u] == "absent")) for b, u in pairs)

    @suite.lemma
    def stages_fit_what_is_served() -> Condition:
        """What is not acquired is not served; what is released is inactive; a node is retaken to acquire the lock."""
        return all_of(
            And(
                Implies(s.lock[b, u].among("none", "acquiring", "retaking"), s.bundle_state[b, u] == "absent"),
                Implies(s.lock[b, u] == "valid", s.bundle_state[b, u] != "absent"),
                Implies(s.lock[b, u].among("releasing", "stranded"), s.bundle_state[b, u] == "inactive"),
            )
            for b, u in pairs
        )

    @suite.lemma
    def former_nodes_are_not_served() -> Condition:
        """While a node of its former session is there, a broker has no lock on it yet, and serves nothing."""
        return all_of(
            Implies(
                And(s.owner_holder[u] == b, s.owner_former[u], s.lives[b]),
                And(s.bundle_state[b, u] == "absent", s.lock[b, u].among("none", "acquiring", "checking", "retaking")),
            )
            for b, u in pairs
        )

    strands = locks.releases and not locks.fixed and (expires or settings.get("disables"))
    idle: list[Stage] = [] if locks.releases else ["releasing"]
    idle += [] if strands else ["stranded"]
    idle += [] if crashes else ["retaking"]

    if idle:

        @suite.lemma
        def no_other_stages() -> Condition:
            """No lock is in a stage that this instance does not lead to."""
            return all_of(Not(s.lock[b, u].among(*idle)) for b, u in pairs)

    @suite.lemma
    def faults_have_budgets() -> Condition:
        """What only a fault can bring about does not happen without one."""
        return And(
            *(And(s.lives[b], Not(s.former_session[b])) for b in broker if not crashes),
            *(Implies(s.lives[b], s.session[b]) for b in broker if not expires),
            *(Implies(s.lives[b], s.link[b] == "connected") for b in broker if not expires and not settings["disconnects"]),
            *(s.link[b] != "suspended" for b in broker if not settings["disconnects"]),
            *(Implies(And(s.lives[b], s.session[b]), s.link[b] != "lost") for b in broker if not settings["disconnects"]),
        )

    @suite.lemma
    def nodes_belong_to_sessions() -> Condition:
        """A node's session is there: present nodes belong to the client's session, former ones to its former one."""
        return all_of(
            And(
                Implies(holds(b, u), s.session[b]),
                Implies(And(s.owner_holder[u] == b, s.owner_former[u]), s.former_session[b]),
            )
            for b, u in pairs
        )

    @suite.lemma
    def valid_locks_hold_their_nodes() -> Condition:
        """A valid lock of a session that is there holds its node, unless its loss is known, or deletions go astray."""
        return all_of(
            Implies(
                And(
                    is_live(b),
                    s.lock[b, u] == "valid",
                    Or(s.link[b] == "connected", Not(s.revalidate_when_back[b, u])),
                    Not(s.owner_deletion[u, b]) if locks.deletes_others else True,
                    Not(locks.misses),
                ),
                holds(b, u),
            )
            for b, u in pairs
        )

    if not expires and not locks.deletes_others:

        @suite.lemma
        def served_bundles_are_held() -> Condition:
            """As no session expires under a live broker and no deletion errs, a broker holds the node of what it serves."""
            return all_of(Implies(And(s.lives[b], s.bundle_state[b, u] != "absent"), holds(b, u)) for b, u in pairs)

        @suite.lemma
        def served_bundles_are_not_created_again() -> Condition:
            """As a broker holds the node of what it serves, it does not find it missing."""
            return all_of(Implies(s.lock[b, u] == "recreating", s.bundle_state[b, u] == "absent") for b, u in pairs)

    if not (expires or crashes or locks.releases):

        @suite.lemma
        def nodes_stay() -> Truth:
            """As nobody gives a bundle up, dies or loses its session, a node that was met is there: none is created again."""
            return all_of(
                And(s.lock[b, u] != "recreating", Implies(s.lock[b, u] == "checking", s.owner_holder[u] != NOBODY))
                for b, u in pairs
            )

    unheard_creations: list[Stage] = [] if settings["disconnects"] else ["recreating"]

    if not locks.forsakes:

        @suite.lemma
        def nodes_have_locks() -> Condition:
            """A node of a session that is there belongs to a lock, and not to one that is about to be retaken."""
            return all_of(
                Implies(And(holds(b, u), is_live(b)), Not(s.lock[b, u].among("none", "retaking", *unheard_creations)))
                for b, u in pairs
            )

    @suite.lemma
    def locks_know_versions() -> Condition:
        """A lock that was acquired knows the version of its node, or none: while it creates that, or may have."""

        def knows(b: int, u: int) -> Condition:
            version, forgot = s.lock_version[b, u], s.lock_version[b, u] == ANY
            ours = And(holds(b, u), is_live(b), s.bundle_state[b, u] != "absent")
            cut_off = And(s.revalidate_when_back[b, u], Or(s.link[b] != "connected", Not(s.session[b])))
            return And(
                Implies(ours, Or(version == s.owner_version[u], forgot)),
                Implies(And(s.lock[b, u] == "valid", forgot), cut_off),
                Implies(s.lock[b, u] == "recreating", version == (0 if locks.fixed else ANY)),
                Implies(s.lock[b, u] == "none", version == 0),
            )

        return all_of(knows(b, u) for b, u in pairs)
