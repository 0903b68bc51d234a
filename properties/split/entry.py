"""The entry of ``split`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.pulsar.resource_lock import RELEASES
from fencepost.model.pulsar.split import split
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.split import suite
from fencepost.properties.split.in_cluster import IN_CLUSTER

_KEPT: Mapping[str, Value] = {"unload_after_split": False}
_ONE: Mapping[str, Value] = {"hashes": 3, **_KEPT}
_TWO: Mapping[str, Value] = {"hashes": 5, "bundles": 2, "splits": 2, **_KEPT}
_FULL: Mapping[str, Value] = {**_TWO, "maximum": 3}
_ANYWHERE: Mapping[str, Value] = {"algorithm": "specified_positions_divide"}
_FAULTS: Mapping[str, Value] = {"disconnects": 3, "expiries": 3, "crashes": 3, "releases": 3}
_EIGHT: Mapping[str, Value] = {"brokers": 5, "hashes": 9, "splits": 9, "maximum": 8, "attempts": 8, **_KEPT}

SIZES = {
    "ci": (
        Instance("one split", {**_ONE, "releases": 1}),
        Instance("two splits", _FULL),
        Instance("two splits, fixed", {**_FULL, "fixed": True}),
        Instance("children unloaded", {**_ONE, "unload_after_split": True}),
        Instance("children in any order", {**_ONE, "in_order": False}),
        Instance("cut off", {**_ONE, "disconnects": 1, "releases": 1}),
        Instance("expiry", {**_ONE, "expiries": 1}),
        Instance("policies", {**_ONE, "policies": True}),
    ),
    "standard": (
        Instance("crash", {**_ONE, "crashes": 1}),
        Instance("one after the other", {"hashes": 4, "splits": 2, "releases": 1, **_KEPT, **_ANYWHERE}),
        Instance("cut off, fixed", {**_ONE, "disconnects": 1, "releases": 1, "fixed": True}),
        Instance("expiry, fixed", {**_ONE, "expiries": 1, "fixed": True}),
        Instance("two splits, policies", {**_TWO, "policies": True}),
        Instance("five brokers, eight bundles", {**_EIGHT, **_FAULTS}, by="induction"),
    ),
    "deep": (
        Instance("three brokers", {**_TWO, "brokers": 3, "releases": 1}),
        Instance("five brokers, eight bundles, no faults", _EIGHT, by="induction"),
        Instance("five brokers, eight bundles, fixed", {**_EIGHT, **_FAULTS, "hashes": 10, "fixed": True}, by="induction"),
    ),
}


MUTATED = (
    Instance("one split, cut off", {**_ONE, "disconnects": 1}),
    Instance("one after the other", {"hashes": 4, "splits": 2, **_KEPT}),
    Instance("alone, expiry and crash", {**_ONE, "brokers": 1, "expiries": 1, "crashes": 1}),
    Instance("a bundle given up, fixed", {**_ONE, "releases": 1, "fixed": True}),
)


ENTRY = Entry(
    name="split",
    summary="how a bundle is split in two: the namespace's layout is changed by compare-and-set, and locks change hands",
    function=split,
    suite=suite.split,
    sizes=SIZES,
    bugs=bugs_beside(__file__, split),
    mutated=MUTATED,
    releases=RELEASES,
    in_cluster=IN_CLUSTER,
)
