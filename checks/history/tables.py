"""The folder of the tables: batches that are there whole or not at all, written and read by Spark's own readers and writers.

``TABLES/loads/version=2/batch=00000/cluster=prod/day=2026-11-01/part-*.parquet``: other programs read a table by its folder.
A batch counts once ``TABLES/batches/00000.json`` is there, which knows the length of each of its files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from fencepost.checks.history.schema import PARTITIONS, TABLES, Table
from fencepost.checks.inputs.input_files import InputError
from fencepost.traces.exploration.folder import FolderError, content_of, held
from fencepost.traces.exploration.places import Place, located, write

FORMAT = 1
BATCHES, RECORD = "batches", "tables.json"


@dataclass(frozen=True)
class Written:
    """What a batch has of a table: in which version, and the length in bytes of each file below the folder of the table."""

    version: int
    files: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Tables:
    """The tables in a folder, through a session of Spark."""

    spark: SparkSession
    folder: Place

    @contextmanager
    def held(self) -> Iterator[None]:
        """Makes the folder one of tables, or finds that it is, and keeps others from writing meanwhile. Raises FolderError."""
        content = {"format": FORMAT}
        with held(self.folder, RECORD, content, lambda theirs: "" if theirs == content else "of another format"):
            yield

    def require(self) -> None:
        """Raises FolderError if the folder has no tables, or a file of theirs is missing or is not as long as it was."""
        record = self.folder / RECORD
        if not record.exists():
            raise FolderError(f"{self.folder} has no tables: fencepost ingest SOURCE --out {self.folder} makes them")
        if content_of(record) != {"format": FORMAT}:
            raise FolderError(f"{self.folder} has tables of another format than {FORMAT}: use the version that wrote them")
        for name in TABLES:
            there = self._lengths(name, self.folder / name)
            for _, written in self._written(name):
                for file, length in written.files.items():
                    if there.get(file) != length:
                        state = f"has not its {length:,} bytes" if file in there else "is missing"
                        raise FolderError(f"{self.folder}/{name}/{file} {state}: restore it from a copy, or ingest again")

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return len(self._batches())

    def rows(self, name: str) -> DataFrame:
        """The rows of a table, of all batches, in the present version; those of older ones are brought up to it."""
        table, parts = TABLES[name], list[DataFrame]()
        by_version = dict[int, list[str]]()
        for number, written in self._written(name):
            if written.files:
                by_version.setdefault(written.version, []).append(located(self._batch(table, written.version, number)))
        for version, paths in sorted(by_version.items()):
            if version > table.version:
                raise FolderError(f"{self.folder}/{name} has version {version}, and this Fencepost reads up to {table.version}")
            schema = f"{table.of(version)}, cluster string, day date"
            base = located(self.folder / name / f"version={version}")
            read = self.spark.read.schema(schema).option("basePath", base).parquet(*paths)
            parts.append(read.selectExpr(*table.upgrade(version)))
        if parts:
            return reduce(DataFrame.unionByName, parts)
        return self.spark.createDataFrame([], f"{table.of(table.version)}, cluster string, day date")

    def cluster_of(self, name: str, cluster: str | None, missing: str) -> str:
        """Of which cluster rows of a table are asked for: the one that is named, or the only one. Raises InputError, with
        ``missing`` of a table without rows."""
        names = [str(row["cluster"]) for row in self.rows(name).select("cluster").distinct().orderBy("cluster").collect()]
        if not names:
            raise InputError(f"{self.folder}: {missing}")
        if cluster is None and len(names) > 1:
            raise InputError(f"{self.folder}: has the clusters {', '.join(names)}: name one with --cluster-name")
        if cluster is not None and cluster not in names:
            raise InputError(f"{self.folder}: has no cluster {cluster}; there is {', '.join(names)}")
        return cluster or names[0]

    def view(self) -> None:
        """Gives each table its name in SQL."""
        for name in TABLES:
            self.rows(name).createOrReplaceTempView(name)

    def append(self, frames: Mapping[str, DataFrame], tasks: Mapping[str, int]) -> dict[str, int]:
        """Writes a batch of rows, and makes it count; returns how many rows each table got.

        Columns that a frame lacks are null. Where a row's key is there already, the row is left out. ``tasks`` is how many
        tasks write a table: the files, and the rows in them, depend on nothing else.
        """
        number, written, counts = len(self._batches()), dict[str, Written](), dict[str, int]()
        for name, frame in frames.items():
            table = TABLES[name]
            place = self._batch(table, table.version, number)
            new = self._new(table, frame, tasks.get(name, 1))
            new.write.partitionBy(*PARTITIONS).mode("overwrite").parquet(located(place))
            written[name] = Written(table.version, self._lengths(name, place))
            counts[name] = self.spark.read.parquet(located(place)).count() if written[name].files else 0
        (self.folder / BATCHES).mkdir(parents=True, exist_ok=True)
        content = {name: asdict(each) for name, each in written.items()}
        write(self.folder / BATCHES / f"{number:05d}.json", {"tables": content})
        return counts

    def _new(self, table: Table, frame: DataFrame, tasks: int) -> DataFrame:
        """The rows that are not there yet, each once, in the tasks and the order in which they are written."""
        columns = {column.name: column.type for column in table.columns}
        lacking = {name: F.lit(None).cast(kind) for name, kind in columns.items() if name not in frame.columns}
        frame = frame.withColumns({**lacking, "day": F.to_date("time")})
        keys, spread = [*PARTITIONS, *table.key], [*PARTITIONS, table.spread]
        merged = [
            (F.first(f"`{name}`") if kind.startswith("map") else F.max(f"`{name}`")).alias(name)
            for name, kind in columns.items()
            if name not in keys
        ]
        rows = frame.repartition(tasks, *spread).groupBy(*(F.col(f"`{key}`") for key in keys)).agg(*merged)
        if self._written(table.name):
            days = frame.select("cluster", "day").distinct()
            known = self.rows(table.name).join(F.broadcast(days), [*PARTITIONS], "left_semi").select(*keys)
            known = known.withColumnsRenamed({key: f"known {key}" for key in keys})
            same = reduce(lambda one, other: one & other, (rows[key].eqNullSafe(known[f"known {key}"]) for key in keys))
            rows = rows.join(known, same, "left_anti").repartition(tasks, *spread)
        return rows.sortWithinPartitions(*keys).select(*columns, *PARTITIONS)

    def _written(self, name: str) -> list[tuple[int, Written]]:
        """What each batch has of a table."""
        contents = ((number, content_of(file)["tables"]) for number, file in enumerate(self._batches()))
        return [(number, Written(**tables[name])) for number, tables in contents if name in tables]

    def _batches(self) -> list[Place]:
        folder = self.folder / BATCHES
        return sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=str) if folder.exists() else []

    def _batch(self, table: Table, version: int, number: int) -> Place:
        return self.folder / table.name / f"version={version}" / f"batch={number:05d}"

    def _lengths(self, name: str, folder: Place) -> dict[str, int]:
        """The Parquet files below a folder in that of a table with their lengths, as Spark lists them; none is opened.

        They are named as from the folder of the table.
        """
        if not folder.exists():
            return {}
        files = self.spark.read.format("binaryFile").option("recursiveFileLookup", "true").option("pathGlobFilter", "*.parquet")
        listed = files.load(located(folder)).select("path", "length").collect()
        return {f"version={str(row['path']).partition(f'/{name}/version=')[2]}": int(row["length"]) for row in listed}
