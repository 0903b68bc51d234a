"""What becomes of a bundle when its owner loses its session: questions to the protocol of ownership that an operator asks."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Not, Protocol, Truth, all_of, any_of, at_least
from fencepost.properties.ownership.variables import OwnershipVariables
from fencepost.properties.vocabulary import Leads, Suite


def _serving(p: Protocol, u: int) -> list[Condition]:
    """For each broker the formula that it lives, and serves the bundle."""
    return [
        And(OwnershipVariables.now(p).lives[b], OwnershipVariables.now(p).bundle_state[b, u] == "active")
        for b in p.universes["broker"]
    ]


def _happened(p: Protocol) -> Truth:
    """The formula: every session that may be lost is lost, and every bundle is unloaded that may be."""
    return all_of(
        getattr(OwnershipVariables.now(p), name) == p.budgets[name] for name in ("expiries", "unloads") if name in p.budgets
    )


def _serves_again(p: Protocol, suite: Suite) -> None:
    @suite.sometimes
    def a_bundle_is_served_after_all() -> Truth:
        """Sessions were lost, or bundles unloaded, as many as may be, and a broker serves a bundle."""
        return And(_happened(p), any_of(each for u in p.universes["bundle"] for each in _serving(p, u)))


def one_server(p: Protocol) -> Suite:
    """That no bundle is served twice at any time, zombies counted."""
    suite = Suite(p)

    @suite.always
    def bundles_have_one_server() -> Truth:
        """At most one broker serves a bundle, whether it has a session or not."""
        return all_of(Not(at_least(2, _serving(p, u))) for u in p.universes["bundle"])

    _serves_again(p, suite)
    return suite


def one_server_in_the_end(p: Protocol) -> Suite:
    """That of two brokers that serve a bundle one gives it up."""
    suite = Suite(p)

    @suite.leads_to
    def bundles_come_to_one_server() -> Leads:
        """A bundle that two brokers serve is served by at most one, in the end."""
        twice = {u: at_least(2, _serving(p, u)) for u in p.universes["bundle"]}
        return [(twice[u], Not(twice[u])) for u in twice]

    _serves_again(p, suite)
    return suite


def served(p: Protocol) -> Suite:
    """That a bundle which is looked up again and again is served."""
    suite = Suite(p)

    @suite.leads_to
    def bundles_are_served() -> Leads:
        """A bundle that nobody serves is served, in the end."""
        anybody = {u: any_of(_serving(p, u)) for u in p.universes["bundle"]}
        return [(Not(anybody[u]), anybody[u]) for u in anybody]

    @suite.sometimes
    def a_bundle_is_unserved_after_all() -> Truth:
        """Sessions were lost, or bundles unloaded, as many as may be, and nobody serves a bundle."""
        return And(_happened(p), any_of(Not(any_of(_serving(p, u))) for u in p.universes["bundle"]))

    _serves_again(p, suite)
    return suite
