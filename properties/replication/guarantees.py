"""What auto-recovery guarantees: a ledger that is whole again, decommissionings that end, and copies that are kept."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.model.language import And, Not, Or, Protocol, Truth, any_of
from fencepost.model.language.circumstances import wanting
from fencepost.properties.replication.suite import replication
from fencepost.properties.replication.variables import ReplicationVariables, Terms
from fencepost.properties.vocabulary import Leads, Suite


def becomes_whole_again(p: Protocol) -> Suite:
    """That a ledger is whole in the end though bookies stay away, or are back without their disk: nothing is an excuse."""
    faults = ("losses" if p.parameters["emptied"] else "crashes", "failed_audits")
    suite, t = _of(p, ("tasks_end",), faults), Terms(p)

    @suite.leads_to
    def is_whole_in_the_end() -> Leads:
        """A ledger of which a member is away or lacks an entry is whole in the end."""
        return [(t.lacks(ReplicationVariables.now(p), b), t.is_whole()) for b in t.bookie]

    return suite


def decommissions_end(p: Protocol) -> Suite:
    """That every decommissioning ends unless its bookie is started again: that nobody can take its place is no excuse."""
    suite, s, t = (
        _of(p, ("members_that_are_away_are_decommissioned",), ("decommissions",)),
        ReplicationVariables.now(p),
        Terms(p),
    )

    @suite.leads_to
    def ends_unless_started_again() -> Leads:
        """No metadata name a bookie that is decommissioned in the end, or it is up."""
        return [(s.decommissions_wait.has(b), Or(Not(s.decommissions_wait.has(b)), s.up[b])) for b in t.bookie]

    return suite


def keeps_copies(p: Protocol) -> Suite:
    """That a confirmed entry has no fewer copies at bookies that the metadata name, and no bookie has two places."""
    return _of(p, ("copies_are_not_fewer", "members_are_distinct"), ("expiries",))


def _of(p: Protocol, names: Collection[str], events: Collection[str]) -> Suite:
    with wanting(names):
        whole = replication(p)
    suite, s, t = Suite(p), ReplicationVariables.now(p), Terms(p)
    suite.properties = [prop for prop in whole.properties if prop.name in names]

    @suite.sometimes
    def a_bookie_is_replaced() -> Truth:
        """The events have happened as often as they may, every command has ended, and a bookie has another's place."""
        happened = [getattr(s, event) == p.budgets[event] for event in events]
        ended = [s.phase[w] == "stopped" for w in t.worker if w not in t.locking]
        return And(*happened, *ended, any_of(s.member[i] != i for i in t.place))

    return suite
