"""The tables of a cluster's history: their columns with units, their keys, and how rows of an older version are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PARTITIONS = ("cluster", "day")
"""By what each table is divided: the name of the cluster, and the day of a row's time in UTC."""


@dataclass(frozen=True)
class Column:
    """A column: Spark's type, the unit ("" where there is none), what it says, and since which version it is there."""

    name: str
    type: str
    unit: str
    meaning: str
    since: int = 1


@dataclass(frozen=True)
class Table:
    """A table: what a row is, its columns without those of PARTITIONS, and those that tell rows apart.

    Rows are spread over the tasks that write them by the column ``spread``. ``renamed`` has the names that columns had before
    a version: {version: {then: now}}.
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    spread: str
    version: int = 1
    renamed: Mapping[int, Mapping[str, str]] | None = None

    @property
    def struct(self) -> str:
        """The columns as Spark reads a schema."""
        return self.of(self.version)

    def of(self, version: int) -> str:
        """The columns as they were in a version."""
        then = {now: old for old, now in self.names(version).items()}
        return ", ".join(f"`{then.get(c.name, c.name)}` {c.type}" for c in self.columns if c.since <= version)

    def names(self, version: int) -> dict[str, str]:
        """What the columns of a version that were renamed since are called now."""
        return {old: now for until, names in (self.renamed or {}).items() if version < until for old, now in names.items()}

    def upgrade(self, version: int) -> list[str]:
        """What makes a row of this version of one of an older version, as expressions of Spark's SQL."""
        then = {now: old for old, now in self.names(version).items()}
        there = {c.name for c in self.columns if c.since <= version}
        columns = [
            f"`{then.get(c.name, c.name)}` AS `{c.name}`" if c.name in there else f"CAST(NULL AS {c.type}) AS `{c.name}`"
            for c in self.columns
        ]
        return [*columns, *PARTITIONS]


_TIME = Column("time", "timestamp", "UTC", "when")
_SOURCE = Column("source", "string", "", "the file that has it")
_RATE = (
    Column("msg_rate_in", "double", "messages/s", "published"),
    Column("msg_rate_out", "double", "messages/s", "delivered"),
    Column("msg_throughput_in", "double", "bytes/s", "published"),
    Column("msg_throughput_out", "double", "bytes/s", "delivered"),
)

LOADS = Table(
    "loads",
    "what a broker, or one of its bundles, carried at a moment",
    (
        _TIME,
        Column("broker", "string", "", "who reported it"),
        Column("bundle", "string", "", "which bundle; null in the row of the broker itself"),
        *_RATE,
        Column("topics", "bigint", "topics", "how many topics"),
        Column("producers", "bigint", "producers", "how many producers"),
        Column("consumers", "bigint", "consumers", "how many consumers"),
        Column("cpu", "double", "%", "usage of the broker's CPU"),
        Column("memory", "double", "%", "usage of its heap"),
        Column("direct_memory", "double", "%", "usage of its direct memory"),
        Column("bandwidth_in", "double", "%", "usage of its network, inbound"),
        Column("bandwidth_out", "double", "%", "usage of its network, outbound"),
        Column("bandwidth_in_limit", "double", "bytes/s", "what its network takes, inbound; null if no report says it", 2),
        Column("bandwidth_out_limit", "double", "bytes/s", "what its network takes, outbound", 2),
        Column("reported", "timestamp", "UTC, by the broker's clock", "when the broker says that it measured this", 2),
    ),
    ("time", "broker", "bundle"),
    "broker",
    version=2,
)

DECISIONS = Table(
    "decisions",
    "what the load manager did with a bundle",
    (
        _TIME,
        Column("kind", "string", "", "unload (and transfer, if it names a destination), split, or assign"),
        Column("bundle", "string", "", "which bundle"),
        Column("from", "string", "", "the broker that gave it up"),
        Column("to", "string", "", "the broker that took it; null if the log does not name it"),
        Column("reason", "string", "", "who decided, and why, as the log has it"),
        _SOURCE,
    ),
    ("time", "kind", "bundle", "from", "to"),
    "bundle",
)

EVENTS = Table(
    "events",
    "a line of a log that tells a step of a model, or shows a part of its state",
    (
        _TIME,
        Column("protocol", "string", "", "the model whose step it is: ledger, service_unit or topic"),
        Column("subject", "string", "", "the ledger's number, the bundle, or the managed ledger of the topic"),
        Column(
            "process",
            "string",
            "",
            "the client, bookie or broker that wrote the line, by the name of the file if the line does not say",
        ),
        Column("event", "string", "", "what happened, in a word of the protocol's mapping"),
        Column("fields", "map<string,string>", "", "what the line says of it"),
        _SOURCE,
        Column("line", "bigint", "number, from 1", "the line of the file"),
    ),
    ("time", "protocol", "subject", "process", "event", "source", "line"),
    "subject",
)

