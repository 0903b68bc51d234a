"""The entry of ``service_unit_migration`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.pulsar.service_unit import OUTSIDE, service_unit_migration
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.service_unit_migration import suite

_STILL: Mapping[str, Value] = {"to": "metadata", "restarts": 0}
_MOVED: Mapping[str, Value] = {"unloads": 1, "lag": 2}
"""A unit that is unloaded while a broker is restarted: brokers close topics because the unit is another's."""
_DELETED: Mapping[str, Value] = {**_STILL, "unloads": 1, "burials": 1}

SIZES = {
    "ci": (
        Instance("to nodes", {**_MOVED, "to": "metadata"}),
        Instance("to the topic", {**_MOVED, "to": "topic", "multi_phase": False}),
        Instance("to nodes, copied", {**_STILL, "unloads": 1}),
    ),
    "standard": (
        Instance("to nodes, late", {"to": "metadata", "unloads": 1}),
        Instance("to the topic, late", {"to": "topic", "unloads": 1}),
        Instance("to nodes, all", {"to": "metadata", "restarts": 2}),
        Instance("to the topic, all", {"to": "topic", "restarts": 2}),
        Instance("to nodes, deleted", _DELETED),
    ),
    "deep": (Instance("to nodes, three brokers", {"to": "metadata", "brokers": 3}),),
}


ENTRY = Entry(
    name="service_unit_migration",
    summary="how a cluster changes from one store of service units to the other: a syncer copies, and brokers are restarted",
    function=service_unit_migration,
    suite=suite.service_unit_migration,
    sizes=SIZES,
    bugs=bugs_beside(__file__, service_unit_migration),
    outside=OUTSIDE,
)
