"""Lines of the logs of Pulsar and BookKeeper as rows.

The layouts are those that both are shipped with, as text, and JSON of log4j: JsonLayout, and the templates of
Elastic and OpenTelemetry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import lru_cache

from fencepost.checks.history.messages import BARE, NO_ATTRIBUTES, meant
from fencepost.checks.history.rows import Rows

_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)[.,](\d{3})(?:\d{3})?(Z|[+-]\d\d:?\d\d)? ")
_LEVEL = "(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"
_PULSAR = re.compile(rf"\[[^\]]*\] {_LEVEL} +\S+ (?:\{{.*?\}} )?- (.*)", re.DOTALL)
_BOOKKEEPER = re.compile(rf"- {_LEVEL} *(?:- )?\[[^\]]*@\S*?\](?:\[.*?\])?(?: \{{.*?\}})? - (.*)", re.DOTALL)
_TIMES = ("@timestamp", "timestamp", "Timestamp", "time")
_MESSAGES = ("message", "msg", "Body")
_CONTEXTS = ("contextMap", "mdc", "labels", "Attributes")
"""Where templates have the attributes, if not beside the message."""


@dataclass(frozen=True)
class Line:
    """What a line of a log says: when, in microseconds, and the message; ``has_zone`` is whether it names its time zone."""

    time: int
    message: str
    has_zone: bool


def parsed(text: str, zone: tzinfo) -> Line | None:
    """A line of one of the layouts; ``zone`` is for a time that names none. None for what is no such line. ValueError for a
    line of JSON that has no time or no message."""
    if text.startswith("{"):
        return _of_json(json.loads(text), zone)
    stamp = _STAMP.match(text)
    if stamp is None:
        return None
    match = _PULSAR.fullmatch(text, stamp.end()) or _BOOKKEEPER.fullmatch(text, stamp.end())
    if match is None:
        return None
    day, clock, millis, offset = stamp.groups()
    moment = datetime.fromisoformat(f"{day}T{clock}.{millis}{offset or ''}")
    return Line(_microseconds(moment, zone), match[1], offset is not None)


def _of_json(record: object, zone: tzinfo) -> Line:
    if not isinstance(record, dict):
        raise ValueError("is not a JSON object")
    message = next((record[name] for name in _MESSAGES if isinstance(record.get(name), str)), None)
    if message is None:
        raise ValueError("has no message")
    message = f"{message} {{{', '.join(f'{name}={value}' for name, value in sorted(_attributes(record).items()))}}}"
    if isinstance(instant := record.get("instant"), dict):
        return Line(int(instant["epochSecond"]) * 1_000_000 + int(instant.get("nanoOfSecond", 0)) // 1000, message, True)
    if isinstance(millis := record.get("timeMillis"), int):
        return Line(millis * 1000, message, True)
    time = next((record[name] for name in _TIMES if name in record), None)
    if not isinstance(time, str):
        raise ValueError("has no time")
    moment = datetime.fromisoformat(time.replace(",", "."))
    return Line(_microseconds(moment, zone), message, moment.tzinfo is not None)


def _attributes(record: Mapping[str, object]) -> dict[str, str | int]:
    """What a record has beside its message, as templates of log4j put it there: flat, or in an object of its own."""
    found = {name: value for name, value in record.items() if name not in _MESSAGES and isinstance(value, str | int)}
    for context in (record.get(name) for name in _CONTEXTS):
        if isinstance(context, dict):
            found |= _attributes(context)
    return found


def _microseconds(moment: datetime, zone: tzinfo) -> int:
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)


def add_line(rows: Rows, text: str, zone: tzinfo, cluster: str, source: str, number: int, modified: int) -> None:
    """Adds the row of a line, or leaves it with the reason. ``modified`` is the file's time, in microseconds."""
    try:
        line = parsed(text, zone)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        rows.leave("unread", cluster, source, number, f"is no line of a log: {_reason(error)}", text, modified)
        return
    if line is None:
        reason = "begins with no time, as a line that goes on does" if text.strip() else "is empty"
        rows.leave("passed", cluster, source, number, reason, text, modified)
        return
    found = meant(line.message)
    if found is None:
        is_bare = line.message.removesuffix(" {}") in BARE
        kind, reason = ("unread", NO_ATTRIBUTES) if is_bare else ("passed", "no table takes such a line of a log")
        rows.leave(kind, cluster, source, number, reason, text, modified)
        return
    known, fields = found
    if known.kind:
        decision = {
            "reason": known.source,
            **{name: fields[name] for name in ("bundle", "from", "to", "reason") if name in fields},
        }
        if known.kind == "assign":
            decision.setdefault("to", process_of(source))
        rows.add("decisions", cluster=cluster, time=line.time, kind=known.kind, source=source, **decision)
        return
    kept = {name: value for name, value in fields.items() if name not in ("process", "subject")}
    kept |= {} if line.has_zone else {"zone": "none"}
    about = {"protocol": known.protocol, "subject": fields["subject"], "event": known.event}
    who = fields.get("process") or process_of(source)
    rows.add("events", cluster=cluster, time=line.time, source=source, line=number, process=who, fields=kept, **about)


@lru_cache(maxsize=256)
def process_of(source: str) -> str:
    """Who writes a log, by the name of the file without what rotation adds: ``broker-1.log.2.gz`` is of broker-1.

    A name that any machine may give has no number, such as ``pulsar.log``, or no letter: then the names of the folders are
    before it, up to one that has both.
    """
    *folders, name = source.split("/")
    parts = [] if name == "log" else [name.split(".log")[0]]
    while folders and not any(re.search(r"[^\W\d]", part) and re.search(r"\d", part) for part in parts):
        parts.insert(0, folders.pop())
    return "/".join(part for part in parts if part not in ("", "file:"))


def _reason(error: Exception) -> str:
    return str(error).split(": line ")[0][:80]
