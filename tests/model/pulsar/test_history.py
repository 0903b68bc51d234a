"""The histories of Pulsar's bugs: complete, and each consistent in itself."""

from __future__ import annotations

import pytest

from fencepost.model.releases import PULSAR
from fencepost.properties.protocols import PROTOCOLS

CONTROL_PLANE = tuple(
    name for name, entry in PROTOCOLS.items() if {bug.project for bug in entry.bugs.values()} == {"pulsar"}
)


@pytest.mark.parametrize("name", CONTROL_PLANE)
def test_every_bug_has_a_history(name: str) -> None:
    assert list(PROTOCOLS[name].bugs) == list(PROTOCOLS[name].build({}).bugs)


@pytest.mark.parametrize(("protocol", "name"), [(each, name) for each in CONTROL_PLANE for name in PROTOCOLS[each].bugs])
def test_a_history_is_consistent(protocol: str, name: str) -> None:
    bug = PROTOCOLS[protocol].bugs[name]
    assert bug.project == "pulsar"
    assert bug.evidence
    assert set(bug.present) <= set(PULSAR)
    assert list(bug.present) == [release for release in PULSAR if release in bug.present]
    assert bool(bug.costs) == bool(bug.present), "who may meet it is told what it costs"
    assert not bug.present or bug.since
    assert not (set(bug.present) & set(bug.fixed.split(", "))), "a release in which it is fixed does not have it"
