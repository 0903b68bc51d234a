"""What a topic takes of a broker's file: the keys that decide what becomes of its messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.settings.cluster_settings import Settings, read_settings
from fencepost.properties.registry import Value
from fencepost.properties.topic.in_cluster import parameters_of

DEFAULTS = {"dedup": False, "timeouts": False, "lazy": False, "elsewhere": False, "metadata_store": "zk", "transfers": 0}


def read(folder: Path, *lines: str) -> Settings:
    (folder / "broker.conf").write_text("\n".join(("managedLedgerDefaultAckQuorum=2", *lines)))
    return read_settings(folder / "broker.conf")


def taken(folder: Path, *lines: str) -> dict[str, Value]:
    return parameters_of(read(folder, *lines).configuration())


def test_what_is_left_out_is_pulsars_default(tmp_path: Path) -> None:
    settings = read(tmp_path)
    assert parameters_of(settings.configuration()) == DEFAULTS
    assert settings.topic.taken == (), "nothing is reported that no file has"


@pytest.mark.parametrize(
    ("line", "parameters"),
    [
        ("brokerDeduplicationEnabled=true", {"dedup": True}),
        ("managedLedgerAddEntryTimeoutSeconds=120", {"timeouts": True}),
        ("managedLedgerAddEntryTimeoutSeconds=-1", {}),
        ("lazyCursorRecovery=true", {"lazy": True}),
        ("bookkeeperMetadataServiceUri=zk+null://zk1:2181/ledgers", {"elsewhere": True}),
        ("bookkeeperMetadataServiceUri=", {}),
        ("managedLedgerMaxEntriesPerLedger=2", {"capacity": 2}),
        ("managedLedgerMaxEntriesPerLedger=50000", {}),
        ("brokerDeleteInactiveTopicsEnabled=false", {"deletions": 0}),
        ("metadataStoreUrl=rocksdb:///tmp/store", {"metadata_store": "rocksdb", "brokers": 1}),
    ],
)
def test_each_key_decides_a_parameter(line: str, parameters: dict[str, bool | int | str], tmp_path: Path) -> None:
    assert taken(tmp_path, line) == {**DEFAULTS, **parameters}


def test_what_is_retained_without_any_limit_is_never_trimmed(tmp_path: Path) -> None:
    time, size = "defaultRetentionTimeInMinutes=-1", "defaultRetentionSizeInMB=-1"
    assert taken(tmp_path, time, size) == {**DEFAULTS, "trims": 0, "deletions": 0}
    assert taken(tmp_path, size) == DEFAULTS, "a time of 0 limits it"
    assert taken(tmp_path, time) == {**DEFAULTS, "deletions": 0}, "a size of 0 limits it, and no topic is deleted"


def test_where_bookkeepers_metadata_are_is_not_printed(tmp_path: Path) -> None:
    (taken,) = read(tmp_path, "bookkeeperMetadataServiceUri=zk+null://secret:2181/ledgers").topic.taken
    assert str(taken) == f"bookkeeperMetadataServiceUri = true ({tmp_path}/broker.conf:2)"


def test_a_value_that_is_no_number_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"conf:2: defaultRetentionSizeInMB = '1G' is not a whole number; write a number"):
        read(tmp_path, "defaultRetentionSizeInMB=1G")
