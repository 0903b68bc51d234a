"""The instances of the migration from one store of service units to the other."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.properties.registry import Instance, Value

_STILL: Mapping[str, Value] = {"to": "metadata", "restarts": 0}
_DELETED: Mapping[str, Value] = {**_STILL, "unloads": 1, "burials": 1}

SIZES = {
    "ci": (
        Instance("to nodes", {"to": "metadata"}),
        Instance("to the topic", {"to": "topic"}),
        Instance("to nodes, copied", {**_STILL, "unloads": 1}),
    ),
    "standard": (
        Instance("to nodes, all", {"to": "metadata", "restarts": 2}),
        Instance("to the topic, all", {"to": "topic", "restarts": 2}),
        Instance("to nodes, deleted", _DELETED),
    ),
    "deep": (Instance("to nodes, three brokers", {"to": "metadata", "brokers": 3}),),
}
