"""How a topic behaves step by step: the states of a managed ledger, who writes the list, and where entries are added."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, Implies, Not, Or, all_of, any_of
from fencepost.properties.topic.terms import Log
from fencepost.properties.vocabulary import Suite

_ENDS = ("terminated", "closed", "fenced", "none")
FOLLOWS = {
    "none": ("opening",),
    "opening": ("recovered", "none"),
    "recovered": ("opened", "none"),
    "opened": ("closing_ledger", "creating", *_ENDS),
    "closing_ledger": ("creating", *_ENDS),
    "creating": ("opened", "closing_ledger", "closed_ledger", "write_failed", *_ENDS),
    "closed_ledger": ("creating", *_ENDS),
    "write_failed": ("closed_ledger", "closed", "none"),
    "fenced": ("none",),
    "terminated": ("fenced", "none"),
    "closed": ("none",),
}
"""After each state of a managed ledger those that may follow. Terminated, Closed and Fenced are final: only the topic's end
follows, and after Terminated the fence of a broker that has lost the topic."""


def topic_conduct(suite: Suite, log: Log) -> None:
    """Declares what holds of every step."""
    s, n, broker, ledger, settings = log.state, suite.protocol.next, log.broker, log.ledger, log.settings

    @suite.step
    def states_follow() -> Any:
        """A managed ledger changes its state as ManagedLedgerImpl.State means it; one that is terminated, closed or fenced
        stays so."""
        table = {b: [And(s.state[b] == state, n.state[b].among(*after)) for state, after in FOLLOWS.items()] for b in broker}
        return all_of(Or(n.state[b] == s.state[b], *table[b]) for b in broker)

    @suite.step
    def list_is_written_by_version() -> Any:
        """The list changes with its version, by one at a time, and only by a broker that knew it."""
        same = And(n.listed == s.listed, *(n.entries[k] == s.entries[k] for k in ledger))
        known = any_of(And(s.known_version[b] == s.version, s.state[b] != "none") for b in broker)
        return Or(And(n.version == s.version, same), And(n.version == s.version + 1, known))

    @suite.step
    def log_never_forks() -> Any:
        """No entry is added to a ledger after another one was listed, except up to an end that is settled."""
        rises = {k: log.next_confirmed[k] > log.confirmed[k] for k in ledger}
        settled = {k: And(log.status[k].among("closed", "deleted"), log.next_confirmed[k] <= log.end[k]) for k in ledger}
        return all_of(Implies(And(rises[k], log.has_a_ledger_after(k)), settled[k]) for k in ledger)

    @suite.step
    def unlisted_is_given_up() -> Any:
        """A broker that goes on without having listed the ledger that it created has deleted it."""
        kept = [(b, k) for b in broker for k in ledger]
        given_up = {x: And(s.fresh[x[0]] == x[1], n.fresh[x[0]] != x[1], n.state[x[0]] != "none") for x in kept}
        used = {k: Or(n.listed.has(k), n.ledger.status[k] == "deleted") for k in ledger}
        return all_of(Or(Not(given_up[x]), used[x[1]]) for x in kept)

    if not settings["failures"]:

        @suite.step
        def fenced_by_others_only() -> Any:
            """A managed ledger fences itself only if another broker has written the list."""
            fenced = {b: And(s.state[b] != "fenced", n.state[b] == "fenced") for b in broker}
            return all_of(Implies(fenced[b], n.known_version[b] != n.version) for b in broker)
