"""What a ledger keeps while disks are lost and bookies are down, restart or are replaced: questions whose answer is a number.

A suite is asked of instances that allow one more of such events at a time. The guarantee is the number up to which its
properties hold. Each has a ``sometimes``: what it speaks of occurs in that very search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.bookkeeper.ledger import ledger
from fencepost.model.language import And, Implies, Not, Or, Protocol, Truth, all_of, any_of, at_least
from fencepost.properties.ledger.liveness import WRITERS
from fencepost.properties.ledger.variables import LedgerVariables, next_entry
from fencepost.properties.vocabulary import Leads, Suite


@wraps(ledger)
def rolling(**settings: Any) -> Protocol:
    """A ledger whose bookies are restarted one after the other: none goes down while another one is."""
    p = ledger(**settings)
    up = all_of(LedgerVariables.now(p).up[b] for b in p.universes["bookie"])
    p.actions = [replace(a, guard=And(a.guard, up)) if a.name == "crash" else a for a in p.actions]
    return p


class LedgerWords:
    """The words that the questions share."""

    def __init__(self, p: Protocol) -> None:
        settings = p.parameters
        self.p, self.state = p, LedgerVariables.now(p)
        self.bookie, self.entry = p.universes["bookie"], p.universes["entry"]
        self.striping = Striping(settings["ensemble"], settings["write_quorum"], settings["entries"])
        self.published = Ensembles(p, "published", self.striping)

    def has_copy(self, b: int, e: int) -> Truth:
        """The formula: the bookie is of the entry's write set, and has a good copy."""
        s = self.state
        return And(s.stored[b].has(e), Not(s.rotten[b].has(e)), self.published.holds(b, e))

    def acknowledged_have(self, copy: Callable[[int, int], Truth]) -> Truth:
        """The formula: of every acknowledged entry some bookie has such a copy."""
        has_one = {e: any_of(copy(b, e) for b in self.bookie) for e in self.entry}
        return all_of(Implies(self.state.confirmed.has(e), has_one[e]) for e in self.entry)

    @property
    def is_acknowledged(self) -> Truth:
        """The formula: some entry is acknowledged."""
        return Not(self.state.confirmed.is_empty)

    @property
    def all_happened(self) -> Truth:
        """The formula: as many bookies have crashed, disks were lost and ensembles changed as may."""
        return all_of(self.p.counter(name) == limit for name, limit in self.p.budgets.items())

    def are_down(self, count: int) -> Truth:
        """The formula: so many bookies are down, at least."""
        return at_least(count, [Not(self.state.up[b]) for b in self.bookie])

    def can_replace(self, action: str, o: int) -> Truth:
        """The formula: some bookie that is up may take the place of bookie o, as the guard of the model's own action has it."""
        name = self.bookie.label(o)
        bookies = {self.bookie.label(b): b for b in self.bookie}
        actions = [a for a in self.p.actions if a.name == action and a.arguments["o"] == name]
        return any_of(And(self.state.up[bookies[a.arguments["n"]]], a.guard) for a in actions)


def durability(p: Protocol) -> Suite:
    """That an acknowledged entry is in the ledger, and has a copy."""
    ours, suite, s = LedgerWords(p), Suite(p), LedgerVariables.now(p)

    @suite.always
    def acknowledged_entries_have_a_copy() -> Truth:
        """Of every acknowledged entry a bookie of its write set has a good copy."""
        return Implies(s.status != "deleted", ours.acknowledged_have(ours.has_copy))

    _in_the_ledger(ours, suite)
    return suite


