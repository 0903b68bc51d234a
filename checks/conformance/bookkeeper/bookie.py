"""The adapter of one bookie: how each action of the model is carried out on BookieImpl, its journal and its ledger storage."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from fencepost.checks.conformance.bookkeeper.bookie_states import Bookie, bookie_of, wanted
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.running.adapter import (
    Adapter,
    Departure,
    Deviation,
    Difference,
    Observable,
    Owed,
    Seen,
    Taken,
)
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Protocol

OK, NO_LEDGER, NO_ENTRY, FENCED = 0, 1, 2, 104
"""Codes of BookieProtocol."""

FIRST = 10
"""The ledger of a run that is l0."""

Step = dict[str, Any]


def _number(label: str) -> int:
    return int(label[1:])


def _answers(seen: Mapping[str, Any]) -> Iterator[str]:
    for number, ledger in enumerate(seen.get("ledgers", ())):
        yield from (f"answer l{number} {what}" for what in ledger["answers"])


# --- steps


def _on(a: Mapping[str, str], **more: Any) -> Step:
    return {"ledger": _number(a["of"]), **({"entry": _number(a["e"])} if "e" in a else {}), **more}


def _add(step: Taken, a: Mapping[str, str]) -> list[Step]:
    recovers = step.action.name == "recovery_add"
    answered = not bookie_of(step.after).journals_data
    return [{"do": "add", **_on(a, recovers=recovers), **({"code": [OK]} if answered else {})}]


def _confirm(step: Taken, a: Mapping[str, str]) -> list[Step]:
    first = min(step.before[f"stored[{a['of']}]"])
    return [{"do": "read", "ledger": _number(a["of"]), "entry": _number(first), "fences": True, "code": [OK]}]


def _flush(do: str) -> Callable[[Taken, Mapping[str, str]], list[Step]]:
    return lambda _, a: [{"do": do, "flusher": -1 if a["f"] == "sync" else int(a["f"].removeprefix("cache"))}]


def _alone(do: str) -> Callable[[Taken, Mapping[str, str]], list[Step]]:
    return lambda *_: [{"do": do}]


_STEPS: Mapping[str, Callable[[Taken, Mapping[str, str]], list[Step]]] = {
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
    "write_journal": _alone("write"),
    "sync_journal": _alone("sync"),
    "take_checkpoint": _alone("take-checkpoint"),
    "fill_cache": _flush("fill-cache"),
    "save": _flush("save"),
    "fail_to_save": _flush("fail-save"),
    "save_mark": _flush("mark"),
    "stop": _alone("stop"),
    "end": _alone("end"),
    "kill": _alone("kill"),
    "lose_power": _alone("lose-power"),
    "replay": _alone("replay"),
    "serve": _alone("serve"),
}


# --- what both sides show


def _of_process(
    name: str, variables: tuple[str, ...], model: Callable[[Bookie], Any], code: Callable[[Mapping[str, Any]], Any]
) -> Observable:
    """Something of the process, while there is one."""
    return Observable(
        name,
        variables,
        lambda view: model(bookie_of(view)) if bookie_of(view).stage != "down" else None,
        lambda seen: code(seen) if seen["stage"] != "down" else None,
    )


def _of_ledgers(
    name: str, variables: tuple[str, ...], model: Callable[[Bookie, str], Any], code: Callable[[Mapping[str, Any]], Any]
) -> Observable:
    return _of_process(
        name,
        variables,
        lambda bookie: {of: model(bookie, of) for of in bookie.ledgers},
        lambda seen: {f"l{number}": code(state) for number, state in enumerate(seen["ledgers"])},
    )


def _past(seen: Mapping[str, Any]) -> list[str] | None:
    return [_record(word) for word in seen["past"]] if seen["reaches"] else None


def _record(word: str) -> str:
    ledger, kind = word.split()
    return f"l{int(ledger) - FIRST} {kind}"


def _caches(seen: Mapping[str, Any], what: str) -> list[Any]:
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
    Observable("journal_reaches_mark", ("mark", "compacted"), lambda v: bookie_of(v).reaches_mark, lambda s: s["reaches"]),
    Observable("records_past_mark", ("record", "mark", "written"), lambda view: bookie_of(view).past_mark(), _past),
    _of_process(
        "unwritten_records",
        ("record", "logged", "written"),
        Bookie.unwritten,
        lambda seen: [_record(word) for word in seen["unwritten"]],
    ),
    _of_process("unsynced_records", ("synced", "written"), Bookie.unsynced, lambda s: s["unsynced"] if s["reaches"] else None),
)


def _saved_with_a_page(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """After a boot the code has a fence, or an explicit last add confirmed, that the model has lost with a header."""
    if step.action.name != "replay" or "headers_without_pages_not_saved" not in step.before.protocol.active:
        return False
    return bool(differences) and all(_has_more(d) for d in differences)


def _has_more(difference: Difference) -> bool:
    seen = (difference.model, difference.code)
    fenced = difference.what.startswith("fenced[") and seen == (False, True)
    return fenced or (difference.what.startswith("explicit_lac[") and str(seen[0]) < str(seen[1]))


DEVIATIONS = (
    Deviation(
        "a look brings a page",
        "an index page comes into memory with every read of an entry, and with it the ledger's header is saved; in the model "
        "with an add only",
        _saved_with_a_page,
    ),
)


class BookieAdapter(Adapter):
    """Drives one BookieImpl, as its requests, its journal and its SyncThread do, through stops, kills and losses of power."""

    protocol = "bookie"
    observables = OBSERVABLES
    deviations = DEVIATIONS
    not_covered: ClassVar[Mapping[str, str]] = {
        "check_fence": "it takes two threads in one bookie at once",
        "read_second_journal": "a bookie of the harness has one journal",
    }
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
            **{name: of[name] for name in ("ledgers", "entries", "directories")},
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
