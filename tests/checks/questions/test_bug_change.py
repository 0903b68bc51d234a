"""Which known bugs a change of releases takes and brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.questions.bug_change import BugChange, bug_change, bugs_of
from fencepost.checks.questions.instances import Settings, read_settings
from fencepost.model.releases import Releases
from tests.command import ROOT


@pytest.fixture(scope="module")
def settings() -> Settings:
    return read_settings(ROOT / "docs" / "examples" / "broker.conf")


def changed(settings: Settings, before: str, now: str, former: Settings | None = None) -> BugChange:
    then, today = bugs_of(former or settings, Releases.of(before)), bugs_of(settings, Releases.of(now))
    return bug_change(before, then, now, today)


def test_what_goes_one_way_comes_the_other_way(settings: Settings) -> None:
    up = changed(settings, "4.0.8", "4.2.4")
    down = changed(settings, "4.2.4", "4.0.8")
    assert (up.go, up.come, set(up.stay)) == (down.come, down.go, set(down.stay))
    assert "topic.removed_producer_publishes" in up.come
    assert "election.event_lost" in up.go
    assert "ledger.captured_ensemble" in up.stay


@pytest.mark.long
def test_the_same_releases_change_nothing(settings: Settings) -> None:
    change = changed(settings, "4.2.4", "4.2.4")
    assert not change.go
    assert not change.come
    assert not change.sentences
    assert change.summary.startswith("0 known bugs come, 0 go, ")


@pytest.mark.long
def test_of_what_a_cluster_does_not_run_nothing_is_said(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("loadManagerClassName=org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl\n")
    change = changed(read_settings(conf), "4.0.8", "5.0.0-M1")
    assert not [name for name in (*change.go, *change.come, *change.stay) if name.startswith("ownership.")]


@pytest.mark.long
def test_another_load_manager_brings_its_own_bugs(settings: Settings, tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("loadManagerClassName=org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl\n")
    change = changed(read_settings(conf), "4.2.4", "4.2.4", former=settings)
    assert "ownership.found_lock_unattended" in change.go
    assert "service_unit.close_overtaken" in change.come
    assert "topic.zombie_deletes" in change.stay
