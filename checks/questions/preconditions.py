"""What must coincide for a run, in an operator's words: its faults, and what an instance bounds because it is rare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fencepost.checks.engines.results.checked import Checked
from fencepost.model.language import Protocol
from fencepost.properties.configuration import InCluster
from fencepost.properties.registry import Entry
from fencepost.traces.trace import Trace

GIVEN = {"unfenced": "a fence that does not hold"}
"""What an instance takes for granted that is a fault elsewhere, by the parameter that says so."""

UNDER_WAY = {"migration": "a migration of the metadata to another store, such as from ZooKeeper to Oxia"}
"""What an instance takes for granted that is no fault, and that few clusters do, by the parameter that says so."""

ORDINARY = {"openings", "connections", "deletions", "trims", "snapshots"}
"""Bounds of what goes on all the time: brokers load topics, producers connect, old ledgers are trimmed."""


def preconditions(trace: Trace, checked: Checked) -> tuple[list[str], int]:
    """All that must coincide, and how many of it are faults: what the instance takes for granted, and the events of the run."""
    parameters, (steps, faults) = checked.protocol.parameters, events_of(trace, checked)
    given = [what for name, what in GIVEN.items() if parameters.get(name)]
    under_way = [what for name, what in UNDER_WAY.items() if parameters.get(name)]
    return [*given, *under_way, *steps], faults + len(given)


def events_of(trace: Trace, checked: Checked) -> tuple[list[str], int]:
    """The steps of a run that nothing brings about by itself, each once, in words, and how many of them are faults.

    These are its faults, those that its protocol leaves unseen, and the steps that an instance bounds: a rollover by age, an
    unload, a termination.
    """
    protocol = checked.protocol
    in_cluster = checked.entry.in_cluster if isinstance(checked.entry, Entry) else InCluster()
    actions = {action.label: action for action in protocol.actions}
    taken = [actions[step.action] for step in trace.steps]
    rare = set(protocol.budgets) - ORDINARY
    events = [each for each in taken if each.fault or {variable.name for variable in each.updates} & rare]
    unseen = Counter(in_cluster.unseen(_steps(trace, protocol)))
    names = Counter(in_cluster.events.get(each.name, each.name.replace("_", " ")) for each in events) + unseen
    words = [name if number == 1 else f"{name} ({number} times)" for name, number in names.items()]
    failed = sum(each.name in in_cluster.by_faults and not each.fault for each in events)
    return words, sum(each.fault for each in taken) + failed + unseen.total()


def _steps(trace: Trace, protocol: Protocol) -> list[tuple[str, dict[str, str]]]:
    """The steps of a run, each with the values of all variables before it."""

    def shown(state: Sequence[int]) -> dict[str, str]:
        return {v.name: v.domain.show(raw) for v, raw in zip(protocol.variables, state, strict=True)}

    return [(step.action, shown(state)) for step, state in zip(trace.steps, trace.states, strict=False)]
