"""The ledger's adapter: how each action of the model is carried out on BookKeeper's classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from fencepost.checks.conformance.bookkeeper import ledger_requests
from fencepost.checks.conformance.bookkeeper.ledger_deviations import ALLOWANCES, DEVIATIONS, OF_SORTED
from fencepost.checks.conformance.bookkeeper.ledger_observables import OBSERVABLES
from fencepost.checks.conformance.bookkeeper.ledger_requests import ledger_of, number
from fencepost.checks.conformance.bookkeeper.owed_requests import owed, requests_of
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.running.adapter import Adapter, Departure, Owed, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Protocol

OK, NO_SUCH_ENTRY, NO_SUCH_LEDGER = 0, -13, -7
"""Codes of BKException."""

Steps = list[dict[str, object]]

_ON_DB = {
    **dict.fromkeys((ledger_requests.UNCLEAN_SHUTDOWN, ledger_requests.LOSE_DISK), "only DbLedgerStorage has limbo"),
    **dict.fromkeys(
        (ledger_requests.FAIL_TO_SAVE, ledger_requests.PASS_OVER, ledger_requests.EMPTY_CACHE),
        "only DbLedgerStorage has write caches",
    ),
}
_SAVES = frozenset({ledger_requests.FAIL_TO_SAVE, ledger_requests.EMPTY_CACHE, ledger_requests.IDLE_CHECKPOINT})


class LedgerAdapter(Adapter):
    """Drives LedgerHandle, LedgerRecoveryOp and the others, and bookies over a journal and a ledger storage."""

    protocol = "ledger"
    eager = frozenset({ledger_requests.CONFIRM, ledger_requests.START_READING, ledger_requests.RECOVERY_ADD_COMPLETE})
    not_covered: ClassVar[Mapping[str, str]] = _ON_DB
    observables = OBSERVABLES
    allowances = ALLOWANCES
    shown_by_requests = ledger_requests.BY_REQUESTS

    def __init__(self, session: Session, *, storage: str) -> None:
        """``storage`` is that of the bookies: db, sorted or interleaved."""
        self.session = session
        self.covered = frozenset(_STEPS) - (frozenset() if storage == "db" else frozenset(_ON_DB))
        self.deviations = DEVIATIONS + (OF_SORTED if storage == "sorted" else ())
        self._striped = self._checkpoints = self._stops = False

    def begin(self, instance: Protocol) -> Seen:
        sizes = {name: instance.parameters[name] for name in ("bookies", "entries", "ensemble", "write_quorum", "ack_quorum")}
        self._striped = sizes["ensemble"] != sizes["write_quorum"]
        names = {action.name for action in instance.actions}
        skips_headers = ledger_requests.IDLE_FLUSH_SKIPS_HEADERS in instance.active
        self._checkpoints = ledger_requests.IDLE_CHECKPOINT in names or skips_headers
        self._stops = ledger_requests.DELETED_FENCE_IN_MEMORY in instance.active
        # what a bookie saves by itself depends on how far its journal is synced
        synced = {"synced": True} if names & _SAVES or skips_headers or self._stops else {}
        return self._seen([{"do": "begin", **sizes, **synced}])

    def take(self, step: Taken) -> Seen:
        steps: Steps = _STEPS[step.action.name](step, step.arguments)
        if self._stops and step.action.name == ledger_requests.CRASH:
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
        return Seen(values, requests_of(values))


def _fences_now(step: Taken) -> str:
    """The bookie that the step fences, empty if it fences none; a checkpoint right before that leaves the next one idle."""
    before, after = ledger_of(step.before), ledger_of(step.after)
    return next((bookie for bookie in before.bookies if after.fenced(bookie) and not before.fenced(bookie)), "")


def _request(of: str, what: str, at: str, entry: int | None = None) -> dict[str, object]:
    return {"of": of, "what": what, "at": at} | ({} if entry is None else {"entry": entry})


def _deliver(request: Mapping[str, object], *codes: int, heard: bool = False) -> dict[str, object]:
    return {"do": "deliver", **request} | ({"codes": codes} if codes else {}) | ({"heard": True} if heard else {})


def _add(step: Taken, a: Mapping[str, str]) -> Steps:
    """The first add that the bookie takes may be the one before whose master key the other's record comes."""
    first = ledger_requests.KEY_RECORD_AFTER_ENTRY in step.before.protocol.active and not step.before[f"stored[{a['b']}]"]
    return [_deliver(_request("writer", "add", a["b"], number(a["e"])), OK) | ({"keyLast": True} if first else {})]


