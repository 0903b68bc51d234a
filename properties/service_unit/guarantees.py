"""What becomes of a bundle when its owner loses its session, with service units: questions that an operator asks."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Not, Or, Protocol, Truth, any_of, at_least
from fencepost.properties.service_unit.variables import ServiceUnitVariables, Units
from fencepost.properties.vocabulary import Leads, Suite


def _happened(p: Protocol) -> Truth:
    """The formula: every session that may be lost is lost, and every bundle is unloaded that may be."""
    return And(
        ServiceUnitVariables.now(p).expiries == p.budgets["expiries"],
        ServiceUnitVariables.now(p).unloads == p.budgets["unloads"],
    )


def _serves_again(p: Protocol, suite: Suite, now: Units) -> None:
    @suite.sometimes
    def a_bundle_is_served_after_all() -> Truth:
        """Sessions were lost, or bundles unloaded, as many as may be, and lookups find a broker that serves a bundle."""
        return And(_happened(p), any_of(_is_found(now, b, u) for b, u in now.pairs))


def one_server(p: Protocol) -> Suite:
    """That no bundle is served twice at any time."""
    suite, now = Suite(p), Units(p)
    twice = _twice(now)

    @suite.always
    def bundles_have_one_server() -> Truth:
        """At most one broker takes itself for the owner of a bundle, or has topics of it open."""
        return And(*(Not(each) for each in twice))

    _serves_again(p, suite, now)
    return suite


def one_server_in_the_end(p: Protocol) -> Suite:
    """That of two brokers that serve a bundle one gives it up."""
    suite, now = Suite(p), Units(p)
    twice = _twice(now)

    @suite.leads_to
    def bundles_come_to_one_server() -> Leads:
        """A bundle that two brokers serve is served by at most one, in the end."""
        return [(each, Not(each)) for each in twice]

    _serves_again(p, suite, now)
    return suite


def served(p: Protocol) -> Suite:
    """That a bundle which is looked up again and again is served."""
    suite = Suite(p)
    now = Units(p)

    @suite.leads_to
    def bundles_are_served() -> Leads:
        """A bundle without an owner who is registered, and knows that it owns it, has one in the end."""
        is_found = {u: any_of(_is_found(now, b, u) for b in now.broker) for u in now.unit}
        return [(Not(is_found[u]), is_found[u]) for u in is_found]

    @suite.sometimes
    def a_bundle_is_unserved_after_all() -> Truth:
        """Sessions were lost, or bundles unloaded, as many as may be, and lookups of a bundle find nobody."""
        return And(_happened(p), any_of(Not(any_of(_is_found(now, b, u) for b in now.broker)) for u in now.unit))

    _serves_again(p, suite, now)
    return suite


def _twice(now: Units) -> list[Condition]:
    """For each bundle the formula that two brokers serve it: each lives, and takes itself for the owner or has topics open."""
    has_topics = {(b, u): now.s.topics[b, u].among("open", "detaching", "late", "lingering") for b, u in now.pairs}
    serves = {(b, u): And(now.s.lives[b], Or(now.owns(b, u), has_topics[b, u])) for b, u in now.pairs}
    return [at_least(2, [serves[b, u] for b in now.broker]) for u in now.unit]


def _is_found(now: Units, b: int, u: int) -> Truth:
    """The formula: lookups are answered with this broker, which serves the bundle: its topics are not closed halfway."""
    record = now.record(u)
    served = And(now.owns(b, u), now.s.topics[b, u] != "attached")
    return And(served, record.state == "Owned", record.dst == b, now.is_registered(b))
