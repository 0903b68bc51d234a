"""Files become rows: each kind of them, once, whole, and what cannot be read with its line and the reason."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.checks.history.conftest import Ingest
from tests.checks.history.made import BEGIN, log_line, matrix, openmetrics, snapshots, write_snapshots

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

UNLOAD = "[ThresholdShedder] Unloading bundle: {} from broker broker-1:8080 to dest broker broker-2:8080"
BUNDLE = "public/ns-0/0x00000000_0x80000000"
CHANNEL = (
    "{0} handled Transfer:{1} event for serviceUnit:{2}, cur:ServiceUnitStateData[state={1}, dstBroker=broker-2:8080, "
    "sourceBroker=broker-1:8080, splitServiceUnitToDestBroker=null, force=false, timestamp=1, versionId={3}], next:, "
    "totalHandledRequests:1, totalFailedRequests:0"
)
NOW = datetime(2026, 12, 1, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def _written_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written after what they tell of, whatever the date of this machine is."""
    write = Path.write_text

    def dated(self: Path, *given: Any, **named: Any) -> int:
        count = write(self, *given, **named)
        os.utime(self, (NOW, NOW))
        return count

    monkeypatch.setattr(Path, "write_text", dated)


def rows(spark: SparkSession, folder: Path, query: str) -> list[tuple[Any, ...]]:
    """What a query answers."""
    from fencepost.checks.history.tables import Tables

    Tables(spark, folder / "tables").view()
    return [tuple(row) for row in spark.sql(query).collect()]


