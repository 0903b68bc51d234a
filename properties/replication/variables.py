"""The variables of ``replication`` with their sorts, and words about them that its properties share."""

from __future__ import annotations

from typing import Literal

from fencepost.model.bookkeeper.replication.state import Cut, Phase, Switch
from fencepost.model.language import (
    And,
    Choice,
    Condition,
    Family,
    Implies,
    Not,
    Number,
    Or,
    Protocol,
    Subset,
    Variables,
    all_of,
    any_of,
    at_least,
)
from fencepost.model.stand_ins.ledger import State


class ReplicationVariables(Variables):
    """The variables of an instance of ``replication``; each has those that its parameters and bugs need."""

    crashes: Number
    losses: Number
    expiries: Number
    gaps: Number
    rots: Number
    decommissions: Number
    failed_audits: Number
    elections: Number
    cuts: Number
    cut: Family[Choice[Cut]]
    status: Choice[State]
    confirmed: Subset
    member: Family[Choice[int]]
    handle: Family[Choice[int]]
    up: Family[Condition]
    gone: Family[Condition]
    stored: Family[Subset]
    task: Condition
    task_version: Number
    missing: Subset
    audited: Family[Condition]
    starting: Condition
    lock: Choice[str]
    decommissions_wait: Subset
    phase: Family[Choice[Phase]]
    zombie: Family[Condition]
    seen: Family[Number]
    excluded: Family[Subset]
    bad: Family[Subset]
    moves: Family[Choice[int | Literal["none"]]]
    copied: Family[Subset]
    switch: Choice[Switch]
    surplus: Family[Condition]
    limbo: Family[Condition]
    needs_check: Family[Condition]
    rotten: Family[Subset]


class Terms:
    """Formulas over the states of an instance, of which ``s`` says before or after a step."""

    def __init__(self, p: Protocol) -> None:
        self.p = p
        self.bookie, self.entry, self.place, self.worker = (p.universes[x] for x in ("bookie", "entry", "place", "worker"))
        settings = p.parameters
        self.locking = range(settings["workers"])
        self.has_spare = self.bookie.size > self.place.size
        self.rots, self.cuts = settings["rots"] > 0, settings["cuts"] > 0

    def registered(self, s: ReplicationVariables, b: int) -> Condition:
        """The bookie is up, and the metadata store knows it."""
        return And(s.up[b], s.cut[b] != "store") if self.cuts else s.up[b]

    def reached(self, s: ReplicationVariables, b: int) -> Condition:
        """The bookie is up, and clients reach it."""
        return And(s.up[b], s.cut[b] != "clients") if self.cuts else s.up[b]

    def is_fit(self, s: ReplicationVariables, b: int) -> Condition:
        """The bookie is up, registered, and reached."""
        return And(self.registered(s, b), self.reached(s, b))

    def named(self, s: ReplicationVariables, b: int) -> Condition:
        """The metadata name the bookie."""
        return any_of(s.member[i] == b for i in self.place)

    def has_good(self, s: ReplicationVariables, b: int, e: int) -> Condition:
        """The bookie has a copy of the entry whose digest is right."""
        return And(s.stored[b].has(e), Not(s.rotten[b].has(e)) if self.rots else True)

    def holds_all(self, s: ReplicationVariables, b: int) -> Condition:
        """The bookie has good copies of all that is confirmed."""
        return all_of(Implies(s.confirmed.has(e), self.has_good(s, b, e)) for e in self.entry)

    def lacks(self, s: ReplicationVariables, b: int) -> Condition:
        """The metadata name the bookie, and it is away or lacks an entry."""
        return And(self.named(s, b), Not(And(self.is_fit(s, b), self.holds_all(s, b))))

    def holders(self, s: ReplicationVariables, e: int) -> list[Condition]:
        """For each bookie, whether the metadata name it and it has a good copy of the entry."""
        return [And(self.named(s, b), self.has_good(s, b, e)) for b in self.bookie]

    def readable(self, s: ReplicationVariables, e: int) -> Condition:
        """A bookie that is up and named has a good copy of the entry."""
        return any_of(And(self.reached(s, b), self.named(s, b), self.has_good(s, b, e)) for b in self.bookie)

    def is_whole(self) -> Condition:
        """Every bookie that the metadata name is up and has good copies of all that is confirmed."""
        s = ReplicationVariables.now(self.p)
        return all_of(Implies(self.named(s, b), And(self.is_fit(s, b), self.holds_all(s, b))) for b in self.bookie)

    def cannot_become_whole(self) -> Condition:
        """Fewer bookies are up, and lack nothing if they are named, than an ensemble has; or an entry is at nobody who is; or
        workers may choose a bookie again and again that nobody reaches."""
        s = ReplicationVariables.now(self.p)
        fit = [And(self.is_fit(s, b), Or(Not(self.named(s, b)), self.holds_all(s, b))) for b in self.bookie]
        lost = [And(s.confirmed.has(e), Not(self.readable(s, e))) for e in self.entry]
        silent = [And(self.registered(s, b), Not(self.reached(s, b)), Not(self.named(s, b))) for b in self.bookie]
        return Or(Not(at_least(self.place.size, fit)), *lost, *(silent if self.cuts else []))

    def unharmed(self) -> Condition:
        """The formula over a step: it is no fault that takes copies."""
        s, n = ReplicationVariables.of(self.p)
        return And(*(getattr(n, budget) == getattr(s, budget) for budget in ("losses", "gaps", "rots")))

    def is_target(self, s: ReplicationVariables, w: int, b: int) -> Condition:
        """The worker has chosen the bookie."""
        return any_of(s.moves[w, o] == b for o in self.bookie)
