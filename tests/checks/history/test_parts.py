"""The lines of a service unit have a run of the model, or none: as brokers of real releases wrote them, and as none would."""

from __future__ import annotations

import json
import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from fencepost.checks.history.explaining import Question
from fencepost.checks.history.logs import add_line
from fencepost.checks.history.rows import Rows
from fencepost.properties.registry import RegistryError

UNIT = "t/n/0x00000000_0xffffffff"
LOGS = Path(__file__).with_name("logs")
"""What a whole broker of a release wrote of its bundle, with the records in the metadata store: it was to give the bundle to a
broker that was dead, and as the leader took it back."""


def verdict(*files: list[str], store: str = "metadata") -> dict[str, str]:
    """What the explanation says of one unit's lines, in so many files."""
    rows = Rows()
    for place, lines in enumerate(files):
        for number, text in enumerate(lines, start=1):
            add_line(rows, text, ZoneInfo("UTC"), "prod", f"file:/logs/broker{place or ''}/log", number, 0)
    (batch,) = [batch for batch in rows.batches() if batch.column("events").null_count < len(batch)]
    events = pa.Table.from_struct_array(batch.column("events"))
    (row,) = Question("service_unit", {"store": store}).verdict(events).to_pylist()
    return dict(row)


def real(release: str) -> list[str]:
    """The lines of a real broker."""
    return (LOGS / f"broker-{release}.log").read_text("utf-8").splitlines()


def steps(row: dict[str, str]) -> list[str]:
    """The steps of the run, with their arguments."""
    states = json.loads(row["trace"])["states"][1:]
    return [" ".join([s["mbt::actionTaken"], *(pick["value"] for pick in s["mbt::nondetPicks"].values())]) for s in states]


def line(minute: float, broker: str, state: str, version: int, dst: str, src: str, written: float | None = None) -> str:
    """A broker that has handled a record, which was written at ``written``, in minutes too."""
    stamp = int(60_000 * (minute if written is None else written))
    clock = f"{int(minute // 60):02d}:{int(minute % 60):02d}:{int(minute * 60 % 60):02d}"
    return (
        f"2026-11-02T{clock},000+0000 [main] INFO  X - {broker} handled "
        f"Transfer:{state} event for serviceUnit:{UNIT}, cur:ServiceUnitStateData[state={state}, dstBroker={dst}, "
        f"sourceBroker={src}, splitServiceUnitToDestBroker=null, force=false, timestamp={stamp}, versionId={version}], next:, "
    )


def transfer(minute: float, version: int, src: str, dst: str) -> list[str]:
    """The lines of a transfer, in the order in which handlers end: the source of the last record before the destination."""
    return [
        line(minute, src, "Releasing", version, dst, src, minute),
        line(minute + 0.02, src, "Owned", version + 2, dst, src, minute + 0.01),
        line(minute + 0.03, dst, "Owned", version + 2, dst, src, minute + 0.01),
        line(minute + 0.04, dst, "Assigning", version + 1, dst, src, minute + 0.005),
    ]


@pytest.mark.parametrize("release", ["4.2.4", "5.0.1"])
def test_what_real_brokers_wrote_is_what_they_did(release: str) -> None:
    row = verdict(real(release))
    assert (row["verdict"], row["events"], row["explained"]) == ("explained", 2, 2), row["why"]
    taken = steps(row)
    wanted = ["transfer b0 b0 u0 b1", "release b0 u0", "clean_up b0 u0 b1 b0"]
    assert [step for step in taken if step in wanted] == wanted
    assert "crash b1" in taken, "the destination is dead"


@pytest.mark.parametrize("store", ["metadata", "topic"])
def test_transfers_on_end_are_explained_whatever_the_order_of_lines(store: str) -> None:
    lines = [*transfer(0, 57, "a", "b"), *transfer(9, 60, "b", "c"), *transfer(20, 63, "c", "a")]
    row = verdict(lines, store=store)
    assert (row["verdict"], row["explained"]) == ("explained", 12), row["why"]


def test_two_owners_in_one_version_have_no_run() -> None:
    lines = transfer(0, 3, "a", "b")
    row = verdict([*lines, line(0.05, "c", "Owned", 5, "c", "a", 0.01)])
    assert (row["verdict"], row["explained"]) == ("unexplained", 4)
    assert row["next"] == "file:/logs/broker/log:5: handled at c"


def test_a_broker_that_releases_what_another_owns_has_no_run() -> None:
    row = verdict([*transfer(0, 3, "a", "b"), *transfer(5, 6, "c", "a")])
    assert row["verdict"] == "unexplained"
    assert row["next"].endswith(":5: handled at c")


def test_an_override_that_gives_the_unit_to_the_broker_that_is_gone_has_no_run() -> None:
    lines = [re.sub(r"(state=Owned, dstBroker=)127.0.0.1:\d+", r"\g<1>127.0.0.1:1", each) for each in real("4.2.4")]
    assert verdict(lines)["verdict"] == "unexplained"


def test_a_unit_whose_record_was_deleted_begins_again_with_the_first_version() -> None:
    lines = [*transfer(0, 3, "a", "b"), *transfer(200, 3, "c", "a")]
    assert verdict(lines)["verdict"] == "explained"
    at_once = [*transfer(0, 3, "a", "b"), *transfer(0.1, 3, "c", "a")]
    assert verdict(at_once)["verdict"] == "unexplained", "nothing can have been deleted in between"


def test_lines_that_are_missing_part_those_before_from_those_after() -> None:
    assert verdict([*transfer(0, 3, "a", "b"), *transfer(500, 80, "c", "a")])["verdict"] == "explained"


def test_exports_of_a_log_that_overlap_have_each_line_once() -> None:
    lines = transfer(0, 3, "a", "b")
    row = verdict(lines[:3], lines[1:])
    assert (row["verdict"], row["events"], row["explained"]) == ("explained", 4, 4)


@pytest.mark.parametrize(
    ("protocol", "why"),
    [
        ("topic", "any broker may open a topic at any time"),
        ("ownership", "no table who lost one"),
        ("election", "no table has events of it"),
    ],
)
def test_of_what_is_not_explained_the_reason_is_told(protocol: str, why: str) -> None:
    with pytest.raises(RegistryError, match=f"--tables explains ledger and service_unit, not {protocol}: .*{why}"):
        Question(protocol, {})
