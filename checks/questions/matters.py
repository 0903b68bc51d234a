"""What users of a cluster ask first, and which guarantees and properties of the protocols answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Matter:
    """A question of a user, to be answered by yes or no.

    ``rows`` are the guarantees that answer it by name. ``violated`` has by protocol the properties that a run violates in which
    it happens: a known bug is searched for them. ``passing`` are the rows of which a run says that it happens for a while.

    ``whole`` is what is violated then in a cluster, as far as a bug of a part enters it by weak moves: a bug that does so there
    needs, besides its own events, those that lead to the move; but the events of ``caused`` are these already. ``copies`` are
    the rows that count copies: what is lost with one of them is lost if the others are, too. ``forgets`` are those of a bookie
    that loses what it has acknowledged, so that a recovery may close a ledger too early. ``controls`` are properties of
    topics that hold with some settings only, each with the setting.
    """

    name: str
    asks: str
    rows: tuple[str, ...]
    violated: Mapping[str, tuple[str, ...]]
    passing: tuple[str, ...] = ()
    whole: str = ""
    caused: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    forgets: tuple[str, ...] = ()
    controls: Mapping[str, str] = field(default_factory=dict)


OF_BOOKIES = ("acknowledged_adds_survive", "answered_fences_survive", "what_is_there_is_not_denied")
"""What a bookie that costs a message violates: it has lost an entry or a fence, or denies what it has."""

MATTERS = (
    Matter(
        "lost",
        "Can an acknowledged message be lost?",
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
        {"ledger": ("no_truncation",), "bookie": OF_BOOKIES, "topic": ("acked_is_in_log",)},
        whole="acked_is_in_log",
        caused=("recoveries",),
        copies=("worker_sessions", "recover"),
        forgets=("killed", "power", "disk_full"),
    ),
    Matter("backlog", "Can a subscription lose its backlog?", ("backlog",), {"topic": ("unread_is_kept",)}),
    Matter(
        "service",
        "Can a topic be out of service for good?",
        ("served", "moved"),
        {
            "topic": ("fenced_is_unfenced",),
            "ownership": ("owned_in_the_end", "lookups_are_answered"),
            "unload": ("owned_in_the_end",),
            "service_unit": ("looked_up_units_are_served", "what_is_owned_can_be_served", "moves_end"),
        },
    ),
    Matter(
        "order",
        "Can messages come twice or out of order?",
        (),
        {"topic": ("in_producer_order", "stored_once")},
        controls={"stored_once": "brokerDeduplicationEnabled=true"},
    ),
    Matter(
        "owners",
        "Can two brokers serve a topic?",
        ("owners", "owners_in_the_end"),
        {
            "ownership": ("single_owner_up_to_date",),
            "unload": ("topic_is_open_once_up_to_date",),
            "service_unit": ("topics_are_kept_once",),
        },
        passing=("owners",),
    ),
)
"""In the order in which they are answered: what costs users most is the first.

A known bug is asked about where its run is shortest: one of a bookie in ``ledger``, if that has it, of a topic in ``topic``.
What it comes to for a user is asked of ``cluster``, which the parts' bugs enter by weak moves.
"""
