"""Logs by the thousand: for each ledger of the table events, whether a run of the model explains its lines, as a task of Spark.

A bookie logs each read that fences, also those of a recovery (ReadEntryProcessor, ReadEntryProcessorV3), and each add that it
refuses on a fenced ledger (WriteEntryProcessor, WriteEntryProcessorV3); a client logs each ensemble that it has changed
(LedgerHandle.ensembleChangeLoop).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from fencepost.checks.conformance.logs.events import EmptyLogError, Line, Log, LogError, Meaning, Shown, events_of
from fencepost.checks.conformance.logs.explanation import LIMIT, explain
from fencepost.checks.conformance.logs.mismatch import why_not
from fencepost.checks.history.schema import VERDICTS
from fencepost.checks.history.tables import Tables
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError, Value, find
from fencepost.traces.files.itf import text

_VERDICT = pa.schema(
    [
        ("cluster", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
        *((name, pa.string()) for name in ("protocol", "subject", "verdict", "next", "why", "trace")),
        ("events", pa.int64()),
        ("explained", pa.int64()),
    ]
)
_SPARKS = (
    "cluster string, time timestamp, protocol string, subject string, verdict string, next string, why string, trace string, "
    "events long, explained long"
)


@dataclass(frozen=True)
class Reading:
    """What the events of a protocol mean, and which of its parameters follow from them."""

    meaning: Meaning
    parameters: Callable[[Sequence[Mapping[str, str]], Sequence[str]], dict[str, Value]]


def _ledger(events: Sequence[Mapping[str, str]], bookies: Sequence[str]) -> dict[str, Value]:
    """Three bookies or those that there are, and as many recoveries as clients that fence one and the same of them."""
    fenced = {(event["bookie"], event["by"]) for event in events if event["event"] == "fenced"}
    at_each = [bookie for bookie, _ in fenced]
    changes = sum(event["event"] == "new_ensemble" for event in events)
    return {"bookies": max(3, len(bookies)), "recoverers": max(map(at_each.count, at_each), default=1), "changes": changes}


FENCING = ("read_lac", "fence_unheard", "read_found", "read_no_such_entry")
"""The steps that are reads which fence: of the LAC, and then of entries."""

READINGS: Mapping[str, Reading] = {
    "ledger": Reading(
        Meaning(
            "event",
            {
                "fenced": tuple(f"{step}(_, {{bookie}})" for step in FENCING),
                "refused": (),
                "new_ensemble": ("resend", "publish_change"),
            },
            {"is_fenced": Shown("fenced[{bookie}]")},
        ),
        _ledger,
    )
}
"""The protocols whose events are explained."""


@dataclass(frozen=True)
class Question:
    """With which protocol the events are explained, which of its parameters and bugs are set, and how many states may be
    possible at once."""

    protocol: str
    parameters: Mapping[str, Value]
    bugs: tuple[str, ...] = ()
    limit: int = LIMIT

    def verdict(self, rows: pa.Table) -> pa.Table:
        """What a task answers of the rows of one subject."""
        keys = [(name, "ascending") for name in ("time", "source", "line")]
        events = rows.sort_by(keys).to_pylist()
        first = events[0]
        cells = {
            "cluster": first["cluster"],
            "subject": first["subject"],
            "time": events[-1]["time"],
            "protocol": self.protocol,
            "events": len(events),
        }
        try:
            cells |= _explained(self, events)
        except (LogError, EmptyLogError, RegistryError) as error:
            cells |= {"verdict": "unreadable", "why": str(error), "explained": 0}
        return pa.Table.from_pylist([cells], schema=_VERDICT)


def explained(tables: Tables, asked: Question) -> DataFrame:
    """A row of the table verdicts for each subject. Raises RegistryError for a protocol whose events are not read."""
    if asked.protocol not in READINGS:
        raise RegistryError(f"the events of {asked.protocol} are in the table, and not explained: name {', '.join(READINGS)}")
    events = tables.rows("events").where(f"protocol = '{asked.protocol}'")
    columns = events.select("cluster", "subject", "time", "process", "event", "fields.by", "source", "line")
    return columns.groupBy("cluster", "subject").applyInArrow(_task(asked), _SPARKS)


def _task(asked: Question) -> Callable[[pa.Table], pa.Table]:
    """What Spark calls with the rows of a subject: it counts the arguments of a method otherwise."""

    def verdict(rows: pa.Table) -> pa.Table:
        return asked.verdict(rows)

    return verdict


def keep(tables: Tables, verdicts: DataFrame) -> int:
    """Writes the verdicts that are not there yet; returns how many."""
    return tables.append({VERDICTS.name: verdicts}, {})[VERDICTS.name]


def _explained(asked: Question, rows: Sequence[Mapping[str, str]]) -> dict[str, str | int | None]:
    reading = READINGS[asked.protocol]
    processes = list(dict.fromkeys(row["process"] for row in rows if row["event"] != "new_ensemble"))
    names = {process: f"b{number}" for number, process in enumerate(processes)}
    said = [
        {
            "event": row["event"],
            "bookie": names.get(row["process"], ""),
            "by": row["by"] or "",
            **({"is_fenced": True} if row["process"] in names else {}),
        }
        for row in rows
    ]
    entry = find(asked.protocol, PROTOCOLS)
    settings = {**reading.parameters(said, processes), **asked.parameters}  # type: ignore[arg-type]
    protocol = entry.build(settings, asked.bugs)
    lines = tuple(Line(number, content) for number, content in enumerate(said, start=1))
    kernel = Kernel(protocol)
    found = explain(kernel, events_of(Log(Path("events"), lines), protocol, reading.meaning), limit=asked.limit)
    trace = text(found.run, protocol)
    if found.whole:
        return {"verdict": "explained", "explained": found.explained, "trace": trace}
    event = found.next
    assert event is not None
    row = rows[event.line - 1]
    return {
        "verdict": "inconclusive" if found.stopped else "unexplained",
        "explained": found.explained,
        "next": f"{row['source']}:{row['line']}: {row['event']} at {row['process']}",
        "why": found.stopped or "\n".join(why_not(kernel, found, 120)),
        "trace": trace,
    }


def as_json(rows: Sequence[Mapping[str, object]]) -> str:
    """The verdicts for programs, without their traces."""
    return (
        json.dumps([{name: value for name, value in row.items() if name != "trace"} for row in rows], indent=1, default=str)
        + "\n"
    )
