"""What must hold of a subscription: what is acknowledged does not come again, and what is not is not skipped."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, Subset, any_of, maximum
from fencepost.model.pulsar.subscription.cursor import NONE
from fencepost.model.pulsar.subscription.ranges import exceeds_limit
from fencepost.model.terms.values import subset_where
from fencepost.properties.subscription.conduct import subscription_conduct
from fencepost.properties.subscription.variables import SubscriptionVariables
from fencepost.properties.vocabulary import Leads, Suite


def subscription(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.subscription.subscription`` built."""
    suite, (s, n) = Suite(p), SubscriptionVariables.of(p)
    settings = p.parameters
    size = int(settings["messages"])

    def acknowledged(v: SubscriptionVariables) -> Subset:
        return subset_where(size, lambda m: Or(v.mark > m, v.acked.has(m)))

    loaded, seeking = s.state != "none", s.target != NONE
    passed = acknowledged(s)
    ends = [name for name in ("unloads", "crashes") if settings[name]]
    forgets = bool(settings["limited"] and settings["crashes"]) or bool(ends and exceeds_limit(settings))

    def has(one: Subset, other: Subset) -> Condition:
        """The formula: the one has every message of the other."""
        return (other & ~one).is_empty

    @suite.always
    def stored_acks_are_kept() -> Condition:
        """What was acknowledged, and answered as stored, is not delivered again, unless a seek asks for it."""
        return Implies(And(loaded, Not(seeking)), has(passed, s.promised))

    @suite.always
    def nothing_is_skipped() -> Condition:
        """What nobody has acknowledged since the last seek is delivered."""
        pending = subset_where(size, lambda m: And(seeking, Or(s.target > m, s.meanwhile.has(m))))
        return Implies(loaded, has(s.asked | pending, passed))

    @suite.strict("an acknowledgement may be in memory only, and a killed broker forgets that", when=forgets)
    def answered_acks_are_kept() -> Condition:
        """What was acknowledged, and answered in any way, is not delivered again, unless a seek asks for it."""
        return Implies(And(loaded, Not(seeking)), has(passed, s.answered))

    @suite.always
    def unloaded_is_forgotten() -> Condition:
        """A broker that has not loaded the subscription knows nothing of it."""
        positions = And(s.mark == 0, s.last == 0, s.persisted == NONE, s.target == NONE)
        nothing = And(s.acked.is_empty, s.meanwhile.is_empty, s.queued == "nothing", s.writing[0] == "nothing")
        return Or(loaded, And(positions, nothing))

    @suite.always
    def writes_have_a_ledger() -> Condition:
        """What is written goes to the cursor's ledger, one after the other, and no more is left of what was written."""
        here = Or(s.writing[0] == "nothing", s.state.among("flushing", "open"))
        left = [Implies(s.writing[w] == "nothing", And(s.place[w] == 0, s.ranges[w].is_empty)) for w in range(2)]
        return And(here, Implies(s.writing[0] == "nothing", s.writing[1] == "nothing"), *left)

    @suite.always
    def ranges_are_behind_the_position() -> Condition:
        """A range begins behind the message that the position waits for, which is not acknowledged."""
        return any_of(And(s.mark == m, Not(any_of(s.acked.has(k) for k in range(min(m + 1, size))))) for m in range(size + 1))

    @suite.leads_to
    def is_loaded_again() -> Leads:
        """A subscription is loaded, in the end."""
        return Not(loaded), loaded

    in_order = not (settings["limited"] or settings["seeks"])
    if in_order and not exceeds_limit(settings):

        @suite.always
        def what_does_not_wait_is_stored() -> Condition:
            """What is acknowledged in memory waits, is being written, or is stored."""
            rests = And(loaded, s.queued == "nothing", s.writing[0] == "nothing")
            return Implies(rests, And(s.stored_mark == s.mark, s.stored_acked == s.acked))

    if in_order:

        @suite.always
        def last_was_written() -> Condition:
            """The last position is the one that was given to be written last, or that is stored."""
            return Implies(loaded, s.last == maximum(s.persisted, maximum(s.place[0], s.place[1])))

    @suite.step
    def acknowledgements_are_added() -> Condition:
        """A loaded subscription forgets an acknowledgement by a seek alone."""
        here = And(loaded, n.state != "none", Not(seeking))
        return Implies(here, has(acknowledged(n), passed))

    @suite.leads_to
    def what_waits_is_written() -> Leads:
        """The queue is emptied."""
        return s.queued != "nothing", s.queued == "nothing"

    @suite.ends
    def nothing_waits() -> Condition:
        """A run ends only where the subscription is loaded, and nothing waits."""
        return And(loaded, s.queued == "nothing", s.writing[0] == "nothing", Not(seeking))

    @suite.sometimes
    def ranges_are_stored() -> Condition:
        """There are ranges in the store, and the subscription is loaded with them."""
        return And(loaded, Not(s.stored_acked.is_empty), s.acked == s.stored_acked)

    if ends:

        @suite.sometimes
        def ranges_are_recovered() -> Condition:
            """A subscription with ranges is loaded again."""
            again = any_of(getattr(s, name) > 0 for name in ends)
            return And(s.state == "no_ledger", again, Not(s.acked.is_empty))

    if settings["seeks"]:

        @suite.leads_to
        def seeks_are_answered() -> Leads:
            """A seek is answered, or its broker has the topic no more."""
            return seeking, Not(seeking)

        @suite.sometimes
        def a_seek_goes_back() -> Condition:
            """A seek is done, and messages that were acknowledged come again."""
            return And(s.seeks > 0, loaded, Not(seeking), s.asked.is_empty, s.writing[0] == "nothing")

    subscription_conduct(suite, s, n)
    return suite
