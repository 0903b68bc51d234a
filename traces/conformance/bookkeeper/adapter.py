"""The ledger's adapter: how each action of the model is carried out on BookKeeper's classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from fencepost.model.language import Protocol
from fencepost.traces.conformance.adapter import Adapter, Departure, Owed, Seen, Taken
from fencepost.traces.conformance.bookkeeper import words
from fencepost.traces.conformance.bookkeeper.deviating import ALLOWANCES, DEVIATIONS, OF_SORTED
from fencepost.traces.conformance.bookkeeper.owing import found, owed
from fencepost.traces.conformance.bookkeeper.seeing import OBSERVABLES
from fencepost.traces.conformance.bookkeeper.words import ledger_of, number
from fencepost.traces.conformance.session import Session
from fencepost.traces.conformance.view import View

OK, NO_SUCH_ENTRY, NO_SUCH_LEDGER = 0, -13, -7
"""Codes of BKException."""

Steps = list[dict[str, Any]]

_NEED_LIMBO = frozenset({words.UNCLEAN_SHUTDOWN, words.LOSE_DISK})


class LedgerAdapter(Adapter):
    """Drives LedgerHandle, LedgerRecoveryOp and the others, and bookies over a journal and a ledger storage."""

    protocol = "ledger"
    eager = frozenset({words.CONFIRM, words.START_READING, words.RECOVERY_ADD_COMPLETE})
    not_covered: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(_NEED_LIMBO, "only DbLedgerStorage has limbo"),
    }
    observables = OBSERVABLES
    allowances = ALLOWANCES
    shown_by_requests = words.BY_REQUESTS

    def __init__(self, session: Session, *, storage: str) -> None:
        """``storage`` is that of the bookies: db, sorted or interleaved."""
        self.session = session
        self.covered = frozenset(_STEPS) - (frozenset() if storage == "db" else _NEED_LIMBO)
        self.deviations = DEVIATIONS + (OF_SORTED if storage == "sorted" else ())
        self._striped = self._checkpoints = self._stops = False

    def begin(self, instance: Protocol) -> Seen:
        sizes = {name: instance.parameters[name] for name in ("bookies", "entries", "ensemble", "write_quorum", "ack_quorum")}
        self._striped = sizes["ensemble"] != sizes["write_quorum"]
        self._checkpoints = any(action.name == words.IDLE_CHECKPOINT for action in instance.actions)
        self._stops = words.DELETED_FENCE_IN_MEMORY in instance.active
        # what a bookie saves by itself depends on how far its journal is synced
        synced = {"synced": True} if self._checkpoints or self._stops else {}
        return self._seen([{"do": "begin", **sizes, **synced}])

    def take(self, step: Taken) -> Seen:
        steps: Steps = _STEPS[step.action.name](step, step.arguments)
        if self._stops and step.action.name == words.CRASH:
            steps = [{"do": "stop", "at": step.arguments["b"]}]
        if self._checkpoints and (bookie := _fences_now(step)):
            steps = [{"do": "flush", "at": bookie}, *steps]
        return self._seen(steps)

    def expected(self, view: View) -> Owed:
        return owed(ledger_of(view))

    def close(self) -> None:
        self.session.close()

    def _seen(self, steps: Steps) -> Seen:
        answer = self.session.ask({"steps": steps, "observe": True})
        if "refused" in answer:
            raise Departure(answer["refused"])
        values = {**answer["seen"], "striped": self._striped}
        return Seen(values, found(values))


def _fences_now(step: Taken) -> str:
    """The bookie that the step fences, empty if it fences none; a checkpoint right before that leaves the next one idle."""
    before, after = ledger_of(step.before), ledger_of(step.after)
    return next((bookie for bookie in before.bookies if after.fenced(bookie) and not before.fenced(bookie)), "")


def _request(of: str, what: str, at: str, entry: int | None = None) -> dict[str, Any]:
    return {"of": of, "what": what, "at": at} | ({} if entry is None else {"entry": entry})


def _deliver(request: Mapping[str, Any], *codes: int, heard: bool = False) -> dict[str, Any]:
    return {"do": "deliver", **request} | ({"codes": codes} if codes else {}) | ({"heard": True} if heard else {})


def _replace(step: Taken, a: Mapping[str, str]) -> Steps:
    """The last add that waits for the bookie fails: what it has of the others may still be acknowledged. A failure of one that
    has its ack quorum asks for no other bookie at once (``PendingAddOp.writeComplete``)."""
    waiting = ledger_of(step.before).waiting_for(a["o"])
    if not waiting:
        raise Departure(f"no add to {a['o']} waits, so none can fail")
    return [{"do": "fail", **_request("writer", "add", a["o"], waiting[-1]), "by": a["n"]}]


def _unset(step: Taken, _: Mapping[str, str]) -> Steps:
    """The writer hears that the change is in force: the code goes through all pending adds at once."""
    return [] if ledger_of(step.before).unset_to else [{"do": "tell", "of": "writer"}]


def _close(step: Taken, _: Mapping[str, str]) -> Steps:
    return [{"do": "close", "of": "writer", "succeeds": ledger_of(step.after).writer == "closed"}]


def _read(step: Taken, a: Mapping[str, str], *codes: int) -> Steps:
    request = _request(a["r"], "read", a["b"], ledger_of(step.before).next_entry(a["r"]))
    return [{"do": "ask", **request}, _deliver(request, *codes, heard=True)]


def _unanswered(step: Taken, a: Mapping[str, str]) -> Steps:
    request = _request(a["r"], "read", a["b"], ledger_of(step.before).next_entry(a["r"]))
    return [{"do": "ask", **request}, {"do": "fail", **request}]


def _recovery_add(step: Taken, a: Mapping[str, str]) -> Steps:
    at = ledger_of(step.before).next_entry(a["r"])
    return [_deliver(_request(a["r"], "recovery-add", a["b"], at), OK, heard=True)]


def _replace_in_recovery(step: Taken, a: Mapping[str, str]) -> Steps:
    at = ledger_of(step.before).next_entry(a["r"])
    return [{"do": "fail", **_request(a["r"], "recovery-add", a["o"], at), "by": a["n"]}]


def _end(step: Taken, a: Mapping[str, str]) -> Steps:
    """Recovery closes, or finds the ledger closed. The model stops after the last entry, the code asks for one more."""
    ledger = ledger_of(step.before)
    past = ledger.next_entry(a["r"])
    more = [{"do": "read-past-end", "of": a["r"], "entry": past}] if past == ledger.size else []
    return [*more, {"do": "finish", "of": a["r"]}]


_STEPS: Mapping[str, Any] = {
    words.SEND: lambda _, a: [{"do": "add", "of": "writer", "entry": number(a["e"])}],
    words.ADD: lambda _, a: [_deliver(_request("writer", "add", a["b"], number(a["e"])), OK)],
    words.ACK: lambda _, a: [{"do": "answer", **_request("writer", "add", a["b"], number(a["e"]))}],
    words.REPLACE: _replace,
    words.PUBLISH_CHANGE: lambda *_: [{"do": "perform", "of": "writer"}],
    words.RESEND: _unset,
    words.UNSET: _unset,
    words.CLOSE: _close,
    words.FIND_CLOSED: _close,
    words.SEND_EXPLICIT_LAC: lambda step, a: [
        {"do": "send-explicit-lac", "of": "writer"},
        _deliver(_request("writer", "write-lac", a["b"], ledger_of(step.before).lac), OK),
    ],
    words.CRASH: lambda _, a: [{"do": "kill", "at": a["b"]}],
    words.RESTART: lambda _, a: [{"do": "start", "at": a["b"]}],
    words.UNCLEAN_SHUTDOWN: lambda _, a: [{"do": "lose", "at": a["b"], "keep": int(a["keep"])}],
    words.LOSE_DISK: lambda _, a: [{"do": "lose", "at": a["b"], "keep": 0}],
    words.ROT: lambda _, a: [{"do": "rot", "at": a["b"], "entry": number(a["e"])}],
    words.DELETE: lambda *_: [{"do": "delete"}],
    words.COLLECT: lambda _, a: [{"do": "collect", "at": a["b"]}],
    words.RECOVER: lambda _, a: [{"do": "recover", "of": a["r"]}],
    words.READ_LAC: lambda _, a: [_deliver(_request(a["r"], "read", a["b"]), heard=True)],
    words.FENCE_UNHEARD: lambda _, a: [_deliver(_request(a["r"], "read", a["b"]))],
    words.READ_FOUND: lambda step, a: _read(step, a, OK),
    words.READ_NO_SUCH_ENTRY: lambda step, a: _read(step, a, NO_SUCH_ENTRY, NO_SUCH_LEDGER),
    words.READ_UNANSWERED: _unanswered,
    words.RECOVERY_ADD: _recovery_add,
    words.LATE_RECOVERY_ADD: lambda _, a: [_deliver(_request(a["r"], "recovery-add", a["b"], number(a["e"])), OK)],
    words.REPLACE_IN_RECOVERY: _replace_in_recovery,
    words.CLOSE_RECOVERED: _end,
    words.ADOPT_END: _end,
    words.IDLE_CHECKPOINT: lambda _, a: [{"do": "flush", "at": a["b"]}],
    words.TAKE_ENSEMBLE: lambda _, a: [{"do": "take-ensemble", "of": "writer", "entry": number(a["e"])}],
    words.READ_TAIL: lambda _, a: [{"do": "read-tail", "entry": number(a["e"])}],
}
