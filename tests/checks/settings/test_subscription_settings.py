"""What a subscription takes of a broker's file, and what comes again by design with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.settings.cluster_settings import read_settings
from fencepost.model.releases import Releases
from fencepost.properties.configuration import ByDesign, Configuration
from fencepost.properties.subscription.in_cluster import IN_CLUSTER

EARLY, MANY = "answered_before_it_is_written", "more_ranges_than_are_persisted"


def read(folder: Path, release: str, *lines: str) -> Configuration:
    (folder / "broker.conf").write_text("\n".join(("managedLedgerDefaultAckQuorum=2", *lines)))
    return read_settings(folder / "broker.conf").configuration(Releases.of(release))


def designs(cluster: Configuration) -> dict[str, ByDesign]:
    return {each.name: each for each in IN_CLUSTER.by_design["again"](cluster)}


@pytest.mark.parametrize(
    ("release", "ranges", "long_arrays"),
    [
        ("2.10.1", 10_000, False),
        ("3.0.7", 10_000, False),
        ("4.0.8", 10_000, False),
        ("4.2.4", 10_000, True),
        ("5.0.0-M1", 200_000, True),
        ("5.0.1", 200_000, True),
    ],
)
def test_what_is_left_out_is_the_default_of_the_release(release: str, ranges: int, long_arrays: bool, tmp_path: Path) -> None:
    cluster = read(tmp_path, release)
    assert IN_CLUSTER.parameters(cluster, {}) == {"long_arrays": long_arrays, "limited": True}
    assert designs(cluster).keys() == {EARLY, MANY}
    assert designs(cluster)[MANY].needs == (
        f"more ranges of acknowledged messages than managedLedgerMaxUnackedRangesToPersist={ranges}",
    )


@pytest.mark.parametrize(
    ("release", "lines", "long_arrays"),
    [
        ("5.0.1", ["managedLedgerPersistIndividualAckAsLongArray=false"], False),
        ("5.0.1", ["managedLedgerUnackedRangesOpenCacheSetEnabled=false"], True),
        ("5.0.0-M1", ["managedLedgerUnackedRangesOpenCacheSetEnabled=false"], False),
        ("4.0.8", ["managedLedgerPersistIndividualAckAsLongArray=true"], True),
        ("3.0.7", ["managedLedgerPersistIndividualAckAsLongArray=true"], False),
    ],
)
def test_long_arrays_take_both_settings_and_a_release_that_has_them(
    release: str, lines: list[str], long_arrays: bool, tmp_path: Path
) -> None:
    cluster = read(tmp_path, release, *lines)
    assert cluster.topics.long_arrays is long_arrays
    assert designs(cluster)[MANY].parameters["long_arrays"] is long_arrays


def test_without_a_limit_of_the_rate_nothing_is_answered_before_it_is_written(tmp_path: Path) -> None:
    for rate, names in (("0", {MANY}), ("0.0", {MANY}), ("0.5", {EARLY, MANY})):
        cluster = read(tmp_path, "5.0.1", f"managedLedgerDefaultMarkDeleteRateLimit={rate}")
        assert designs(cluster).keys() == names
        assert IN_CLUSTER.parameters(cluster, {})["limited"] is (EARLY in names)
    older = designs(read(tmp_path, "4.2.4", "managedLedgerDefaultMarkDeleteRateLimit=0"))
    assert older[EARLY].avoided_by == "", "the broker answers a client without waiting for the cursor"


def test_a_policy_of_a_namespace_counts_before_the_rate_of_the_brokers(tmp_path: Path) -> None:
    policies = tmp_path / "policies.json"
    policies.write_text('{"persistence": {"managedLedgerMaxMarkDeleteRate": 0.0}, "replication_clusters": []}')
    (tmp_path / "broker.conf").write_text("managedLedgerDefaultAckQuorum=2\nmanagedLedgerDefaultMarkDeleteRateLimit=1.0")
    assert not read_settings(tmp_path / "broker.conf", policies).configuration().topics.answers_early


@pytest.mark.parametrize("text", ["-1", "one", "1e3"])
def test_a_rate_that_is_none_is_refused_with_the_remedy(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a number from 0 on; write the writes in a second"):
        read(tmp_path, "5.0.1", f"managedLedgerDefaultMarkDeleteRateLimit={text}")
