"""The cursor of a subscription: its variables, and what happens to them in several steps."""

from __future__ import annotations

from typing import Literal

from fencepost.model.language import And, Condition, If, Number, Or, Protocol, Subset, Updates, maximum, select
from fencepost.model.pulsar.subscription.ranges import Ranges
from fencepost.model.terms.values import subset_where

State = Literal["none", "no_ledger", "creating", "flushing", "open"]
Queued = Literal["nothing", "acks", "seek", "seek_and_acks"]
Written = Literal["nothing", "ack", "seek", "both"]
STATES: tuple[State, ...] = ("none", "no_ledger", "creating", "flushing", "open")
QUEUED: tuple[Queued, ...] = ("nothing", "acks", "seek", "seek_and_acks")
WRITTEN: tuple[Written, ...] = ("nothing", "ack", "seek", "both")
NONE = -1
"""No position."""

_LATE = ("acked_during_reset", "reset_not_stored", "skipped_after_reset", "reset_stores_read_position")
"""The bugs with which an acknowledgement may find a later position, after a seek."""


class Cursor(Ranges):
    """The variables of an instance, and what its steps have in common."""

    def __init__(self, p: Protocol) -> None:
        super().__init__(p)
        self.message = message = p.universe("message", self.messages, "m")
        slot = p.universe("slot", 2, "w")
        self.stored_mark = p.number("stored_mark", 0, self.messages)
        self.stored_acked = p.subset("stored_acked", message)
        for event in ("seeks", "unloads", "crashes"):
            p.budget(event, int(p.parameters[event]))
        self.state = p.choice("state", STATES)
        self.mark = p.number("mark", 0, self.messages)
        self.acked = p.subset("acked", message)
        self.last = p.number("last", 0, self.messages)
        self.persisted = p.number("persisted", NONE, self.messages, init=NONE)
        self.queued = p.choice("queued", QUEUED)
        self.writing = p.choice("writing", WRITTEN, per=slot)
        self.place = p.number("place", 0, self.messages, per=slot)
        self.ranges = p.subset("ranges", message, per=slot)
        late = any(map(p.has, _LATE))
        self.in_progress = p.number("in_progress", NONE, self.messages, init=NONE) if late else None
        self.waits_at = p.number("waits_at", 0, self.messages) if p.has("queued_position_kept") else None
        self.target = p.number("target", NONE, self.messages, init=NONE)
        self.asked = p.subset("asked", message)
        self.meanwhile = p.subset("meanwhile", message)
        self.answered = p.subset("answered", message)
        self.promised = p.subset("promised", message)

    def position_to_write(self) -> Number:
        """The position that a new ledger of the cursor begins with, and a cursor that is closed ends with."""
        return self.last if self.protocol.has("position_behind_ranges") else self.mark

    def position_of_queue(self) -> Number:
        """The position with which the last acknowledgement that waits is written."""
        return self.mark if self.waits_at is None else self.waits_at

    def joins_queue(self, mark: Number | int) -> Updates:
        """An acknowledgement joins the queue with this position; 0 is that of an empty queue."""
        return {} if self.waits_at is None else {self.waits_at: mark}

    @property
    def is_loaded(self) -> Condition:
        return self.state != "none"

    @property
    def is_in_use(self) -> Condition:
        """The formula: the cursor takes requests."""
        return And(self.is_loaded, self.state != "flushing")

    @property
    def is_seeking(self) -> Condition:
        return self.target != NONE

    @property
    def has_room(self) -> Condition:
        """The formula: fewer than two writes are under way."""
        return self.writing[1] == "nothing"

    def begin(self, kind: Written, place: Number | int, ranges: Subset) -> Updates:
        """ManagedCursorImpl.internalMarkDelete: a write is sent, behind one that may be under way."""
        first = self.writing[0] == "nothing"
        return {
            self.writing[0]: If(first, kind, self.writing[0]),
            self.place[0]: If(first, place, self.place[0]),
            self.ranges[0]: If(first, ranges, self.ranges[0]),
            self.writing[1]: If(first, "nothing", kind),
            self.place[1]: If(first, 0, place),
            self.ranges[1]: If(first, (), ranges),
            **self.progresses(place),
        }

    def progresses(self, place: Number | int) -> Updates:
        """The position that is being written is this one."""
        return {} if self.in_progress is None else {self.in_progress: place}

    def is_late(self, place: Number | int) -> Condition:
        """The formula: a later position is stored, or being written."""
        stored = self.persisted > place
        return stored if self.in_progress is None else Or(stored, self.in_progress > place)

    def answers(self, mark: Number, acked: Subset, also: Subset) -> Updates:
        """An acknowledgement is answered as stored: what it covers is promised, if the ranges are within the limit."""
        done = self.covers(mark, acked) & also
        return {self.answered: self.answered | done, self.promised: self.promised_with(mark, acked, self.kept(acked), done)}

    def promised_with(self, mark: Number, acked: Subset, written: Subset, more: Subset) -> Subset:
        """What is promised once that is written: more of it, or, where there are more ranges than the limit, what is left."""
        left = self.promised & self.covers(mark, written)
        return If(self.is_within("limit", acked), self.promised | more, left)

    def seek_answered(self) -> Updates:
        """A seek is answered as done: what is before its target counts as acknowledged, and the rest is to come again."""
        passed = self.before(self.target)
        return {
            self.target: NONE,
            self.asked: passed | self.meanwhile,
            self.meanwhile: (),
            self.answered: passed,
            self.promised: passed,
        }

    def seek_done(self) -> Updates:
        """The memory is changed as the seek says (alignAcknowledgeStatus, resetComplete), and what waits is forgotten."""
        known = {self.mark: self.target, self.acked: (), self.last: self.target}
        return {**known, self.queued: "nothing", **self.joins_queue(0)}

    def seek_begun(self, to: int) -> Updates:
        """ManagedCursorImpl.internalResetCursor: it forgets what is stored, and what is being written."""
        return {self.target: to, self.persisted: NONE, self.last: self.last_of_seek(to), **self.progresses(NONE)}

    def last_of_seek(self, to: int) -> Number | int:
        """lastMarkDeleteEntry as a seek begins."""
        return self.place_of_seek(to) if self.protocol.parameters["sets_last"] else self.last

    def place_of_seek(self, to: Number | int) -> Number | int:
        """The position with which a seek is written."""
        if not self.protocol.has("reset_stores_read_position"):
            return to
        # earliest is the place before the first message in any case
        places = [n + 1 if 0 < n < self.messages else n for n in range(self.messages + 1)]
        return places[to] if isinstance(to, int) else select(to, places)

    def seek_written(self, to: Number | int, last: Number | int) -> Updates:
        """A seek is given to be written, when the last position that was is this one."""
        p, place = self.protocol, self.place_of_seek(to)
        nothing = subset_where(self.messages, lambda _: False)
        begun = self.begin("seek", place, self.acked if p.has("reset_stores_ranges") else nothing)
        return {**begun, self.last: maximum(last, place)}
