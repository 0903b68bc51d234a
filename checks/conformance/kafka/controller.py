"""The controller's adapter: how each action of the model is carried out on KafkaController, and how each variable shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fencepost.checks.conformance.running.adapter import Observable, Owed
from fencepost.checks.conformance.running.brokers import BrokersAdapter, Line, do, let, of_all
from fencepost.checks.conformance.running.view import View

_BROKERS = "the harness has elections and epochs, and no brokers that register and are sent requests"
_LINK = "the harness has no link that breaks"
_PROCESS = "the processes of the harness go on"
_TASK = "the harness has no scheduler of rebalancing"

OWED = {"electing": "elect", "created": "read", "epoch_read": "raise"}
"""What the thread of a broker waits for at each stage."""


def _of_store(family: str, name: str) -> Observable:
    return Observable(family, (family,), lambda view: view[family], lambda seen: seen[name])


def _watches(view: View) -> dict[str, object]:
    """Of brokers that have a session, whether a watch has fired: the others hear of it as they open another."""
    return {b: view[f"controller_change[{b}]"] for b in view.members("broker") if view[f"session[{b}]"]}


OBSERVABLES = (
    _of_store("controller_holder", "holder"),
    _of_store("controller_former", "former"),
    _of_store("controller_epoch", "controller_epoch"),
    of_all("lives"),
    of_all("link"),
    of_all("session"),
    of_all("leader"),
    of_all("active"),
    of_all("epoch"),
    of_all("new_sessions"),
    Observable(
        "controller_change",
        ("controller_change",),
        _watches,
        lambda seen: {b: shown["change"] for b, shown in seen["brokers"].items() if shown["session"]},
    ),
)


_LINES: Mapping[str, Line] = {
    "elect": let("elect"),
    "read_epoch": let("read"),
    "fail_over": let("raise"),
    "hear_node": do("hear"),
    "handle_new_session": do("session"),
    "resign": do("resign"),
    "expire": do("expire"),
    "learn_of_expiry": do("learn"),
    "reestablish": do("reestablish"),
}


class ControllerAdapter(BrokersAdapter):
    """Drives one KafkaController for each broker, over a ZkClient each, over one ZooKeeper server."""

    protocol = "kafka_controller"
    not_covered: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("register", "register_in_vain", "learn_own_epoch", "hear_brokers", "deliver", "write"), _BROKERS),
        **dict.fromkeys(("change_listeners", "watch_brokers", "hear_listeners"), _BROKERS),
        **dict.fromkeys(("disconnect", "reconnect", "give_session_up"), _LINK),
        **dict.fromkeys(("creation_unheard", "create_again", "give_creation_up"), _LINK),
        **dict.fromkeys(("stop", "crash", "restart", "expire_dead", "expire_former"), _PROCESS),
        **dict.fromkeys(("begin_rebalance", "end_rebalance"), _TASK),
    }
    observables = OBSERVABLES
    shown_by_requests = ("stage",)
    lines = _LINES

    def expected(self, view: View) -> Owed:
        waits = {b: OWED.get(view[f"stage[{b}]"]) for b in view.members("broker")}
        return Owed(frozenset(f"{b} {what}" for b, what in waits.items() if what))
