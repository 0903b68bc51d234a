"""The adapter of one bookie: how each action of the model is carried out on BookieImpl, its journal and its ledger storage."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from fencepost.checks.conformance.bookkeeper.bookie_states import Bookie, bookie_of, of_each, wanted
from fencepost.checks.conformance.java_side.session import Session, Told
from fencepost.checks.conformance.running.adapter import (
    Adapter,
    Allowance,
    Departure,
    Deviation,
    Difference,
    Observable,
    Owed,
    Seen,
    Taken,
)
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action, Protocol

OK, NO_LEDGER, NO_ENTRY, FENCED = 0, 1, 2, 104
"""Codes of BookieProtocol."""

FIRST = 10
"""The ledger of a run that is l0."""

Step = dict[str, object]


def _number(label: str) -> int:
    return int(label[1:])


def _answers(seen: Told) -> Iterator[str]:
    for number, ledger in enumerate(seen.get("ledgers", ())):
        yield from (f"answer l{number} {what}" for what in ledger["answers"])


# --- steps


def _on(a: Mapping[str, str], **more: object) -> Step:
    return {"ledger": _number(a["of"]), **({"entry": _number(a["e"])} if "e" in a else {}), **more}


def _add(step: Taken, a: Mapping[str, str]) -> list[Step]:
    recovers = step.action.name == "recovery_add"
    answered = not bookie_of(step.after).journals_data
    return [{"do": "add", **_on(a, recovers=recovers), **_race(step, a), **({"code": [OK]} if answered else {})}]


def _race(step: Taken, a: Mapping[str, str]) -> Step:
    """What an add takes besides, as it is handled in a thread of its own."""
    bugs, before = step.before.protocol.active, step.before
    if "fence_checked_apart" in bugs and step.action.name == "add":
        return {"checked": True}
    key_comes = "key_record_after_entry" in bugs and not before[f"key_logged[{a['of']}]"]
    return {"keyLast": True} if key_comes else {}


def _confirm(step: Taken, a: Mapping[str, str]) -> list[Step]:
    first = min(step.before[f"stored[{a['of']}]"])
    return [{"do": "read", "ledger": _number(a["of"]), "entry": _number(first), "fences": True, "code": [OK]}]


def _flush(do: str) -> Callable[[Taken, Mapping[str, str]], list[Step]]:
    return lambda _, a: [{"do": do, "flusher": -1 if a["f"] == "sync" else int(a["f"].removeprefix("cache"))}]


def _journal(do: str) -> Callable[[Taken, Mapping[str, str]], list[Step]]:
    return lambda _, a: [{"do": do, "journal": _number(a.get("j", "j0"))}]


def _alone(do: str) -> Callable[[Taken, Mapping[str, str]], list[Step]]:
    return lambda *_: [{"do": do}]


def _of_log(do: str) -> Callable[[Taken, Mapping[str, str]], list[Step]]:
    """Something happens to a log; of one that has nothing there may be no file, and nobody sees what becomes of it."""

    def lines(step: Taken, a: Mapping[str, str]) -> list[Step]:
        numbers = bookie_of(step.before).numbers_of_logs()
        return [{"do": do, "log": numbers[a["g"]]} if a["g"] in numbers else {"do": "look"}]

    return lines


_STEPS: Mapping[str, Callable[[Taken, Mapping[str, str]], list[Step]]] = {
    "check_fence": lambda _, a: [{"do": "check-fence", **_on(a)}],
    "add": _add,
    "recovery_add": _add,
    "refuse": lambda _, a: [{"do": "add", **_on(a, code=[FENCED])}],
    "acknowledge": lambda _, a: [{"do": "answer", **_on(a, code=[OK])}],
    "acknowledge_recovery": lambda _, a: [{"do": "answer", **_on(a, recovers=True, code=[OK])}],
    "fence": lambda _, a: [{"do": "fence", **_on(a)}],
    "answer_fencing_read": _confirm,
    "deny": lambda _, a: [{"do": "read", **_on(a, fences=True, code=[NO_LEDGER, NO_ENTRY])}],
    "read": lambda _, a: [{"do": "read", **_on(a, code=[OK])}],
    "set_explicit_lac": lambda _, a: [{"do": "lac", **_on(a, entry=int(a["lac"]) - 1)}],
    "acknowledge_explicit_lac": lambda step, a: [
        {"do": "lac-answer", **_on(a, entry=int(step.before[f"explicit_lac[{a['of']}]"]) - 1)}
    ],
    "write_journal": _journal("write"),
    "sync_journal": _journal("sync"),
    "take_checkpoint": _alone("take-checkpoint"),
    "fill_cache": _flush("fill-cache"),
    "read_second_journal": _flush("read-second-journal"),
    "save": _flush("save"),
    "fail_to_save": _flush("fail-save"),
    "fail_to_save_index": lambda step, a: [{**_flush("fail-save-index")(step, a)[0], **_on(a)}],
    "save_mark": _flush("mark"),
    "collect": lambda _, a: [{"do": "collect", **_on(a)}],
    "rotate": _alone("rotate"),
    "collect_log": _of_log("collect-log"),
    "compact": _of_log("compact"),
    "rebuild_index": _alone("rebuild-index"),
    "stop": _alone("stop"),
    "end": _alone("end"),
    "kill": _alone("kill"),
    "lose_power": _alone("lose-power"),
    "replay": _alone("replay"),
    "serve": _alone("serve"),
}


# --- what both sides show


def _of_process(
    name: str, variables: tuple[str, ...], model: Callable[[Bookie], object], code: Callable[[Told], object]
) -> Observable:
    """Something of the process, while there is one."""
    return Observable(
        name,
        variables,
        lambda view: model(bookie_of(view)) if bookie_of(view).stage != "down" else None,
        lambda seen: code(seen) if seen["stage"] != "down" else None,
    )


def _of_ledgers(
    name: str, variables: tuple[str, ...], model: Callable[[Bookie, str], object], code: Callable[[Told], object]
) -> Observable:
    return _of_process(
        name,
        variables,
        lambda bookie: {of: model(bookie, of) for of in bookie.ledgers},
        lambda seen: {f"l{number}": code(state) for number, state in enumerate(seen["ledgers"])},
    )


def _of_journals(what: Callable[[Told], object]) -> Callable[[Told], object]:
    return lambda seen: of_each([what(journal) for journal in seen["journals"]])


def _past(journal: Told) -> list[str] | None:
    return [_record(word) for word in journal["past"]] if journal["reaches"] else None


def _record(word: str) -> str:
    ledger, kind = word.split()
    return f"l{int(ledger) - FIRST} {kind}"


def _caches(seen: Told, what: str) -> list[object]:
    return [cache[what] for cache in seen["caches"]]


def _checkpoints(bookie: Bookie) -> dict[str, str]:
    return {f: bookie.view[f"checkpoint[{f}]"] for f in bookie.view.members("flusher")}


OBSERVABLES = (
    Observable("stage", ("stage",), lambda view: view["stage"], lambda seen: seen["stage"]),
    _of_ledgers(
        "stored",
        ("stored",),
        lambda bookie, of: bookie.view[f"stored[{of}]"],
        lambda state: frozenset(f"e{entry}" for entry in state["stored"]),
    ),
    _of_ledgers("fenced", ("fenced",), lambda bookie, of: bookie.view[f"fenced[{of}]"], lambda state: state["fenced"]),
    _of_ledgers(
        "explicit_lac", ("explicit_lac",), lambda bookie, of: bookie.view[f"explicit_lac[{of}]"], lambda state: state["lac"]
    ),
    _of_ledgers("key_logged", ("key_logged",), lambda bookie, of: bookie.view[f"key_logged[{of}]"], lambda state: state["key"]),
    _of_ledgers("fencing_read", ("fenced",), Bookie.fencing_reads, lambda state: tuple(state["fencing"])),
    _of_process(
        "checkpoint",
        ("checkpoint",),
        _checkpoints,
        lambda seen: {"sync": seen["sync"], **{f"cache{n}": place for n, place in enumerate(_caches(seen, "checkpoint"))}},
    ),
    _of_process("dirty", ("dirty",), Bookie.dirty, lambda seen: _caches(seen, "dirty") or None),
    _of_process("entry_logs", ("copies", "deleted", "current", "cached"), Bookie.logs, lambda seen: seen.get("logs")),
    Observable(
        "journal_reaches_mark",
        ("mark", "compacted"),
        lambda view: bookie_of(view).reaches_mark(),
        _of_journals(lambda journal: journal["reaches"]),
    ),
    Observable(
        "records_past_mark", ("record", "mark", "written"), lambda view: bookie_of(view).past_mark(), _of_journals(_past)
    ),
    _of_process(
        "unwritten_records",
        ("record", "logged", "written"),
        Bookie.unwritten,
        _of_journals(lambda journal: [_record(word) for word in journal["unwritten"]]),
    ),
    _of_process(
        "unsynced_records",
        ("synced", "written"),
        Bookie.unsynced,
        _of_journals(lambda journal: journal["unsynced"] if journal["reaches"] else None),
    ),
)


def _is_refused(action: Action, _: View, seen: Seen) -> bool:
    """A request for a ledger that the bookie has collected, and refuses."""
    if action.name not in ("check_fence", "add", "recovery_add", "fence", "set_explicit_lac") or not seen.values.get("ledgers"):
        return False
    return bool(seen.values["ledgers"][_number(action.arguments["of"])]["refused"])


def _was_in_a_deleted_log(step: Taken, differences: Sequence[Difference], _: str) -> bool:
    """A ledger that was collected is back before a save, and a log that had entries of it is deleted."""
    if not differences or not {d.what.split("[")[0] for d in differences} <= {"stored", "fencing_read"}:
        return False
    named = {d.what.partition("[")[2].removesuffix("]") for d in differences}
    return all(bookie_of(step.after).is_collected(of) and bookie_of(step.after).has_lost_a_log(of) for of in named)


class BookieAdapter(Adapter):
    """Drives one BookieImpl, as its requests, its journal and its SyncThread do, through stops, kills and losses of power."""

    protocol = "bookie"
    observables = OBSERVABLES
    allowances = (
        Allowance(
            "goes on with a ledger that it has collected",
            "since 4.16.7 and 4.17.2 a bookie that had a descriptor of the ledger refuses it until it is restarted "
            "(collected_is_refused, a bug of the protocol replication); what it does not take it cannot lose",
            _is_refused,
        ),
    )
    deviations = (
        Deviation(
            "an error for what was in a deleted log",
            "until the next save the index still names what a collected ledger had in a log that the collector has deleted; if "
            "a request brings the ledger back before, a read of it is answered with an error",
            _was_in_a_deleted_log,
        ),
    )
    shown_by_requests = ("added", "recovered", "fence_told", "denied", "lac_asked", "lac_told", "shown")
    """What clients were told: each is an answer that a step awaits or compares."""

    def __init__(self, start: Callable[[], Session], *, processes: bool = False) -> None:
        """``start`` starts a harness; with ``processes`` a kill is that of its process, and the next one has its files."""
        self._start, self._processes = start, processes
        self._folder = Path(tempfile.mkdtemp(prefix="fencepost-"))
        """Where the bookies' files are if they outlive the harness."""
        self._begun: Step = {}
        self._bookie_folder = ""
        self.covered = frozenset(_STEPS)
        self.session = start()

    def begin(self, instance: Protocol) -> Seen:
        of = instance.parameters
        self._begun = {
            **({"root": str(self._folder)} if self._processes else {}),
            **{name: of[name] for name in ("ledgers", "entries", "directories", "journals")},
            "journalSyncData": of["journal_sync_data"],
            "journalWriteData": of["journal_write_data"],
        }
        return self._seen({"do": "begin", **self._begun})

    def take(self, step: Taken) -> Seen:
        if self._processes and step.action.name == "kill":
            return self._killed()
        for line in _STEPS[step.action.name](step, step.arguments):
            seen = self._seen(line)
        return seen

    def expected(self, view: View) -> Owed:
        return wanted(bookie_of(view))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.session.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _killed(self) -> Seen:
        """``kill -9`` of the process, and another one that has its files."""
        os.kill(self.session.pid, signal.SIGKILL)
        self.session.close()
        self.session = self._start()
        return self._seen({"do": "adopt", **self._begun, "folder": self._bookie_folder})

    def _seen(self, line: Step) -> Seen:
        answer = self.session.ask(line)
        self._bookie_folder = answer["folder"]
        if "refused" in answer:
            raise Departure(answer["refused"])
        return Seen(answer["seen"], frozenset(_answers(answer["seen"])))
