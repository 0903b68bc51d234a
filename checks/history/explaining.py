"""Logs by the thousand: for each unit or ledger of the table events, whether runs of the model explain its lines, as a task of
Spark."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from fencepost.checks.conformance.logs.events import EmptyLogError, Line, Log, LogError, events_of
from fencepost.checks.conformance.logs.explanation import LIMIT, explain
from fencepost.checks.conformance.logs.mismatch import why_not
from fencepost.checks.history.parts import Part, Row, ledger_parts, unit_parts
from fencepost.checks.history.schema import VERDICTS
from fencepost.checks.history.tables import Tables
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError, Value, find
from fencepost.traces.files.itf import text

READINGS: Mapping[str, Callable[[Sequence[Row]], Iterator[Part]]] = {"ledger": ledger_parts, "service_unit": unit_parts}
"""The protocols whose events are explained, and how the lines of a subject are read."""

NOT_READ = {
    "topic": "any broker may open a topic at any time there, so a run explains whatever its lines say",
    "ownership": "the table decisions has who got a lock, and no table who lost one, so a run explains any order",
}
"""The protocols of which there are lines that are not explained, and why."""

_VERDICT = pa.schema(
    [
        ("cluster", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
        *((name, pa.string()) for name in ("protocol", "subject", "verdict", "next", "why", "trace", "settings")),
        ("events", pa.int64()),
        ("explained", pa.int64()),
    ]
)
_SPARKS = (
    "cluster string, time timestamp, protocol string, subject string, verdict string, next string, why string, trace string, "
    "settings string, events long, explained long"
)


@dataclass(frozen=True)
class Question:
    """With which protocol the events are explained, which of its parameters and bugs are set, and how many states may be
    possible at once. Raises RegistryError for a protocol whose events are not read."""

    protocol: str
    parameters: Mapping[str, Value]
    bugs: tuple[str, ...] = ()
    limit: int = LIMIT

    def __post_init__(self) -> None:
        if self.protocol not in READINGS:
            why = NOT_READ.get(self.protocol, "no table has events of it")
            raise RegistryError(f"--tables explains {' and '.join(READINGS)}, not {self.protocol}: {why}")

    def verdict(self, rows: pa.Table) -> pa.Table:
        """What a task answers of the rows of one subject."""
        keys = [(name, "ascending") for name in ("time", "source", "line")]
        events = [defaultdict(str, {**row, **dict(row["fields"])}) for row in _each_once(rows.sort_by(keys).to_pylist())]
        first = events[0]
        cells = {
            "cluster": first["cluster"],
            "subject": first["subject"],
            "time": events[-1]["time"],
            "protocol": self.protocol,
            "events": len(events),
            "settings": json.dumps({**self.parameters, **({"bugs": self.bugs} if self.bugs else {})}, sort_keys=True),
        }
        try:
            cells |= _explained(self, events)
        except (LogError, EmptyLogError, RegistryError) as error:
            cells |= {"verdict": "unreadable", "why": str(error), "explained": 0}
        return pa.Table.from_pylist([cells], schema=_VERDICT)


def _each_once(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines, each from the first file that has it: exports of a log that overlap have some in common."""
    sources = dict[tuple[object, ...], str]()
    for row in rows:
        line = row["time"], row["process"], row["event"], *sorted(row["fields"])
        if sources.setdefault(line, row["source"]) == row["source"]:
            yield row


def explained(tables: Tables, asked: Question) -> DataFrame:
    """A row of the table verdicts for each subject."""
    events = tables.rows("events").where(f"protocol = '{asked.protocol}'")
    columns = events.select("cluster", "subject", "time", "process", "event", "fields", "source", "line")
    return columns.groupBy("cluster", "subject").applyInArrow(_task(asked), _SPARKS)


def _task(asked: Question) -> Callable[[pa.Table], pa.Table]:
    """What Spark calls with the rows of a subject: it counts the arguments of a method otherwise."""

    def verdict(rows: pa.Table) -> pa.Table:
        return asked.verdict(rows)

    return verdict


def keep(tables: Tables, verdicts: DataFrame) -> int:
    """Writes the verdicts that are not there yet; returns how many."""
    return tables.append({VERDICTS.name: verdicts}, {})[VERDICTS.name]


def _explained(asked: Question, rows: Sequence[Row]) -> dict[str, str | int | None]:
    """Explains part after part, until one has no run; the trace is the last part's."""
    explained, trace = set[int](), ""
    for part in READINGS[asked.protocol](rows):
        kernel = _kernel(asked.protocol, tuple(sorted({**part.parameters, **asked.parameters}.items())), asked.bugs)
        protocol = kernel.protocol
        meaning = part.meaning if part.logs_all else replace(part.meaning, unobserved=tuple(protocol.mirrors))
        lines = tuple(Line(number, content) for number, (_, content) in enumerate(part.lines))
        found = explain(kernel, events_of(Log(Path("events"), lines), protocol, meaning), limit=asked.limit)
        trace = text(found.run, protocol)
        explained |= {place for place, _ in part.lines[: found.explained]}
        if (event := found.next) is not None:
            place, _ = part.lines[event.line]
            row = rows[place]
            return {
                "verdict": "inconclusive" if found.stopped else "unexplained",
                "explained": len(explained - {place}),
                "next": f"{row['source']}:{row['line']}: {row['event']} at {row['process']}",
                "why": found.stopped or "\n".join(why_not(kernel, found, 120)),
                "trace": trace,
            }
    return {"verdict": "explained", "explained": len(explained), "trace": trace}


@lru_cache(maxsize=32)
def _kernel(name: str, parameters: tuple[tuple[str, Value], ...], bugs: tuple[str, ...]) -> Kernel:
    """An instance, compiled: many subjects of a task have the same."""
    return Kernel(find(name, PROTOCOLS).build(dict(parameters), bugs))


def as_json(rows: Sequence[Mapping[str, object]]) -> str:
    """The verdicts for programs, without their traces."""
    return (
        json.dumps([{name: value for name, value in row.items() if name != "trace"} for row in rows], indent=1, default=str)
        + "\n"
    )
