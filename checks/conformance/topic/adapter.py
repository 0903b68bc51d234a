"""The topic's adapter: how each action of the model is carried out on ManagedLedgerImpl and PersistentTopic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.running.adapter import Adapter, Departure, Deviation, Difference, Owed, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.checks.conformance.topic.observables import OBSERVABLES, number
from fencepost.model.language import Action, Protocol

NOT_ENOUGH_BOOKIES, TIMED_OUT, FENCED, NO_SUCH_LEDGER = -6, -23, -101, -25
"""Codes of BKException."""

Steps = list[dict[str, object]]


def _at(step: Taken, do: str, /, **more: object) -> dict[str, object]:
    """A step at the broker of the action, about its ledger if it has one."""
    ledger = {"ledger": number(step.arguments["k"])} if "k" in step.arguments else {}
    return {"do": do, "at": step.arguments["b"], **ledger, **more}


def _do(what: str) -> Callable[[Taken], Steps]:
    return lambda step: [_at(step, what)]


def _let(what: str, code: int = 0) -> Callable[[Taken], Steps]:
    return lambda step: [_at(step, "let", what=what, code=code, entries=int(step.arguments.get("n", 0)))]


def _hear_created(step: Taken, code: int = 0) -> Steps:
    """The broker hears of its new ledger, and updates the list."""
    return [{"do": "let", "at": step.arguments["b"], "what": "create", "ledger": 0, "code": code}]


def _write(what: str, outcome: str = "done") -> Callable[[Taken], Steps]:
    return lambda step: [_at(step, "write", what=what, outcome=outcome)]


def _is_slow(view: View, b: str, k: str) -> bool:
    """Whether the update of the list with this ledger has been sent, and is slow."""
    return bool(view.get(f"slow[{b}]", "none") == k)


def _list(step: Taken, outcome: str = "done", **more: object) -> Steps:
    """The list with the new ledger is written. The broker hears only now that it was created, so that a termination comes
    first; one that was closed meanwhile had heard of it, and so had one whose update is slow."""
    b, before = step.arguments["b"], step.before
    has_heard = before[f"state[{b}]"] == "closed" or _is_slow(before, b, step.arguments["k"])
    heard = [] if has_heard else _hear_created(step)
    return [*heard, _at(step, "write", what="list", outcome=outcome, **more)]


def _fail(code: int) -> Callable[[Taken], Steps]:
    return lambda step: [_at(step, "fail", code=code)]


def _both(*parts: Callable[[Taken], Steps]) -> Callable[[Taken], Steps]:
    return lambda step: [each for part in parts for each in part(step)]


def _list_new(step: Taken) -> Steps:
    """Refused, the new ledger is deleted."""
    refused = step.after[f"state[{step.arguments['b']}]"] == "fenced"
    return _list(step) + (_let("delete")(step) if refused else [])


def _list_late(step: Taken) -> Steps:
    """The slow update is carried out; in the model without the bug the ledger is deleted then, in the code with it never."""
    refused = step.after[f"state[{step.arguments['b']}]"] == "fenced"
    return _write("list")(step) + (_let("delete")(step) if refused else [])


def _list_fails(step: Taken) -> Steps:
    outcome = "unheard" if step.arguments["done"] == "1" else "failed"
    return _list(step, outcome) + _let("delete")(step)


def _close(step: Taken, how: str = "close") -> Steps:
    heard = _hear_created(step) if step.before[f"fresh[{step.arguments['b']}]"] != "none" else []
    return [*heard, _at(step, how), *_let("close")(step)]


def _recovered(step: Taken) -> Steps:
    return [{"do": "recover", "ledger": number(step.arguments["k"]), "entries": int(step.arguments["n"])}]


def _collect(step: Taken) -> Steps:
    """The topic is deleted: the list is trimmed first if there is something to trim, and then all ledgers are deleted."""
    b = step.arguments["b"]
    known = sorted(step.before[f"known[{b}]"], key=number)
    trims = [_at(step, "write", what="trim", outcome="done")] if len(known) > 1 else []
    if step.after[f"state[{b}]"] != "none":
        return [_at(step, "delete"), *trims]
    deletes = [{"do": "let", "at": b, "what": "delete", "ledger": number(k)} for k in known]
    version = _at(step, "renumber", version=step.after["version"])
    return [_at(step, "delete"), *trims, *deletes, _at(step, "forget"), version]


def _consume(step: Taken) -> Steps:
    return [_at(step, "consume", entries=int(step.arguments["e"][1:]))]


def _disconnect(step: Taken) -> Steps:
    """With the release's removal in a later task the connection still has the producer."""
    gone = step.after["connected"] != step.arguments["b"]
    return [_at(step, "disconnect"), *([_at(step, "forget-producer")] if gone else [])]


