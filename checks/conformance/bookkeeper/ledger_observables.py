"""What both sides show of a ledger: each thing as the model has it, and as BookKeeper's objects have it."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.checks.conformance.bookkeeper.ledger_requests import ADDING, VARIABLES, Fragment, Ledger, entries, ledger_of
from fencepost.checks.conformance.java_side.session import Told
from fencepost.checks.conformance.running.adapter import Observable
from fencepost.checks.conformance.running.view import View

SUCCESS = "No problem"
UNDER_WAY = "under way"
ENTRY_BYTES = len("entry 0")
"""How long every entry of the harness is; the model counts lengths in entries."""


def _seen(name: str, model: Callable[[Ledger], object], code: Callable[[Told], object]) -> Observable:
    return Observable(name, VARIABLES[name], lambda view: model(ledger_of(view)), code)


def _of_bookies(name: str, model: Callable[[View, str], object], code: Callable[[Told], object]) -> Observable:
    """Something of each bookie that runs; of others there is nothing to see."""
    return _seen(
        name,
        lambda ledger: {b: model(ledger.view, b) for b in ledger.bookies if ledger.up(b)},
        lambda seen: {b: code(state) for b, state in seen["bookies"].items() if state["up"]},
    )


def _metadata(name: str, field: str, model: Callable[[Ledger], object]) -> Observable:
    """Something of the metadata, while there are any; the code has it only when it says so."""
    return _seen(name, lambda ledger: None if ledger.status == "deleted" else model(ledger), lambda s: s["metadata"].get(field))


def _lac(view: View, bookie: str, family: str) -> object:
    """A last add confirmed; it goes with the ledger when that is deleted, and is no answer in limbo: the model keeps it there,
    where nobody can ask for it."""
    ledger = ledger_of(view)
    return None if ledger.status == "deleted" or ledger.limbo(bookie) else view[f"{family}[{bookie}]"]


def _fragments(fragments: list[Fragment]) -> object:
    return tuple((f.first, f.bookies if f.striped else frozenset(f.bookies)) for f in fragments)


def _ensembles(seen: Told, ensembles: list[list[object]] | None) -> object:
    """Ensembles as the harness tells them; the order of bookies counts only where entries are striped."""
    if ensembles is None:
        return None
    return tuple((first, tuple(bookies) if seen["striped"] else frozenset(bookies)) for first, *bookies in ensembles)


def _writer(ledger: Ledger) -> object:
    return {"closed": "closed", "failed": "failed"}.get(ledger.writer, "open")


def _writer_told(seen: Told) -> object:
    closed = seen["clients"].get("writer", {}).get("closed")
    return "open" if closed is None else "closed" if closed == SUCCESS else "failed"


def _ends(ledger: Ledger) -> object:
    """Each recovery with the end that it has found, if it is over."""
    return {r: ledger.next_entry(r) - 1 if ledger.phase(r) == "done" else UNDER_WAY for r in ledger.recoverers}


def _ends_told(seen: Told) -> object:
    """Those of recoveries that have begun; a failed one has no end, but words."""
    ends = {}
    for name, state in seen["clients"].items():
        if name.startswith("r") and name != "reader":
            opened = state.get("opened")
            ends[name] = UNDER_WAY if opened is None else state.get("lac") if opened == SUCCESS else opened
    return ends


def _current(ledger: Ledger) -> object:
    """The ensemble to which each recovery that reads and writes would write now."""
    return {r: frozenset(ledger.recovered(r)[-1].bookies) for r in ledger.recoverers if ledger.phase(r) in ("reading", ADDING)}


OBSERVABLES = (
    _seen("status", lambda ledger: ledger.status, lambda seen: seen["metadata"]["status"]),
    _metadata("version", "version", lambda ledger: ledger.view["version"]),
    _metadata("last", "last", lambda ledger: ledger.last if ledger.status == "closed" else None),
    _seen(
        "length",
        lambda ledger: ENTRY_BYTES * ledger.view["length"] if ledger.status == "closed" else None,
        lambda seen: seen["metadata"].get("length"),
    ),
    _seen(
        "published",
        lambda ledger: None if ledger.status == "deleted" else _fragments(ledger.published()),
        lambda seen: _ensembles(seen, seen["metadata"].get("ensembles")),
    ),
    _seen(
        "up",
        lambda ledger: {b: ledger.up(b) for b in ledger.bookies},
        lambda seen: {b: bookie_state["up"] for b, bookie_state in seen["bookies"].items()},
    ),
    _of_bookies("stored", lambda view, b: entries(view[f"stored[{b}]"]), lambda state: frozenset(state["stored"])),
    _of_bookies("rotten", lambda view, b: entries(view[f"rotten[{b}]"]), lambda state: frozenset(state["rotten"])),
    _of_bookies("fenced", lambda view, b: view[f"fenced[{b}]"], lambda state: state["fenced"]),
    _of_bookies("limbo", lambda view, b: view[f"limbo[{b}]"], lambda state: state["limbo"]),
    _of_bookies("bookie_lac", lambda view, b: _lac(view, b, "bookie_lac"), lambda state: state["lac"]),
    _of_bookies("explicit_lac", lambda view, b: _lac(view, b, "explicit_lac"), lambda state: state["explicit_lac"]),
    _seen(
        "confirmed",
        lambda ledger: None if ledger.unset_to else entries(ledger.view["confirmed"]),
        lambda seen: frozenset(seen["clients"]["writer"]["confirmed"]),
    ),
    _seen("writer", _writer, _writer_told),
    _seen(
        "writer_lac",
        lambda ledger: ledger.lac if ledger.writer == "writing" else None,
        lambda seen: seen["clients"]["writer"]["lac"],
    ),
    _seen(
        "writer_ensembles",
        lambda ledger: _fragments(ledger.writers()) if ledger.writer == "writing" else None,
        lambda seen: _ensembles(seen, seen["clients"]["writer"].get("ensembles")),
    ),
    _seen("recovery_end", _ends, _ends_told),
    _seen(
        "recovery_ensemble",
        _current,
        lambda s: {r: frozenset(t["current"]) for r, t in s["clients"].items() if r[1:].isdigit() and "current" in t},
    ),
)
