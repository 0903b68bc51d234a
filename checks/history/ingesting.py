"""``fencepost ingest``: files into the tables, round after round, each a batch that is there whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from fencepost.checks.history.clocks import clocks, later_than_files
from fencepost.checks.history.documents import MAGIC, MOST, PARQUET, add_document
from fencepost.checks.history.logs import add_line
from fencepost.checks.history.metrics import add_sample
from fencepost.checks.history.rows import MADE, STRUCTS, Rows
from fencepost.checks.history.schema import QUARANTINE
from fencepost.checks.history.sources import (
    PACKED,
    UNREAD,
    Sources,
    blocks,
    documents,
    known_part,
    lines,
    literal,
    numbered,
    numbered_by_offsets,
    with_long_lines,
)
from fencepost.checks.history.tables import Tables
from fencepost.checks.inputs.prometheus import sample_of
from fencepost.traces.exploration.explore import watched
from fencepost.traces.exploration.java import SparkError
from fencepost.traces.exploration.session import reason

ROUND = 1 << 30
"""Bytes of sources that make a batch: what a kill can lose."""
TASK = 1 << 26
"""Bytes of sources for each task that writes."""
LONGEST = 1 << 16
"""Characters of a line; a longer one is not read."""
NOTED = 20
"""Files, and reasons of the quarantine, that are named at most in each round; all are in the tables."""
_WAITING = 1 << 15
"""Rows that make a batch of Arrow's."""
_FACTS = (
    "source string, length long, modified timestamp, head long, lines long, digest long, "
    "unfinished boolean, done long, state string"
)


