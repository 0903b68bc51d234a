"""Which known bugs a change of releases takes and brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.questions.bug_change import bug_change
from fencepost.checks.questions.instances import Settings, read_settings
from fencepost.model.releases import Releases
from tests.command import ROOT


@pytest.fixture(scope="module")
def settings() -> Settings:
    return read_settings(ROOT / "docs" / "examples" / "broker.conf")


def test_what_goes_one_way_comes_the_other_way(settings: Settings) -> None:
    up = bug_change(settings, Releases.of("4.0.8"), Releases.of("4.2.4"))
    down = bug_change(settings, Releases.of("4.2.4"), Releases.of("4.0.8"))
    assert (up.go, up.come, set(up.stay)) == (down.come, down.go, set(down.stay))
    assert "topic.removed_producer_publishes" in up.come
    assert "election.event_lost" in up.go
    assert "ledger.captured_ensemble" in up.stay


@pytest.mark.long
def test_the_same_releases_change_nothing(settings: Settings) -> None:
    change = bug_change(settings, Releases.of("4.2.4"), Releases.of("4.2.4"))
    assert not change.go
    assert not change.come
    assert not change.sentences
    assert change.summary.startswith("0 known bugs come, 0 go, ")


@pytest.mark.long
def test_of_what_a_cluster_does_not_run_nothing_is_said(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("loadManagerClassName=org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl\n")
    change = bug_change(read_settings(conf), Releases.of("4.0.8"), Releases.of("5.0.0-M1"))
    assert not [name for name in (*change.go, *change.come, *change.stay) if name.startswith("ownership.")]