def durability_of_restarts(p: Protocol) -> Suite:
    """That an acknowledged entry is in the ledger, and has a copy, when every bookie is back."""
    ours, suite, s = LedgerWords(p), Suite(p), LedgerVariables.now(p)

    def will_have(b: int, e: int) -> Truth:
        comes = And(s.sent_to[b].has(e), Not(s.taken_by_bookie[b].has(e)), Not(s.fenced[b]))
        return Or(ours.has_copy(b, e), And(comes, ours.published.holds(b, e)))

    @suite.always
    def acknowledged_entries_have_a_copy_when_all_are_back() -> Truth:
        """Of every acknowledged entry a bookie of its write set has a good copy, or will take the writer's add of it."""
        back = all_of(s.up[b] for b in ours.bookie)
        return Implies(And(back, s.status != "deleted"), ours.acknowledged_have(will_have))

    _in_the_ledger(ours, suite)
    return suite


def _in_the_ledger(ours: LedgerWords, suite: Suite) -> None:
    p, s = ours.p, ours.state

    @suite.always
    def acknowledged_entries_are_in_the_ledger() -> Truth:
        """A closed ledger ends at or after every acknowledged entry."""
        return Implies(s.status == "closed", all_of(Implies(s.confirmed.has(e), e <= s.last) for e in ours.entry))

    @suite.sometimes
    def an_entry_is_acknowledged_in_spite_of_all() -> Truth:
        """All that may happen has happened, every recovery has closed the ledger, and an entry was acknowledged."""
        recovered = all_of(s.phase[r] == "done" for r in p.universes["recoverer"])
        back = all_of(s.up[b] for b in ours.bookie) if p.parameters["crashes"] else True
        return And(ours.is_acknowledged, ours.all_happened, recovered, back)


def usual_durability(p: Protocol) -> Suite:
    """That an entry which every bookie of its write set has taken has a copy: at a bookie that is up, while others are gone."""
    ours, suite, s = LedgerWords(p), Suite(p), LedgerVariables.now(p)

    def is_everywhere(e: int) -> Truth:
        return all_of(Implies(ours.published.holds(b, e), s.taken_by_bookie[b].has(e)) for b in ours.bookie)

    @suite.always
    def entries_that_all_have_taken_have_a_copy() -> Truth:
        """Of every acknowledged entry that all bookies of its write set have taken, one that is up has a good copy."""
        has_one = {e: any_of(And(s.up[b], ours.has_copy(b, e)) for b in ours.bookie) for e in ours.entry}
        taken = {e: And(s.confirmed.has(e), is_everywhere(e)) for e in ours.entry}
        return Implies(s.status != "deleted", all_of(Implies(taken[e], has_one[e]) for e in ours.entry))

    @suite.sometimes
    def all_have_taken_an_entry() -> Truth:
        """All bookies of its write set have taken an acknowledged entry, and all has happened that may."""
        return And(ours.all_happened, any_of(And(s.confirmed.has(e), is_everywhere(e)) for e in ours.entry))

    return suite


def durability_after_change(p: Protocol) -> Suite:
    """That an acknowledged entry has a copy when no bookie of its first write set is in its last."""
    ours, suite, s = LedgerWords(p), Suite(p), LedgerVariables.now(p)

    def is_elsewhere(e: int) -> Truth:
        return And(s.confirmed.has(e), *(Not(ours.published.holds(b, e)) for b in ours.striping.places(e)))

    @suite.always
    def acknowledged_entries_have_a_copy_after_the_change() -> Truth:
        """When all bookies that an entry was first meant for have been replaced, some bookie has a good copy of it."""
        has_one = {e: any_of(ours.has_copy(b, e) for b in ours.bookie) for e in ours.entry}
        return Implies(s.status != "deleted", all_of(Implies(is_elsewhere(e), has_one[e]) for e in ours.entry))

    @suite.sometimes
    def an_entry_is_elsewhere() -> Truth:
        """An entry is acknowledged by bookies none of which was in its first write set, and all disks are lost that may be."""
        return And(ours.all_happened, any_of(is_elsewhere(e) for e in ours.entry))

    return suite