@dataclass(frozen=True)
class Reader:
    """How files are read: of which cluster what does not say it is, and in which time zone times are that name none."""

    cluster: str
    zone: str = "UTC"

    def documents(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The function for ``mapInArrow``: from documents (source, modified, content) to rows."""
        rows = Rows()
        for batch in batches:
            modified = batch.column("modified").cast(pa.int64()).to_pylist()
            for source, time, content in zip(batch["source"].to_pylist(), modified, batch["content"], strict=True):
                add_document(rows, content.as_py(), self.cluster, source, time)
                yield from rows.batches()

    def lines(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same, from lines (source, modified, number, value), of which one that is too long is null."""
        rows, zone = Rows(), ZoneInfo(self.zone)
        for batch in batches:
            columns = (batch["source"], batch["modified"].cast(pa.int64()), batch["number"], batch["value"])
            for source, modified, number, text in zip(*(column.to_pylist() for column in columns), strict=True):
                self._line(rows, zone, source, modified, number, text)
            if rows.count >= _WAITING:
                yield from rows.batches()
        yield from rows.batches()

    def _line(self, rows: Rows, zone: ZoneInfo, source: str, modified: int, number: int, value: bytes | None) -> None:
        if value is None:
            reason = f"is longer than {LONGEST >> 10} Ki characters"
            rows.leave("unread", self.cluster, source, number, reason, "", modified)
            return
        text = value.decode(errors="replace").rstrip("\r")  # one byte of another encoding spoils no file
        text = text.removeprefix("\ufeff") if number == 1 else text
        if number == 1 and text.startswith(MAGIC):
            rows.leave("unread", self.cluster, source, number, PARQUET, text, modified)
            return
        first = text[:1]
        if first == "#":  # what a metric is, and the end of OpenMetrics
            return
        if first.isalpha() or first in "_:":
            sample = sample_of(text.strip(), number)
            if sample is not None:
                add_sample(rows, sample, self.cluster, source, modified)
                return
        add_line(rows, text, zone, self.cluster, source, number, modified)


@dataclass(frozen=True)
class Ingested:
    """What came of some sources: how many files there are, and were read; the rows of each table; what a person has to know;
    whether it was stopped before the end."""

    files: int
    read: int
    rows: Mapping[str, int]
    notes: Sequence[str]
    stopped: bool = False


def ingest(
    tables: Tables,
    sources: Sources,
    reader: Reader,
    progress: Callable[[int, int, float], None] = lambda batch, batches, share: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Ingested:
    """Reads what of the sources is not in the tables yet. Raises SparkError, FolderError.

    ``progress`` receives the number of the round that is under way, from 1, how many there are, and which share of the round's
    tasks is done, of those that Spark knows by then. ``should_stop`` ends it with the round that is under way left out.
    """
    total, todo, empty = _listed(tables, sources)
    rows, notes = dict.fromkeys((table.name for table in MADE), 0), [f"{name}: is empty" for name in empty]
    rounds = list(_rounds(todo))
    for number, files in enumerate(rounds, start=1):
        made = _Round(tables, files, reader, max(1, sum(int(file["length"]) for file in files) // TASK))
        if not watched(tables.spark, "ingest", made.make, should_stop, partial(progress, number, len(rounds))):
            return Ingested(total, len(todo), rows, notes, stopped=True)
        rows = {name: count + made.rows.get(name, 0) for name, count in rows.items()}
        notes += made.notes
    return Ingested(total, len(todo), rows, notes)


def _listed(tables: Tables, sources: Sources) -> tuple[int, list[Row], list[str]]:
    """How many files there are, those with something that is not in the tables yet, and the names of empty ones."""
    known = tables.rows("files").select("source", "length", "modified").withColumn("is_known", F.lit(True))
    try:
        listed = sources.listed()
        names = listed.inputFiles()
        files = listed.join(known, ["source", "length", "modified"], "left").orderBy("source").collect()
    except Exception as error:
        raise SparkError(reason(error)) from error
    there = {str(file["source"]) for file in files}
    ours = sorted(unquote(name).replace("file:///", "file:/") for name in names)
    return len(names), [file for file in files if not file["is_known"]], [name for name in ours if name not in there]


def _rounds(files: Sequence[Row]) -> Iterator[list[Row]]:
    """The files by rounds."""
    taken, size = list[Row](), 0
    for file in files:
        taken.append(file)
        size += int(file["length"])
        if size >= ROUND:
            yield taken
            taken, size = [], 0
    if taken:
        yield taken


class _Round:
    """One batch: what its files tell, and which of them they are."""

    def __init__(self, tables: Tables, files: Sequence[Row], reader: Reader, tasks: int) -> None:
        self._tables, self._files, self._reader, self._tasks = tables, files, reader, tasks
        self._spark: SparkSession = tables.spark
        self.rows, self.notes = dict[str, int](), list[str]()
        self._held = list[DataFrame]()
        self._damaged = list[str]()

    def make(self) -> None:
        """Reads and writes, without the packed files that cannot be unpacked if there are any."""
        try:
            self._make()
        except Exception:
            self._damaged = [source for source in self._of(is_document=False) if self._is_damaged(source)]
            if not self._damaged:
                raise
            self._let_go()
            self._make()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        while self._held:  # a later reading of the same paths would find what is held
            self._held.pop().unpersist()

    def _is_damaged(self, source: str) -> bool:
        """Whether a file is packed, and cannot be unpacked to its end: Spark would hold up all others for it."""
        if not re.search(PACKED, source):
            return False
        try:
            self._spark.read.text(literal(source)).write.format("noop").mode("overwrite").save()
        except Exception:
            return True
        return False

    def _held_back(self, frame: DataFrame) -> DataFrame:
        """Keeps what a frame has on the disks of the executors, so that it is made once."""
        self._held.append(frame.persist(StorageLevel.DISK_ONLY))
        return frame

    def _make(self) -> None:
        nothing = self._spark.createDataFrame([], _FACTS), self._spark.createDataFrame([], STRUCTS)
        parts = [nothing, *(part for part in (self._documents(), self._lines()) if part is not None)]
        facts = self._held_back(reduce(DataFrame.unionByName, [facts for facts, _ in parts]))
        made = self._held_back(reduce(DataFrame.unionByName, [rows for _, rows in parts]))
        counts = made.agg(*(F.count(table.name).alias(table.name) for table in MADE)).collect()[0]
        names = [
            table.name for table in MADE if counts[table.name] or table is QUARANTINE
        ]  # an empty table is a job all the same
        frames = {name: made.where(f"{name} IS NOT NULL").select(f"{name}.*") for name in names}
        left = self._left(facts)
        every = frames["quarantine"].unionByName(left.drop("modified", "length"))
        most = {"time": F.max("time"), "line": F.min("line"), "lines": F.sum("lines"), "text": F.min_by("text", "line")}
        alike = every.groupBy("cluster", "kind", "source", "reason")
        frames["quarantine"] = alike.agg(*(column.alias(name) for name, column in most.items()))
        cluster = F.lit(self._reader.cluster).alias("cluster")
        own = facts.select("*", cluster, F.col("modified").alias("time"))
        frames["files"] = own.unionByName(
            left.select("cluster", "time", "source", "modified", "length"), allowMissingColumns=True
        )
        self.notes = [*_of_files(facts), *clocks(frames), *later_than_files(frames, facts)]
        left_over = frames["quarantine"].count()
        if not left_over:
            del frames["quarantine"]
        self.rows = self._tables.append(frames, dict.fromkeys(("loads", "events", "rates"), self._tasks))
        self.notes += _of_quarantine(frames["quarantine"]) if left_over else []

    def _left(self, facts: DataFrame) -> DataFrame:
        """The files of which nothing was read, as rows of the quarantine."""
        listed = [(str(file["source"]), int(file["length"]), file["modified"], file["is_document"]) for file in self._files]
        files = self._spark.createDataFrame(listed, "source string, length long, modified timestamp, is_document boolean")
        too_long = f"is longer than {MOST >> 20} MiB: export a shorter range, or a line for each record"
        one_line = f"is longer than {UNREAD >> 20} MiB"
        damaged = "cannot be unpacked: it is damaged, or not complete yet"
        return files.join(F.broadcast(facts.select("source")), "source", "left_anti").select(
            F.lit(self._reader.cluster).alias("cluster"),
            F.col("modified").alias("time"),
            F.lit("unread").alias("kind"),
            "source",
            F.lit(0).cast("long").alias("line"),
            F.when(F.col("is_document"), too_long)
            .when(F.col("source").isin(self._damaged), damaged)
            .when(F.col("length") >= UNREAD, one_line)
            .otherwise("is empty")
            .alias("reason"),
            F.lit(1).cast("long").alias("lines"),
            F.lit("").alias("text"),
            "modified",
            "length",
        )

    def _of(self, is_document: bool) -> list[str]:
        files = [file for file in self._files if file["is_document"] == is_document]
        sources = [str(file["source"]) for file in files if not is_document or int(file["length"]) <= MOST]
        return [source for source in sources if source not in self._damaged]

    def _documents(self) -> tuple[DataFrame, DataFrame] | None:
        paths = self._of(is_document=True)
        if not paths:
            return None
        read = documents(self._spark, paths)
        facts = read.drop("content").withColumn("unfinished", F.lit(False))
        before = (
            self._tables.rows("files")
            .where("lines = 0 AND head IS NOT NULL")
            .select("head", F.lit(0).cast("long").alias("done"))
        )
        facts = _first_of_each(facts.join(F.broadcast(before.distinct()), "head", "left"))
        new = read.join(F.broadcast(facts.where("state <> 'duplicate'").select("source")), "source")
        return facts, new.select("source", "modified", "content").mapInArrow(self._reader.documents, STRUCTS)

    def _lines(self) -> tuple[DataFrame, DataFrame] | None:
        paths = self._of(is_document=False)
        if not paths:
            return None
        every = lines(self._spark, paths)
        parts = self._held_back(blocks(every))
        kept, facts = numbered(every, parts)
        if long := with_long_lines(parts):
            is_long = F.col("source").isin(long)
            files = parts.where(is_long).select("source", "length", "modified").distinct()
            more, of_more = numbered_by_offsets(self._spark, files)
            kept, facts = kept.where(~is_long).unionByName(more), facts.where(~is_long).unionByName(of_more)
        known = self._tables.rows("files")
        done = known_part(kept, facts, known.where("lines > 0"))
        facts = _first_of_each(facts.join(F.broadcast(done), "source", "left"))
        names = known.select("source").distinct().withColumn("is_known", F.lit(True))
        facts = facts.join(F.broadcast(names), "source", "left").withColumn(
            "state", F.when((F.col("state") == "new") & F.col("is_known"), "rewritten").otherwise(F.col("state"))
        )
        facts = self._held_back(facts.drop("is_known"))
        wanted = facts.where("state <> 'duplicate'").select("source", F.coalesce("done", F.lit(0)).alias("done"))
        new = kept.join(F.broadcast(wanted), "source").where("number > done")
        value = F.when(F.length("value") <= LONGEST, F.col("value").cast("binary")).alias("value")
        return facts, new.select("source", "modified", "number", value).mapInArrow(self._reader.lines, STRUCTS)


def _first_of_each(facts: DataFrame) -> DataFrame:
    """With the state of each file, of which ``done`` lines are known: a duplicate is known to its end, or the second of two."""
    again = F.expr("row_number() OVER (PARTITION BY head, lines, digest ORDER BY source)") > 1
    state = F.when((F.col("done") == F.col("lines")) | again, "duplicate").when(F.col("done") > 0, "grown").otherwise("new")
    return facts.withColumn("state", state)


def _of_files(facts: DataFrame) -> list[str]:
    """What has to be known of the files: what is there under another name, and what does not end."""
    notable = facts.where("state IN ('duplicate', 'rewritten') OR unfinished")
    return [_of_file(row) for row in notable.orderBy("source").limit(NOTED).collect()]


def _of_file(row: Row) -> str:
    if row["state"] == "duplicate":
        return f"{row['source']}: was read already, perhaps under another name: it adds nothing"
    if row["state"] == "rewritten":
        return f"{row['source']}: no longer begins as it did: it is read from its first line"
    return f"{row['source']}: its last line has no end, and is left for the next time"


def _of_quarantine(quarantine: DataFrame) -> list[str]:
    unread = quarantine.where("kind = 'unread'").orderBy("source", "line", "reason").limit(NOTED).collect()
    return [f"{row['source']}{':' + str(row['line']) if row['line'] else ''}: {row['reason']}" for row in unread]