def _publish(step: Taken) -> Steps:
    return [_at(step, "publish", message=int(step.arguments["m"][1:]))]


def _confirm(step: Taken) -> Steps:
    return [_at(step, "confirm", entries=int(step.arguments["e"][1:]))]


def _look_up(code: int = 0) -> Callable[[Taken], Steps]:
    """An add is answered that the ledger is fenced, and its end is looked up."""
    return _both(_fail(FENCED), _let("open", code))


_STEPS: Mapping[str, Callable[[Taken], Steps]] = {
    "open": _do("open"),
    "recover_last": _let("open"),
    "drop_missing": _let("open"),
    "drop_unseen": _let("open", NO_SUCH_LEDGER),
    "list_first": _list,
    "list_first_stale": lambda step: _list(step, cursors="stale"),
    "list_first_unreadable": lambda step: _list(step, cursors="unreadable"),
    "read_old": _recovered,
    "recover_elsewhere": _recovered,
    "create_ledger": _do("create"),
    "creation_fails": lambda step: _hear_created(step, NOT_ENOUGH_BOOKIES),
    "list_new": _list_new,
    "list_fails": _list_fails,
    "list_slowly": _hear_created,
    "time_out_creation": _both(_do("age-creation"), _do("arrive")),
    "list_late": _list_late,
    "roll_over": _both(_do("roll"), _let("close")),
    "publish": _publish,
    "add": _do("arrive"),
    "add_waits": _do("arrive"),
    "add_refused": _do("arrive"),
    "payload_fails": _do("arrive-unprocessed"),
    "confirm": _confirm,
    "hear_close": _let("close-full"),
    "hear_close_refused": _let("close-full"),
    "hear_fence": _look_up(),
    "find_deleted": _look_up(),
    "fail_when_fenced": _look_up(),
    "give_up": _do("fence-when-lost"),
    "fail_to_look_up": _look_up(TIMED_OUT),
    "fail_to_look_up_late": _both(_recovered, _look_up(TIMED_OUT)),
    "fail_add": _fail(NOT_ENOUGH_BOOKIES),
    "time_out_add": lambda step: [_at(step, "time-out", entries=int(step.arguments["n"]))],
    "terminate": _both(_do("terminate"), _let("close")),
    "drop_new": lambda step: [*_hear_created(step), *_let("close")(step), *_let("delete")(step)],
    "abort_rollover": lambda step: _hear_created(step, NOT_ENOUGH_BOOKIES),
    "list_end": _write("end"),
    "list_end_too_late": _both(_list, _write("end")),
    "close": _close,
    "transfer": lambda step: _close(step, "transfer"),
    "leave_topic": _do("forget"),
    "crash": _do("crash"),
    "connect": _do("connect"),
    "lose_connection": _do("lose"),
    "hear_error": _do("lose"),
    "disconnect": _disconnect,
    "forget_producer": _do("forget-producer"),
    "trim": _both(_do("trim"), _write("trim")),
    "trim_fails": _both(_do("trim"), _write("trim", "failed")),
    "delete_ledger": _let("delete"),
    "take_snapshot": _do("snapshot"),
    "truncate_topic": _do("truncate"),
    "set_properties": lambda _: [],
    "write_properties": _both(_do("set-properties"), _write("properties")),
    "collect_inactive": _collect,
    "consume": _consume,
    "persist_position": _do("flush"),
    "recover_cursor": _do("read-cursor"),
}


