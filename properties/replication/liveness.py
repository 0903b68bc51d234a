"""What auto-recovery comes to in the end: a ledger is whole, tasks and locks are gone, a bookie has its entries again."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Not, Or, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.properties.replication.variables import ReplicationVariables, Terms
from fencepost.properties.vocabulary import Leads, Suite


def replication_liveness(suite: Suite, t: Terms) -> None:
    """Adds what must come about."""
    s, settings, bookie = ReplicationVariables.now(t.p), t.p.parameters, t.bookie
    disabled = s.switch == "disabled" if settings["disable"] != "no" else False
    can_be = t.has_spare and t.place.size > 1  # else ``cannot_become_whole`` excuses everything

    if settings["workers"] and can_be:

        @suite.leads_to
        def becomes_whole() -> Leads:
            """A ledger of which a member is away or lacks an entry is whole in the end, unless it cannot be."""
            ends = Or(t.is_whole(), t.cannot_become_whole())
            return [(t.lacks(s, b), ends) for b in bookie]

        if settings["decommissions"]:

            @suite.leads_to
            def decommissions_end() -> Leads:
                """A bookie that is decommissioned is named by no metadata in the end, or is back, or it cannot be."""
                gone = {b: Not(s.decommissions_wait.has(b)) for b in bookie}
                return [(Not(gone[b]), Or(gone[b], s.up[b], t.cannot_become_whole())) for b in bookie]

    if settings["workers"]:

        @suite.leads_to
        def locks_are_released() -> Leads:
            """A lock that is held is released."""
            return s.lock != NOBODY, s.lock == NOBODY

        @suite.leads_to
        def tasks_end() -> Leads:
            """A task is done in the end, unless the ledger cannot become whole."""
            return s.task, Or(Not(s.task), t.cannot_become_whole(), disabled)

        if settings["expiries"]:

            @suite.leads_to
            def zombies_end() -> Leads:
                """A worker hears in the end that its session is gone."""
                return [(s.zombie[w], Not(s.zombie[w])) for w in t.locking]

    if settings["emptied"]:

        @suite.leads_to
        def lost_disks_are_replaced() -> Leads:
            """A bookie whose disk is lost starts again in the end, with an empty one."""
            return [(s.gone[b], Not(s.gone[b])) for b in bookie]

    if settings["handle"]:

        def reads(e: int) -> Condition:
            """A bookie that the handle knows is up, and has a good copy."""
            known = [any_of(s.handle[i] == b for i in t.place) for b in bookie]
            return any_of(And(known[b], t.reached(s, b), t.has_good(s, b, e)) for b in bookie)

        @suite.leads_to
        def open_handles_read() -> Leads:
            """What can be read by the metadata, a handle that is open can read in the end; or nobody can."""
            return [(And(t.readable(s, e), Not(reads(e))), Or(reads(e), Not(t.readable(s, e)))) for e in t.entry]

    if settings["integrity"]:

        @suite.leads_to
        def integrity_checks_end() -> Leads:
            """A bookie whose disk was replaced has its entries again and is out of limbo, or is away, or nobody has them."""
            lost = any_of(And(s.confirmed.has(e), Not(t.readable(s, e))) for e in t.entry)
            done = {b: And(Not(s.needs_check[b]), Not(s.limbo[b])) for b in bookie}
            return [(Not(done[b]), Or(done[b], Not(s.up[b]), lost)) for b in bookie]

    @suite.ends
    def ends_without_work() -> Condition:
        """At the end no worker is at work, and nothing is to be done that can be."""
        return all_of(s.phase[w].among("idle", "stopped") for w in t.worker)
