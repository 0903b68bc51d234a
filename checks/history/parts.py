"""What the lines of a unit or a ledger mean in a protocol: parts, each of which one run of an instance is to explain.

A broker logs that it has handled a record of a service unit once all is done that it does for it, so lines of one move come in
any order (ServiceUnitStateChannelImpl.log). Versions rise by one with each record, and lines are taken in their order: a broker
that has handled a record had it in its view after the record was written, and before it read the next one. The channel logs
only handlings of a transfer, unless it logs for debugging. So a run starts at any record, and what no line tells of may happen
between two of them.

A bookie logs each read that fences a ledger, also those of a recovery (ReadEntryProcessor, ReadEntryProcessorV3), and each add
that it refuses on a fenced one (WriteEntryProcessor, WriteEntryProcessorV3); a client logs each ensemble that it has changed
(LedgerHandle.ensembleChangeLoop).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fencepost.checks.conformance.logs.events import Meaning, Shown
from fencepost.properties.registry import Value

Row: TypeAlias = Mapping[str, str]
"""A row of the table events, with its fields beside its columns."""


@dataclass(frozen=True)
class Part:
    """Lines that follow one another: what each says in the words of ``meaning``, and the place of its row.

    ``parameters`` are those of the instance that follow from the lines. ``logs_all`` is whether each step that a line can mean
    is logged; otherwise all of them may also happen without a line.
    """

    meaning: Meaning
    parameters: Mapping[str, Value]
    lines: Sequence[tuple[int, Mapping[str, object]]]
    logs_all: bool


FIELDS = ("state", "dst", "src", "version")
"""Of a record."""
OF_UNIT = Meaning(
    "event",
    {
        "handled": (),
        "released": ("release({broker}, u0)",),
        "overridden": ("override_overdue(_, u0, {to_dst})",),
        "cleaned up": ("clean_up(_, {inactive}, u0, {to_dst})", "hand_over({inactive}, u0, {to_dst})"),
        "freed": ("free_orphan(_, {inactive}, u0)", "give_up({inactive}, u0)"),
    },
    {name: Shown(f"view_{name}[{{broker}}, u0]") for name in FIELDS},
)
EARLIEST = {"Assigning": 1, "Owned": 2, "Releasing": 3, "Splitting": 3, "Free": 4, "Deleted": 4}
"""The first version of a record in each state; of an assignment to which a transfer has led it is three more."""
PAUSE = 60_000
"""Milliseconds after which a lower version is that of a new record of a unit whose record was deleted, whatever clocks say."""
GAP = 8
"""Versions that no line tells of, after which lines are explained by themselves."""
NOBODY = "nobody"
Placed: TypeAlias = tuple[int, Row]
"""A line with its place among those of the unit."""


def unit_parts(rows: Sequence[Row]) -> Iterator[Part]:
    """The lines of a unit, cut where a broker owns it: the next part begins with that."""
    for life in _lives(rows):
        for move in _moves([(place, rows[place]) for place in life]):
            yield _part(move)


def _lives(rows: Sequence[Row]) -> Iterator[list[int]]:
    """The places of the lines of each record: from its first version on until it is deleted, or until lines are missing."""
    places = sorted(range(len(rows)), key=lambda place: (int(rows[place]["written"]), int(rows[place]["version"])))
    life, last, written = list[int](), 0, 0
    for place in places:
        version, now = int(rows[place]["version"]), int(rows[place]["written"])
        if life and ((version < last and now >= written + PAUSE) or version > last + GAP):
            yield life
            life, last = [], 0
        life.append(place)
        last, written = max(last, version), now
    if life:
        yield life


def _moves(life: Sequence[Placed]) -> Iterator[list[Placed]]:
    """The lines of a life in the order of versions, until a broker owns the unit, and on from there.

    Whose the unit was before a move is no matter of it.
    """
    ordered = sorted(life, key=lambda line: (int(line[1]["version"]), line[1]["event"] != "handled"))
    begin = ordered[0][1]["version"]
    move = list[Placed]()
    owner: Placed | None = None
    for place, row in ordered:
        owns = row["event"] == "handled" and row["state"] == "Owned"
        if owner is not None and not owns:
            yield move
            move, begin, owner = [owner], owner[1]["version"], None
        is_first = owns and row["version"] == begin
        move.append((place, {**row, "src": ""} if is_first else row))
        if owns and not is_first:
            owner = place, {**row, "src": "", "process": row["dst"]}
    yield move


def _part(move: Sequence[Placed]) -> Part:
    """The lines of a move; its first record is as early as it can be in a run."""
    rows = [row for _, row in move]
    first = rows[0]
    earliest = EARLIEST[first["state"]] + 3 * (first["state"] == "Assigning" and first["src"] != "")
    begin = max(0, int(first["version"]) - earliest)
    brokers = list(dict.fromkeys(name for row in rows for name in _brokers(row) if name))
    names = {name: f"b{number}" for number, name in enumerate(brokers)} | {"": NOBODY}
    overridden = {row["version"] for row in rows if row["event"] == "overridden"}
    lines = list[tuple[int, Mapping[str, object]]]()
    for place, row in move:
        if row["event"] == "overridden":
            lines.append((place, {"event": _word(row), "inactive": names[row["inactive"]], "to_dst": names[row["to_dst"]]}))
            continue
        broker, version = names[row["process"]], int(row["version"]) - begin
        seen = {"state": row["state"], "dst": names[row["dst"]], "src": names[row["src"]], "version": version}
        lines.append((place, {"event": "handled", "broker": broker, **seen}))
        if row["state"] == "Releasing" and row["version"] not in overridden:
            lines.append((place, {"event": "released", "broker": broker}))
    return Part(OF_UNIT, _parameters(rows, len(brokers), begin), lines, logs_all=False)


def _brokers(row: Row) -> tuple[str, ...]:
    """Those that a line names."""
    if row["event"] == "overridden":
        return row["inactive"], row["src"], row["dst"], row["to_src"], row["to_dst"]
    return row["process"], row["src"], row["dst"]


def _word(row: Row) -> str:
    """What an override is, by why it was made and what it says."""
    if row["to_state"] == "Free":
        return "freed"
    return "cleaned up" if row["inactive"] else "overridden"


def _parameters(rows: Sequence[Row], brokers: int, begin: int) -> dict[str, Value]:
    """The instance: as many brokers, versions, unloads and faults as the lines tell of, and no more."""
    last = max(int(row.get("to_version") or row["version"]) for row in rows) - begin
    overrides = [(place, row) for place, row in enumerate(rows) if row["event"] == "overridden"]
    gone = {row["inactive"] for _, row in overrides if row["inactive"] and row["to_state"] != "Releasing"}
    back = {name for name in gone for place, row in overrides if row["inactive"] == name and _writes(rows[place:], name)}
    splits = any(row["state"] in ("Splitting", "Deleted") for row in rows)
    return {
        "brokers": max(2, brokers),
        "versions": max(8, last + 1),
        "unloads": max(1, -(-(last - 2) // 3)),
        "crashes": len(gone - back),
        "expiries": len(back),
        "shutdowns": len({row["inactive"] for _, row in overrides if row["to_state"] == "Releasing"}),
        "slow": any(not row["inactive"] for _, row in overrides),
        **({"units": 2, "splits": 1} if splits else {}),
    }


def _writes(rows: Sequence[Row], name: str) -> bool:
    """Whether a broker that was overridden writes lines afterwards: its session was gone, and not its process."""
    return any(row["event"] == "handled" and row["process"] == name for row in rows)


FENCING = ("read_lac", "fence_unheard", "read_found", "read_no_such_entry")
"""The steps that are reads which fence: of the LAC, and then of entries."""

OF_LEDGER = Meaning(
    "event",
    {
        "fenced": tuple(f"{step}(_, {{bookie}})" for step in FENCING),
        "refused": (),
        "new_ensemble": ("resend", "publish_change"),
    },
    {"is_fenced": Shown("fenced[{bookie}]")},
)


def ledger_parts(rows: Sequence[Row]) -> Iterator[Part]:
    """All lines of a ledger, as they come in time.

    There are three bookies or those that wrote lines, and as many recoveries as clients that fence one and the same of them.
    """
    bookies = list(dict.fromkeys(row["process"] for row in rows if row["event"] != "new_ensemble"))
    names = {bookie: f"b{number}" for number, bookie in enumerate(bookies)}
    lines = [
        (
            place,
            {
                "event": row["event"],
                "bookie": names.get(row["process"], ""),
                **({"is_fenced": True} if row["process"] in names else {}),
            },
        )
        for place, row in enumerate(rows)
    ]
    fenced = {(row["process"], row["by"]) for row in rows if row["event"] == "fenced"}
    at_each = [bookie for bookie, _ in fenced]
    parameters = {
        "bookies": max(3, len(bookies)),
        "recoverers": max(map(at_each.count, at_each), default=1),
        "changes": sum(row["event"] == "new_ensemble" for row in rows),
    }
    yield Part(OF_LEDGER, parameters, lines, logs_all=True)
