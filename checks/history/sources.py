"""The files that are ingested: which of them are new, how far one is known already, what each line's number is.

A file is known by its content, not by its name: by a hash of its first line, how many lines of it were read, and the sum of the
hashes of these. So a file that grew, one that was rotated, and a copy under another name are the same question. A document of
JSON is known by the hash of all of it, and of its time if it says none. Everything here is a query of Spark, in which no line
reaches the driver.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark import RDD
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from fencepost.checks.history.documents import MOST, SAVED

DOCUMENT = r"(?i)\.json$"
"""The name of a file that is a document as a whole. Every other one has lines, also of JSON."""
PACKED = r"(?i)\.(gz|bz2|zst|deflate|lz4|snappy)$"

UNREAD = 1 << 22
"""Bytes of a line that is not read at all: so many a task may need several times at once."""
_MAXIMUM = "mapreduce.input.linerecordreader.line.maxlength"

HASH = "shiftright(xxhash64(value), 32)"
"""Of a line: of so few bits that the sum of two thousand million lines is a number of 64."""


@dataclass(frozen=True)
class Sources:
    """Some files, folders or patterns, which Spark reads."""

    spark: SparkSession
    places: Sequence[str]

    def listed(self) -> DataFrame:
        """Each file: source, length, modified, is_document. None is opened. Spark passes over names that begin with _ or ."""
        read = self.spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        return read.load(list(self.places)).select(
            F.col("path").alias("source"),
            "length",
            F.col("modificationTime").alias("modified"),
            F.col("path").rlike(DOCUMENT).alias("is_document"),
        )


def literal(path: str) -> str:
    """A path in which no letter stands for others."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", path)


