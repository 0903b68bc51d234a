"""The controller's adapter: how each action of the model is carried out on KafkaController, and how each variable shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.running.adapter import Adapter, Departure, Observable, Owed, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Protocol

_BROKERS = "the harness has elections and epochs, and no brokers that register and are sent requests"
_LINK = "the harness has no link that breaks"
_PROCESS = "the processes of the harness go on"
_TASK = "the harness has no scheduler of rebalancing"

OWED = {"electing": "elect", "created": "read", "epoch_read": "raise"}
"""What the thread of a broker waits for at each stage."""


def _of_store(family: str, name: str) -> Observable:
    return Observable(family, (family,), lambda view: view[family], lambda seen: seen[name])


def _of_each(family: str, name: str = "") -> Observable:
    """A variable of each broker."""
    told = name or family
    return Observable(
        family,
        (family,),
        lambda view: {b: view[f"{family}[{b}]"] for b in view.members("broker")} if f"{family}[b0]" in view else None,
        lambda seen: {b: shown[told] for b, shown in seen["brokers"].items()},
    )


def _watches(view: View) -> dict[str, Any]:
    """Of brokers that have a session, whether a watch has fired: the others hear of it as they open another."""
    return {b: view[f"controller_change[{b}]"] for b in view.members("broker") if view[f"session[{b}]"]}


OBSERVABLES = (
    _of_store("controller_holder", "holder"),
    _of_store("controller_former", "former"),
    _of_store("controller_epoch", "controller_epoch"),
    _of_each("lives"),
    _of_each("link"),
    _of_each("session"),
    _of_each("leader"),
    _of_each("active"),
    _of_each("epoch"),
    _of_each("new_sessions"),
    Observable(
        "controller_change",
        ("controller_change",),
        _watches,
        lambda seen: {b: shown["change"] for b, shown in seen["brokers"].items() if shown["session"]},
    ),
)


class ControllerAdapter(Adapter):
    """Drives one KafkaController for each broker, over a ZkClient each, over one ZooKeeper server."""

    protocol = "kafka_controller"
    not_covered: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("register", "learn_own_epoch", "hear_brokers", "deliver", "write"), _BROKERS),
        **dict.fromkeys(("disconnect", "reconnect", "creation_unheard"), _LINK),
        **dict.fromkeys(("stop", "crash", "restart", "expire_dead", "expire_former"), _PROCESS),
        **dict.fromkeys(("begin_rebalance", "end_rebalance"), _TASK),
    }
    observables = OBSERVABLES
    shown_by_requests = ("stage",)

    def __init__(self, session: Session) -> None:
        self.session = session
        self.covered = frozenset(_STEPS)

    def begin(self, instance: Protocol) -> Seen:
        universe = instance.universes["broker"]
        return self._seen({"do": "begin", "brokers": [universe.label(member) for member in universe]})

    def take(self, step: Taken) -> Seen:
        return self._seen(_STEPS[step.action.name](next(iter(step.arguments.values()))))

    def expected(self, view: View) -> Owed:
        waits = {b: OWED.get(view[f"stage[{b}]"]) for b in view.members("broker")}
        return Owed(frozenset(f"{b} {what}" for b, what in waits.items() if what))

    def close(self) -> None:
        self.session.close()

    def _seen(self, step: Mapping[str, Any]) -> Seen:
        answer = self.session.ask(step)
        if "refused" in answer:
            raise Departure(answer["refused"])
        seen = answer["seen"]
        owed = frozenset(f"{b} {what}" for b, shown in seen["brokers"].items() for what in shown.get("requests", ()))
        return Seen(seen, owed)


Step = Callable[[str], dict[str, Any]]


def _let(what: str) -> Step:
    return lambda b: {"do": "let", "of": b, "what": what}


def _do(what: str) -> Step:
    return lambda b: {"do": what, "of": b}


_STEPS: Mapping[str, Step] = {
    "elect": _let("elect"),
    "read_epoch": _let("read"),
    "fail_over": _let("raise"),
    "hear_node": _do("hear"),
    "handle_new_session": _do("session"),
    "resign": _do("resign"),
    "expire": _do("expire"),
    "learn_of_expiry": _do("learn"),
    "reestablish": _do("reestablish"),
}
