"""Why epochs order the terms of Kafka's controllers: an inductive invariant for ``epochs_are_of_one``."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Truth, all_of
from fencepost.properties.kafka_controller.variables import KafkaControllerVariables, Terms
from fencepost.properties.vocabulary import Suite


def epoch_lemmas(suite: Suite, t: Terms) -> None:
    """Adds the lemmas. They hold without the bugs of releases, with any budgets."""
    s, broker, multi = KafkaControllerVariables.now(t.p), t.broker, t.p.parameters["multi"]
    fails_over = ("epoch_read",) if multi else ("created", "epoch_read")

    def has_term(b: int) -> Condition:
        """The broker acts, or with its node it has raised the epoch already."""
        return Or(s.active[b], s.stage[b] == "epoch_read") if multi else s.active[b]

    def begins_term(b: int) -> Condition:
        """The broker acts, or it has created its node and fails over."""
        return Or(s.active[b], s.stage[b].among(*fails_over))

    @suite.lemma
    def epochs_were_counted() -> Condition:
        """No broker has an epoch above that of the store."""
        return all_of(s.epoch[b] <= s.controller_epoch for b in broker)

    @suite.lemma
    def who_acts_is_not_elected() -> Condition:
        """A broker that acts is in no election: it has stopped before it takes part in one."""
        return all_of(Implies(s.active[b], s.stage[b] == "idle") for b in broker)

    @suite.lemma
    def who_acts_takes_itself_for_the_controller() -> Condition:
        """A broker that fails over or acts takes itself for the controller, and so stops when it hears that it is not."""
        return all_of(Implies(begins_term(b), s.leader[b] == b) for b in broker)

    @suite.lemma
    def whoever_acts_has_the_node_or_something_to_hear() -> Condition:
        """A broker with a term has the node, unless its session is gone, or something of it is left to hear."""

        def heard(b: int) -> Condition:
            return And(s.session[b], Not(s.controller_change[b]), s.new_sessions[b] == 0) if t.hears_late else s.session[b]

        return all_of(Implies(And(begins_term(b), heard(b)), t.holds(b)) for b in broker)

    if not t.hears_late:

        @suite.lemma
        def holders_have_the_newest_epoch() -> Condition:
            """A broker that has the node and a term has the newest epoch."""
            return all_of(Implies(And(has_term(b), t.holds(b)), s.epoch[b] == s.controller_epoch) for b in broker)

    @suite.lemma
    def own_nodes_of_terms_are_present() -> Condition:
        """A broker with a term that the node names has it from its present session."""
        return all_of(Implies(And(begins_term(b), s.controller_holder == b), Not(s.controller_former)) for b in broker)

    @suite.lemma
    def terms_are_of_the_living() -> Condition:
        """A broker with a term runs, and has not heard that its session is over where it waits for that."""
        awaited = t.p.parameters["thread"] == "awaited"
        return all_of(Implies(begins_term(b), And(s.lives[b], s.link[b] != "lost" if awaited else True)) for b in broker)

    @suite.lemma
    def nothing_is_left_of_processes() -> Condition:
        """A process that has ended is cut off, and has left nothing."""
        return all_of(Implies(Not(s.lives[b]), And(s.link[b] == "lost", t.is_blank(b))) for b in broker)

    @suite.lemma
    def registrations_are_of_sessions() -> Condition:
        """The node of a broker is there with the session in which it was created."""

        def of_former(b: int) -> Truth:
            return s.registered_former[b] if t.leaves_nodes else False

        return all_of(
            And(
                Implies(And(s.registered[b], Not(of_former(b))), s.session[b]),
                Implies(of_former(b), And(s.registered[b], s.former_session[b])),
            )
            for b in broker
        )

    @suite.lemma
    def nodes_that_are_known_are_there() -> Condition:
        """A controller knows no node that is gone, and only of brokers that it takes for alive; it sends to no others."""
        return all_of(
            And(Implies(s.knows[c, b], And(s.registered[b], s.live[c, b])), Implies(s.queued[c, b], s.live[c, b]))
            for c in broker
            for b in broker
        )

    @suite.lemma
    def only_controllers_know() -> Condition:
        """Whoever does not act knows of no broker, has nothing to hear of them, and except in a fail-over no epoch."""

        def is_blank(c: int) -> Condition:
            return And(Not(s.brokers_change[c]), Or(s.stage[c].among(*fails_over), s.epoch[c] == 0))

        return all_of(Implies(Not(s.active[c]), And(is_blank(c), Not(s.live[c, b]))) for c in broker for b in broker)

    @suite.lemma
    def nodes_of_electors_are_gone() -> Condition:
        """The node goes with the session of its broker, and is gone before that elects or gives a creation up."""

        def elects(b: int) -> Condition:
            return Or(And(s.lives[b], s.stage[b] == "electing"), t.is_refused(b))

        return all_of(And(Implies(t.holds(b), s.session[b]), Implies(elects(b), Not(t.holds(b)))) for b in broker)

    if multi and t.repeats:

        @suite.lemma
        def unheard_terms_are_the_newest() -> Condition:
            """A creation that its broker has not heard of has raised the epoch above that of every term."""

            def is_above(b: int) -> Condition:
                older = (Implies(has_term(a), s.epoch[a] < s.controller_epoch) for a in broker.but(b))
                return Implies(And(t.is_to_repeat(b), t.holds(b)), all_of(older))

            return all_of(is_above(b) for b in broker)

    @suite.lemma
    def terms_have_their_own_epochs() -> Condition:
        """No two brokers have a term of one epoch."""
        return t.of_pairs(lambda a, b: Not(And(has_term(a), has_term(b), s.epoch[a] == s.epoch[b])))
