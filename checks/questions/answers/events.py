"""What must coincide for a run, in an operator's words, and the names by which users say that an event does not happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fencepost.checks.engines.results.findings import Checked
from fencepost.model.language import Protocol
from fencepost.model.language.mistakes import guess
from fencepost.properties.configuration import InCluster
from fencepost.properties.registry import Entry, RegistryError
from fencepost.traces.trace import Trace


@dataclass(frozen=True)
class Event:
    """An event by its name: what it is, the words by which a way's needs name it, and whether it is an act of an
    administrator: the cluster does nothing of it by itself."""

    says: str
    words: tuple[str, ...]
    is_act: bool = False


EVENTS: Mapping[str, Event] = {
    "termination": Event("a topic is terminated", ("termination of the topic",), is_act=True),
    "migration": Event("the metadata are migrated to another store", ("migration of the metadata",), is_act=True),
    "cookie-deletion": Event("a bookie's cookie is deleted", ("no cookie",), is_act=True),
    "recover": Event("bookkeeper shell recover is run", ("command recover",), is_act=True),
    "shutdown": Event("a broker is shut down", ("broker that is shut down", "broker that shuts down"), is_act=True),
    "session-loss": Event("a broker loses its session", ("lost session of a broker",)),
    "worker-session-loss": Event("a worker of auto-recovery loses its session", ("lost session of a worker",)),
    "broker-kill": Event("a broker is killed", ("killed broker", "kill of a broker")),
    "bookie-kill": Event("a bookie is killed", ("killed bookie", "kill of a bookie")),
    "bookie-restart": Event("a bookie is restarted", ("restart of bookies", "restarted bookie")),
    "bookie-replaced": Event("a write fails at a bookie, which is replaced", ("change of ensemble", "bookie replaced")),
    "disk-loss": Event("a disk is lost", ("lost disk", "empty disk", "copy lost", "copies lost")),
    "disk-full": Event("a disk is full", ("full disk", "cannot be written", "full write cache")),
    "power-cut": Event("a bookie loses power", ("power cut", "loses power", "no journal")),
    "connection-loss": Event("a connection to the metadata store is lost", ("connection lost", "lost connection to the meta")),
    "producer-reconnects": Event("a producer connects again", ("lost connection of the producer",)),
    "metadata-failure": Event("an update of the metadata fails", ("failed update", "cannot be created", "failed trim")),
    "metadata-lag": Event("a server of the metadata lags behind", ("server that lags behind", "stale list")),
    "failed-write": Event("a write fails or times out", ("failed add", "add that times out", "ledger created at once")),
    "bad-copy": Event("a copy goes bad, or cannot be read", ("copy that goes bad", "cannot be read", "cannot be processed")),
    "rollover": Event("a ledger is closed for its age", ("closed for its age",)),
    "unload": Event("a bundle is unloaded", ("unload of the bundle", "transfer of the bundle")),
    "split": Event("a bundle is split", ("split of the bundle",)),
    "topic-close": Event("a topic is closed", ("topic that is closed", "topic that does not close")),
    "returned-copy": Event("auto-recovery brings a deleted copy back", ("copy that auto-recovery brings back",)),
    "foreign-recovery": Event("another client recovers the ledger", ("recovery of the ledger by another",)),
}
"""The events that can be named, by name."""


def never(names: Iterable[str]) -> frozenset[str]:
    """The events of these names; RegistryError for one that there is not."""
    chosen = [part.strip() for name in names for part in name.split(",") if part.strip()]
    for name in chosen:
        if name not in EVENTS:
            raise RegistryError(f"there is no event {name!r}{guess(name, EVENTS)}; `fencepost list --events` has the names")
    return frozenset(chosen)


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
