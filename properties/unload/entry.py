"""The entry of ``unload`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.pulsar.resource_lock import RELEASES
from fencepost.model.pulsar.unload import unload
from fencepost.properties.any_size import General, sizes_from
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.unload import suite
from fencepost.properties.unload.in_cluster import IN_CLUSTER

_CUT_OFF: Mapping[str, Value] = {"disconnects": 1, "expiries": 1}
_TOPICS: Mapping[str, Value] = {"timeouts": 1, "failures": 1}
_MANY: Mapping[str, Value] = {
    "brokers": 5, "bundles": 8, "unloads": 3, "disconnects": 3, "expiries": 3, "crashes": 3, "timeouts": 3, "failures": 3
}  # fmt: skip

SIZES = {
    "ci": (
        Instance("late and failing topics", {"brokers": 3, **_TOPICS, "unloads": 2}),
        Instance("cut off", _CUT_OFF),
        Instance("crash", {"crashes": 1, **_TOPICS}),
        Instance("cut off, fixed", {**_CUT_OFF, **_TOPICS, "fixed": True}),
    ),
    "standard": (
        Instance("all faults", {**_CUT_OFF, **_TOPICS, "crashes": 1}),
        Instance("three brokers", {"brokers": 3, "expiries": 1, "timeouts": 1}),
        Instance("two bundles", {"bundles": 2, "expiries": 1, "unloads": 2, "fixed": True}),
        Instance("five brokers, eight bundles", _MANY, by="induction"),
        Instance("five brokers, eight bundles, fixed", {**_MANY, "fixed": True}, by="induction"),
    ),
    "deep": (Instance("three brokers, all faults", {"brokers": 3, **_CUT_OFF, **_TOPICS, "crashes": 1}),),
}


_ALL: Mapping[str, Value] = {**_CUT_OFF, **_TOPICS, "crashes": 1, "fixed": True}

GENERAL = General(
    {
        "brokers": sizes_from("brokers", 2, 1, alike=True),
        "bundles": sizes_from("bundles", 1, alike=True),
    },
    (
        Instance("all faults, fixed", _ALL, by="induction", any=("brokers",)),
        Instance("all faults, fixed", _ALL, by="induction", any=("brokers", "bundles")),
    ),
    lambda parameters, names: "",
    "what happens in the end",
    steps=True,
)


ENTRY = Entry(
    name="unload",
    summary="how a broker gives a bundle up: inactive, topics closed, lock released",
    function=unload,
    suite=suite.unload,
    sizes=SIZES,
    bugs=bugs_beside(__file__, unload),
    releases=RELEASES,
    general=GENERAL,
    in_cluster=IN_CLUSTER,
)
