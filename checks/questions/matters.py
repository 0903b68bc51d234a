"""What users of a cluster ask first, which guarantees and properties of the protocols answer it, and what users require.

Nothing is established here, so that a check of a protocol loads no more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fencepost.model.language.mistakes import guess
from fencepost.properties.registry import RegistryError, Value

Through = Literal["a recovery", "copies", "a bookie that forgets"]
"""How what a row shows reaches a user: its events lead to the weak move already; what is lost with one copy is lost if the
others are, too; or a bookie has lost what it has acknowledged, so that a recovery may close a ledger too early."""


@dataclass(frozen=True)
class Matter:
    """A question of a user, to be answered by yes or no.

    ``rows`` are the guarantees that answer it by name. The rooms of the protocols name the properties that a run violates in
    which it happens (``InCluster.harms``): a known bug is searched for them. ``passing`` are the rows of which a run says that
    it happens for a while.

    ``says`` is what a *yes* says.

    ``whole`` is what is violated then in a cluster, which a bug of a part enters by weak moves, each with the parameters of the
    instance that shows it: a bug that does so there needs, besides its own events, those that lead to the move. ``through``
    says of a row how what it shows reaches a user, if not so. ``after`` is the property of a cluster that a bug violates of
    which another answer has told already: it is not told again. ``controls`` are properties of topics that hold with some
    settings only, each with the setting.
    """

    name: str
    asks: str
    says: str
    rows: tuple[str, ...]
    passing: tuple[str, ...] = ()
    whole: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    through: Mapping[str, Through] = field(default_factory=dict)
    after: str = ""
    controls: Mapping[str, str] = field(default_factory=dict)


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
        "Can a subscription lose its backlog?",
        "a subscription can lose its backlog",
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
        controls={"stored_once": "brokerDeduplicationEnabled=true"},
    ),
    Matter(
        "owners",
        "Can two brokers serve a topic?",
        "two brokers can serve a topic",
        ("owners", "owners_in_the_end"),
        passing=("owners",),
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
