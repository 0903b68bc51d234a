"""How each broker must conduct itself with its locks, whatever comes of it: rules that a missing guard breaks first."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.properties.locks.properties import Locks
from fencepost.properties.locks.sessions import session_conduct
from fencepost.properties.locks.variables import LockVariables
from fencepost.properties.vocabulary import Suite


def lock_conduct(suite: Suite, locks: Locks) -> None:
    """Adds the rules of conduct of sessions and of locks to the suite of a protocol that uses them."""
    p = suite.protocol
    s, n = LockVariables.of(p)
    pairs = locks.pairs
    session_conduct(suite)

    def reaches(b: int) -> Condition:
        return And(s.lives[b], s.link[b] == "connected", s.session[b])

    def goes_on(b: int) -> Condition:
        return And(s.lives[b], n.lives[b])

    def is_zombie(b: int) -> Condition:
        return And(s.lives[b], Not(s.session[b]))

    def is_back(b: int) -> Condition:
        return And(s.link[b] != "connected", n.link[b] == "connected")

    @suite.step
    def locks_go_forward() -> Condition:
        """A lock goes from stage to stage by what the broker reads or does in the store, or because that fails."""

        def follows(b: int, u: int) -> Condition:
            before, after, holder = s.lock[b, u], n.lock[b, u], s.owner_holder[u]
            present, former = holder != NOBODY, And(holder == b, s.owner_former[u])
            served, cut_off = s.bundle_state[b, u] != "absent", Or(s.link[b] != "connected", Not(s.session[b]))
            heard = And(s.owner_deletion[u, b], Not(n.owner_deletion[u, b]))
            released = And(before.among("valid", "checking", "recreating", "retaking"), n.bundle_state[b, u] == "inactive")
            fails = before.among("acquiring", "checking", "recreating", "retaking")
            timed = [] if locks.kind.tells else [And(s.revalidate_when_back[b, u], reaches(b))]
            by_request = Or(
                And(before.among("acquiring", "recreating"), after == "valid", Not(present), n.owner_holder[u] == b),
                And(before.among("acquiring", "recreating"), after.among("checking", "none"), present),
                And(before == "checking", after == "recreating", Not(present)),
                And(before == "checking", after == "valid", locks.holds(b, u), Not(n.revalidate_when_back[b, u])),
                And(before == "checking", after == "retaking", former),
                And(before == "checking", after == "none", present, holder != b, Not(n.revalidate_when_back[b, u])),
                And(before == "retaking", after == "recreating", present, n.owner_holder[u] == NOBODY),
                And(before == "retaking", after == "none", n.owner_holder[u] == holder),
                And(before == "releasing", after == "none", n.owner_holder[u] != b, n.bundle_state[b, u] == "absent"),
                And(before == "releasing", after == "stranded", *([] if locks.kind.refuses_missing else [present])),
            )
            return Or(
                after == before,
                And(reaches(b), by_request),
                And(before == "none", after == "acquiring", Not(served)),
                And(before == "valid", after == "acquiring", locks.is_given_up(b, u)),
                And(before == "valid", after == "checking", Or(heard, is_back(b), *timed)),
                And(fails, after == "none", is_zombie(b), Not(served)),
                And(fails, after == "valid", cut_off, served, n.revalidate_when_back[b, u]),
                And(released, after == "releasing", Not(n.revalidate_when_back[b, u])),
                And(before == "releasing", after == "stranded", is_zombie(b)),
                And(before == "releasing", after == "none", is_zombie(b), n.bundle_state[b, u] == "absent"),
            )

        return all_of(Implies(goes_on(b), follows(b, u)) for b, u in pairs)

    if locks.kind.tells:

        @suite.step
        def valid_locks_are_looked_after() -> Condition:
            """When a broker is back, it looks after the locks that it could not, or all if it had given its session up."""

            def follows(b: int, u: int) -> Condition:
                valid, checked = s.lock[b, u] == "valid", n.lock[b, u] == "checking"
                return And(
                    Implies(
                        And(s.link[b] == "suspended", valid),
                        And(checked == s.revalidate_when_back[b, u], Not(n.revalidate_when_back[b, u])),
                    ),
                    Implies(And(s.link[b] == "lost", valid), checked),
                )

            return all_of(Implies(And(goes_on(b), is_back(b)), follows(b, u)) for b, u in pairs)

    @suite.step
    def failures_are_remembered() -> Condition:
        """A lock is to be looked after again only when a request for it has failed, for want of a connection or a session."""

        def follows(b: int, u: int) -> Condition:
            fresh = And(n.revalidate_when_back[b, u], Not(s.revalidate_when_back[b, u]))
            fails = Or(s.link[b] != "connected", Not(s.session[b]))
            return Implies(fresh, And(s.lives[b], fails, n.lock[b, u] == "valid"))

        return all_of(follows(b, u) for b, u in pairs)

    if locks.budget("disconnects") and locks.budget("expiries"):

        @suite.sometimes
        def revalidation_fails() -> Condition:
            """A lock counts as valid because it could not be looked after."""
            return any_of(And(s.lock[b, u] == "valid", s.revalidate_when_back[b, u]) for b, u in pairs)
