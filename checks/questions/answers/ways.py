"""The ways in which something happens to users, the answer that they are, and the order in which a report has them.

A way has what must coincide for its run, in an operator's words. Events have names, by which users say what does not happen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.checks.engines.results.findings import Checked, Settled
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.matters import UNDER_WAY, Matter
from fencepost.checks.settings.switches import SwitchedOn
from fencepost.model.language import Protocol
from fencepost.model.language.mistakes import guess
from fencepost.properties.bugs import Bug
from fencepost.properties.configuration import InCluster
from fencepost.properties.registry import Entry, RegistryError
from fencepost.traces.trace import Trace

if TYPE_CHECKING:
    from fencepost.checks.questions.guarantees.establishing import Established


@dataclass(frozen=True)
class Event:
    """An event by its name: what it is, the words by which a way's needs name it, and whether it is an act of an
    administrator: the cluster does nothing of it by itself."""

    says: str
    words: tuple[str, ...]
    is_act: bool = False


EVENTS: Mapping[str, Event] = {
    "termination": Event("a topic is terminated", ("termination of the topic",), is_act=True),
    "truncation": Event("a topic is truncated", ("truncation of the topic",), is_act=True),
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
    "seek": Event("a subscription is moved", ("seek of the subscription",)),
    "many-ranges": Event("more ranges are acknowledged than are persisted", ("more ranges of acknowledged messages",)),
    "topic-close": Event("a topic is closed", ("topic that is closed", "topic that does not close")),
    "returned-copy": Event("auto-recovery brings a deleted copy back", ("copy that auto-recovery brings back",)),
    "properties-update": Event("the properties of a topic are updated", ("update of the topic's properties",)),
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


@dataclass(frozen=True)
class Way:
    """One way in which something happens: the run that shows it, and what must coincide.

    ``name`` is that of a known bug or, where none is needed, of the guarantee that ends there; ``what`` says what it is.
    ``needs`` are the events that must coincide, in words, and ``faults`` how many of them are faults. ``bug`` is what is
    known of the bug, None of what no bug is to blame for. ``row`` is the guarantee that shows it, if one does, and ``violates``
    the property of the protocol that the run violates. ``whole`` is the check of a cluster that the bug enters by weak moves:
    its run is from the acknowledgement to the loss. ``avoided_by`` is the setting that avoids what is no bug. ``open`` says why
    it is not known what else must coincide: the search of the cluster was cut short, or that of the part.
    """

    name: str
    what: str
    needs: tuple[str, ...]
    faults: int
    checked: Checked
    verdict: Verdict
    bug: Bug | None = None
    row: Established | None = None
    violates: str = ""
    whole: Checked | None = None
    avoided_by: str = ""
    open: str = ""

    @property
    def run(self) -> Trace:
        """The run that a user meets: in the whole cluster, if the bug enters that."""
        return (self.verdict if self.whole is None else self.whole.verdicts[0]).run

    @property
    def steps(self) -> list[str]:
        """The run that a user meets, by the labels of its steps."""
        return [step.action for step in self.run.steps]


@dataclass(frozen=True)
class Sorted:
    """The ways of an answer: those that ``count``, those ``only_if`` an administrator acts, those that ``never`` happen, and
    those by a known bug that is ``accepted``."""

    count: tuple[Way, ...]
    only_if: tuple[Way, ...]
    never: tuple[Way, ...]
    accepted: tuple[Way, ...] = ()

    @property
    def left_out(self) -> tuple[Way, ...]:
        """Those that no report counts or tells of, except by name."""
        return self.accepted + self.never

    @property
    def acts(self) -> tuple[str, ...]:
        """The acts that bring ways about, in words."""
        return tuple(dict.fromkeys(EVENTS[act].says for way in self.only_if for act in acts_in(way)))


@dataclass(frozen=True)
class Answer:
    """The answer to a question of a user.

    ``ways`` are those in which it happens, what needs the fewest faults first; ``shown`` are the guarantees that hold, each
    with the events that were asked about, or with as many as it survives; ``gaps`` say what was cut short. ``searched`` has by
    name the known bugs, and the properties of settings, that were searched for it alone, to the end. ``told`` are bugs that
    were not, since another answer has them. ``covered`` are known bugs by which a bundle has two owners, and it
    does not happen all the same: each with the protections that keep it from that. ``orders`` are the settings by which it
    happens because they say so. ``by_design`` are the names of what was searched of settings, and not of known bugs. ``never``
    are the events that do not happen here, ``accepted`` the known bugs that are; and the first way has the number ``first``, so
    that each has one among those of all answers.
    """

    matter: Matter
    ways: tuple[Way, ...]
    shown: tuple[Established, ...]
    gaps: tuple[str, ...]
    searched: Mapping[str, Settled]
    told: tuple[str, ...] = ()
    covered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    orders: tuple[SwitchedOn, ...] = ()
    by_design: tuple[str, ...] = ()
    never: frozenset[str] = frozenset()
    accepted: frozenset[str] = frozenset()
    first: int = 1

    @property
    def sorted(self) -> Sorted:
        """The ways as every report counts and lists them."""
        return in_order(self.ways, self.never, self.accepted)

    @property
    def numbered(self) -> tuple[tuple[int, Way], ...]:
        """Each way that a report has, with its number: first those that count, then those that an act brings about."""
        return tuple(enumerate((*self.sorted.count, *self.sorted.only_if), self.first))

    @property
    def value(self) -> str:
        """``yes``; ``as ordered`` if nothing but settings brings it about; else what there is without them."""
        return "as ordered" if self.orders and not self.lasting else self.unordered

    @property
    def unordered(self) -> str:
        """What it is apart from what settings order: ``yes`` or ``for a while``; ``no`` if complete searches alone found
        nothing; where one was cut short, or none was made, ``unknown``."""
        if self.ways:
            return "yes" if self.lasting else "for a while"
        return "no" if (self.searched or self.shown) and not self.gaps else "unknown"

    @property
    def lasting(self) -> tuple[Way, ...]:
        """The ways by which it does not only happen for a while."""
        passing = self.matter.passing
        return tuple(way for way in self.ways if way.row is None or way.row.guarantee.name not in passing)


def events_in(way: Way) -> tuple[str, ...]:
    """The names of the events that a way needs, in the order of its needs."""
    found = (name for need in way.needs for name, event in EVENTS.items() if any(words in need for words in event.words))
    return tuple(dict.fromkeys(found))


def acts_in(way: Way) -> tuple[str, ...]:
    """The acts of an administrator without which there is no such way."""
    return tuple(name for name in events_in(way) if EVENTS[name].is_act)


def in_order(ways: Iterable[Way], excluded: Collection[str], accepted: Collection[str] = ()) -> Sorted:
    """The ways in the order of a report: acts stand last; what needs an event that does not happen here, and what is by a known
    bug of an ``accepted`` name, is apart."""
    ways = list(ways)
    out = [way for way in ways if set(events_in(way)) & set(excluded)]
    borne = [way for way in ways if way not in out and way.bug is not None and way.name in accepted]
    acts = [way for way in ways if way not in out and way not in borne and acts_in(way)]
    count = [way for way in ways if way not in out and way not in borne and way not in acts]
    return Sorted(tuple(count), tuple(acts), tuple(out), tuple(borne))
