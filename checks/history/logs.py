"""Lines of the logs of Pulsar and BookKeeper as rows: what a load manager decided, and steps of models.

The layouts are those that Pulsar and BookKeeper are shipped with, and JSON in log4j's templates: JsonTemplateLayout with
Elastic's fields, and JsonLayout. MESSAGES has what is taken, each with the method that logs it, as read in Pulsar 4.2.4 and
5.0.0-M1 and in BookKeeper 4.17.3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from fencepost.checks.history.rows import Rows

_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)[.,](\d{3})(?:\d{3})?(Z|[+-]\d\d:?\d\d)? ")
_PULSAR = re.compile(r"\[[^\]]*\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +(\S+) - (.*)", re.DOTALL)
_BOOKKEEPER = re.compile(r"- (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) *- \[[^\]]*?:?([^:\]]*)@\S*\] - (.*)", re.DOTALL)
_TIMES = ("@timestamp", "timestamp", "time")
_MESSAGES = ("message", "msg")


@dataclass(frozen=True)
class Line:
    """What a line of a log says: when, in microseconds, and the message; ``has_zone`` is whether it names its time zone."""

    time: int
    message: str
    has_zone: bool


@dataclass(frozen=True)
class Message:
    """A message that tells something: how it begins to be looked at, what it looks like, and who logs it.

    A decision has a ``kind``, else it is an event of a protocol: its word, with the group of the pattern that is its subject.
    """

    part: str
    pattern: re.Pattern[str]
    source: str
    kind: str = ""
    protocol: str = ""
    event: str = ""


_UNIT_DATA = (
    r"ServiceUnitStateData\[state=(?P<state>\w+), dstBroker=(?P<dst>[^,]*), sourceBroker=(?P<src>[^,]*),"
    r".*?versionId=(?P<version>-?\d+)\]"
)

MESSAGES = (
    Message(
        "] Unloading bundle: ",
        re.compile(
            r"\[(?P<reason>[^\]]*)\] Unloading bundle: (?P<bundle>\S+) from broker (?P<from>\S+) to dest broker (?P<to>\S+)"
        ),
        "ModularLoadManagerImpl.doLoadShedding",
        kind="unload",
    ),
    Message(
        "Unloading bundle from source broker to dest broker",
        re.compile(
            r"(?=.*class=(?P<reason>[\w.]+))(?=.*bundle=(?P<bundle>[^\s,}]+))"
            r"(?=.*sourceBroker=(?P<from>[^\s,}]+))(?=.*destBroker=(?P<to>[^\s,}]+))"
        ),
        "ModularLoadManagerImpl.doLoadShedding of 5.0, which names its values",
        kind="unload",
    ),
    Message(
        "Successfully split namespace bundle ",
        re.compile(r"Successfully split namespace bundle (?P<bundle>\S+)"),
        "ModularLoadManagerImpl.checkNamespaceBundleSplit",
        kind="split",
    ),
    Message(
        "Successfully acquired ownership of ",
        re.compile(r"Successfully acquired ownership of (?P<bundle>\S+)"),
        "OwnershipCache.tryAcquiringOwnership",
        kind="assign",
    ),
    Message(
        " event for serviceUnit:",
        re.compile(rf"(?P<process>\S+) handled (?P<tag>\S+) event for serviceUnit:(?P<subject>[^,]+), cur:{_UNIT_DATA}"),
        "ServiceUnitStateChannelImpl.log",
        protocol="service_unit",
        event="handled",
    ),
    Message(
        "fenced by",
        re.compile(r"Ledger: (?P<subject>\d+) +fenced by: (?P<by>\S+)"),
        "ReadEntryProcessor.processPacket",
        protocol="ledger",
        event="fenced",
    ),
    Message(
        "Ledger fence request received",
        re.compile(r"Ledger fence request received for ledger: (?P<subject>\d+) from address: (?P<by>\S+)"),
        "ReadEntryProcessorV3.readEntry",
        protocol="ledger",
        event="fenced",
    ),
    Message(
        "Ledger fenced/deleted while writing",
        re.compile(r"Ledger fenced/deleted while writing entry:(?P<entry>-?\d+) to ledger:(?P<subject>\d+)"),
        "WriteEntryProcessorV3.addEntry",
        protocol="ledger",
        event="refused",
    ),
    Message(
        "Write attempt on fenced",
        re.compile(r"Write attempt on fenced/deleted ledger (?P<subject>\d+) by client (?P<by>\S+)"),
        "WriteEntryProcessor.processPacket",
        protocol="ledger",
        event="refused",
    ),
    Message(
        "New Ensemble: ",
        re.compile(r"New Ensemble: \[(?P<ensemble>[^\]]*)\] for ledger: (?P<subject>\d+)"),
        "LedgerHandle.ensembleChangeLoop",
        protocol="ledger",
        event="new_ensemble",
    ),
)
"""Every message that a table takes. Only handlings of a transfer are logged by the channel, unless it logs for debugging."""


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
    return Line(_microseconds(moment, zone), match[2], offset is not None)


def _of_json(record: object, zone: tzinfo) -> Line:
    if not isinstance(record, dict):
        raise ValueError("is not a JSON object")
    message = next((record[name] for name in _MESSAGES if isinstance(record.get(name), str)), None)
    if message is None:
        raise ValueError("has no message")
    named = {name: value for name, value in record.items() if isinstance(value, str) and name not in _MESSAGES}
    message = f"{message} {' '.join(f'{name}={value}' for name, value in named.items())}" if "=" not in message else message
    if isinstance(instant := record.get("instant"), dict):
        return Line(int(instant["epochSecond"]) * 1_000_000 + int(instant.get("nanoOfSecond", 0)) // 1000, message, True)
    if isinstance(millis := record.get("timeMillis"), int):
        return Line(millis * 1000, message, True)
    time = next((record[name] for name in _TIMES if name in record), None)
    if not isinstance(time, str):
        raise ValueError("has no time")
    moment = datetime.fromisoformat(time.replace(",", "."))
    return Line(_microseconds(moment, zone), message, moment.tzinfo is not None)


def _microseconds(moment: datetime, zone: tzinfo) -> int:
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)


def told(message: str) -> Iterator[tuple[Message, Mapping[str, str]]]:
    """What a message tells, at most one thing."""
    for known in MESSAGES:
        if known.part in message:
            match = known.pattern.search(message)
            if match is not None:
                yield known, {name: value for name, value in match.groupdict().items() if value is not None}
                return


def add_line(rows: Rows, text: str, zone: tzinfo, cluster: str, source: str, number: int, modified: int) -> None:
    """Adds the row of a line, or leaves it with the reason. ``modified`` is the file's time, in microseconds."""
    folder, _, name = source.rpartition("/")
    process = folder.rpartition("/")[2] if name == "log" else name.split(".log")[0]
    try:
        line = parsed(text, zone)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        rows.leave("unread", cluster, source, number, f"is no line of a log: {_reason(error)}", text, modified)
        return
    if line is None:
        reason = "begins with no time, as a line that goes on does" if text.strip() else "is empty"
        rows.leave("passed", cluster, source, number, reason, text, modified)
        return
    for known, fields in told(line.message):
        if known.kind:
            given = {name: fields[name] for name in ("bundle", "from", "to", "reason") if name in fields}
            given.setdefault("reason", known.source)
            if known.kind == "assign":
                given["to"] = process
            rows.add("decisions", cluster=cluster, time=line.time, kind=known.kind, source=source, **given)
        else:
            who, subject = fields.get("process", process), fields["subject"]
            kept = {name: value for name, value in fields.items() if name not in ("process", "subject")}
            kept |= {} if line.has_zone else {"zone": "none"}
            about = {"protocol": known.protocol, "subject": subject, "process": who, "event": known.event}
            rows.add("events", cluster=cluster, time=line.time, source=source, line=number, fields=kept, **about)
        return
    rows.leave("passed", cluster, source, number, "no table takes such a line of a log", text, modified)


def _reason(error: Exception) -> str:
    return str(error).split(": line ")[0][:80]
