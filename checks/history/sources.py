"""The files that are ingested: which of them are new, how far one is known already, what each line's number is.

A file is known by its content, not by its name: by a hash of its first line, how many lines of it were read, and the sum of the
hashes of these. So a file that grew, one that was rotated, and a copy under another name are the same question. A document of
JSON is known by the hash of all of it. Everything here is a query of Spark, in which no line reaches the driver.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from fencepost.checks.history.documents import MOST

DOCUMENT = r"(?i)\.json$"
"""The name of a file that is a document as a whole. Every other one has lines, also of JSON."""
_PACKED = r"(?i)\.(gz|bz2|zst|deflate|lz4|snappy)$"

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
    """The documents of these: source, length, modified, content (null of one that is too long), and their facts."""
    read = spark.read.format("binaryFile")
    short = read.load(list(map(literal, paths))).where(F.col("length") <= MOST)
    return short.select(
        F.col("path").alias("source"),
        "length",
        F.col("modificationTime").alias("modified"),
        F.xxhash64("content").alias("head"),
        F.lit(0).cast("long").alias("lines"),
        F.xxhash64("content").alias("digest"),
        "content",
    )


def lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The lines of these: source, length, modified, block (where the part of the file begins), id (rising in it), value."""
    read = spark.read.option("lineSep", "\n").text(list(map(literal, paths)))
    meta = F.col("_metadata")
    return read.select(
        F.url_decode(F.replace(meta.file_path, F.lit("+"), F.lit("%2B"))).alias("source"),
        meta.file_size.alias("length"),
        meta.file_modification_time.alias("modified"),
        meta.file_block_start.alias("block"),
        F.monotonically_increasing_id().alias("id"),
        "value",
    )


def numbered(every: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The lines with their numbers, from 1, and the facts of each file: source, length, modified, head, lines, digest.

    A last line without its end is not there: who writes the file may not be done with it. ``unfinished`` says so.
    """
    hashed = every.withColumn("hash", F.expr(HASH))
    blocks = hashed.groupBy("source", "length", "modified", "block").agg(
        F.count(F.lit(1)).alias("count"),
        F.min("id").alias("first"),
        F.sum(F.octet_length("value") + 1).alias("bytes"),
        F.sum("hash").alias("sum"),
        F.min_by("hash", "id").alias("head"),
        F.max_by("hash", "id").alias("tail"),
    )
    open_end = ~F.col("source").rlike(_PACKED) & (F.sum("bytes") > F.col("length"))
    facts = (
        blocks.groupBy("source", "length", "modified")
        .agg(
            F.min_by("head", "block").alias("head"),
            open_end.alias("unfinished"),
            (F.sum("count") - open_end.cast("long")).alias("lines"),
            (F.sum("sum") - F.when(open_end, F.max_by("tail", "block")).otherwise(0)).alias("digest"),
        )
        .where("lines > 0 OR unfinished")
    )
    before = F.expr("sum(count) OVER (PARTITION BY source ORDER BY block) - count")
    placed = blocks.select("source", "block", "first", before.alias("before"))
    starts = placed.join(facts.select("source", F.col("lines").alias("last")), "source")
    joined = hashed.join(F.broadcast(starts), ["source", "block"])
    number = F.col("before") + F.col("id") - F.col("first") + 1
    kept = joined.withColumn("number", number).where("number <= last")
    return kept.select("source", "modified", "number", "hash", "value"), facts


def known_part(kept: DataFrame, facts: DataFrame, known: DataFrame) -> DataFrame:
    """How many lines of each file are known: those of the longest file that was read before and that it begins with."""
    before = known.select("head", F.col("lines").alias("done"), F.col("digest").alias("then")).distinct()
    candidates = facts.select("source", "head", "lines").join(before, "head").where("done <= lines")
    sums = kept.select("source", "number", "hash").join(F.broadcast(candidates), "source").groupBy("source", "done", "then")
    begun = sums.agg(F.sum(F.expr("IF(number <= done, hash, 0)")).alias("sum")).where("sum = then")
    return begun.groupBy("source").agg(F.max("done").alias("done"))