def test_each_kind_of_file_becomes_rows(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    source = tmp_path / "source"
    write_snapshots(source, 2, 8, range(0, 10, 5))
    _, snapshot = next(snapshots(2, 8, range(20, 21)))
    (name, report), (other, _) = snapshot["brokers"].items()
    report = {**report, "webServiceUrl": f"http://{name}"}
    (source / "report.json").write_text(json.dumps({**report, "lastUpdate": int(BEGIN.timestamp() + 1800) * 1000}), "utf-8")
    extensible = {"brokerId": other, "webServiceUrl": f"http://{other}"}
    store = {f"/loadbalance/brokers/{name}": json.dumps({**report, "lastUpdate": int(BEGIN.timestamp() + 2400) * 1000})}
    (source / "store.json").write_text(json.dumps({**store, f"/loadbalance/brokers/{other}": extensible}), "utf-8")
    (source / "dump.om").write_text(openmetrics(2, 8, range(60, 62)), "utf-8")
    journal = matrix(
        "bookie_journal_JOURNAL_ADD_ENTRY_sum", {"instance": "bookie-1:8000", "success": "true"}, [(BEGIN.timestamp(), 9.5)]
    )
    (source / "range.json").write_text(journal, "utf-8")
    (source / "broker-1.log").write_text(
        log_line(1, UNLOAD.format(BUNDLE))
        + log_line(2, "starting")
        + "\tat java.lang.Thread.run\n"
        + log_line(3, CHANNEL.format("broker-1:8080", "Assigning", BUNDLE, 4)),
        "utf-8",
    )
    record = {
        "@timestamp": "2026-11-02T00:05:00.000Z",
        "log.level": "INFO",
        "message": "Successfully split namespace bundle a/b/0x0_0x1",
    }
    (source / "broker-2.log").write_text(json.dumps(record) + "\n", "utf-8")
    bookie = (
        "2026-11-02 00:06:00,250 - WARN  - [BookieReadThread-0:ReadEntryProcessor@78] - Ledger: 12  fenced by: /10.0.0.9:1\n"
    )
    (source / "bookie-1.log").write_text(bookie, "utf-8")
    came = ingest(source)
    assert came.read == came.files == 9
    assert came.notes == []
    counted = "SELECT bundle IS NULL, count(*), count(cpu), sum(msg_rate_in) > 0 FROM loads GROUP BY 1 ORDER BY 1"
    assert rows(spark, tmp_path, counted) == [(False, 2 * 8 + 4 + 4 + 2 * 8, 0, True), (True, 2 * 2 + 1 + 1 + 2 * 2, 10, True)]
    times = "SELECT DISTINCT minute(time) + 60 * hour(time) FROM loads ORDER BY 1"
    assert rows(spark, tmp_path, times) == [(0,), (5,), (30,), (40,), (60,), (61,)]
    decisions = "SELECT kind, bundle, `from`, `to`, reason, unix_timestamp(time) FROM decisions ORDER BY time"
    assert rows(spark, tmp_path, decisions) == [
        ("unload", BUNDLE, "broker-1:8080", "broker-2:8080", "ThresholdShedder", BEGIN.timestamp() + 60),
        ("split", "a/b/0x0_0x1", None, None, "ModularLoadManagerImpl.checkNamespaceBundleSplit", BEGIN.timestamp() + 300),
    ]
    events = "SELECT protocol, subject, process, event, line, fields['state'], fields['by'] FROM events ORDER BY time"
    assert rows(spark, tmp_path, events) == [
        ("service_unit", BUNDLE, "broker-1:8080", "handled", 4, "Assigning", None),
        ("ledger", "12", "bookie-1", "fenced", 1, None, "/10.0.0.9:1"),
    ]
    rates = "SELECT process, metric, labels, value, unit FROM rates"
    assert rows(spark, tmp_path, rates) == [
        ("bookie-1:8000", "bookie_journal_JOURNAL_ADD_ENTRY_sum", '{"success": "true"}', 9.5, "ms")
    ]
    passed = "SELECT kind, line, lines, reason FROM quarantine ORDER BY line"
    assert rows(spark, tmp_path, passed) == [
        ("passed", 2, 1, "no table takes such a line of a log"),
        ("passed", 3, 1, "begins with no time, as a line that goes on does"),
    ]


def test_a_second_run_adds_nothing_and_a_file_is_taken_up_where_it_was_left(
    spark: SparkSession, ingest: Ingest, tmp_path: Path
) -> None:
    log, copy = tmp_path / "source" / "broker.log", tmp_path / "source" / "copy of broker.log"
    log.parent.mkdir()
    lines = [log_line(minute, UNLOAD.format(f"a/b/0x{minute:08x}_0x{minute + 1:08x}")) for minute in range(6)]
    log.write_text("".join(lines[:2]) + lines[2][:40], "utf-8")
    first = ingest(log.parent)
    assert first.rows["decisions"] == 2
    assert [note.partition(": ")[2] for note in first.notes] == ["its last line has no end, and is left for the next time"]
    assert ingest(log.parent).read == 0, "nothing has changed"
    log.write_text("".join(lines[:4]), "utf-8")
    grown = ingest(log.parent)
    assert (grown.rows["decisions"], grown.notes) == (2, [])
    log.rename(log.with_name("broker.log.1"))
    log.write_text("".join(lines[4:]), "utf-8")
    rotated = ingest(log.parent)
    assert (rotated.read, rotated.rows["decisions"]) == (2, 2)
    assert ["was read already" in note or "no longer begins" in note for note in rotated.notes] == [True, True]
    copy.write_text("".join(lines[4:]), "utf-8")
    again = ingest(log.parent)
    assert again.rows["decisions"] == 0
    assert [note.partition(": ")[2] for note in again.notes] == [
        "was read already, perhaps under another name: it adds nothing"
    ]
    assert rows(spark, tmp_path, "SELECT count(*), count(DISTINCT bundle) FROM decisions") == [(6, 6)]


def test_late_rows_land_in_their_day_and_what_is_there_is_not_added_again(
    spark: SparkSession, ingest: Ingest, tmp_path: Path
) -> None:
    files = write_snapshots(tmp_path / "source", 2, 8, range(0, 3000, 1440))
    assert ingest(files[1]).rows["loads"] == 10
    assert ingest(files[2], files[0]).rows["loads"] == 20
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "same.json").write_text(files[0].read_text("utf-8") + "\n", "utf-8")
    came = ingest(tmp_path / "other")
    assert (came.read, came.rows["loads"]) == (1, 0), "its rows are there"
    days = "SELECT CAST(day AS string), count(*) FROM loads GROUP BY 1 ORDER BY 1"
    assert rows(spark, tmp_path, days) == [("2026-11-02", 10), ("2026-11-03", 10), ("2026-11-04", 10)]
    folders = sorted(path.name for path in (tmp_path / "tables" / "loads").rglob("day=*"))
    assert folders == ["day=2026-11-02", "day=2026-11-03", "day=2026-11-04"]