RATES = Table(
    "rates",
    "a sample of what the odds need",
    (
        _TIME,
        Column("process", "string", "", "the label instance of Prometheus, or the file"),
        Column("metric", "string", "", "the name of the metric"),
        Column("labels", "string", "", "its other labels, as JSON with sorted names"),
        Column("value", "double", "of the metric", "the sample"),
        Column("unit", "string", "", "ms, 1/s, or 1 for a count"),
    ),
    ("time", "process", "metric", "labels"),
    "process",
)

SETTINGS = Table(
    "settings",
    "what a setting was, as the cluster, a broker, a bookie or a namespace said",
    (
        Column("time", "timestamp", "UTC", "when the file with it was written"),
        Column("kind", "string", "", "cluster, broker, bookie or namespace"),
        Column("name", "string", "", "the address that was asked, or the namespace; the cluster's own name for the cluster"),
        Column("setting", "string", "", "the key of broker.conf or bk_server.conf, or a policy of the namespace"),
        Column("value", "string", "of the setting", "what it was, as JSON unless it is text"),
        _SOURCE,
    ),
    ("time", "kind", "name", "setting"),
    "name",
)

QUARANTINE = Table(
    "quarantine",
    "what could not be read, or what no table takes, of a file, for a reason",
    (
        _TIME,
        Column("kind", "string", "", "unread, or passed (it was read, and no table takes it)"),
        Column("source", "string", "", "the file"),
        Column("line", "bigint", "number, from 1", "its first such line; 0 for the file as a whole"),
        Column("reason", "string", "", "why"),
        Column("lines", "bigint", "lines", "how many such lines"),
        Column("text", "string", "", "the beginning of the first one"),
    ),
    ("source", "line", "reason"),
    "source",
)

FILES = Table(
    "files",
    "a file that was read, as far as it was read",
    (
        _TIME,
        Column("source", "string", "", "where it was"),
        Column("length", "bigint", "bytes", "how long it was then"),
        Column("modified", "timestamp", "UTC", "when it had been written last"),
        Column("head", "bigint", "hash", "of its first line, or of all of a document and, if it says no time, of the file's"),
        Column("lines", "bigint", "lines", "how many lines were read"),
        Column("digest", "bigint", "hash", "the sum of these lines' hashes"),
        Column("state", "string", "", "new, grown, rewritten, or a duplicate"),
    ),
    ("source", "head", "lines"),
    "source",
)

WALKS = Table(
    "walks",
    "a random walk of an exploration",
    (
        _TIME,
        Column("run", "string", "", "the folder of the exploration"),
        Column("protocol", "string", "", "the protocol"),
        Column("walk", "bigint", "number, from 0", "the number of the walk"),
        Column("steps", "bigint", "steps", "how many steps it took"),
        Column("violated", "string", "", "the property that its end violates; null if none"),
    ),
    ("run", "walk"),
    "walk",
)

STEPS = Table(
    "steps",
    "a step of a walk",
    (
        _TIME,
        Column("run", "string", "", "the folder of the exploration"),
        Column("walk", "bigint", "number, from 0", "the number of the walk"),
        Column("step", "bigint", "number, from 1", "the number of the step"),
        Column("action", "string", "", "the action with its arguments"),
        Column("changed", "map<string,string>", "", "the variables that it changed, with what they became"),
    ),
    ("run", "walk", "step"),
    "walk",
)

VERDICTS = Table(
    "verdicts",
    "whether a run of a model explains what is known of a unit or a ledger",
    (
        _TIME,
        Column("protocol", "string", "", "the model"),
        Column("subject", "string", "", "the ledger's number, or the bundle"),
        Column("verdict", "string", "", "explained, unexplained, unreadable or inconclusive"),
        Column("events", "bigint", "events", "how many events there are"),
        Column("explained", "bigint", "events", "how many of them the run explains, from the first on"),
        Column("next", "string", "", "the first that none explains, with its file and line"),
        Column("why", "string", "", "why not"),
        Column("trace", "string", "ITF", "the run as far as it goes, as a file of a trace has it"),
        Column(
            "settings", "string", "JSON", "the parameters and bugs that were set, beside those that follow from the lines", 2
        ),
    ),
    ("protocol", "subject", "events", "settings"),
    "subject",
    version=2,
)

TABLES: dict[str, Table] = {
    table.name: table for table in (LOADS, DECISIONS, EVENTS, RATES, SETTINGS, WALKS, STEPS, VERDICTS, QUARANTINE, FILES)
}
"""Every table by its name."""
