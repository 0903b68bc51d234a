"""The digests of files that Spark has written, made where the files are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from fencepost.model import sealed
from fencepost.traces.exploration.folder import Digests
from fencepost.traces.exploration.places import Place, digests_of, located


def on_spark(spark: SparkSession) -> Digests:
    """Where the digests of files are made that may be many and large."""

    def digests(files: Sequence[Place]) -> list[str]:
        if not files:
            return []
        if not all(isinstance(file, Path) for file in files):
            return _remotely(spark, files)
        tasks = min(len(files), 4 * spark.sparkContext.defaultParallelism)
        numbers = spark.range(0, len(files), 1, tasks)
        rows = numbers.mapInArrow(partial(_digested, [located(file) for file in files]), "id long, digest string")
        by_file = {row["id"]: str(row["digest"]) for row in rows.collect()}
        return [by_file[number] for number in range(len(files))]

    return digests


def digests_in(spark: SparkSession, folder: Place) -> Digests:
    """What makes the digests of a run of walks, whose files are small: this process, or Spark for a folder at a URL."""
    return digests_of if isinstance(folder, Path) else on_spark(spark)


def _remotely(spark: SparkSession, files: Sequence[Place]) -> list[str]:
    """The digests of files at URLs, by Spark's source of whole files, which passes over names like ``_SUCCESS``."""
    seen = [file for file in files if not file.name.startswith(("_", "."))]
    read = spark.read.format("binaryFile").load([located(file) for file in seen]) if seen else None
    rows = [] if read is None else read.selectExpr("path", "sha2(content, 256) AS digest").collect()
    by_end = {"/".join(str(row["path"]).split("/")[-2:]): str(row["digest"]) for row in rows}
    unseen = [file for file in files if file not in seen]
    small = dict(zip(map(located, unseen), digests_of(unseen), strict=True))
    return [small.get(located(file)) or by_end["/".join(located(file).split("/")[-2:])] for file in files]


def _digested(files: Sequence[str], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows: list[dict[str, object]] = [
            {"id": number, "digest": sealed.file_digest(Path(files[number]))} for number in batch.column("id").to_pylist()
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=pa.schema({"id": pa.int64(), "digest": pa.string()}))
