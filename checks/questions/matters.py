"""What users of a cluster ask first, and which guarantees and properties of the protocols answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Matter:
    """A question of a user, to be answered by yes or no.

    ``rows`` are the guarantees that answer it by name. ``violated`` has by protocol the properties that a run violates in which
    it happens: a known bug is searched for them. ``passing`` are the rows of which a run says that it happens for a while.
    """

    name: str
    asks: str
    rows: tuple[str, ...]
    violated: Mapping[str, tuple[str, ...]]
    passing: tuple[str, ...] = ()


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
        ),
        {"ledger": ("no_truncation",), "topic": ("acked_is_in_log",)},
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

Known bugs are asked about where their run is shortest: one of a bookie in ``ledger``, where it loses an entry, of a topic in
``topic`` and not in ``cluster``, which has it by a weak move. The bugs of auto-recovery take copies. A message is lost if the
other copies go, too: the rows ``worker_sessions`` and ``recover`` count these.
"""