def _lose_disk(step: Taken, a: Mapping[str, str]) -> Steps:
    """With the data integrity check, or without: then the bookie starts only if its cookie has been deleted."""
    if step.before.protocol.parameters["data_integrity"]:
        return [{"do": "lose", "at": a["b"], "keep": 0}]
    deleted = ledger_requests.COOKIE_DELETED_AFTER_WIPE in step.before.protocol.active
    return [{"do": "wipe", "at": a["b"], "deleted": deleted}]


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
    refused = step.action.name == ledger_requests.FIND_CLOSED_BY_CHANGE
    return [{"do": "close", "of": "writer", "succeeds": ledger_of(step.after).writer == "closed", "refused": refused}]


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


_STEPS: Mapping[str, Callable[[Taken, Mapping[str, str]], Steps]] = {
    ledger_requests.SEND: lambda _, a: [{"do": "add", "of": "writer", "entry": number(a["e"])}],
    ledger_requests.CHECK_FENCE: lambda _, a: [{"do": "check-fence", **_request("writer", "add", a["b"], number(a["e"]))}],
    ledger_requests.ADD: _add,
    ledger_requests.ACK: lambda _, a: [{"do": "answer", **_request("writer", "add", a["b"], number(a["e"]))}],
    ledger_requests.REPLACE: _replace,
    ledger_requests.PUBLISH_CHANGE: lambda *_: [{"do": "perform", "of": "writer"}],
    ledger_requests.RESEND: _unset,
    ledger_requests.UNSET: _unset,
    ledger_requests.CLOSE: _close,
    ledger_requests.FIND_CLOSED: _close,
    ledger_requests.FIND_CLOSED_BY_CHANGE: _close,
    ledger_requests.SEND_EXPLICIT_LAC: lambda step, a: [
        {"do": "send-explicit-lac", "of": "writer"},
        _deliver(_request("writer", "write-lac", a["b"], ledger_of(step.before).lac), OK),
    ],
    ledger_requests.CRASH: lambda _, a: [{"do": "kill", "at": a["b"]}],
    ledger_requests.RESTART: lambda _, a: [{"do": "start", "at": a["b"]}],
    ledger_requests.UNCLEAN_SHUTDOWN: lambda _, a: [{"do": "lose", "at": a["b"], "keep": int(a["keep"])}],
    ledger_requests.LOSE_DISK: _lose_disk,
    ledger_requests.ROT: lambda _, a: [{"do": "rot", "at": a["b"], "entry": number(a["e"])}],
    ledger_requests.DELETE: lambda *_: [{"do": "delete"}],
    ledger_requests.COLLECT: lambda _, a: [{"do": "collect", "at": a["b"]}],
    ledger_requests.RECOVER: lambda _, a: [{"do": "recover", "of": a["r"]}],
    ledger_requests.READ_LAC: lambda _, a: [_deliver(_request(a["r"], "read", a["b"]), heard=True)],
    ledger_requests.FENCE_UNHEARD: lambda _, a: [_deliver(_request(a["r"], "read", a["b"]))],
    ledger_requests.READ_FOUND: lambda step, a: _read(step, a, OK),
    ledger_requests.READ_NO_SUCH_ENTRY: lambda step, a: _read(step, a, NO_SUCH_ENTRY, NO_SUCH_LEDGER),
    ledger_requests.READ_UNANSWERED: _unanswered,
    ledger_requests.RECOVERY_ADD: _recovery_add,
    ledger_requests.LATE_RECOVERY_ADD: lambda _, a: [_deliver(_request(a["r"], "recovery-add", a["b"], number(a["e"])), OK)],
    ledger_requests.REPLACE_IN_RECOVERY: _replace_in_recovery,
    ledger_requests.CLOSE_RECOVERED: _end,
    ledger_requests.ADOPT_END: _end,
    ledger_requests.IDLE_CHECKPOINT: lambda _, a: [{"do": "flush", "at": a["b"]}],
    ledger_requests.EMPTY_CACHE: lambda _, a: [{"do": "flush", "at": a["b"]}],
    ledger_requests.FAIL_TO_SAVE: lambda _, a: [{"do": "fail-to-flush", "at": a["b"]}],
    ledger_requests.PASS_OVER: lambda _, a: [{"do": "flush", "at": a["b"]}],
    ledger_requests.TAKE_ENSEMBLE: lambda _, a: [{"do": "take-ensemble", "of": "writer", "entry": number(a["e"])}],
    ledger_requests.READ_TAIL: lambda _, a: [{"do": "read-tail", "entry": number(a["e"])}],
}
