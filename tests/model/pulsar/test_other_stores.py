"""Protocols over the stores that are not ZooKeeper can be built, with every fault that they know."""

from __future__ import annotations

import pytest

from fencepost.properties.protocols import PROTOCOLS
from tests.marking import first_at_once

FAULTS = {"disconnects", "expiries", "crashes", "closes", "releases", "disables", "unloads", "splits", "timeouts", "failures"}
OVER_STORES = [name for name, entry in PROTOCOLS.items() if "metadata_store" in {p.name for p in entry.parameters}]


@pytest.mark.parametrize("store", first_at_once(["oxia", "etcd"]))
@pytest.mark.parametrize("name", OVER_STORES)
def test_a_protocol_is_built_over_another_store(name: str, store: str) -> None:
    """Where a store keeps its own versions, or catches up, more variables change in one step: each has one value."""
    entry = PROTOCOLS[name]
    faults = {p.name: 1 for p in entry.parameters if p.name in FAULTS and p.type is int}
    protocol = entry.build({**faults, "metadata_store": store})
    assert set(faults) <= {variable.name.rpartition(".")[2] for variable in protocol.variables}
    assert entry.suite(protocol).properties
