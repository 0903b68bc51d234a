"""What must coincide for a run, in an operator's words: its faults, and what an instance bounds because it is rare."""

from __future__ import annotations

from collections import Counter

from fencepost.checks.questions.event_words import in_words
from fencepost.model.language import Protocol
from fencepost.traces.trace import Trace

GIVEN = {"unfenced": "a fence that does not hold"}
"""What an instance takes for granted that is a fault elsewhere, by the parameter that says so."""

UNDER_WAY = {"migration": "a migration of the metadata to another store, such as from ZooKeeper to Oxia"}
"""What an instance takes for granted that is no fault, and that few clusters do, by the parameter that says so."""

FAILED_WRITES = {"replace", "replace_in_recovery"}
"""Steps of a ledger that only a bookie that does not answer brings about."""

BESIDE = "another broker that opens the topic beside the first (a lost session of a broker)"

NOT_SERVING = ("none", "fenced", "closed")
"""The states of a broker that does not serve a topic."""

ORDINARY = {"openings", "connections", "deletions", "trims", "snapshots"}
"""Bounds of what goes on all the time: brokers load topics, producers connect, old ledgers are trimmed."""


def preconditions(trace: Trace, protocol: Protocol) -> tuple[list[str], int]:
    """All that must coincide, and how many of it are faults: what the instance takes for granted, and the events of the run."""
    steps, faults = events_of(trace, protocol)
    given = [what for name, what in GIVEN.items() if protocol.parameters.get(name)]
    under_way = [what for name, what in UNDER_WAY.items() if protocol.parameters.get(name)]
    return [*given, *under_way, *steps], faults + len(given)


def events_of(trace: Trace, protocol: Protocol) -> tuple[list[str], int]:
    """The steps of a run that nothing brings about by itself, each once, in words, and how many of them are faults.

    These are its faults, and the steps that an instance bounds: a rollover by age, an unload, a termination.
    """
    actions = {action.label: action for action in protocol.actions}
    taken = [actions[step.action] for step in trace.steps]
    rare = set(protocol.budgets) - ORDINARY
    events = [each for each in taken if each.fault or {variable.name for variable in each.updates} & rare]
    beside = _opened_beside(trace, protocol)
    names = Counter([in_words(protocol.name, each.name) for each in events] + [BESIDE] * beside)
    words = [name if number == 1 else f"{name} ({number} times)" for name, number in names.items()]
    failed = protocol.name == "ledger" and sum(each.name in FAILED_WRITES and not each.fault for each in events)
    return words, sum(each.fault for each in taken) + failed + beside


def _opened_beside(trace: Trace, protocol: Protocol) -> int:
    """How often a broker opens a topic that another serves: of a topic that is looked at alone it is free who owns it."""
    if protocol.name != "topic":
        return 0
    states = [
        (place, variable.domain) for place, variable in enumerate(protocol.variables) if variable.name.startswith("state[")
    ]
    serving = [sum(domain.show(state[place]) not in NOT_SERVING for place, domain in states) for state in trace.states[:-1]]
    return sum(step.action.startswith("open(") and count > 0 for step, count in zip(trace.steps, serving, strict=True))