def test_clocks_that_differ_are_told(ingest: Ingest, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for moment, snapshot in snapshots(3, 9, range(3)):
        snapshot["brokers"]["broker-2:8080"]["lastUpdate"] += 91_000
        (source / f"{moment:%H%M}.json").write_text(json.dumps(snapshot), "utf-8")
    for number, shift in ((1, 0.0), (2, 0.001), (3, 120.0)):
        broker = f"broker-{number}:8080"
        lines = [log_line(10 * n + shift, CHANNEL.format(broker, "Owned", BUNDLE, n), zone="") for n in range(3)]
        (source / f"broker-{number}.log").write_text("".join(lines), "utf-8")
    assert ingest(source).notes == [
        "clock: broker-2:8080 is 90 s ahead of the snapshot's, in 3 reports",
        "clock: broker-3:8080 is 2 h ahead of the others', in 3 lines, as another time zone is: see --zone",
    ]


def test_times_without_a_zone_are_of_the_one_that_is_given(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.log").write_text(log_line(0, UNLOAD.format("a/b/0x1_0x2"), zone="+0200"), "utf-8")
    (source / "b.log").write_text(log_line(0, UNLOAD.format("a/b/0x2_0x3"), zone=""), "utf-8")
    ingest(source, zone="Europe/Berlin")
    query = "SELECT bundle, CAST(time AS string) FROM decisions ORDER BY bundle"
    assert rows(spark, tmp_path, query) == [("a/b/0x1_0x2", "2026-11-01 22:00:00"), ("a/b/0x2_0x3", "2026-11-01 23:00:00")]


def test_a_log_that_is_later_than_its_file_is_told(ingest: Ingest, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    lines = [log_line(minute, UNLOAD.format(f"a/b/0x{number}_0x9"), zone="") for number, minute in enumerate((-600, -300, 0))]
    log.write_text("".join(lines), "utf-8")
    os.utime(log, (BEGIN.timestamp() - 3600, BEGIN.timestamp() - 3600))
    (note,) = ingest(log).notes
    assert note.endswith("a.log is 1 h ahead of the file's own time, in 1 line, as another time zone is: see --zone")


def test_what_cannot_be_read_is_in_the_quarantine_with_its_line(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    source = tmp_path / "source"
    write_snapshots(source, 2, 8, range(1))
    (source / "broken.json").write_text('{"brokers": {', "utf-8")
    (source / "wrong.json").write_text('{"brokers": {"b": {"cpu": {"usage": "much"}}}, "now": 1}', "utf-8")
    (source / "lines.json").write_text('{"a": 1}\n{"a": 2}\n', "utf-8")
    (source / "empty.log").write_text("", "utf-8")
    (source / "empty.json").write_text("", "utf-8")
    (source / "sum.json").write_text(matrix("", {"instance": "b"}, [(1.0, 2.0)]), "utf-8")
    for name in ("cut.parquet", "cut.parquet.json"):
        (source / name).write_bytes(b"PAR1" + bytes(range(200)))
    (source / "metrics.om").write_text(
        '# TYPE x gauge\npulsar_bundle_new{instance="b"} 1 2.000\npulsar_bundle_new{instance="c"} 1 3.000\n'
        'pulsar_lb_cpu_usage{instance="b"} NaN 2.000\npulsar_lb_cpu_usage 3 2.000\nup{instance="b"} 1 2.000\n',
        "utf-8",
    )
    (source / "long.log").write_text(
        log_line(1, "a") + '{"message": "' + "x" * 70_000 + '"}\n{"message": 3}\n' + log_line(2, "b"), "utf-8"
    )
    came = ingest(source)
    assert came.rows["loads"] == 10, "one bad file holds up no other"
    parquet = "is Parquet, which is no source: name what it was made of, or read it with Spark"
    names = f"SELECT replace(source, 'file:{source}/', ''), line, lines, reason FROM quarantine WHERE kind = '%s' ORDER BY 1, 2"
    assert rows(spark, tmp_path, names % "unread") == [
        (
            "broken.json",
            0,
            1,
            "is not JSON: Expecting property name enclosed in double quotes: line 1 column 14 (char 13)",
        ),
        ("cut.parquet", 1, 1, parquet),
        ("cut.parquet.json", 0, 1, parquet),
        ("lines.json", 0, 1, "has a document on each line, or several in a row: name it .log, and each line is read"),
        ("long.log", 2, 1, "is longer than 64 Ki characters"),
        ("long.log", 3, 1, "is no line of a log: has no message"),
        ("metrics.om", 2, 2, "pulsar_bundle_new: no unit of it is known"),
        ("metrics.om", 4, 1, "pulsar_lb_cpu_usage is nan"),
        ("metrics.om", 5, 1, "pulsar_lb_cpu_usage has no label instance or broker"),
        (
            "sum.json",
            0,
            1,
            "cannot be read: ValueError: series 1 has no name: ask for the metric itself, without rate() or sum() around it",
        ),
        ("wrong.json", 0, 1, "$.brokers.b.cpu.usage is 'much'; it must be a number"),
    ]
    assert rows(spark, tmp_path, names % "passed") == [
        ("long.log", 1, 2, "no table takes such a line of a log"),
        ("metrics.om", 6, 1, "no table takes up"),
    ]
    told = [note.replace(f"file:{source}/", "") for note in came.notes]
    assert told[:2] == ["empty.json: is empty", "empty.log: is empty"]
    assert len(told) == 14


def test_lines_that_are_not_read_at_all_are_told_with_their_numbers(
    spark: SparkSession, ingest: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is longer than so many bytes Hadoop passes over; the lines behind it have their numbers all the same."""
    from fencepost.checks.history import ingesting, sources

    for module in (ingesting, sources):
        monkeypatch.setattr(module, "UNREAD", 1 << 20)
    source, long = tmp_path / "source", "x" * (2 << 20) + "\n"
    source.mkdir()
    lines = [log_line(minute, UNLOAD.format(f"a/b/0x{minute:08x}_0x{minute + 1:08x}")) for minute in range(4)]
    stranger = '{"message": 3}\n'
    (source / "all, [of] it.log").write_text(long + lines[0] + long + long + lines[1] + stranger + long, "utf-8")
    (source / "one line.log").write_text(long, "utf-8")
    (source / "plain.log").write_text(lines[2] + stranger, "utf-8")
    assert ingest(source).rows["decisions"] == 3
    query = f"SELECT replace(source, 'file:{source}/', ''), line, reason FROM quarantine ORDER BY 1, 2"
    unread = "is longer than 64 Ki characters"
    assert rows(spark, tmp_path, query) == [
        ("all, [of] it.log", 1, unread),
        ("all, [of] it.log", 5, "is no line of a log: has no message"),
        ("one line.log", 0, "is longer than 1 MiB"),
        ("plain.log", 2, "is no line of a log: has no message"),
    ], "the two on end count as one"
    assert rows(spark, tmp_path, "SELECT lines FROM quarantine WHERE line = 1") == [(3,)]
    with (source / "all, [of] it.log").open("a", encoding="utf-8") as log:
        log.write(lines[3] + long + stranger)
    again = ingest(source)
    assert (again.read, again.rows["decisions"]) == (1, 1)
    assert [note.partition(".log:")[2] for note in again.notes] == [f"8: {unread}", "9: is no line of a log: has no message"]


def test_a_document_that_is_too_long_is_not_opened(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    from fencepost.checks.history.documents import MOST

    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(MOST + 1)
    (note,) = ingest(tmp_path / "huge.json").notes
    assert note.endswith("huge.json: is longer than 64 MiB: export a shorter range, or a line for each record")
    assert ingest(tmp_path / "huge.json").read == 0


def test_a_packed_file_that_ends_too_early_holds_up_no_other(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    """As one that is still being written ends; it is read once it is whole."""
    source = tmp_path / "source"
    source.mkdir()
    lines = [log_line(minute, UNLOAD.format(f"a/b/0x{minute:08x}_0x{minute + 1:08x}")) for minute in range(500)]
    packed = gzip.compress("".join(lines[1:]).encode())
    (source / "broker-1.log").write_text(lines[0], "utf-8")
    (source / "broker-1.log.1.gz").write_bytes(packed[: len(packed) // 2])
    came = ingest(source)
    assert came.rows["decisions"] == 1
    assert [note.partition(".gz: ")[2] for note in came.notes] == ["cannot be unpacked: it is damaged, or not complete yet"]
    (source / "broker-1.log.1.gz").write_bytes(packed)
    assert ingest(source).rows["decisions"] == 499


def test_bytes_of_another_encoding_spoil_no_file(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    lines = [log_line(minute, UNLOAD.format(f"a/b/0x{minute}_0x9")).encode() for minute in range(3)]
    (source / "latin-1.log").write_bytes(lines[0] + lines[1].replace(b"ThresholdShedder", b"caf\xe9"))
    (source / "marked-1.log").write_bytes(b"\xef\xbb\xbf" + lines[2].replace(b"\n", b"\r\n"))
    (source / "random-1.bin").write_bytes(bytes(range(128, 256)) * 100 + b"\n")
    came = ingest(source)
    assert (came.rows["decisions"], came.notes) == (3, [])
    assert rows(spark, tmp_path, "SELECT reason FROM decisions WHERE bundle = 'a/b/0x1_0x9'") == [("caf\ufffd",)]
    assert rows(spark, tmp_path, "SELECT line, reason FROM quarantine") == [
        (1, "begins with no time, as a line that goes on does")
    ]
