"""What must hold while bundles are unloaded, and why it does."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of, any_of, at_least
from fencepost.model.pulsar.resource_lock import Stage
from fencepost.properties.locks.conduct import lock_conduct
from fencepost.properties.locks.lemmas import lock_lemmas
from fencepost.properties.locks.properties import Locks, lock_properties
from fencepost.properties.unload.variables import UnloadVariables
from fencepost.properties.vocabulary import Suite


def unload(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.unload.unload`` built."""
    s, n = UnloadVariables.of(p)
    settings = p.parameters
    suite = Suite(p)
    locks = Locks(p, bool(settings["unloads"]))
    broker, bundle, pairs = p.universes["broker"], p.universes["bundle"], locks.pairs
    late = settings["timeouts"] > 0
    loses = settings["expiries"] > 0 or settings["crashes"] > 0 or locks.gives_up

    lock_properties(suite, locks)

    # --- what must always hold

    @suite.always
    def active_bundles_are_locked() -> Condition:
        """A bundle that is served has a lock that is not being released."""
        given_up: Sequence[Stage] = ("none", "releasing", "stranded")
        return all_of(Implies(locks.is_active(b, u), Not(s.lock[b, u].among(*given_up))) for b, u in pairs)

    @suite.always
    def inactive_bundles_are_unloaded() -> Condition:
        """A bundle that is inactive is being unloaded: it does not stay so for nothing."""
        return all_of(Implies(s.bundle_state[b, u] == "inactive", s.unloading[b, u] != "none") for b, u in pairs)

    @suite.always
    def closed_before_release() -> Condition:
        """The lock is released after the topics are closed, unless they were late."""
        return all_of(Implies(s.lock[b, u] == "releasing", Or(Not(s.topic_open[b, u]), s.overdue[b, u])) for b, u in pairs)

    @suite.strict(
        "a topic that did not close in time stays open at a broker that has let the bundle go; and for a while so does one of "
        "a bundle whose lock was lost",
        when=late or (locks.several and loses),
    )
    def owner_alone_has_topics() -> Condition:
        """A topic is open only at a broker that has the bundle."""
        return all_of(Implies(s.topic_open[b, u], s.bundle_state[b, u] != "absent") for b, u in pairs)

    if locks.several:

        @suite.strict(
            "a topic that did not close in time is still open when the next owner opens it; a zombie's, too",
            when=late or loses,
        )
        def topic_is_open_once() -> Condition:
            """No two brokers have the topic open."""
            return all_of(Not(at_least(2, [And(s.lives[b], s.topic_open[b, u]) for b in broker])) for u in bundle)

        @suite.strict(
            "a broker that was cut off may not hear that its node was deleted",
            when=locks.misses,
        )
        def topic_is_open_once_up_to_date() -> Condition:
            """No two brokers that are up to date have the topic open."""
            return all_of(
                Not(at_least(2, [And(locks.is_up_to_date(b, u), s.topic_open[b, u]) for b in broker])) for u in bundle
            )

    # --- what every step must respect

    if settings["unloads"]:

        @suite.step
        def one_unload_at_a_time() -> Condition:
            """An unload begins only of a bundle that is active: no second one while the first is under way."""
            return all_of(
                Implies(And(s.unloading[b, u] != "closing", n.unloading[b, u] == "closing"), locks.is_active(b, u))
                for b, u in pairs
            )

        @suite.step
        def clean_unload_leaves_nothing() -> Condition:
            """When a release is done and the topics were not late, the old owner serves nothing."""
            return all_of(
                Implies(
                    And(s.lock[b, u] == "releasing", n.lock[b, u] == "none", Not(s.overdue[b, u])),
                    And(Not(n.topic_open[b, u]), n.bundle_state[b, u] == "absent"),
                )
                for b, u in pairs
            )

    # --- what must be possible

    if settings["unloads"]:

        @suite.sometimes
        def unloaded_with_topics() -> Condition:
            """A bundle with an open topic is being unloaded."""
            return any_of(And(s.unloading[b, u] == "closing", s.topic_open[b, u]) for b, u in pairs)

        if locks.several:

            @suite.sometimes
            def moved() -> Condition:
                """A bundle that was unloaded is served by the last broker."""
                last = broker.size - 1
                spent = s.unloads == settings["unloads"]
                return any_of(And(spent, locks.is_active(last, u), locks.is_up_to_date(last, u)) for u in bundle)

    if late:

        @suite.sometimes
        def topic_outlives_ownership() -> Condition:
            """A topic that was late is open at a broker that has let the bundle go."""
            return any_of(And(s.overdue[b, u], s.topic_open[b, u], s.bundle_state[b, u] == "absent") for b, u in pairs)

    lock_conduct(suite, locks)
    _topics(suite, locks)
    lock_lemmas(suite, locks)

    @suite.lemma
    def unloads_fit_what_is_served() -> Condition:
        """What is unloaded is inactive, or lost; what is released has no topic open that is not late."""
        return all_of(
            And(
                Implies(s.unloading[b, u] != "none", s.bundle_state[b, u] != "active"),
                Implies(And(s.bundle_state[b, u] == "absent", s.lock[b, u] != "none"), s.unloading[b, u] == "none"),
                (s.unloading[b, u] == "releasing") == s.lock[b, u].among("releasing", "stranded"),
                Implies(s.bundle_state[b, u] == "inactive", s.unloading[b, u] != "none"),
                Implies(s.unloading[b, u] == "releasing", Or(Not(s.topic_open[b, u]), s.overdue[b, u])),
            )
            for b, u in pairs
        )

    if not locks.budget("expiries") and not locks.deletes_others:

        @suite.lemma
        def nothing_is_lost() -> Condition:
            """As no lock is lost, what is unloaded is still in the cache, and so is what has a topic that is not late."""
            return all_of(
                And(
                    Implies(s.unloading[b, u] != "none", s.bundle_state[b, u] == "inactive"),
                    Implies(And(s.topic_open[b, u], s.bundle_state[b, u] == "absent"), s.overdue[b, u]),
                    Implies(s.overdue[b, u], s.timeouts > 0),
                    Implies(s.lock[b, u] == "recreating", s.bundle_state[b, u] == "absent"),
                )
                for b, u in pairs
            )

    return suite


