"""The questions: those of users, to be answered by yes or no, and those with a number for an answer; and what users require.

Nothing is established here, so that a check of a protocol loads no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from fencepost.checks.settings.broker_conf import Taken
from fencepost.model.language import Protocol
from fencepost.model.language.mistakes import guess
from fencepost.properties.configuration import Configuration
from fencepost.properties.registry import Entry, Instance, RegistryError, Value
from fencepost.properties.theorems import Theory

Through = Literal["a recovery", "copies", "a bookie that forgets"]
"""How what a row shows reaches a user: its events lead to the weak move already; what is lost with one copy is lost if the
others are, too; or a bookie has lost what it has acknowledged, so that a recovery may close a ledger too early."""


@dataclass(frozen=True)
class Matter:
    """A question of a user, to be answered by yes or no.

    ``rows`` are the guarantees that answer it by name. The rooms of the protocols name the properties that a run violates in
    which it happens (``InCluster.harms``): a known bug is searched for them, and what happens with some settings by design
    (``InCluster.by_design``). ``passing`` are the rows of which a run says that it happens for a while.

    ``says`` is what a *yes* says.

    ``whole`` is what is violated then in a cluster, which a bug of a part enters by weak moves, each with the parameters of the
    instance that shows it: a bug that does so there needs, besides its own events, those that lead to the move. ``through``
    says of a row how what it shows reaches a user, if not so. ``after`` is the property of a cluster that a bug violates of
    which another answer has told already: it is not told again. ``asked_of`` says whether it is asked of a cluster.
    ``minor`` is whether it costs little: Pulsar promises a subscription each message at least once.
    """

    name: str
    asks: str
    says: str
    rows: tuple[str, ...]
    passing: tuple[str, ...] = ()
    whole: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    through: Mapping[str, Through] = field(default_factory=dict)
    after: str = ""
    asked_of: Callable[[Configuration], bool] = lambda cluster: True
    minor: bool = False


UNDER_WAY = {"migration": "a migration of the metadata to another store, such as from ZooKeeper to Oxia"}
"""What an instance takes for granted that is no fault, and that few clusters do, by the parameter that says so."""

LOST = "acked_is_in_log"
"""What a cluster violates that loses an acknowledged message."""

MATTERS = (
    Matter(
        "lost",
        "Can an acknowledged message be lost?",
        "an acknowledged message can be lost",
        (
            "disks",
            "recoveries",
            "restarts",
            "changes",
            "wiped",
            "lost_sessions",
            "failed_updates",
            "broker_crashes",
            "disks_after_change",
            "killed",
            "power",
            "disk_full",
            "worker_sessions",
            "recover",
        ),
        whole={LOST: {}},
        through={
            "recoveries": "a recovery",
            **dict.fromkeys(("worker_sessions", "recover"), "copies"),
            **dict.fromkeys(("killed", "power", "disk_full"), "a bookie that forgets"),
        },
    ),
    Matter(
        "backlog",
        "Can a subscription miss messages?",
        "a subscription can miss messages",
        ("backlog",),
        whole={"unread_is_kept": {"messages": 1, "subscription": True, "trims": 1, "ledgers": 3, "rolls": 1}},
    ),
    Matter(
        "service",
        "Can a topic be out of service for good?",
        "a topic can be out of service for good",
        ("served", "moved"),
    ),
    Matter(
        "order",
        "Can messages come twice or out of order?",
        "messages can come twice or out of order",
        (),
        whole={"in_producer_order": {"messages": 2}, "stored_once": {}},
        after=LOST,
    ),
    Matter(
        "owners",
        "Can two brokers serve a topic?",
        "two brokers can serve a topic",
        ("owners", "owners_in_the_end"),
        passing=("owners",),
    ),
    Matter(
        "elsewhere",
        "Can a message be missing in the other cluster?",
        "a message can be missing in the other cluster",
        (),
        asked_of=lambda cluster: cluster.topics.replicated,
    ),
    Matter(
        "again",
        "Are messages delivered again that were acknowledged?",
        "messages that were acknowledged can be delivered again",
        (),
        minor=True,
    ),
)
"""In the order in which they are answered: what costs users most is the first.

