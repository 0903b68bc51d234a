"""The digests of files that Spark has written, made where the files are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from fencepost.model.kernel.search import sealed
from fencepost.traces.exploration.digests import Digests


def on_spark(spark: SparkSession) -> Digests:
    """Where the digests of files are made that may be many and large."""

    def digests(files: Sequence[Path]) -> list[str]:
        if not files:
            return []
        tasks = min(len(files), 4 * spark.sparkContext.defaultParallelism)
        numbers = spark.range(0, len(files), 1, tasks)
        rows = numbers.mapInArrow(partial(_digested, [str(file.resolve()) for file in files]), "id long, digest string")
        by_file = {row["id"]: str(row["digest"]) for row in rows.collect()}
        return [by_file[number] for number in range(len(files))]

    return digests


def _digested(files: Sequence[str], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows: list[dict[str, Any]] = [
            {"id": number, "digest": sealed.file_digest(Path(files[number]))} for number in batch.column("id").to_pylist()
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=pa.schema({"id": pa.int64(), "digest": pa.string()}))