def _flush_refused(step: Taken, differences: Sequence[Difference], _: str) -> bool:
    """Whether a position is not stored, all of the log being acknowledged and the current ledger without an entry."""
    if step.action.name != "persist_position" or [each.what for each in differences] != ["cursor"]:
        return False
    current = step.before[f"current[{step.arguments['b']}]"]
    return bool(step.before[f"ledger.confirmed[{current}]"] == 0)


class TopicAdapter(Adapter):
    """Drives a managed ledger and a topic for each broker, over metadata and ledgers in memory."""

    protocol = "topic"
    covered = frozenset(_STEPS)
    eager = frozenset({"find_empty", "unfence"})
    observables = OBSERVABLES
    shown_by_requests = ("fresh", "deleting")
    deviations = (
        Deviation(
            "flush_refused",
            "After a rollover a cursor that has everything moves to the new ledger; once that one is dropped as empty, "
            "ManagedCursorImpl.asyncMarkDelete refuses the position, and flush has cleared isDirty: it is stored with the next "
            "acknowledgement only.",
            _flush_refused,
        ),
    )

    not_covered: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("create_another", "list_early", "trim_breaks_off", "write_early"),
            "it takes a bug that none of these releases has",
        ),
        **dict.fromkeys(("migrate", "trim_unread"), "the harness has one metadata store, and makes the ids of ledgers itself"),
    }

    def __init__(self, session: Session) -> None:
        self.session = session
        self._capacity = 0
        self._names: tuple[str, ...] = ()

    def begin(self, instance: Protocol) -> Seen:
        settings = instance.parameters
        brokers = [instance.universes["broker"].label(b) for b in instance.universes["broker"]]
        self._capacity = int(settings["capacity"])
        self._names = tuple(instance.universes["ledger"].label(k) for k in instance.universes["ledger"])
        begin = {"do": "begin", "brokers": brokers, "capacity": self._capacity}
        return self._seen([{**begin, **{name: bool(settings[name]) for name in ("dedup", "lazy", "subscription")}}])

    def take(self, step: Taken) -> Seen:
        return self._seen(_STEPS[step.action.name](step))

    def takes_by_itself(self, action: Action, view: View) -> bool:
        return True

    def expected(self, view: View) -> Owed:
        must: set[str] = set()
        may: set[str] = set()
        for b in view.members("broker"):
            must |= {f"{b} {request}" for request in _asked(view, b)}
            may |= {f"{b} delete {k}" for k in view.members("ledger")}
            if view[f"state[{b}]"] in ("terminated", "closed", "fenced"):
                may.add(f"{b} create")
        return Owed(frozenset(must), frozenset(may - must))

    def close(self) -> None:
        self.session.close()

    def _seen(self, steps: Steps) -> Seen:
        answer = self.session.ask({"steps": steps})
        if "refused" in answer:
            raise Departure(answer["refused"])
        seen = answer["seen"]
        values = {**seen, "capacity": self._capacity, "names": self._names}
        return Seen(values, frozenset(seen["requests"]))


def _asked(view: View, b: str) -> list[str]:
    """What the managed ledger of a broker waits for."""
    state, fresh = view[f"state[{b}]"], view[f"fresh[{b}]"]
    asked = [f"delete {k}" for k in view.get(f"deleting[{b}]", ())]
    if state == "opening" and view[f"known[{b}]"]:
        asked.append(f"open {max(view[f'known[{b}]'], key=number)}")
    slow = view.get(f"slow[{b}]", "none")
    if slow != "none" or (fresh != "none" and state == "closed"):
        asked.append("write list")
    is_unheard = fresh not in ("none", slow) and state != "closed"
    if is_unheard or (fresh == "none" and state in ("recovered", "creating")):
        asked.append("create")
    if state == "terminated" and not view["ended"]:
        asked.append("write end")
    if view.get(f"filled[{b}]", False):
        asked.append(f"close-full {view[f'current[{b}]']}")
    return asked
