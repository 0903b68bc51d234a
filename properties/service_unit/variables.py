"""The variables of ``service_unit`` with their sorts, and words about them that its properties and lemmas share."""

from __future__ import annotations

from fencepost.model.language import And, Choice, Condition, Family, Implies, Not, Number, Or, Protocol, Truth, all_of
from fencepost.model.nobody import Nobody
from fencepost.model.pulsar.service_unit.channel import Topics, ToPublish
from fencepost.model.pulsar.service_unit.leader import Metadata
from fencepost.model.pulsar.service_unit.records import Record, State
from fencepost.model.pulsar.service_unit.shutdown import Stage
from fencepost.model.pulsar.service_unit.splits import CHILD
from fencepost.model.pulsar.service_unit.splits import Stage as SplitStage
from fencepost.properties.locks.variables import SessionVariables


class ServiceUnitVariables(SessionVariables):
    """The variables of an instance of ``service_unit``; each has those that its parameters and bugs need."""

    view_state: Family[Choice[State]]
    view_dst: Family[Choice[int | Nobody]]
    view_src: Family[Choice[int | Nobody]]
    view_version: Family[Number]
    record_state: Family[Choice[State]]
    record_dst: Family[Choice[int | Nobody]]
    record_src: Family[Choice[int | Nobody]]
    record_version: Family[Number]
    behind: Family[Number]
    message_state: Family[Choice[State]]
    message_dst: Family[Choice[int | Nobody]]
    message_src: Family[Choice[int | Nobody]]
    message_version: Family[Number]
    message_force: Family[Condition]
    compactions: Number
    late_messages: Number
    registry_holder: Family[Choice[int | Nobody]]
    registry_former: Family[Condition]
    registry_version: Family[Number]
    pending: Family[Condition]
    topics: Family[Choice[Topics]]
    closing: Family[Condition]
    to_publish: Family[Choice[ToPublish]]
    to_publish_dst: Family[Choice[int | Nobody]]
    to_publish_version: Family[Number]
    existing: Family[Condition]
    leader_holder: Choice[int | Nobody]
    leader_former: Condition
    leader_version: Number
    leads: Family[Condition]
    metadata: Family[Choice[Metadata]]
    cleans: Family[Condition]
    unloads: Number
    splits: Number
    conflicts: Number
    timeouts: Number
    burials: Number
    shutdowns: Number
    message_counts: Family[Condition]
    message_gone: Family[Condition]
    message_of: Family[Choice[int]]
    layout_split: Condition
    layout_copy: Family[Condition]
    split_stage: Family[Choice[SplitStage]]
    split_version: Family[Number]
    split_tries: Family[Number]
    record_force: Family[Condition]
    unheard: Family[Condition]
    found_dead: Family[Number]
    stage: Family[Choice[Stage]]
    hands_over: Family[Condition]
    dropped: Family[Condition]


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
