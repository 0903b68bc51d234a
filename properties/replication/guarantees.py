"""What auto-recovery guarantees: that a ledger is whole again, and that no copy is lost while bookies are replaced."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fencepost.model.language import And, Not, Or, Protocol, any_of
from fencepost.model.language.building import wanting
from fencepost.properties.replication.suite import replication
from fencepost.properties.replication.terms import Terms
from fencepost.properties.vocabulary import Suite


def becomes_whole_again(p: Protocol) -> Suite:
    """That a ledger is whole in the end though bookies stay away: that no other can take their place is no excuse."""
    suite, s, t = _of(p, ("tasks_end",), ("crashes",)), p.state, Terms(p)

    @suite.leads_to
    def is_whole_in_the_end() -> Any:
        """A ledger of which a member is away or lacks an entry is whole in the end, unless an entry is at nobody who is up."""
        lost = [And(s.confirmed.has(e), Not(t.readable(s, e))) for e in t.entry]
        return [(And(t.named(s, b), Not(And(s.up[b], t.holds_all(s, b)))), Or(t.is_whole(), *lost)) for b in t.bookie]

    return suite


def keeps_copies(p: Protocol) -> Suite:
    """That a confirmed entry has no fewer copies at bookies that the metadata name, and no bookie has two places."""
    return _of(p, ("copies_are_not_fewer", "members_are_distinct"), ("expiries",))


def _of(p: Protocol, names: Collection[str], events: Collection[str]) -> Suite:
    with wanting(names):
        whole = replication(p)
    suite, s, t = Suite(p), p.state, Terms(p)
    suite.properties = [prop for prop in whole.properties if prop.name in names]

    @suite.sometimes
    def a_bookie_is_replaced() -> Any:
        """The events have happened as often as they may, every command has ended, and a bookie has another's place."""
        happened = [getattr(s, event) == p.budgets[event] for event in events]
        ended = [s.phase[w] == "stopped" for w in t.worker if w not in t.locking]
        return And(*happened, *ended, any_of(s.member[i] != i for i in t.place))

    return suite