def documents(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The documents of these: source, length, modified, content (null of one that is too long), and their facts.

    One that says no time is another one when it is written again, though it has the same content.
    """
    dated = F.when(F.col("path").rlike(SAVED), F.col("modificationTime"))
    read = spark.read.format("binaryFile")
    short = read.load(list(map(literal, paths))).where(F.col("length") <= MOST)
    return short.select(
        F.col("path").alias("source"),
        "length",
        F.col("modificationTime").alias("modified"),
        F.xxhash64("content", dated).alias("head"),
        F.lit(0).cast("long").alias("lines"),
        F.xxhash64("content", dated).alias("digest"),
        "content",
    )


def lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The lines of these: source, length, modified, block (where the part of the file begins), id (rising in it), value.

    Those of UNREAD bytes are passed over by Hadoop, so that none needs more memory than that; not so in a packed file, which
    has no length that would tell of them.
    """
    packed = [path for path in paths if re.search(PACKED, path)]
    plain = [path for path in paths if not re.search(PACKED, path)]
    read = spark.read.option("lineSep", "\n")
    parts = [read.text(list(map(literal, packed)))] if packed else []
    parts += [read.option(_MAXIMUM, str(UNREAD)).text(list(map(literal, plain)))] if plain else []
    return reduce(DataFrame.unionByName, map(_with_their_places, parts))


def _with_their_places(read: DataFrame) -> DataFrame:
    meta = F.col("_metadata")
    return read.select(
        F.url_decode(F.replace(meta.file_path, F.lit("+"), F.lit("%2B"))).alias("source"),
        meta.file_size.alias("length"),
        meta.file_modification_time.alias("modified"),
        meta.file_block_start.alias("block"),
        F.monotonically_increasing_id().alias("id"),
        "value",
    )


def blocks(every: DataFrame) -> DataFrame:
    """What each part of a file comes to: how many lines, the first id, their bytes, and what their hashes come to.

    A line that is passed over may be there with its beginning, if it ends in the next part: that has no bytes.
    """
    return every.withColumn("hash", F.expr(HASH)).groupBy("source", "length", "modified", "block").agg(
        F.count(F.lit(1)).alias("count"),
        F.min("id").alias("first"),
        F.sum(F.when(F.octet_length("value") < UNREAD - 1, F.octet_length("value") + 1).otherwise(0)).alias("bytes"),
        F.sum("hash").alias("sum"),
        F.min_by("hash", "id").alias("head"),
        F.max_by("hash", "id").alias("tail"),
    )  # fmt: skip


def with_long_lines(parts: DataFrame) -> list[str]:
    """The files that have lines which were passed over: they are longer than what was read of them."""
    whole = parts.groupBy("source", "length").agg(F.sum("bytes").alias("bytes"))
    short = whole.where(~F.col("source").rlike(PACKED) & (F.col("length") - F.col("bytes") >= UNREAD))
    return [str(row["source"]) for row in short.select("source").collect()]


def numbered(every: DataFrame, parts: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The lines with their numbers, from 1, and the facts of each file: source, length, modified, head, lines, digest.

    A last line without its end is not there: who writes the file may not be done with it. ``unfinished`` says so.
    """
    open_end = ~F.col("source").rlike(PACKED) & (F.sum("bytes") > F.col("length"))
    facts = (
        parts.groupBy("source", "length", "modified")
        .agg(
            F.min_by("head", "block").alias("head"),
            open_end.alias("unfinished"),
            (F.sum("count") - open_end.cast("long")).alias("lines"),
            (F.sum("sum") - F.when(open_end, F.max_by("tail", "block")).otherwise(0)).alias("digest"),
        )
        .where("lines > 0 OR unfinished")
    )
    before = F.expr("sum(count) OVER (PARTITION BY source ORDER BY block) - count")
    placed = parts.select("source", "block", "first", before.alias("before"))
    starts = placed.join(facts.select("source", F.col("lines").alias("last")), "source")
    joined = every.withColumn("hash", F.expr(HASH)).join(F.broadcast(starts), ["source", "block"])
    number = F.col("before") + F.col("id") - F.col("first") + 1
    kept = joined.withColumn("number", number).where("number <= last")
    return kept.select("source", "modified", "number", "hash", "value"), facts


def numbered_by_offsets(spark: SparkSession, files: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The same of files with lines that are passed over: such a line has no value. ``files`` has source, length and modified.

    Each file is read in one piece: where pieces meet, Hadoop takes the end of such a line for one of its own. Where the next
    line begins says whether one is missing in between; several on end count as one.
    """
    sources = [str(row["source"]) for row in files.select("source").collect()]
    records = spark.sparkContext.union([_offsets(spark, source) for source in sources])
    read = spark.createDataFrame(records, "source string, offset long, value string")
    in_order = Window.partitionBy("source").orderBy("offset")
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    placed = read.join(F.broadcast(files), "source").select(
        "*",
        F.expr(HASH).alias("hash"),
        F.row_number().over(in_order).alias("place"),
        F.coalesce(F.lead("offset").over(in_order), "length").alias("next"),
    )
    gaps = placed.select(
        "*",
        ((F.col("place") == 1) & (F.col("offset") >= UNREAD)).cast("long").alias("before"),
        (F.col("next") - F.col("offset") >= UNREAD).cast("long").alias("behind"),
        (F.col("offset") + F.octet_length("value") + 1 > F.col("length")).alias("is_open"),
    )
    passed = F.sum(F.col("before") + F.col("behind")).over(earlier)
    lines = gaps.withColumn("number", F.col("place") + F.coalesce(passed, F.lit(0)) + F.col("before"))
    facts = lines.groupBy("source", "length", "modified").agg(
        F.min_by("hash", "offset").alias("head"),
        F.max("is_open").alias("unfinished"),
        F.max(F.col("number") + F.col("behind") - F.col("is_open").cast("long")).alias("lines"),
        F.sum(F.when(F.col("is_open"), 0).otherwise(F.col("hash"))).alias("digest"),
    )
    kept = lines.where("NOT is_open").select("source", "modified", "number", "hash", "value")
    missing = "source", "modified", F.lit(0).cast("long").alias("hash"), F.lit(None).cast("string").alias("value")
    before = lines.where("before > 0").select(F.lit(1).cast("long").alias("number"), *missing)
    behind = lines.where("behind > 0").select((F.col("number") + 1).alias("number"), *missing)
    return reduce(DataFrame.unionByName, [kept, before, behind]), facts


def _offsets(spark: SparkSession, source: str) -> RDD[tuple[str, int, str]]:
    """The lines of a file that are read, and where each begins; the older interface of Hadoop says so behind any other."""
    escaped = literal(source).replace("\\", r"\\").replace(",", r"\,")
    conf = {
        "mapreduce.input.fileinputformat.inputdir": escaped,
        "mapreduce.input.fileinputformat.split.minsize": str((1 << 63) - 1),
        "textinputformat.record.delimiter": "\n",
        _MAXIMUM: str(UNREAD),
    }
    reader, number, text = (f"org.apache.hadoop.{kind}" for kind in ("mapred.TextInputFormat", "io.LongWritable", "io.Text"))
    records: RDD[tuple[int, str]] = spark.sparkContext.hadoopRDD(reader, number, text, conf=conf)
    return records.map(lambda record: (source, *record))


def known_part(kept: DataFrame, facts: DataFrame, known: DataFrame) -> DataFrame:
    """How many lines of each file are known: those of the longest file that was read before and that it begins with."""
    before = known.select("head", F.col("lines").alias("done"), F.col("digest").alias("then")).distinct()
    candidates = facts.select("source", "head", "lines").join(before, "head").where("done <= lines")
    sums = kept.select("source", "number", "hash").join(F.broadcast(candidates), "source").groupBy("source", "done", "then")
    begun = sums.agg(F.sum(F.expr("IF(number <= done, hash, 0)")).alias("sum")).where("sum = then")
    return begun.groupBy("source").agg(F.max("done").alias("done"))
