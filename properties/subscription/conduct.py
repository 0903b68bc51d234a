"""How a subscription behaves step by step: what follows what, what is written and answered, and what the clients know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.model.language import And, Condition, Implies, Not, Or, Subset, all_of, any_of
from fencepost.model.pulsar.subscription.cursor import NONE, State
from fencepost.model.pulsar.subscription.ranges import Ranges
from fencepost.properties.subscription.variables import SubscriptionVariables
from fencepost.properties.vocabulary import Suite

FOLLOWS: Mapping[State, Sequence[State]] = {
    "none": ("none", "no_ledger"),
    "no_ledger": ("no_ledger", "creating", "none"),
    "creating": ("creating", "flushing", "none"),
    "flushing": ("open",),
    "open": ("open", "flushing", "none"),
}
"""After each state of a cursor those that may be next. flushing is a moment: nothing comes between it and what it writes."""


def subscription_conduct(suite: Suite, s: SubscriptionVariables, n: SubscriptionVariables) -> None:
    """Declares what holds of every step."""
    p, ranges = suite.protocol, Ranges(suite.protocol)
    settings = p.parameters
    loaded, seeking, remains, seeks_on = s.state != "none", s.target != NONE, n.state != "none", n.target != NONE

    def passed(v: SubscriptionVariables) -> Subset:
        return ranges.covers(v.mark, v.acked)

    @suite.step
    def states_follow() -> Condition:
        """A cursor has no ledger, creates one, and is open; before it is open, what waits is written."""
        return any_of(And(s.state == state, n.state.among(*after)) for state, after in FOLLOWS.items())

    @suite.step
    def only_a_loaded_one_ends() -> Condition:
        """A cursor that is closed is loaded and has nothing under way; a broker that dies has it loaded."""
        unloads = Implies(n.unloads > s.unloads, And(loaded, s.writing[0] == "nothing"))
        return And(unloads, Implies(n.crashes > s.crashes, loaded))

    @suite.step
    def writes_are_kept() -> Condition:
        """What is given to be written is under way until it is stored, in order, or the broker has the cursor no more."""

        def same(later: int, earlier: int) -> Condition:
            here = And(n.writing[later] == s.writing[earlier], n.place[later] == s.place[earlier])
            return And(here, n.ranges[later] == s.ranges[earlier])

        stored = And(n.stored_mark == s.place[0], same(0, 1), n.writing[1] == "nothing")
        rules = [Implies(s.writing[w] != "nothing", Or(same(w, w), stored)) for w in range(2)]
        return Implies(remains, And(*rules))

    if not settings["limited"]:

        @suite.step
        def what_is_acknowledged_is_new() -> Condition:
            """An acknowledgement is written or waits, not both, and only if it is of a message that was not acknowledged."""
            writes = any_of(And(n.writing[w] == "ack", s.writing[w] == "nothing") for w in range(2))
            begins = And(s.state == "open", writes)
            waits = And(n.queued != s.queued, n.queued.among("acks", "seek_and_acks"))
            grown = Not(passed(n) == passed(s))
            return And(
                Implies(begins, And(grown, s.queued == "nothing", n.queued == "nothing")),
                Implies(And(loaded, waits), grown),
            )

    @suite.always
    def meanwhile_is_of_a_seek() -> Condition:
        """Nothing is acknowledged meanwhile where no seek is under way."""
        return Or(seeking, s.meanwhile.is_empty)

    @suite.step
    def asked_follows() -> Condition:
        """What was acknowledged since the last seek grows by what is acknowledged, and begins again with a seek that ends. One
        whose broker goes may be done or not."""
        before = ranges.before(s.target) | s.meanwhile
        return And(
            Implies(And(loaded, remains, Not(seeking)), n.asked == s.asked | (passed(n) & ~passed(s))),
            Implies(And(seeking, remains, Not(seeks_on)), n.asked == before),
            Implies(And(seeking, Not(remains)), n.asked == s.asked | before),
            Implies(And(loaded, Not(seeking), Not(remains)), n.asked == s.asked),
        )

    @suite.step
    def answers_follow() -> Condition:
        """What is stored is answered, and promised if all ranges are within the limit; after a seek what is before it."""
        place, acked = s.place[0], s.ranges[0]
        done = ranges.covers(place, acked) & (s.asked | s.meanwhile)
        left = s.promised & ranges.covers(place, ranges.kept(acked))
        within = ranges.is_within("limit", acked)
        stored = And(remains, s.writing[0] == "ack", n.writing[0] == "nothing", s.writing[1] == "nothing")
        target = ranges.before(s.target)
        return And(
            Implies(stored, And(n.stored_acked == ranges.kept(acked), n.answered == s.answered | done)),
            Implies(And(stored, within), n.promised == s.promised | done),
            Implies(And(stored, Not(within)), n.promised == left),
            Implies(And(seeking, remains, Not(seeks_on)), And(n.answered == target, n.promised == target)),
        )

    @suite.step
    def what_is_written_counts_as_last() -> Condition:
        """As a position is given to be written, the last one is no earlier."""
        return all_of(
            Implies(And(s.writing[w] == "nothing", n.writing[w] != "nothing"), n.last >= n.place[w]) for w in range(2)
        )

    @suite.step
    def a_new_ledger_has_the_ranges() -> Condition:
        """A ledger of the cursor begins with the ranges in memory, and what they cover stays promised."""
        created, within = And(s.state == "creating", n.state == "flushing"), ranges.is_within("limit", s.acked)
        left = s.promised & ranges.covers(s.mark, ranges.kept(s.acked))
        return Implies(
            created,
            And(
                n.stored_acked == ranges.kept(s.acked),
                Implies(within, n.promised == s.promised),
                Implies(Not(within), n.promised == left),
            ),
        )

    if settings["seeks"]:

        @suite.step
        def a_seek_forgets_what_is_stored() -> Condition:
            """As a seek begins no position counts as stored, so that one which is before it is written. As it ends, its own
            position counts as last."""
            done = And(seeking, remains, Not(seeks_on), n.mark == s.target, n.acked.is_empty)
            return And(Implies(And(Not(seeking), seeks_on), n.persisted == NONE), Implies(done, n.last == s.target))
