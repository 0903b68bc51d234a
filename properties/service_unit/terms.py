"""The words in which the properties of service units are said."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, Truth, all_of
from fencepost.model.pulsar.service_unit.records import Record
from fencepost.model.pulsar.service_unit.splits import CHILD
from fencepost.properties.service_unit.variables import ServiceUnitVariables


class Units:
    """The units of one instance: their records and views, now or, with ``after``, after a step."""

    def __init__(self, p: Protocol, *, after: bool = False) -> None:
        self.s = ServiceUnitVariables.later(p) if after else ServiceUnitVariables.now(p)
        self.settings = p.parameters
        self.broker, self.unit = p.universes["broker"], p.universes["unit"]
        self.pairs = [(b, u) for b in self.broker for u in self.unit]
        self.over_topic = self.settings["store"] == "topic"
        self.brokers_go = self.settings["crashes"] + self.settings["expiries"] + self.settings["shutdowns"] > 0
        fails = self.settings["conflicts"] >= self.settings["attempts"]
        self.overrides = bool(self.brokers_go or self.settings["slow"] or fails)
        transfers = self.settings["unloads"] if self.settings["multi_phase"] else 0
        self.comes_back = transfers > 1 or bool(transfers and self.overrides)

    def closed_with(self, u: int) -> tuple[int, ...]:
        """The units whose topics are closed with those of a unit: of one that is split, and its child, both."""
        return (0, 1) if self.settings["splits"] else (u,)

    def record(self, u: int) -> Record:
        """The record of a unit: what the whole log comes to, or what the node says."""
        s = self.s
        return Record(s.record_state[u], s.record_dst[u], s.record_src[u], s.record_version[u])

    def is_forced(self, u: int) -> Condition:
        """The formula: the record was forced; over the topic, where it was written in this step."""
        return self.s.message_force[0] if self.over_topic else self.s.record_force[u]

    def message(self, k: int) -> Record:
        """The message at a place of the log."""
        s = self.s
        brokers = s.message_dst[k], s.message_src[k]
        return Record(s.message_state[k], *brokers, s.message_version[k], s.message_force[k])

    def is_new(self, before: Units, u: int) -> Condition:
        """The formula: the record is not that of before."""
        return Not(self.record(u).equals(before.record(u)))

    def is_overridden(self, before: Units, u: int) -> Condition:
        """The formula: the record is not that of before, and forced."""
        return And(self.is_new(before, u), Not(self.record(u).absent), self.is_forced(u))

    def view(self, b: int, u: int) -> Record:
        """What a broker takes the record for."""
        s = self.s
        return Record(s.view_state[b, u], s.view_dst[b, u], s.view_src[b, u], s.view_version[b, u])

    def reaches(self, b: int) -> Condition:
        """The formula: the broker lives, and so does its session."""
        return And(self.s.lives[b], self.s.link[b] == "connected", self.s.session[b])

    def is_current(self, b: int, u: int) -> Condition:
        """The formula: the broker lives and has been told of everything."""
        s = self.s
        if self.over_topic:
            return And(s.lives[b], s.behind[b] == 0)
        return And(self.reaches(b), Not(s.unheard[b, u]))

    def owns(self, b: int, u: int) -> Condition:
        """The formula: the broker takes itself for the owner."""
        view = self.view(b, u)
        splits = And(view.state == "Splitting", view.src == b)
        return And(self.s.lives[b], Or(And(view.state == "Owned", view.dst == b), splits))

    def is_in_layout(self, u: int) -> Truth:
        """The formula: the unit is in the namespace's layout."""
        if not self.settings["splits"]:
            return True
        return self.s.layout_split if u == CHILD else Not(self.s.layout_split)

    def is_registered(self, b: int) -> Condition:
        """The formula: the broker is in the registry."""
        return self.s.registry_holder[b] == b

    def runs(self, b: int) -> Truth:
        """The formula: the broker is not about to shut down."""
        return self.s.stage[b] == "runs" if self.settings["shutdowns"] else True

    def stays(self, b: int) -> Truth:
        """The formula: the broker has not left the registry and the election to shut down."""
        return self.s.stage[b] != "unregistered" if self.settings["shutdowns"] else True

    def is_quiet(self, u: int) -> Condition:
        """The formula: every broker that lives has been told of everything."""
        return all_of(Implies(self.s.lives[b], self.is_current(b, u)) for b in self.broker)
