"""What of a topic shows on both sides: the list in the store, each ledger, and what each broker has in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fencepost.checks.conformance.java_side.session import Told
from fencepost.checks.conformance.running.adapter import Observable
from fencepost.checks.conformance.running.view import View

Values = Told

STATES = {
    "none": "none",
    "None": "opening",
    "LedgerOpened": "opened",
    "ClosingLedger": "closing_ledger",
    "CreatingLedger": "creating",
    "ClosedLedger": "closed_ledger",
    "WriteFailed": "write_failed",
    "Fenced": "fenced",
    "FencedForDeletion": "fenced",
    "Terminated": "terminated",
    "Closed": "closed",
}
"""ManagedLedgerImpl.State as the model names it."""

WRITING = ("opened", "closing_ledger")
NOT_LOADED = ("none", "opening", "recovered")


def label(ledger: int) -> str:
    """A ledger by its number in the harness, where the first is 1; empty for none."""
    return f"l{ledger - 1}" if ledger else "none"


def number(label: str) -> int:
    """The number in the harness of a ledger."""
    return int(label[1:]) + 1


def _pairs(ledgers: list[list[int]]) -> dict[str, int]:
    return {label(ledger): entries for ledger, entries in ledgers}


def _listed(view: View) -> dict[str, int]:
    return {k: view[f"entries[{k}]"] for k in sorted(view["listed"])}


def _terminated(view: View) -> int | None:
    """The place after the terminated position, -1 if the list has none."""
    return None if "ended" not in view else view["final"] if view["ended"] else -1


def _code_terminated(values: Values) -> int:
    position = values["list"].get("terminated")
    return -1 if position is None else (position[0] - 1) * values["capacity"] + position[1] + 1


def _ledgers(read: Callable[[View, str], object]) -> Callable[[View], dict[str, object]]:
    return lambda view: {k: read(view, k) for k in view.members("ledger")}


def _code_ledgers(read: Callable[[Values], object], absent: object) -> Callable[[Values], dict[str, object]]:
    def of(values: Values) -> dict[str, object]:
        stored = {label(int(ledger)): read(shown) for ledger, shown in values["stored"].items()}
        return {k: stored.get(k, absent) for k in values["names"]} | stored

    return of


def _content(view: View, k: str) -> list[int]:
    entries = [view[f"content[{k}, {s}]"] for s in view.members("slot")]
    return [int(m[1:]) for m in entries[: view[f"ledger.sent[{k}]"]]]


def _brokers(read: Callable[[View, str], object]) -> Callable[[View], dict[str, object]]:
    return lambda view: {b: read(view, b) for b in view.members("broker")}


def _code_brokers(read: Callable[[Values], object]) -> Callable[[Values], dict[str, object]]:
    return lambda values: {b: read(shown) for b, shown in values["brokers"].items()}


def _of(
    name: str, families: tuple[str, ...], model: Callable[[View, str], object], code: Callable[[Values], object]
) -> Observable:
    return Observable(name, families, _brokers(model), _code_brokers(code))


def _state(view: View, b: str) -> str:
    state = view[f"state[{b}]"]
    return "opening" if state == "recovered" else state


def _code_state(shown: Values) -> str:
    return "opening" if shown.get("loaded") is False else STATES[shown["state"]]


def _known(view: View, b: str) -> dict[str, int] | None:
    """What it knows, unless it is fenced: then it writes no list any more, and what a refused trimming left does not matter."""
    if view[f"state[{b}]"] in ("none", "fenced"):
        return None
    return {k: view[f"known_entries[{b}, {k}]"] for k in view[f"known[{b}]"]}


def _loaded(read: Callable[[View, str], object]) -> Callable[[View, str], object]:
    return lambda view, b: None if view[f"state[{b}]"] in NOT_LOADED else read(view, b)


def _mutex(view: View, b: str) -> bool | None:
    """Whether metadataMutex is held. Where no update is slow a step has each from its lock to its unlock, and what keeps the
    lock for good is not told: BadVersion in a rollover, which fences."""
    if f"mutex[{b}]" in view:
        return None if view[f"state[{b}]"] in NOT_LOADED else bool(view[f"mutex[{b}]"])
    is_known = view[f"state[{b}]"] in (*WRITING, "creating", "closed_ledger", "write_failed")
    return False if is_known and view[f"fresh[{b}]"] == "none" else None


def forgets(view: View, b: str) -> bool:
    """Whether some write of the broker is never answered: the model has forgotten it, the code keeps it."""
    return bool(view.get(f"owed[{b}]", False))


def _queue(view: View, b: str) -> list[int] | None:
    if forgets(view, b):
        return None
    return [int(view[f"queue[{b}, {q}]"][1:]) for q in view.members("place_in_queue")[: view[f"length[{b}]"]]]


def _arrived(view: View, b: str) -> int | None:
    return None if forgets(view, b) else view[f"arrived[{b}]"]


def _sent(view: View, b: str) -> int | None:
    writing = view[f"state[{b}]"] in WRITING
    return view[f"sent[{b}]"] if writing and not forgets(view, b) else None


def _unanswered(view: View, b: str) -> bool:
    """Whether some write is not answered: one of the queue, or one that is forgotten."""
    return bool(view[f"length[{b}]"]) or forgets(view, b)


def _counted(view: View, b: str) -> bool | None:
    """Whether the connection counts a write: one that is never answered does, and one of the queue may have come by it."""
    if view.get(f"stuck[{b}]", False) or not view[f"length[{b}]"]:
        return bool(view.get(f"stuck[{b}]", False))
    return bool(view[f"counted[{b}]"]) if f"counted[{b}]" in view else None


def _consumed(values: Values) -> int:
    """The place after the last entry whose acknowledgement a broker has answered."""
    position = values.get("consumed")
    return 0 if position is None else (position[0] - 1) * int(values["capacity"]) + position[1] + 1


def _writes(view: View, b: str) -> int | None:
    """PersistentTopic.pendingWriteOps, which also counts disconnections under way."""
    return view[f"length[{b}]"] if view[f"topic[{b}]"] == "serving" and not forgets(view, b) else None


def _passed(lengths: Mapping[str, int], capacity: int, place: int) -> list[str]:
    """The entries of these ledgers before a place: the end of a ledger is the same place as the beginning of the next one."""
    return [f"{k}:{e}" for k, size in lengths.items() for e in range(size) if (number(k) - 1) * capacity + e < place]


def _lengths(view: View) -> dict[str, int]:
    def length(k: str) -> int:
        status = view[f"ledger.status[{k}]"]
        return int(view[f"ledger.{'end' if status == 'closed' else 'confirmed'}[{k}]"])

    return {k: length(k) for k in sorted(view["listed"])}


def _passed_by(name: str) -> Callable[[View], list[str] | None]:
    def of(view: View) -> list[str] | None:
        return _passed(_lengths(view), len(view.members("slot")), view[name]) if name in view else None

    return of


def _code_passed(position: list[int] | None, values: Values) -> list[str] | None:
    if position is None:
        return None
    stored = {label(int(ledger)): shown for ledger, shown in values["stored"].items()}
    listed = {label(ledger): stored[label(ledger)] for ledger, _ in values["list"]["ledgers"]}
    lengths = {k: shown["end" if shown["status"] == "closed" else "confirmed"] for k, shown in listed.items()}
    return _passed(lengths, values["capacity"], (position[0] - 1) * values["capacity"] + position[1] + 1)


def _marks(view: View) -> dict[str, list[str] | None]:
    counted = {b: view.get(f"has_cursor[{b}]", False) for b in view.members("broker")}
    return {b: _passed_by(f"mark[{b}]")(view) if has else None for b, has in counted.items()}


def _code_marks(values: Values) -> dict[str, list[str] | None]:
    return {b: _code_passed(shown.get("mark"), values) for b, shown in values["brokers"].items()}


OBSERVABLES = (
    Observable("list", ("listed", "entries"), _listed, lambda values: _pairs(values["list"]["ledgers"])),
    Observable("version", ("version",), lambda view: view["version"], lambda values: values["list"]["version"]),
    Observable("terminated", ("ended", "final"), _terminated, _code_terminated),
    Observable(
        "status",
        ("ledger.status",),
        _ledgers(lambda view, k: view[f"ledger.status[{k}]"]),
        _code_ledgers(lambda shown: shown["status"], "absent"),
    ),
    Observable("content", ("content", "ledger.sent"), _ledgers(_content), _code_ledgers(lambda shown: shown["content"], [])),
    Observable(
        "confirmed",
        ("ledger.confirmed",),
        _ledgers(lambda view, k: view[f"ledger.confirmed[{k}]"]),
        _code_ledgers(lambda shown: shown["confirmed"], 0),
    ),
    Observable(
        "end",
        ("ledger.end",),
        _ledgers(lambda view, k: view[f"ledger.end[{k}]"] if view[f"ledger.status[{k}]"] == "closed" else None),
        _code_ledgers(lambda shown: shown["end"], None),
    ),
    _of("state", ("state",), _state, _code_state),
    _of("mutex", ("mutex",), _mutex, lambda shown: shown.get("mutex")),
    _of(
        "known ledgers",
        ("known", "known_entries"),
        _known,
        lambda shown: _pairs(shown["ledgers"]) if "ledgers" in shown else None,
    ),
    _of(
        "known version",
        ("known_version",),
        lambda view, b: None if view[f"state[{b}]"] == "none" else view[f"known_version[{b}]"],
        lambda shown: shown.get("version"),
    ),
    _of("current", ("current",), _loaded(lambda view, b: view[f"current[{b}]"]), lambda shown: label(shown.get("current", 0))),
    _of("queue", ("queue", "length"), _loaded(_queue), lambda shown: shown.get("queue")),
    _of("arrived", ("arrived",), _loaded(_arrived), lambda shown: shown.get("arrived")),
    _of("sent", ("sent",), _loaded(_sent), lambda shown: shown.get("sent")),
    _of("filled", ("filled",), _loaded(lambda view, b: view.get(f"filled[{b}]")), lambda shown: shown.get("filled")),
    _of("topic", ("topic",), _loaded(lambda view, b: view[f"topic[{b}]"]), lambda shown: shown.get("topic")),
    _of("pending writes", ("length", "owed"), _loaded(_writes), lambda shown: shown.get("pending_writes")),
    _of("unanswered", ("length", "owed"), _loaded(_unanswered), lambda shown: shown.get("unanswered")),
    _of("counted", ("counted", "stuck", "length"), _counted, lambda shown: shown.get("counted")),
    _of("pushed", ("pushed",), _loaded(lambda view, b: view.get(f"pushed[{b}]")), lambda shown: shown.get("pushed")),
    _of(
        "persisted", ("persisted",), _loaded(lambda view, b: view.get(f"persisted[{b}]")), lambda shown: shown.get("persisted")
    ),
    Observable("cursor", ("cursor",), _passed_by("cursor"), lambda values: _code_passed(values.get("cursor"), values)),
    Observable("mark", ("mark",), _marks, _code_marks),
    _of("has cursor", ("has_cursor",), _loaded(lambda view, b: view.get(f"has_cursor[{b}]")), lambda shown: "mark" in shown),
    Observable("consumed", ("consumed",), lambda view: view.get("consumed"), _consumed),
    Observable(
        "trimmed",
        ("trimmed",),
        lambda view: sorted(view["trimmed"], key=number) if "trimmed" in view else None,
        lambda values: [label(ledger) for ledger in values["trimmed"]],
    ),
    Observable("discarded", ("discarded",), lambda view: view.get("discarded"), lambda values: values["discarded"]),
    Observable("connected", ("connected",), lambda view: view["connected"], lambda values: values["connected"]),
    Observable("acked", ("acked",), lambda view: view["acked"], lambda values: values["acked"]),
)
