"""The unload's adapter: how each action of the model is carried out on a NamespaceService, and what shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from fencepost.checks.conformance.pulsar.locks import (
    LOCK_STEPS,
    LOCKS,
    NOT_COVERED,
    LocksAdapter,
    do,
    of_lock,
    owed_by_locks,
    places,
)
from fencepost.checks.conformance.pulsar.ownership_deviations import DEVIATIONS, LOCK_ALLOWANCES
from fencepost.checks.conformance.running.adapter import Owed, Seen
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action, Protocol

LAST_HASH = 0xFFFFFFFF


class UnloadAdapter(LocksAdapter):
    """Drives a NamespaceService for each broker, with the topics of its BrokerService, over one ZooKeeper server."""

    protocol = "unload"
    eager = frozenset({"start_release", "stop_unload"})
    steps: ClassVar = {
        **LOCK_STEPS,
        "start_unload": do("unload"),
        "open_topic": do("open"),
        "close_topic": do("close"),
        "fail_to_close": lambda step: {"do": "close", "fails": True},
        "time_out_closing": do("time-out"),
        "release_unheard": lambda step: {"do": "let-unheard", "what": "release"},
    }
    not_covered: ClassVar = {name: why for name, why in NOT_COVERED.items() if name != "reestablish_unheard"}
    observables = (
        *LOCKS,
        of_lock("topic_open", ("topic_open",), lambda view, place: view[f"topic_open[{place}]"]),
    )
    shown_by_requests = ("lock", "orphan", "unloading")
    allowances = LOCK_ALLOWANCES
    deviations = DEVIATIONS

    def begin(self, instance: Protocol) -> Seen:
        universes = (instance.universes[name] for name in ("broker", "bundle"))
        brokers, bundles = ([universe.label(member) for member in universe] for universe in universes)
        cuts = [LAST_HASH * place // len(bundles) for place in range(len(bundles) + 1)]
        ends = {name: cuts[place : place + 2] for place, name in enumerate(bundles)}
        return self.seen({"do": "begin", "brokers": brokers, "bundles": ends, "boundaries": cuts})

    def takes_by_itself(self, action: Action, view: View) -> bool:
        place = ", ".join(action.arguments.values())
        return action.name == "start_release" or not view[f"topic_open[{place}]"] or view[f"overdue[{place}]"]

    def expected(self, view: View) -> Owed:
        closing = {place.replace(", ", " ") + " close": _is_to_close(view, place) for place in _open(view)}
        asked = frozenset(what for what, must in closing.items() if must)
        return Owed(frozenset(owed_by_locks(view)) | asked, frozenset(closing) - asked)


def _open(view: View) -> Iterator[str]:
    return (place for place in places(view) if view[f"topic_open[{place}]"])


def _is_to_close(view: View, place: str) -> bool:
    """A topic that is open has been asked to close; of one that was, the bundle may be served again."""
    return bool(view[f"unloading[{place}]"] != "none" or view[f"bundle_state[{place}]"] == "absent")
