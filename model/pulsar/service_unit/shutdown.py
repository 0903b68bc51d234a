"""How a broker shuts down: it hands over what it owns, leaves the registry and the election, and ends.

Mirrors ExtensibleLoadManagerImpl.disableBroker, which BrokerService.unloadNamespaceBundlesGracefully calls. From then on the
channel is Disabled: of the records that it reads it acts on those that are forced only, and a lookup that waits fails. What it
owns it overrides by itself as the leader does after brokers that are gone, except for this: a unit that it owns it sends to
Releasing, so that it closes the topics before the next owner opens them. It waits until it is the owner of nothing, and no
longer for the topics to close; the rest of a release is the leader's if the process ends before it. A broker that shuts down
is gone before the leader takes what it was doing for stuck.
"""

from __future__ import annotations

from typing import Literal, get_args

from fencepost.model.language import And, Condition, If, Or, Protocol, Universe, Updates
from fencepost.model.pulsar.service_unit.records import Record, State

Stage = Literal["runs", "disabled", "skips", "unregistered"]
STAGES: tuple[Stage, ...] = get_args(Stage)


class Shutdown:
    """How far a broker is with it, and which units it has yet to look at to hand them over.

    ``skips`` says that it hands nothing over, because nobody led when it was to begin.
    """

    def __init__(self, p: Protocol, broker: Universe, unit: Universe) -> None:
        self.unit = unit
        self.stage = p.choice("stage", STAGES, per=broker)
        self.hands_over = p.flag("hands_over", per=(broker, unit))
        self.may_assign = p.rule(self._may_assign)
        self.released = p.rule(self._released)
        self.repeats = p.rule(self._repeats)

    # --- formulas

    def runs(self, b: int) -> Condition:
        """The formula: the broker is not about to shut down."""
        return self.stage[b] == "runs"

    def stays(self, b: int) -> Condition:
        """The formula: the broker has not left the registry, nor the election."""
        return self.stage[b] != "unregistered"

    def _may_assign(self, b: int) -> Condition:
        """A broker that shuts down assigns no units."""
        return self.runs(b)

    def _released(self) -> tuple[State, ...]:
        """What is owned, or being released, is handed over by Releasing, so that topics are closed before others open them."""
        return ("Owned", "Releasing")

    def _repeats(self) -> bool:
        """A broker that shuts down hands over, again if need be, until it owns nothing."""
        return True

    # --- updates

    def idle(self, b: int) -> Updates:
        """A process that has ended, or begins, shuts down nothing."""
        return {self.stage[b]: "runs", **{self.hands_over[b, u]: False for u in self.unit}}

    def heard(
        self, b: int, event: Record, updates: Updates, answers: Condition, pending: Condition
    ) -> tuple[Updates, Condition]:
        """What a broker that shuts down makes of an event: it acts only on one that is forced, and its lookups fail."""
        acts = Or(self.runs(b), event.force)
        effects = {variable: If(acts, value, variable) for variable, value in updates.items()}
        return {**effects, pending: And(updates[pending], acts)}, And(answers, acts)
