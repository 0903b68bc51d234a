"""What must hold of a cluster, for who uses one of its topics."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of, any_of, at_least
from fencepost.model.nobody import NOBODY
from fencepost.properties.cluster.variables import ClusterVariables
from fencepost.properties.topic.broker import topic_broker
from fencepost.properties.topic.conduct import topic_conduct
from fencepost.properties.topic.liveness import topic_liveness
from fencepost.properties.topic.safety import topic_safety
from fencepost.properties.topic.variables import Log
from fencepost.properties.vocabulary import Leads, Suite


def cluster(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.cluster.cluster`` built."""
    suite, log = Suite(p), Log(p)
    s, settings, broker = ClusterVariables.now(p), p.parameters, log.broker
    topic_safety(suite, log)
    topic_conduct(suite, log)
    topic_broker(suite, log)
    topic_liveness(suite, log)

    @suite.always
    def owners_have_the_topic() -> Condition:
        """A topic is loaded only at a broker that takes itself for the owner."""
        return all_of(Implies(s.state[b] != "none", s.bundle.believes[b]) for b in broker)

    if len(broker) > 1:

        @suite.strict("a broker whose session has expired goes on until it hears of that", when=settings["expiries"] > 0)
        def one_takes_itself_for_the_owner() -> Condition:
            """At most one broker takes itself for the owner."""
            return Not(at_least(2, [s.bundle.believes[b] for b in broker]))

        @suite.leads_to
        def one_is_left() -> Leads:
            """Of two brokers that take themselves for the owner one stops, in the end."""
            two = at_least(2, [s.bundle.believes[b] for b in broker])
            return two, Not(two)

    if hasattr(s, "given_up"):
        n = ClusterVariables.later(p)

        @suite.step
        def given_up_is_acquired_again() -> Condition:
            """A broker that has given the bundle up serves it again only as the owner."""
            return all_of(Implies(s.given_up[b], Or(Not(n.bundle.believes[b]), n.bundle.owner == b)) for b in broker)

        if settings["expiries"] and settings["openings"] > 1 and settings["unloads"]:

            @suite.sometimes
            def left_when_given_up() -> Condition:
                """The next owner's node is gone, and the broker that has given the bundle up may create its own again."""
                return any_of(And(s.bundle.owner == NOBODY, s.given_up[b]) for b in broker)

    if settings["copies"]:

        @suite.strict(
            "the disks of all copies may be lost before others are made", when=settings["disk_losses"] >= settings["copies"]
        )
        def acked_can_be_read() -> Condition:
            """Of every acknowledged message of the first ledger there is a copy at a bookie that the metadata name."""
            there = {m: any_of(log.has(k, e, m) for k, e in log.places if k == 0) for m in log.message}
            return all_of(Implies(And(s.acked > m, there[m]), s.first.copies > 0) for m in log.message)

    @suite.leads_to
    def served_in_the_end() -> Leads:
        """A topic that no owner serves is served in the end, by an owner, if a producer has something to write.

        The instance bounds how often the topic is opened and the producer connects. An owner that is fenced while it lists a
        ledger stays so until the next message.
        """
        served = any_of(And(s.bundle.owner == b, s.state[b] == "opened") for b in broker)
        spent = Or(log.is_spent("openings"), log.is_spent("connections"), log.status[len(log.ledger) - 1] != "absent")
        return [(Not(served), Or(served, spent, s.acked == len(log.message)))]

    @suite.sometimes
    def all_acknowledged() -> Condition:
        """Every message is acknowledged."""
        return s.acked == len(log.message)

    if len(broker) > 1 and settings["expiries"] and settings["openings"] > 1:

        @suite.sometimes
        def two_serve() -> Condition:
            """Two brokers have the topic open, and one of them is no owner."""
            return at_least(2, [s.state[b] == "opened" for b in broker])

    return suite
