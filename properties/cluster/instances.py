"""The instances of a cluster."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.properties.registry import Instance, Value

_PLAIN: Mapping[str, Value] = {"dedup": False}
_ONE: Mapping[str, Value] = {"messages": 1}
_ALONE: Mapping[str, Value] = {"brokers": 1, "expiries": 0, "rolls": 1}
_FAULTS: Mapping[str, Value] = {"openings": 3, "ledgers": 4, "rolls": 1, "crashes": 1}

SIZES = {
    "ci": (
        Instance("an expiry", {}),
        Instance("an expiry, no deduplication", {**_PLAIN, **_ONE, "rolls": 1, "ledgers": 4}),
        Instance("an unload", {**_ALONE, "unloads": 1}),
        Instance("a crash", {**_ALONE, "crashes": 1}),
        Instance("an expiry, an owner cut off", {"disconnects": 1}),
        Instance("a crash and a lost disk", {**_ALONE, "crashes": 1, "copies": 2, "disk_losses": 1}),
        Instance("deleted as inactive", {"connections": 1, "deletions": 1, "rolls": 1}),
    ),
    "standard": (
        Instance("an expiry, a crash, a rollover", _FAULTS),
        Instance("an expiry, two messages, no deduplication", _PLAIN),
    ),
    "deep": (Instance("an expiry, a crash, a rollover, no deduplication", {**_FAULTS, **_PLAIN}),),
}
