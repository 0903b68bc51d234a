"""The instances of a topic."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.properties.registry import Instance, Value

_ALONE: Mapping[str, Value] = {"brokers": 1, "openings": 1, "connections": 1, "rolls": 0, "ledgers": 2}
_AGAIN: Mapping[str, Value] = {**_ALONE, "connections": 2}
_RELOADED: Mapping[str, Value] = {**_AGAIN, "openings": 2, "ledgers": 3}
_ROLLED: Mapping[str, Value] = {**_ALONE, "rolls": 1, "ledgers": 3}
_PLAIN: Mapping[str, Value] = {"dedup": False}
_TRIMMED: Mapping[str, Value] = {**_PLAIN, "trims": 1}
_READ: Mapping[str, Value] = {**_TRIMMED, "subscription": True}
_TWO: Mapping[str, Value] = {"brokers": 2, "messages": 1, "rolls": 0}

SIZES = {
    "ci": (
        Instance("two brokers", {}),
        Instance("two brokers, no deduplication", _PLAIN),
        Instance("failures", {**_ROLLED, "connections": 2, "failures": 2}),
        Instance("failed adds", {**_ROLLED, "connections": 2, "add_failures": 1, "recoveries": 1}),
        Instance("terminated", {**_ROLLED, "terminations": 1, **_PLAIN}),
        Instance("unloaded", {**_RELOADED, "closings": 1, "rolls": 1}),
        Instance("full ledgers, snapshots", {**_RELOADED, "capacity": 1, "snapshots": 1, "crashes": 1, "ledgers": 4}),
        Instance("trimmed", {**_READ, "ledgers": 4, "capacity": 1, "connections": 1, "rolls": 0}),
        Instance("deleted", {**_TWO, "messages": 2, "deletions": 1}),
    ),
    "standard": (
        Instance("two brokers, a failure", {"failures": 1, "ledgers": 4}),
        Instance("two brokers, three messages", {"messages": 3, "ledgers": 3}),
        Instance("two brokers, a crash", {"crashes": 1, "ledgers": 4, "openings": 3}),
        Instance("trimmed, snapshots", {**_RELOADED, "trims": 1, "snapshots": 1, "capacity": 1, "crashes": 1, "ledgers": 4}),
        Instance("terminated and unloaded", {**_ROLLED, "terminations": 1, "closings": 1, "failures": 1, **_PLAIN}),
        Instance("three brokers", {"brokers": 3, "openings": 3, "ledgers": 4}),
        Instance("trimmed twice", {**_READ, "trims": 2, "capacity": 1, "ledgers": 5, "connections": 1, "rolls": 0}),
    ),
    "deep": (
        Instance("two brokers, four ledgers", {"ledgers": 4, "openings": 3, "rolls": 1, "failures": 1, "connections": 3}),
        Instance("two brokers, three messages, a failure", {"messages": 3, "ledgers": 4, "failures": 1, "crashes": 1}),
    ),
}

SHOWN_BY: dict[str, Mapping[str, Value]] = {
    "terminated_reopened": {**_ROLLED, "terminations": 1, "messages": 1},
    "closed_reopened": {**_ROLLED, "closings": 1, "messages": 1},
    "reopened_before_fence": {**_ROLLED, "connections": 2, "failures": 1},
    "removed_producer_publishes": {**_ROLLED, "connections": 2, "failures": 1},
    "resends_recovered": {**_ALONE, "messages": 1, "recoveries": 1},
    "pending_forgotten": {**_ALONE, "messages": 1, "terminations": 1},
    "fenced_context_kept": {**_TWO, "ledgers": 4, "rolls": 1, "connections": 1},
    "close_error_ignored": {**_ALONE, "messages": 1, "capacity": 1, "recoveries": 1, "unfenced": True},
    "snapshot_ahead": {**_RELOADED, "messages": 1, "capacity": 1, "snapshots": 1, "crashes": 1},
    "properties_dropped": {**_RELOADED, "messages": 1, "snapshots": 1, "crashes": 1, "failures": 1},
    "cursor_list_stale": {
        **_RELOADED,
        **_READ,
        "messages": 1,
        "crashes": 1,
        "failures": 1,
        "metadata_store": "oxia",
    },
    "lazy_cursors_not_waited": {
        **_RELOADED,
        "messages": 1,
        "subscription": True,
        **_PLAIN,
        "trims": 1,
        "crashes": 1,
        "lazy": True,
    },
    "zombie_deletes": {**_TWO, "connections": 1, "deletions": 1},
    "trimmed_before_listed": {**_ALONE, **_TRIMMED, "capacity": 1, "failures": 1, "ledgers": 3},
    "trim_mark_in_memory": {**_ALONE, **_READ, "messages": 1, "capacity": 1},
    "missing_last_dropped": {**_RELOADED, "messages": 1, "crashes": 1, "failures": 1, "elsewhere": True},
    "goes_on_after_bad_version": {**_TWO, "rolls": 1},
    "timeout_races_ack": {**_ALONE, "add_failures": 1},
    "fenced_unknown_end": {**_ALONE, "recoveries": 1},
    "rollover_during_creation": {**_RELOADED, "messages": 1, "rolls": 1, "crashes": 1},
    "payload_error_goes_on": {**_AGAIN, "failures": 1},
    "terminate_without_mutex": {**_ROLLED, "messages": 1, "terminations": 1},
    "no_recovery": {**_TWO, "messages": 2},
    "list_without_version": {**_TWO},
    "written_before_listed": {**_TWO, "rolls": 1},
    "listed_before_created": {**_ALONE, "messages": 1},
}

MUTATED = (
    Instance("failures", {**_ROLLED, "connections": 2, "failures": 1}),
    Instance("failed adds", {**_ROLLED, "connections": 2, "add_failures": 1, "recoveries": 1}),
    Instance("two brokers, one message", {"messages": 1, "ledgers": 4, **_PLAIN}),
    Instance("reloaded", {**_RELOADED, "capacity": 1, "snapshots": 1, "crashes": 1}),
    Instance("terminated", {**_ROLLED, "terminations": 1, **_PLAIN}),
    Instance("unloaded", {**_RELOADED, "closings": 1, "rolls": 1}),
    Instance("trimmed", {**_ALONE, **_READ, "capacity": 1, "ledgers": 3}),
    Instance("deleted", {**_TWO, "deletions": 1}),
    Instance("two brokers, full ledgers", {**_TWO, "capacity": 1, "connections": 1}),
)
