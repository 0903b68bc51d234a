"""What a protocol is to a cluster: its instances follow the configuration, and its runs are told in an operator's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from fencepost.model.pulsar.stores import STORES
from fencepost.model.releases import NEWEST, Releases
from fencepost.properties.bugs import Value

Part = Literal["ledger", "service_units", "bookies", "topics", "control_plane"]
"""The parts of a configuration, in the order in which a check reports what it takes of them."""


@dataclass(frozen=True)
class Instance:
    """One setting of a protocol's parameters, with a name; what it leaves out keeps its default.

    ``by`` names the engine that it is meant for, if that is not exhaustive search; ``any`` the parameters that are of any size.
    """

    name: str
    parameters: Mapping[str, Value]
    by: str = ""
    any: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Bookies:
    """How bookies keep what they acknowledge; ``unmodelled`` says which setting the model of a bookie does not have."""

    storage: str
    sync_journal: bool
    write_journal: bool
    several_journals: bool
    several_directories: bool
    unmodelled: str = ""


@dataclass(frozen=True, kw_only=True)
class Topics:
    """What managed ledgers take: deduplication, entries of a full ledger, whether adds time out, whether cursors are recovered
    later, whether nothing is ever trimmed, whether unused topics are deleted, whether BookKeeper's metadata come by a
    session of their own, and whether topics are replicated to another cluster.

    Of the cursor of a subscription: the most ranges of acknowledged messages that are persisted, whether as a bit for each
    entry, and whether an acknowledgement may be answered before it is written."""

    deduplication: bool
    most_entries: int
    times_out: bool
    lazy_cursors: bool
    keeps_all: bool
    deletes: bool
    separate_store: bool
    replicated: bool
    most_ranges: int
    long_arrays: bool
    answers_early: bool


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A cluster's configuration as plain values, whatever files they are written in.

    ``bookies`` is None without a file of a bookie. ``extensible`` says whether the extensible load manager is run, with its
    records in the store ``service_unit_store``; ``written`` is how some values are written, and where, by the names they have
    here.
    """

    releases: Releases
    ensemble: int
    write_quorum: int
    ack_quorum: int
    bookies: Bookies | None
    topics: Topics
    metadata_store: str
    on_session_loss: str
    split_algorithm: str
    unloads_after_split: bool
    most_bundles: int
    extensible: bool
    service_unit_store: str
    multi_phase: bool
    written: Mapping[str, str]

    @property
    def release(self) -> str:
        """The release of Pulsar; the newest where none is named."""
        return self.releases.pulsar or NEWEST

    def store(self, *, brokers: str = "brokers") -> dict[str, Value]:
        """What a protocol takes of the metadata store; ``brokers`` is what the protocol calls them."""
        return with_store(self.metadata_store, brokers=brokers)


def with_store(store: str, *, brokers: str = "brokers") -> dict[str, Value]:
    """What a protocol takes of a metadata store: with one in the broker's process there is one broker, whose session it is."""
    alone: dict[str, Value] = {brokers: 1, "disconnects": 0, "expiries": 0} if STORES[store].in_process else {}
    return {"metadata_store": store, **alone}


def fitting(instances: Iterable[Instance], taken: Mapping[str, Value]) -> tuple[Instance, ...]:
    """The instances with what a protocol takes.

    Left out are those of a protocol that is fixed, which no cluster runs, and those that are about another setting, unless
    nothing is left then.
    """
    faithful = [instance for instance in instances if not instance.parameters.get("fixed")]
    alike = [i for i in faithful if all(i.parameters.get(key, value) == value for key, value in taken.items())]
    return tuple(replace(i, parameters={**i.parameters, **taken}) for i in alike or faithful)


@dataclass(frozen=True, kw_only=True)
class ByDesign:
    """What happens without a bug with some settings, and what says so: a property that is violated in the instance with these
    ``parameters``, and that holds with other settings.

    ``says`` is a sentence about it; empty is the reason that the property has. ``needs`` are in words what the instance takes
    for granted, besides the events of the run. ``avoided_by`` is what avoids it.
    """

    name: str
    property: str
    parameters: Mapping[str, Value]
    avoided_by: str
    says: str = ""
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class InCluster:
    """What a protocol is to a cluster and its operator.

    ``parts`` of the configuration are reported with it. ``is_run`` says whether a cluster runs the protocol, ``is_checked``
    whether a check of the configuration that names no protocol then checks it, besides looking for its known bugs.
    ``parameters`` are what it takes, in an instance whose other parameters are given; of a protocol that takes nothing no
    instance changes. ``instances`` are those that stand for the cluster, made of what is taken, of the instances of a size,
    and of the name of the size, which is empty where none was asked for. ``refusal`` says why nothing can be said of these
    settings, ``idle`` why nothing that the cluster runs is like the protocol. ``notes`` are lines to print besides.
    ``is_to_blame`` is whether a control that is violated for what is taken is a failure.

    ``harms`` has by a matter of users the properties that a run violates which touches it, ``by_design`` what touches it with
    the settings of a cluster, though no release has a bug. ``events`` names the actions in an
    operator's words; ``by_faults`` are steps that only a fault outside of the model brings about, ``unseen`` counts such faults
    in a run, given as the labels of its actions, each with the values of all variables before it. ``owns_bundles`` is whether
    the protocol decides who owns a bundle. ``harmless`` are parameters that make no difference to any harm, with the values of
    which an instance has the fewest states.
    """

    parts: tuple[Part, ...] = ("control_plane",)
    is_run: Callable[[Configuration], bool] = lambda cluster: False
    is_checked: bool = True
    parameters: Callable[[Configuration, Mapping[str, Value]], Mapping[str, Value]] = lambda cluster, shown: {}
    instances: Callable[[Configuration, Mapping[str, Value], Sequence[Instance], str], Sequence[Instance]] = (
        lambda cluster, taken, instances, size: fitting(instances, taken)
    )
    refusal: Callable[[Configuration], str] = lambda cluster: ""
    idle: Callable[[Configuration], str] = lambda cluster: ""
    notes: Callable[[Configuration], Sequence[str]] = lambda cluster: ()
    is_to_blame: bool = False
    harms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_design: Mapping[str, Callable[[Configuration], Sequence[ByDesign]]] = field(default_factory=dict)
    harmless: Mapping[str, Value] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)
    by_faults: frozenset[str] = frozenset()
    unseen: Callable[[Sequence[tuple[str, Mapping[str, str]]]], Mapping[str, int]] = lambda run: {}
    owns_bundles: bool = False
