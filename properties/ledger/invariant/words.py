"""The words in which the lemmas of a ledger are said."""

from __future__ import annotations

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.language import And, Condition, Implies, Not, Or, Parameters, Protocol, any_of, at_least
from fencepost.properties.ledger.variables import LedgerVariables


def settings_leak(settings: Parameters) -> bool:
    """Whether a recovery can take over, as confirmed, an entry that another wrote again to an ensemble never published."""
    return bool(settings["changes"] and settings["recoverers"] > 1 and settings["ack_quorum"] > 1 and settings["entries"] > 1)


class Words:
    """The variables of an instance, the copies of its ensembles, and what several lemmas say of them."""

    def __init__(self, p: Protocol) -> None:
        s, settings = LedgerVariables.now(p), p.parameters
        self.s, self.settings = s, settings
        self.bookie, self.entry, self.fragment = p.universes["bookie"], p.universes["entry"], p.universes["fragment"]
        recoverer, self.reader = p.universes["recoverer"], p.universes["reader"]
        self.recoverer = recoverer
        self.ack_quorum, self.write_quorum = settings["ack_quorum"], settings["write_quorum"]
        striping = self.striping = Striping(settings["ensemble"], self.write_quorum, settings["entries"])
        self.published, self.writers = Ensembles(p, "published", striping), Ensembles(p, "writer", striping)
        self.new_ensembles = recoverer.each(lambda r: Ensembles(p, "new", striping, r))
        self.for_recovery = recoverer.each(lambda r: Ensembles(p, "for_recovery", striping, r, fragments="single"))
        self.leaks = settings_leak(settings)
        self.is_open = Or(s.status == "open", s.status == "in_recovery")
        self.is_closed = s.status == "closed"
        self.ended = Or(self.is_closed, s.status == "deleted")
        self.lives = s.writer.among("writing", "changing", "changed")
        self.goes_on = s.writer.among("writing", "changed")

    def active(self, r: int) -> Condition:
        """The recovery has begun and not ended."""
        return self.s.phase[r].among("fencing", "reading", "adding")

    def same_write_set(self, one: Ensembles, other: Ensembles, e: int) -> Condition:
        """Both copies have the same bookies for the entry."""
        return And(*(one.holds(b, e) == other.holds(b, e) for b in self.bookie))

    def quorum_has(self, copies: Ensembles, e: int) -> Condition:
        """An ack quorum of the entry's write set by this copy has it."""
        return at_least(self.ack_quorum, (And(self.s.stored[b].has(e), copies.holds(b, e)) for b in self.bookie))

    def well_kept(self, copies: Ensembles, e: int) -> Condition:
        """An ack quorum of the write set has the entry; or it was confirmed, and the write set is still the writer's.

        Where a recovery may start from what another recovery wrote again to an ensemble that was never published, all that
        is left is that the entry is readable and that only the writer's own write set can confirm it.
        """
        if not self.leaks:
            return Or(self.quorum_has(copies, e), And(e <= self.s.lac, self.same_write_set(copies, self.writers, e)))
        readable = any_of(And(self.s.stored[b].has(e), copies.holds(b, e)) for b in self.bookie)
        only_by_it = Or(self.same_write_set(copies, self.writers, e), And(Not(self.goes_on), self.s.lac < e))
        return Or(self.quorum_has(copies, e), And(readable, only_by_it))

    def justified(self, e: int) -> Condition:
        """The entry was confirmed, or a recovery has found it."""
        return Or(self.s.confirmed.has(e), any_of(self.s.found[r].has(e) for r in self.recoverer))

    def well_formed(self, copies: Ensembles) -> Condition:
        """The copy has an ensemble, from entry 0 on, and the first entries of ensembles rise."""
        firsts = [copies.first[f] if f else 0 for f in self.fragment]
        rises = [Implies(copies.count > f + 1, firsts[f] < copies.first[f + 1]) for f in list(self.fragment)[:-1]]
        return And(copies.count >= 1, copies.first[0] == 0, *rises)
