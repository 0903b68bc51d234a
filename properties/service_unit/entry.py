"""The entry of ``service_unit`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.service_unit import OUTSIDE, service_unit
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry
from fencepost.properties.service_unit import instances, suite
from fencepost.properties.service_unit.in_cluster import IN_CLUSTER

ENTRY = Entry(
    name="service_unit",
    summary="which broker owns a bundle with the extensible load manager: one record, in a topic or in the metadata store",
    function=service_unit,
    suite=suite.service_unit,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, service_unit),
    mutated=instances.MUTATED,
    outside=OUTSIDE,
    in_cluster=IN_CLUSTER,
)
