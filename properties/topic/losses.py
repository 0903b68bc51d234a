"""Which message of a topic is lost: what odds count, message by message."""

from __future__ import annotations

from dataclasses import replace

from fencepost.model.language import And, Not, Or, Protocol, Truth, any_of
from fencepost.model.language.declarations import Action
from fencepost.model.pulsar.topic.state import NONE
from fencepost.properties.topic.variables import Log, TopicVariables


def message_is_lost(p: Protocol, m: int) -> Truth:
    """The formula: message m is acknowledged, and no reader gets it."""
    return And(TopicVariables.now(p).acked > m, Not(Log(p).gets(m)))


def message_is_left_behind(p: Protocol, m: int) -> Truth:
    """The formula: message m is acknowledged, and the next load of the topic drops every ledger that has it.

    That drops what the list has without entries (ManagedLedgerImpl.initializeBookKeeper), except the last ledger, which it
    recovers. Of the current one the broker writes the entries as it closes it.
    """
    s, log = TopicVariables.now(p), Log(p)

    def stays(k: int) -> Truth:
        is_current = any_of(s.current[b] == k for b in log.broker)
        return Or(s.entries[k] > 0, is_current, Not(log.has_a_ledger_after(k)))

    return And(s.acked > m, Not(any_of(And(log.has(k, e, m), stays(k)) for k, e in log.places)))


def late_writes_time_out(p: Protocol) -> Protocol:
    """The topic where a write that comes once an update of the list has outlasted the time-out always declares it failed
    (ManagedLedgerImpl.internalAsyncAddEntry): ``list_slowly`` is the moment at which the time-out is over."""

    def in_time(action: Action) -> Action:
        s, b = TopicVariables.now(p), action.grounding[0][1]
        return replace(action, guard=And(action.guard, Or(s.slow[b] == NONE, s.fresh[b] != s.slow[b])))

    p.actions = [in_time(a) if a.name == "add_waits" else a for a in p.actions]
    return p


def refused_messages_have_successors(p: Protocol) -> Protocol:
    """The topic where a message that comes while it is fenced is followed by another one, which waits in the socket.

    A connection that is read again has hundreds of them, an instance has few: so one that would be refused does not come.
    """

    def accepted(action: Action) -> Action:
        return replace(action, guard=And(action.guard, TopicVariables.now(p).topic[action.grounding[0][1]] == "serving"))

    p.actions = [accepted(a) if a.name == "publish" else a for a in p.actions]
    return p