A known bug is asked about where its run is shortest: one of a bookie in ``ledger``, if that has it, of a topic in ``topic``.
What it comes to for a user is asked of ``cluster``, which the parts' bugs enter by weak moves. Who serves a topic is asked of
the parts alone: a weak move may leave a bundle without an owner for longer than the bug behind it does.
"""


TOGETHER: Mapping[str, tuple[str, ...]] = {"bookies_down": ("writing", "reading", "recovery")}
"""Names for several guarantees at once, each of which is required."""

DISKS = ("disks", "usual_disks", "disks_one_gone", "disks_after_change")
LEDGER = (*DISKS, *TOGETHER["bookies_down"], "recoveries", "restarts", "changes", "wiped")
STEPS = ("unserved", "unloaded")
"""The guarantees that are numbers of steps, of which few are wanted."""

BUNDLES = ("owners", "owners_in_the_end", "served", "moved", *STEPS, "hash_range")

TOPICS = ("lost_sessions", "failed_updates", "broker_crashes", "backlog")

BOOKIES = ("killed", "power", "disk_full", "replaced", "audits", "worker_sessions", "recover")
"""The guarantees of a bookie, which only a file of a bookie has."""

RACKS = tuple(name.format(of) for of in ("racks", "regions") for name in ("{}", "usual_{}", "{}_after_outage", "{}_writing"))
"""The guarantees of racks and regions, which only a profile or a cluster that names them has."""

NAMES = (*LEDGER, *RACKS, *BOOKIES, *TOPICS, *BUNDLES)
"""The guarantees that can be required, in the order in which they are reported."""


@dataclass(frozen=True)
class Requirement:
    """The guarantees of these names must be of so many events at least, or steps at most; ``text`` is how it was written."""

    text: str
    names: tuple[str, ...]
    number: int

    def met_by(self, figure: int) -> bool:
        """Whether a guarantee of that many meets it."""
        return figure <= self.number if self.names[0] in STEPS else figure >= self.number


def requirement(text: str) -> Requirement:
    """The requirement that is written as ``NAME>=N``, or of steps as ``NAME<=N``; RegistryError, with the remedy, if it is
    none."""
    match = re.fullmatch(r"\s*(\w+)\s*([<>]=)\s*([0-9]{1,4})\s*", text)
    if not match:
        raise RegistryError(f"{text!r} is not of the form NAME>=N, such as disks>=1")
    name, sign, number = match[1], match[2], int(match[3])
    known = (*NAMES, *TOGETHER)
    if name not in known:
        meant = guess(name, known)
        raise RegistryError(f"there is no guarantee {name!r}{meant}; there are {', '.join(known)}")
    if (sign == "<=") != (name in STEPS):
        raise RegistryError(f"{text!r} points the wrong way; write {name}{'<=' if name in STEPS else '>='}{number}")
    return Requirement(f"{name}{sign}{number}", TOGETHER.get(name, (name,)), number)


@dataclass(frozen=True)
class Guarantee:
    """A question: up to how many events of a kind do the properties of an entry's suite hold?

    ``says`` is the answer, with ``{n}`` for the events and ``{s}`` for the plural of the word before it, ``denies`` what is
    said where it is none. ``counts`` are the parameters that bound the events, ``most`` is how many are asked about.
    ``bugs`` are bugs of the release, switched on one at a time, each in the instance with these parameters in place of
    the others, besides the instance without. ``first`` builds the protocol with fewer runs, in which what is wrong shows
    soonest; ``symmetric`` has a search visit one state for all that differ only in which member is which. ``raised_by`` are
    sets of sizes of which one more may raise the number. Of a question that is ``fewer`` it is one of steps, and the fewer the
    better; ``steps_of`` names what takes them, and steps of two names are not compared. ``event`` names what is counted, with
    ``{n}`` and ``{s}``, if that are events. ``exposed_by`` are the settings without which nothing would be wrong,
    ``unasked`` says why the question cannot be asked of these settings, and
    ``unasked_by`` by which of them. With ``never`` what is denied can never come about with these settings, and the denial says
    what to do. A theory is asked whether its theorems hold.
    """

    name: str
    says: str
    denies: str
    entry: Entry | Theory
    parameters: Mapping[str, Value]
    counts: tuple[str, ...]
    most: int
    bugs: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    first: Callable[..., Protocol] | None = None
    symmetric: bool = False
    raised_by: tuple[tuple[str, ...], ...] = ()
    fewer: bool = False
    steps_of: str = ""
    event: str = ""
    exposed_by: tuple[Taken[bool], ...] = ()
    unasked: str = ""
    unasked_by: Taken[str] | None = None
    never: bool = False

    def asked(self, events: int) -> Iterator[tuple[Instance, tuple[str, ...]]]:
        """The instances in which so many events are possible, each with the bugs that are switched on."""
        name, budgets = f"{self.name}, {events}", dict.fromkeys(self.counts, events)
        yield Instance(name, {**self.parameters, **budgets}), ()
        for bug, parameters in self.bugs.items():
            yield Instance(name, {**parameters, **budgets}), (bug,)

    def narrowed(self, bugs: tuple[str, ...]) -> Entry | None:
        """The entry to ask first, of an instance with these bugs; None if there is none that could fail sooner."""
        if self.first is None or isinstance(self.entry, Theory) or (self.bugs and not bugs):
            return None
        return replace(self.entry, function=self.first)

    def counted(self, number: int) -> str:
        """So many of what is counted, in words."""
        return self.event.format(n=number, s="" if number == 1 else "s")

    def denied(self, number: int) -> str:
        """What so many events are to a cluster that does not survive them."""
        return self.denies if number == 1 else f"more than {self.counted(number - 1)}"

    def sentence(self, events: int) -> str:
        """What is guaranteed of that many events."""
        return self.says.format(n=events, s="" if events == 1 else "s") if events else self.denies
