"""The instances of auto-recovery."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.properties.registry import Instance, Value

SIZES = {
    "ci": (
        Instance("two away", {"entries": 2, "crashes": 2}),
        Instance("two away, two workers", {"workers": 2, "crashes": 2}),
        Instance("an open ledger", {"opened": True, "entries": 2, "crashes": 2}),
        Instance("a zombie", {"workers": 2, "expiries": 1, "crashes": 2}),
        Instance("the command", {"commands": 1, "crashes": 2}),
        Instance("the command, audited daily", {"commands": 1, "crashes": 2, "daily": True}),
        Instance("the command, after a wait", {"commands": 1, "crashes": 2, "disable": "wait"}),
        Instance("collectors", {"bookies": 4, "crashes": 2, "collects": True}),
        Instance("collectors and the command", {"commands": 1, "crashes": 2, "collects": True}),
        Instance("a lost disk", {"crashes": 1, "losses": 1, "collects": True}),
        Instance("a replaced disk", {"bookies": 4, "crashes": 1, "losses": 1, "integrity": True}),
        Instance("limbo", {"opened": True, "entries": 2, "losses": 1, "integrity": True}),
        Instance("a decommission", {"bookies": 4, "crashes": 2, "decommissions": 1}),
        Instance("a gap and a bad copy", {"crashes": 1, "gaps": 1, "rots": 1}),
    ),
    "standard": (
        Instance("zombies and the command", {"workers": 2, "commands": 1, "expiries": 1, "crashes": 2}),
        Instance("collectors and zombies", {"bookies": 4, "workers": 2, "expiries": 1, "collects": True}),
        Instance("three copies", {"bookies": 4, "ensemble": 3, "workers": 2, "crashes": 2, "entries": 2, "collects": True}),
    ),
    "deep": (
        Instance("all faults", {"workers": 2, "commands": 1, "expiries": 1, "crashes": 2, "losses": 1, "collects": True}),
    ),
}

SHOWN_BY: dict[str, Mapping[str, Value]] = {
    "target_is_a_member": {"commands": 1, "crashes": 2},
    "target_not_asked_again": {"crashes": 1, "losses": 1},
    "collector_trusts_the_lock": {"commands": 1, "collects": True},
    "collected_is_refused": {"expiries": 1, "collects": True},
    "deletes_lock_of_successor": {"workers": 2, "expiries": 1},
    "listed_replica_is_no_news": {"crashes": 2},
    "task_deleted_without_lock": {"workers": 2, "expiries": 1, "crashes": 2},
    "checker_reads_ends_only": {"entries": 3, "crashes": 1, "gaps": 1},
    "checker_ignores_digest": {"crashes": 1, "rots": 1},
    "refill_ignores_digest": {"crashes": 0, "losses": 1, "rots": 1, "integrity": True},
    "refill_by_boot_metadata": {"bookies": 4, "crashes": 1, "losses": 1, "integrity": True},
    "open_fragment_replicated": {"opened": True, "entries": 2},
    "replaced_before_copy": {},
    "collector_takes_no_lock": {"collects": True, "crashes": 1},
    "task_deleted_blindly": {"crashes": 2},
}
