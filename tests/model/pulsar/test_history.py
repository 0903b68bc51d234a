"""The histories of Pulsar's mistakes: complete, and each consistent in itself."""

from __future__ import annotations

import pytest

from fencepost.model.releases import PULSAR
from fencepost.properties.protocols import PROTOCOLS

CONTROL_PLANE = tuple(
    name for name, entry in PROTOCOLS.items() if {history.project for history in entry.history.values()} == {"pulsar"}
)


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
