"""What must hold while a broker loads a topic."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol
from fencepost.properties.topic_loading.variables import TopicLoadingVariables
from fencepost.properties.vocabulary import Leads, Suite


def topic_loading(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.topic_loading.topic_loading`` built."""
    suite, s, n = Suite(p), TopicLoadingVariables.now(p), TopicLoadingVariables.later(p)
    stalls = p.parameters["stalls"] > 0 and not p.parameters["bounded"]

    @suite.always
    def pending_is_opened() -> Condition:
        """A future that is pending has an attempt that opens the topic."""
        return Implies(s.topic == "pending", s.attempt == "opening")

    @suite.always
    def opening_has_a_future() -> Condition:
        """An attempt that opens the topic has a future in the map, and only such an attempt waits for an answer that never
        comes."""
        opens = s.attempt == "opening"
        return And(Implies(opens, s.topic.among("pending", "failed")), Implies(s.unanswered, opens))

    @suite.always
    def failed_is_opened() -> Condition:
        """A future that has failed and is still in the map has an attempt that will take it away."""
        return Or(s.topic != "failed", s.attempt == "opening")

    @suite.always
    def served_needs_a_topic() -> Condition:
        """Who was served was served by a topic in the map."""
        return Implies(s.served, s.topic == "served")

    @suite.always
    def reader_skips_nothing() -> Condition:
        """The reader of the policies reads all that the system topic has."""
        return Not(s.skipped)

    @suite.step
    def opened_with_policies() -> Condition:
        """A topic that a lookup asked for is opened with the policies of its namespace, once at a time."""
        begins = And(s.attempt != "opening", n.attempt == "opening")
        return Implies(begins, And(s.attempt == "policies", s.policies == "known", s.topic == "absent"))

    @suite.step
    def stuck_in_reading() -> Condition:
        """A reader of the policies makes no progress only while it reads."""
        return Implies(And(s.policies != "stuck", n.policies == "stuck"), s.policies == "reading")

    @suite.step
    def lookup_gets_the_topic() -> Condition:
        """A lookup that waits is answered with the topic as that is served, or else fails; no other client is served then."""
        answered = Implies(And(s.waits, Not(n.waits)), n.served == (n.topic == "served"))
        return And(answered, Implies(And(Not(s.served), n.served), Or(s.waits, s.topic == "served")))

    @suite.sometimes
    def client_is_served() -> Condition:
        """A client is served."""
        return s.served

    @suite.leads_to(strict="a reader that makes no progress is waited for without a time-out", when=stalls)
    def lookup_is_answered() -> Leads:
        """A lookup is answered, in the end."""
        return s.waits, Not(s.waits)

    @suite.leads_to(strict="a reader that makes no progress is waited for without a time-out", when=stalls)
    def served_in_the_end() -> Leads:
        """A topic that somebody looks up, and goes on to, is served in the end."""
        return Or(s.waits, s.topic == "failed"), s.topic == "served"

    return suite
