"""Why epochs order the terms of Kafka's controllers: an inductive invariant for ``epochs_are_of_one``."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, Implies, Not, Or, all_of
from fencepost.properties.kafka_controller.terms import Terms
from fencepost.properties.vocabulary import Suite


def epoch_lemmas(suite: Suite, t: Terms) -> None:
    """Adds the lemmas. They hold without the mistakes of releases, with any budgets."""
    s, broker, multi = t.p.state, t.broker, t.p.parameters["multi"]

    def has_term(b: int) -> Any:
        """The broker acts, or with its node it has raised the epoch already."""
        return Or(s.active[b], s.stage[b] == "epoch_read") if multi else s.active[b]

    @suite.lemma
    def epochs_were_counted() -> Any:
        """No broker has an epoch above that of the store."""
        return all_of(s.epoch[b] <= s.controller_epoch for b in broker)

    @suite.lemma
    def who_acts_is_not_elected() -> Any:
        """A broker that acts is in no election: it has stopped before it takes part in one."""
        return all_of(Implies(s.active[b], s.stage[b] == "idle") for b in broker)

    @suite.lemma
    def who_acts_takes_itself_for_the_controller() -> Any:
        """A broker that fails over or acts takes itself for the controller, and so stops when it hears that it is not."""
        fails_over = ("epoch_read",) if multi else ("created", "epoch_read")
        return all_of(Implies(Or(s.active[b], s.stage[b].among(*fails_over)), s.leader[b] == b) for b in broker)

    @suite.lemma
    def terms_have_their_own_epochs() -> Any:
        """No two brokers have a term of one epoch."""
        return t.of_pairs(lambda a, b: Not(And(has_term(a), has_term(b), s.epoch[a] == s.epoch[b])))
