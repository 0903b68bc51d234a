"""The subscription's adapter: how each action of the model is carried out on ManagedCursorImpl, and what both sides show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fencepost.checks.conformance.java_side.session import Session, Told
from fencepost.checks.conformance.running.adapter import (
    Adapter,
    Allowance,
    Departure,
    Observable,
    Owed,
    Seen,
    Taken,
)
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action, Protocol

STATES = {"none": "none", "NoLedger": "no_ledger", "SwitchingLedger": "creating", "Open": "open"}
"""ManagedCursorImpl.State as the model names it."""

Step = dict[str, object]


def _do(what: str, **more: object) -> Callable[[Taken], Step]:
    return lambda _: {"do": what, **more}


def _acknowledge(**more: object) -> Callable[[Taken], Step]:
    return lambda step: {"do": "acknowledge", "message": int(step.arguments["m"][1:]), **more}


def _seek(**more: object) -> Callable[[Taken], Step]:
    return lambda step: {"do": "seek", "to": int(step.arguments["n"]), **more}


_STEPS: Mapping[str, Callable[[Taken], Step]] = {
    "load": _do("load"),
    "acknowledge": _acknowledge(),
    "acknowledge_during_read": _acknowledge(reading=True),
    "skip": _acknowledge(),
    "acknowledge_up_to": _acknowledge(all=True),
    "acknowledge_at_rest": _acknowledge(rest=True),
    "flush_at_rest": _do("flush"),
    "flush_during_read": _do("flush", reading=True),
    "seek": _seek(),
    "seek_during_read": _seek(reading=True),
    "create_ledger": _do("create"),
    "end_read": _do("end-read"),
    "store": _do("store"),
    "unload": _do("unload"),
    "crash": _do("crash"),
}


def _loaded(read: Callable[[View], object]) -> Callable[[View], object]:
    return lambda view: None if view["state"] == "none" else read(view)


def _behind(position: int, messages: frozenset[str]) -> list[int]:
    """What is acknowledged behind a position; what ranges have before it says nothing more."""
    return sorted(m for m in (int(name[1:]) for name in messages) if m >= position)


def _same(name: str, read: Callable[[View], object] | None = None) -> Observable:
    """A variable of the broker that has the same name and the same values on both sides."""
    return Observable(name, (name,), _loaded(read or (lambda view: view[name])), lambda values: values.get(name))


def _writing(view: View) -> list[int]:
    return [view[f"place[{w}]"] for w in view.members("slot") if view[f"writing[{w}]"] != "nothing"]


def _ranges(view: View) -> list[list[int]] | None:
    """What is written of ranges that may be more than the limit is compared when it is stored."""
    settings = view.protocol.parameters
    if settings["limit"] < settings["messages"]:
        return None
    under_way = [w for w in view.members("slot") if view[f"writing[{w}]"] != "nothing"]
    return [_behind(view[f"place[{w}]"], view[f"ranges[{w}]"]) for w in under_way]


def _written(name: str) -> Callable[[Told], object]:
    return lambda values: [each[name] for each in values["writing"]] if "writing" in values else None


def _unanswered(view: View) -> bool | None:
    """Whether an acknowledgement waits for its answer; None where it may be a seek that does, or what the timer writes."""
    writes = {view[f"writing[{w}]"] for w in view.members("slot")}
    if writes & {"ack", "both"} or view["queued"] in ("acks", "seek_and_acks"):
        return None if view.protocol.parameters["limited"] else True
    return None if "seek" in writes or view["queued"] == "seek" else False


def _is_within(view: View) -> bool:
    """Whether there are no more ranges than are stored; a range ends with its ledger."""
    settings = view.protocol.parameters
    acked, capacity = set(_behind(view["mark"], view["acked"])), int(settings["capacity"])
    begins = [m for m in acked if m % capacity == 0 or m - 1 not in acked]
    return len(begins) <= int(settings["limit"])


OBSERVABLES = (
    Observable("stored mark", ("stored_mark",), lambda view: view["stored_mark"], lambda values: values["stored"]["mark"]),
    Observable(
        "stored ranges",
        ("stored_acked",),
        lambda view: _behind(view["stored_mark"], view["stored_acked"]),
        lambda values: values["stored"]["acked"],
    ),
    Observable("state", ("state",), lambda view: view["state"], lambda values: STATES.get(values["state"], values["state"])),
    _same("mark"),
    _same("acked", lambda view: _behind(view["mark"], view["acked"])),
    _same("last"),
    _same("persisted"),
    _same("queued"),
    Observable("place", ("place", "writing"), _loaded(_writing), _written("mark")),
    Observable("ranges", ("ranges",), _loaded(_ranges), _written("acked")),
    Observable("seeking", ("target",), _loaded(lambda view: view["target"] != -1), lambda values: values.get("seeking")),
    Observable(
        "unanswered",
        ("answered",),
        _loaded(_unanswered),
        lambda values: values["unanswered"] > 0 if "unanswered" in values else None,
    ),
    Observable("within the limit", ("promised",), _loaded(_is_within), lambda values: values.get("within")),
)


def _flushes_nothing(action: Action, view: View, seen: Seen) -> bool:
    """Whether the timer finds nothing to write: all of it is given to be written."""
    return action.name in ("flush_at_rest", "flush_during_read") and not seen.values.get("dirty")


class SubscriptionAdapter(Adapter):
    """Drives the cursor of a subscription over metadata and ledgers in memory."""

    protocol = "subscription"
    covered = frozenset(_STEPS)
    eager = frozenset({"flush_acks", "flush_seek", "flush_both", "skip_acks", "skip_seek"})
    observables = OBSERVABLES
    brought_about = ("asked", "meanwhile")
    allowances = (
        Allowance(
            "flushes_nothing",
            "what the timer would write is in memory as well, and so is what an acknowledgement would write",
            _flushes_nothing,
        ),
    )

    def __init__(self, session: Session) -> None:
        self.session = session

    def begin(self, instance: Protocol) -> Seen:
        names = ("messages", "capacity", "limit", "node_limit", "long_arrays")
        return self._seen({"do": "begin", **{name: instance.parameters[name] for name in names}})

    def take(self, step: Taken) -> Seen:
        return self._seen(_STEPS[step.action.name](step))

    def expected(self, view: View) -> Owed:
        return Owed(frozenset({"create"} if view["state"] == "creating" else ()))

    def close(self) -> None:
        self.session.close()

    def _seen(self, step: Step) -> Seen:
        answer: dict[str, Any] = self.session.ask({"steps": [step]})
        if "refused" in answer:
            raise Departure(answer["refused"])
        return Seen(answer["seen"], frozenset(answer["seen"].get("requests", ())))
