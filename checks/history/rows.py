"""Rows of several tables, as a worker of Spark makes them: a struct for each table, of which every row has one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import pyarrow as pa

from fencepost.checks.history.schema import DECISIONS, EVENTS, LOADS, QUARANTINE, RATES, SETTINGS

Cell: TypeAlias = str | float | int | Mapping[str, str] | None

MADE = (LOADS, DECISIONS, EVENTS, RATES, SETTINGS, QUARANTINE)
"""The tables that files are read into."""

NAMES = {table.name: ("cluster", *(column.name for column in table.columns)) for table in MADE}
_TYPES = {
    "string": pa.string(),
    "double": pa.float64(),
    "bigint": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "map<string,string>": pa.map_(pa.string(), pa.string()),
}
_STRUCTS = {
    table.name: pa.struct([("cluster", pa.string()), *((column.name, _TYPES[column.type]) for column in table.columns)])
    for table in MADE
}
_SCHEMA = pa.schema(list(_STRUCTS.items()))

STRUCTS = ", ".join(
    f"{table.name} struct<cluster: string, {', '.join(f'`{c.name}`: {c.type}' for c in table.columns)}>" for table in MADE
)
"""The same, as a schema of Spark."""

MICROSECONDS = 1000
"""Of a millisecond: times in rows are microseconds since 1970."""


class Rows:
    """Rows that wait until there are enough for a batch. Of what is not read only the first line of a reason is kept, and how
    many there are."""

    def __init__(self) -> None:
        self._rows = defaultdict[str, list[tuple[Cell, ...]]](list)
        self._left = dict[tuple[str, ...], list[Cell]]()
        self.count = 0

    def add(self, table: str, **cells: Cell) -> None:
        """A row; cells that are not given are null."""
        self._rows[table].append(tuple(map(cells.get, NAMES[table])))
        self.count += 1

    def leave(self, kind: str, cluster: str, source: str, line: int, reason: str, text: str, time: int) -> None:
        """A line that no row is made of; ``kind`` is unread or passed, ``time`` the file's, in microseconds."""
        known = self._left.setdefault((kind, cluster, source, reason), [line, 0, text[:200], time])
        known[1] = int(known[1]) + 1  # type: ignore[arg-type]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """What waits, a batch for each table."""
        for (kind, cluster, source, reason), (line, lines, text, time) in self._left.items():
            cells = {"kind": kind, "cluster": cluster, "source": source, "reason": reason, "line": line, "lines": lines}
            self.add("quarantine", **cells, text=text, time=time)
        for table, rows in self._rows.items():
            struct = _STRUCTS[table]
            columns = [pa.array(values, field.type) for field, values in zip(struct, zip(*rows, strict=True), strict=True)]
            array = pa.StructArray.from_arrays(columns, fields=list(struct))
            others = [array if name == table else pa.nulls(len(rows), kind) for name, kind in _STRUCTS.items()]
            yield pa.RecordBatch.from_arrays(others, schema=_SCHEMA)
        self._rows.clear()
        self._left.clear()
        self.count = 0
