"""The lines of a ledger: who fenced it at which bookie, whom bookies refused, and which ensembles its writer made.

A bookie logs each read that fences, also those of a recovery (ReadEntryProcessor, ReadEntryProcessorV3), and each add that it
refuses on a fenced ledger (WriteEntryProcessor, WriteEntryProcessorV3); a client logs each ensemble that it has changed
(LedgerHandle.ensembleChangeLoop).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.checks.conformance.logs.events import Meaning, Shown
from fencepost.checks.history.parts import Part, Row

FENCING = ("read_lac", "fence_unheard", "read_found", "read_no_such_entry")
"""The steps that are reads which fence: of the LAC, and then of entries."""

MEANING = Meaning(
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
    yield Part(MEANING, parameters, lines, logs_all=True)
