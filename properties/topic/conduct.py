"""How a topic behaves step by step: the states of a managed ledger, who writes the list, and where entries are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, any_of
from fencepost.model.pulsar.topic.state import NONE, BrokerState
from fencepost.properties.topic.variables import Log, TopicVariables
from fencepost.properties.vocabulary import Suite

_ENDS: tuple[BrokerState, ...] = ("terminated", "closed", "fenced", "none")
FOLLOWS: Mapping[BrokerState, Sequence[BrokerState]] = {
    "none": ("opening",),
    "opening": ("recovered", "none"),
    "recovered": ("opened", "none"),
    "opened": ("closing_ledger", "creating", *_ENDS),
    "closing_ledger": ("creating", *_ENDS),
    "creating": ("opened", "closing_ledger", "closed_ledger", "write_failed", *_ENDS),
    "closed_ledger": ("creating", *_ENDS),
    "write_failed": ("closed_ledger", *_ENDS),
    "fenced": ("none",),
    "terminated": ("fenced", "closed", "none"),
    "closed": ("terminated", "none"),
}
"""After each state of a managed ledger those that may follow. Terminated, Closed and Fenced take no writes again: Fenced is
final, a terminated managed ledger may be closed or fenced, and ManagedLedgerImpl.asyncTerminate takes a closed one as well."""


def topic_conduct(suite: Suite, log: Log) -> None:
    """Declares what holds of every step."""
    s, n, broker, ledger, settings = log.state, TopicVariables.later(suite.protocol), log.broker, log.ledger, log.settings

    @suite.step
    def states_follow() -> Condition:
        """A managed ledger changes its state as ManagedLedgerImpl.State means it; one that is terminated, closed or fenced
        is not opened again."""
        table = {b: [And(s.state[b] == state, n.state[b].among(*after)) for state, after in FOLLOWS.items()] for b in broker}
        return all_of(Or(n.state[b] == s.state[b], *table[b]) for b in broker)

    @suite.step
    def list_is_written_by_version() -> Condition:
        """The list changes with its version, by one at a time, and only by a broker that knew it."""
        same = And(n.listed == s.listed, *(n.entries[k] == s.entries[k] for k in ledger))
        known = any_of(And(s.known_version[b] == s.version, s.state[b] != "none") for b in broker)
        return Or(And(n.version == s.version, same), And(n.version == s.version + 1, known))

    @suite.step
    def writer_knows_the_list() -> Condition:
        """Whoever writes the list knows it then: its ledgers, their entries and its version. A broker that does not hear of
        its update has listed what it knew, and the ledger that it had created; and so has one whose update comes too late."""
        entries = {b: And(*(n.known_entries[b, k] == n.entries[k] for k in ledger)) for b in broker}
        knows = [And(n.known_version[b] == n.version, n.known[b] == n.listed, entries[b]) for b in broker]
        unheard = [
            And(s.state[b] == "creating", s.fresh[b] == k, n.fresh[b] == NONE, n.listed == s.known[b].plus(k))
            for b in broker
            for k in ledger
        ]
        late = [
            And(
                s.slow[b] == k,
                n.slow[b] == NONE,
                s.fresh[b] != k,
                n.listed == s.known[b].plus(k),
                n.known_version[b] == n.version,
            )
            for b in broker
            for k in (ledger if settings.get("slow_updates", 0) else ())
        ]
        deleted = And(n.listed.is_empty, *(n.entries[k] == 0 for k in ledger))
        return Or(n.version == s.version, *knows, *unheard, *late, deleted if settings["deletions"] else False)

    @suite.always
    def known_version_was_written() -> Condition:
        """A broker knows no version of the list that it has not had."""
        return all_of(s.known_version[b] <= s.version for b in broker)

    @suite.step
    def ledgers_do_what_a_ledger_can() -> Condition:
        """Each ledger, as its topic uses it, is the ledger of which BookKeeper is a refinement."""
        return all_of(log.as_one_ledger(k).steps for k in ledger)

    @suite.step
    def closing_is_final() -> Condition:
        """A topic that is being closed takes no writes again."""
        stays = {b: Or(n.topic[b] == "closing", n.state[b] == "none") for b in broker}
        return all_of(Or(s.topic[b] != "closing", stays[b]) for b in broker)

    @suite.step
    def log_never_forks() -> Condition:
        """No entry is added to a ledger after another one was listed, except up to an end that is settled."""
        rises = {k: log.next_confirmed[k] > log.confirmed[k] for k in ledger}
        settled = {k: And(log.status[k].among("closed", "deleted"), log.next_confirmed[k] <= log.end[k]) for k in ledger}
        return all_of(Implies(And(rises[k], log.has_a_ledger_after(k)), settled[k]) for k in ledger)

    @suite.step
    def unlisted_is_given_up() -> Condition:
        """A broker that goes on without having listed the ledger that it created has deleted it, as it is refused or ended; or
        its update of the list is still under way."""
        pairs = [(b, k) for b in broker for k in ledger]
        given_up = {x: And(s.fresh[x[0]] == x[1], n.fresh[x[0]] != x[1], n.state[x[0]] != "none") for x in pairs}
        may = {b: n.state[b].among("fenced", "closed_ledger", "write_failed", "terminated") for b in broker}
        slow = {x: n.slow[x[0]] == x[1] if hasattr(n, "slow") else False for x in pairs}
        used = {x: Or(n.listed.has(x[1]), slow[x], And(n.ledger.status[x[1]] == "deleted", may[x[0]])) for x in pairs}
        return all_of(Or(Not(given_up[x]), used[x]) for x in pairs)

    gives_up = settings.get("gives_up", False)
    if not settings["failures"]:

        @suite.step
        def fenced_by_others_only() -> Condition:
            """A managed ledger fences itself only if another broker has written the list; or has closed its ledger, where one
            gives up as it meets that."""
            fenced = {b: And(s.state[b] != "fenced", n.state[b] == "fenced") for b in broker}
            ended = {k: n.ledger.status[k].among("closed", "deleted") for k in ledger}
            may = {b: any_of(And(s.current[b] == k, ended[k]) for k in ledger) if gives_up else False for b in broker}
            return all_of(Implies(fenced[b], Or(n.known_version[b] != n.version, may[b])) for b in broker)