def _topics(suite: Suite, locks: Locks) -> None:
    """Adds the rules of conduct of topics and unloads."""
    s, n = UnloadVariables.of(suite.protocol)
    pairs = locks.pairs

    @suite.step
    def topics_follow_unloads() -> Condition:
        """A topic opens where it is served, and closes because its bundle is unloaded or lost; is late or fails then."""

        def follows(b: int, u: int) -> Condition:
            opens, closes = And(n.topic_open[b, u], Not(s.topic_open[b, u])), And(s.topic_open[b, u], Not(n.topic_open[b, u]))
            late = And(n.overdue[b, u], Not(s.overdue[b, u]))
            in_time = Implies(n.failures == s.failures, Not(n.overdue[b, u]))
            return And(
                Implies(opens, And(locks.is_active(b, u), Not(n.overdue[b, u]))),
                Implies(closes, And(Or(s.unloading[b, u] != "none", s.bundle_state[b, u] == "absent"), in_time)),
                Implies(late, And(s.topic_open[b, u], s.unloading[b, u] == "closing", n.timeouts > s.timeouts)),
            )

        def closing(b: int, u: int) -> Condition:
            return And(s.topic_open[b, u], s.unloading[b, u] == "closing")

        fails = any_of(And(closing(b, u), Not(n.topic_open[b, u])) for b, u in pairs)
        is_late = any_of(And(closing(b, u), n.overdue[b, u]) for b, u in pairs)
        return And(
            *(Implies(And(s.lives[b], n.lives[b]), follows(b, u)) for b, u in pairs),
            Implies(n.failures > s.failures, fails),
            Implies(n.timeouts > s.timeouts, is_late),
        )

    @suite.lemma
    def dead_processes_have_no_topics() -> Condition:
        """A process that has ended has no topic open, and unloads nothing."""

        def is_idle(b: int, u: int) -> Condition:
            return And(Not(s.topic_open[b, u]), Not(s.overdue[b, u]), s.unloading[b, u] == "none")

        return all_of(Implies(Not(s.lives[b]), is_idle(b, u)) for b, u in pairs)
