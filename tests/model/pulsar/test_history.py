"""The histories of Pulsar's mistakes: complete, and each consistent in itself."""

from __future__ import annotations

import pytest

from fencepost.model.pulsar.history import OWNERSHIP
from fencepost.model.releases import PULSAR
from fencepost.properties.protocols import PROTOCOLS

CONTROL_PLANE = ("metadata_store", "election", "ownership", "unload", "split", "service_unit", "service_unit_migration")


@pytest.mark.parametrize("name", CONTROL_PLANE)
def test_every_defect_has_a_history(name: str) -> None:
    assert list(PROTOCOLS[name].history) == list(PROTOCOLS[name].build({}).defects)


@pytest.mark.parametrize(("name", "defect"), [(name, defect) for name in CONTROL_PLANE for defect in PROTOCOLS[name].history])
def test_a_history_is_consistent(name: str, defect: str) -> None:
    history = PROTOCOLS[name].history[defect]
    assert history.project == "pulsar"
    assert history.evidence
    assert set(history.present) <= set(PULSAR)
    assert list(history.present) == [release for release in PULSAR if release in history.present]
    assert bool(history.costs) == bool(history.present), "who may meet it is told what it costs"
    assert not history.present or history.since
    assert not (set(history.present) & set(history.fixed.split(", "))), "a release in which it is fixed does not have it"
    assert set(history.reproduced or ()) <= set(history.present)


def test_a_mistake_of_two_protocols_has_one_history() -> None:
    assert PROTOCOLS["unload"].history["stale_unload"] is OWNERSHIP["stale_unload"]
