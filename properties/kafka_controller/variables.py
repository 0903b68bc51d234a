"""The variables of ``kafka_controller`` with their sorts, and words about them that its properties and lemmas share."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.kafka.controller.state import Registration, Stage
from fencepost.model.language import And, Choice, Condition, Family, Implies, Not, Number, Or, Protocol, Truth, all_of
from fencepost.model.nobody import NOBODY, Nobody
from fencepost.properties.locks.variables import SessionVariables


class KafkaControllerVariables(SessionVariables):
    """The variables of an instance of ``kafka_controller``; each has those that its parameters and bugs need."""

    controller_holder: Choice[int | Nobody]
    controller_former: Condition
    controller_version: Number
    controller_change: Family[Condition]
    controller_epoch: Number
    leader: Family[Choice[int | Nobody]]
    active: Family[Condition]
    stage: Family[Choice[Stage]]
    epoch: Family[Number]
    new_sessions: Family[Number]
    registered: Family[Condition]
    brokers_change: Family[Condition]
    knows: Family[Condition]
    live: Family[Condition]
    queued: Family[Condition]
    seen: Family[Number]
    obeyed: Family[Number]
    metadata: Family[Condition]
    restarts: Number
    resignations: Number
    updates: Number
    written: Number
    told: Family[Condition]
    watched: Family[Condition]
    endpoints_change: Family[Condition]
    registered_former: Family[Condition]
    has_own_epoch: Family[Condition]
    rebalances: Family[Condition]
    shut_out: Family[Condition]
    registration: Family[Choice[Registration]]


class Terms:
    """Formulas over the states of an instance, with what there is in it."""

    def __init__(self, p: Protocol) -> None:
        self.p, self.broker = p, p.universes["broker"]
        self.leaves_nodes = p.parameters["restarts"] > 0 and p.parameters["disconnects"] > 0
        self.hears_late = p.parameters["expiries"] > 0 and p.parameters["thread"] != "awaited"
        self.repeats = p.parameters["disconnects"] > 0
        self.refuses = self.repeats and self.hears_late

    def reaches(self, b: int) -> Condition:
        """A request of the broker is carried out and answered."""
        s = KafkaControllerVariables.now(self.p)
        return And(s.lives[b], s.link[b] == "connected", s.session[b])

    def holds(self, b: int) -> Condition:
        """The node is there, from the broker's present session."""
        s = KafkaControllerVariables.now(self.p)
        return And(s.controller_holder == b, Not(s.controller_former))

    def is_to_repeat(self, b: int) -> Truth:
        """The broker has not heard of its creation of the node, and will send it again."""
        return KafkaControllerVariables.now(self.p).stage[b] == "unheard" if self.repeats else False

    def is_refused(self, b: int) -> Truth:
        """The session of that creation is over."""
        return KafkaControllerVariables.now(self.p).stage[b] == "refused" if self.refuses else False

    def will_repeat(self, b: int) -> Truth:
        """The formula over a step: after it the broker is to repeat its creation, or has lost the session of that."""
        later = KafkaControllerVariables.later(self.p).stage[b]
        return Or(later == "unheard", later == "refused" if self.refuses else False) if self.repeats else False

    def is_up_to_date(self, b: int) -> Condition:
        """The broker has a session, and has handled all that concerns the node."""
        s = KafkaControllerVariables.now(self.p)
        handled = s.new_sessions[b] == 0 if self.hears_late else True
        return And(self.reaches(b), handled, s.stage[b] == "idle", Not(s.controller_change[b]))

    def is_in_office(self, b: int) -> Condition:
        """The broker has the node, and acts as the controller."""
        s = KafkaControllerVariables.now(self.p)
        return And(self.holds(b), s.active[b], s.lives[b], s.session[b])

    def is_blank(self, b: int) -> Condition:
        """The broker knows of nothing, and elects: so it begins, and so it is left by a process that has ended."""
        s = KafkaControllerVariables.now(self.p)
        late = s.new_sessions[b] == 0 if self.hears_late else True
        calm = And(s.stage[b] == "electing", s.leader[b] == NOBODY, Not(s.controller_change[b]), late)
        return And(calm, Not(s.active[b]), s.seen[b] == 0, *(Not(s.metadata[b, x]) for x in self.broker))

    def all_know(self) -> Condition:
        """Every broker lives, is registered, and knows that all others are."""
        s, broker = KafkaControllerVariables.now(self.p), self.broker
        knows = (s.metadata[b, x] for b in broker for x in broker)
        return And(*(And(s.lives[b], s.registered[b]) for b in broker), *knows)

    def of_pairs(self, say: Callable[[int, int], Truth]) -> Condition:
        """It holds of any two brokers."""
        return all_of(say(a, b) for a in self.broker for b in self.broker.but(a))

    def stays(self, b: int) -> Condition:
        """The formula over a step: the process of the broker lives before and after it."""
        return And(KafkaControllerVariables.now(self.p).lives[b], KafkaControllerVariables.later(self.p).lives[b])

    def keeps(self, b: int) -> Condition:
        """The formula over a step: the broker lives on, and does not hear, as one that awaits it does, that its session is
        over."""
        s, n = KafkaControllerVariables.of(self.p)
        awaited = self.p.parameters["thread"] == "awaited"
        return And(self.stays(b), Implies(n.link[b] == "lost", s.link[b] == "lost") if awaited else True)
