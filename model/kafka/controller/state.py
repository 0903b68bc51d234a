"""What there is of a controller: the node and its epoch in the store, and what each broker believes, runs and has been told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from fencepost.model.kafka.controller.client import ZKCLIENT, BrokerIds
from fencepost.model.kafka.controller.endpoints import Endpoints
from fencepost.model.language import (
    ABSENT,
    And,
    Choice,
    Condition,
    Family,
    If,
    Not,
    Number,
    Or,
    Protocol,
    Truth,
    Updates,
    minimum,
)
from fencepost.model.nobody import NOBODY
from fencepost.model.zookeeper.sessions_and_nodes import EphemeralNode, Sessions, merged, updates_if

Registration = Literal["first", "again", "given_up"]
REGISTRATIONS: tuple[Registration, ...] = get_args(Registration)
Stage = Literal["electing", "unheard", "refused", "created", "epoch_read", "idle", "blocked"]
STAGES: tuple[Stage, ...] = get_args(Stage)


class State:
    """The variables of an instance, and the updates that several steps have in common.

    ``leader`` is whom a broker takes for the controller (leaderId); ``active`` whether it runs what a controller runs
    (controllerChannelManager), which is another matter. ``epoch`` is that of its term, or what it read before its term. Its
    ``stage`` is what its thread does: to begin an election; to create the node again, as it has not heard of the creation, or
    to resign as the session is over in which it would; to fail over, in two steps after the creation of the node; or nothing,
    and only then does it handle what it hears. ``live`` are the ids of brokers that a controller knows. ``queued``
    says that its queue for a broker has an UpdateMetadata, with its epoch and live brokers: of several the last, which says
    all. ``seen`` is the newest epoch of which the process of a broker has taken a request, ``obeyed`` that of any process with
    its id, and ``metadata`` the ids that the request named.
    """

    def __init__(
        self,
        p: Protocol,
        *,
        thread: str,
        multi: bool,
        broker_epochs: bool,
        expiries: int,
        restarts: int,
        disconnects: int,
        resignations: int,
        writes: bool,
        updates: int,
    ) -> None:
        broker = p.universes["broker"]
        self.protocol, self.broker = p, broker
        self._others = list(broker)  # one list for all updates: of any size, those of two branches are then of the same members
        self.thread, self.multi, self.broker_epochs, self.expiries = thread, multi, broker_epochs, expiries
        self.last = 1 + expiries + restarts + disconnects + resignations
        self.store = Sessions(
            p, broker, disconnects=disconnects, expiries=expiries, crashes=0, ends=restarts > 0, kind=ZKCLIENT
        )
        self.node = EphemeralNode.declare(self.store, "controller", heard="change")
        self.store_epoch = p.number("controller_epoch", 0, self.last)
        self.leader = p.choice("leader", broker, per=broker, none=NOBODY)
        self.active = p.flag("active", per=broker)
        has: dict[Stage, bool] = {
            "unheard": disconnects > 0,
            "refused": disconnects > 0 and self.hears_late,
            "created": not multi,
            "blocked": p.has("resigns_inside_lock"),
        }
        self.stage = p.choice("stage", [stage for stage in STAGES if has.get(stage, True)], per=broker)
        self.epoch = p.number("epoch", 0, self.last, per=broker)
        self.new_sessions: Family[Number] = p.number("new_sessions", 0, expiries, per=broker) if self.hears_late else ABSENT
        self.ids = BrokerIds(self.store, lambda c: self.active[c])
        self.live = p.flag("live", per=(broker, broker))
        self.endpoints: Endpoints | None = Endpoints(p, broker) if updates else None
        self.queued = p.flag("queued", per=(broker, broker))
        self.seen = p.number("seen", 0, self.last, per=broker)
        self.obeyed: Family[Number] = p.number("obeyed", 0, self.last, per=broker) if restarts else ABSENT
        self.metadata = p.flag("metadata", per=(broker, broker))
        self.written: Number = p.number("written", 0, self.last) if writes else ABSENT
        self.rebalances: Family[Condition] = p.flag("rebalances", per=broker) if p.has("resigns_inside_lock") else ABSENT
        self.has_own_epoch: Family[Condition] = p.flag("has_own_epoch", per=broker) if p.has("newer_refused") else ABSENT
        self.shut_out: Family[Condition] = p.flag("shut_out", per=broker) if self.can_be_shut_out else ABSENT
        registers = p.has("registration_given_up")
        self.registration: Family[Choice[Registration]] = (
            p.choice("registration", REGISTRATIONS, per=broker) if registers else ABSENT
        )
        p.budget("restarts", restarts)
        p.budget("resignations", resignations)
        p.budget("updates", updates)

    @property
    def hears_late(self) -> bool:
        """Whether a new session begins before the thread has handled the end of the one before."""
        return self.expiries > 0 and self.thread != "awaited"

    @property
    def can_be_shut_out(self) -> bool:
        """Whether a client can come to open no session any more."""
        return self.protocol.has("waits_inside_lock") or self.protocol.has("session_given_up")

    def may_reopen(self, b: int) -> Truth:
        """The formula: the client can open a session."""
        return True if self.shut_out is None else Not(self.shut_out[b])

    def awaits_end(self, b: int) -> Updates:
        """KafkaController.Expire: before a new session begins, the thread has handled the end of the one before."""
        handled = {**self.elects_again(b), self.node.deleted[b]: False}
        if not self.protocol.has("waits_inside_lock"):
            return handled
        return updates_if(self.stage[b] == "idle", handled, {self.shut_out[b]: True})

    def begins_session(self, b: int) -> Updates:
        """What a new session means to the broker: where it hears of it late, all watches fire then.

        A creation that the broker repeats is one of the former session, and is refused (SESSIONEXPIRED).
        """
        again = {} if self.registration is None else {self.registration[b]: "again"}
        if not self.hears_late:
            return again
        repeats = self.store.disconnects
        refused = {self.stage[b]: If(self.stage[b] == "unheard", "refused", self.stage[b])} if repeats else {}
        return {**again, **refused, **self.hears_again(b)}

    def stands_down(self, b: int) -> Updates:
        """onControllerResignation: the listeners, the channels with their queues, and the context of the term are gone."""
        of_brokers = {flag[b, x]: False for x in self._others for flag in (self.live, self.queued, self.ids.knows)}
        listeners = {} if self.endpoints is None else self.endpoints.forgotten(b)
        return {self.active[b]: False, self.epoch[b]: 0, self.ids.changed[b]: False, **of_brokers, **listeners}

    def elects_again(self, b: int) -> Updates:
        """The components of a controller are stopped, and an election begins."""
        return {**self.stands_down(b), self.stage[b]: "electing", self.leader[b]: NOBODY}

    def at_start(self, b: int) -> Updates:
        """How the process of a broker begins, and what is left of one that has ended."""
        more = [flag for flag in (self.rebalances, self.has_own_epoch) if flag is not None]
        return merged(
            self.elects_again(b),
            {self.node.deleted[b]: False, self.seen[b]: 0, **{self.metadata[b, x]: False for x in self.broker}},
            {flag[b]: False for flag in more},
            {} if self.new_sessions is None else {self.new_sessions[b]: 0},
            {} if self.shut_out is None else {self.shut_out[b]: False},
            {} if self.registration is None else {self.registration[b]: "first"},
        )

    def hears_again(self, b: int) -> Updates:
        """ZkClient.fireAllEvents: after an expiry every watch fires."""
        count = minimum(self.new_sessions[b] + 1, self.expiries)
        return {self.new_sessions[b]: count, self.node.deleted[b]: True, self.ids.changed[b]: self.active[b]}

    def takes_office(self, b: int) -> Updates:
        """The rest of onControllerFailover: listeners, the brokers that live, and an UpdateMetadata to each."""
        there = self.ids.there
        of_brokers = {flag[b, x]: there[x] for x in self._others for flag in (self.live, self.queued, self.ids.knows)}
        read = self.reads_listeners(b, {x: there[x] for x in self._others})
        return {self.active[b]: True, self.stage[b]: "idle", self.ids.changed[b]: False, **of_brokers, **read}

    def reads_listeners(self, c: int, new: Mapping[int, Truth]) -> Updates:
        """The controller looks which brokers there are, and reads the listeners of those that are new to it."""
        if self.endpoints is None:
            return {}
        return merged(*(self.endpoints.read(c, x, self.ids.there[x], new[x]) for x in self._others))

    def deleted(self, b: int) -> Updates:
        """The node is deleted if it is the broker's own, of its present session; or whoever has it."""
        p, node = self.protocol, self.node
        updates: Updates = node.vanished(Or(node.is_own(b), p.has("deletes_any")))
        return updates

    def is_free(self, b: int) -> Condition:
        """The formula: the thread that handles what the broker hears has nothing else to do, and reaches the store."""
        return And(self.store.reaches(b), self.stage[b] == "idle")