def reading(p: Protocol) -> Suite:
    """That an acknowledged entry can be read."""
    ours, suite, s = LedgerWords(p), Suite(p), LedgerVariables.now(p)

    @suite.always
    def acknowledged_entries_can_be_read() -> Truth:
        """Of every acknowledged entry a bookie that is up has a good copy."""
        return Implies(s.status != "deleted", ours.acknowledged_have(lambda b, e: And(s.up[b], ours.has_copy(b, e))))

    @suite.sometimes
    def an_entry_is_acknowledged_and_bookies_are_down() -> Truth:
        """An entry is acknowledged, and as many bookies are down as may be."""
        return And(ours.is_acknowledged, ours.are_down(p.parameters["crashes"]))

    return suite


def writing(p: Protocol) -> Suite:
    """That adds are acknowledged while bookies are down for good.

    LedgerHandle.handleBookieFailure replaces a bookie as soon as one add to it fails, whether the others make an ack quorum or
    not, and closes the ledger if no bookie can take its place: so one must be there, besides the acknowledgements.
    """
    ours, suite, s = LedgerWords(p), Suite(p), LedgerVariables.now(p)
    writers = Ensembles(p, "writer", ours.striping)
    recoverer = p.universes["recoverer"]

    def awaited(b: int) -> Truth:
        pending = any_of(And(s.lac < e, e <= s.sent, writers.holds(b, e)) for e in ours.entry)
        return And(s.writer == "writing", Not(s.up[b]), pending, s.changes < p.parameters["changes"])

    @suite.always
    def writers_replace_the_missing() -> Truth:
        """A bookie that is up can take the place of one that is down and that the writer waits for."""
        return all_of(Implies(awaited(b), ours.can_replace("replace", b)) for b in ours.bookie)

    @suite.leads_to(unfair=[*(recoverer.label(r) for r in recoverer), "close", "restart"])
    def adds_are_acknowledged() -> Leads:
        """What is sent to bookies that are up is acknowledged, unless the ledger is closed."""
        missing = {e: any_of(And(Not(s.up[b]), writers.holds(b, e)) for b in ours.bookie) for e in ours.entry}
        return [(s.sent >= e, Or(s.confirmed.has(e), s.status != "open", missing[e])) for e in ours.entry]

    @suite.sometimes
    def writing_goes_on_while_bookies_are_down() -> Truth:
        """An entry of an open ledger is acknowledged, and as many bookies are down as may be."""
        return And(ours.is_acknowledged, s.status == "open", ours.are_down(p.parameters["crashes"]))

    return suite


def recovering(p: Protocol) -> Suite:
    """That the ledger of a broker that has crashed is closed by a recovery while bookies are down for good.

    ReadOnlyLedgerHandle.handleBookieFailure gives the recovery up if nobody can take the place of a bookie to which an entry
    cannot be stored again.
    """
    ours, suite, s = LedgerWords(p), Suite(p), LedgerVariables.now(p)
    (r,) = p.universes["recoverer"]
    new = Ensembles(p, "new", ours.striping, r)

    def awaited(b: int) -> Truth:
        return And(s.phase[r] == "adding", Not(s.up[b]), new.holds(b, next_entry(s, r)), Not(s.recovery_acked[r].has(b)))

    @suite.always
    def recoveries_replace_the_missing() -> Truth:
        """A bookie that is up can take the place of one that is down and to which the recovery stores an entry again."""
        left = s.changes < p.parameters["changes"]
        return all_of(Implies(And(left, awaited(b)), ours.can_replace("replace_in_recovery", b)) for b in ours.bookie)

    @suite.leads_to(unfair=[*WRITERS, "restart"])
    def recoveries_close_the_ledger() -> Leads:
        """An open ledger is closed, or its recovery stores an entry again and has a bookie to replace for that."""
        is_open = s.status.among("open", "in_recovery")
        return is_open, Or(Not(is_open), any_of(awaited(b) for b in ours.bookie))

    @suite.sometimes
    def a_ledger_is_recovered_while_bookies_are_down() -> Truth:
        """A recovery has closed a ledger with an acknowledged entry, and as many bookies are down as may be."""
        return And(ours.is_acknowledged, s.phase[r] == "done", ours.are_down(p.parameters["crashes"]))

    return suite
