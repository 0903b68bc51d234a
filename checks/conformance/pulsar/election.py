"""The election's adapter: how each action of the model is carried out on LeaderElectionImpl, and how each variable shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

from fencepost.checks.conformance.pulsar.election_deviations import ALLOWANCES, DEVIATIONS
from fencepost.checks.conformance.running.adapter import Observable, Owed, Seen
from fencepost.checks.conformance.running.brokers import BrokersAdapter, Line, do, let, of_all, read_of
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Protocol
from fencepost.model.nobody import NOBODY

OWED = {
    "looking": "look",
    "proposing": "create",
    "confirming": "confirm",
    "retaking": "delete",
    "withdrawing": "delete",
    "waiting": "retry",
}
"""What a broker waits for at each stage."""

_ROLES = {"no_leader": "NoLeader", "leading": "Leading", "following": "Following"}
_STAGES = {"settled": "LeaderIsPresent", "closed": "Closed"}
_UNDER_WAY = "ElectionInProgress"


def _of_node(name: str, absent: object) -> Observable:
    """Something of the leader's node; ``absent`` is what it is without a node."""
    family = f"leader_{name}"
    return Observable(family, (family,), lambda view: view[family], lambda seen: seen["node"].get(name, absent))


def _of_the_lookup(name: str) -> Observable:
    """A variable of the lookup that wanders from broker to broker, where the instance has one."""
    return Observable(name, (name,), lambda view: view.get(name), lambda seen: seen[name])


def _of_live(name: str, family: str, shown: Callable[[str], object] = lambda value: value) -> Observable:
    """A variable of each broker that runs; of others there is nothing to see."""
    return Observable(
        name,
        (family,),
        lambda view: {b: shown(view[f"{family}[{b}]"]) for b in view.members("broker") if view[f"lives[{b}]"]},
        read_of(name),
    )


def _stage(view: View, b: str) -> str:
    """The state of an election as the code has it; one that is closed, and goes on, is closed."""
    if view.get(f"shut[{b}]"):
        return _STAGES["closed"]
    return _STAGES.get(view[f"stage[{b}]"], _UNDER_WAY)


OBSERVABLES = (
    _of_node("holder", NOBODY),
    _of_node("former", False),
    _of_node("version", 0),
    _of_the_lookup("asked"),
    _of_the_lookup("authoritative"),
    of_all("lives"),
    of_all("session"),
    of_all("former_session"),
    _of_live("link", "link"),
    _of_live("role", "role", _ROLES.__getitem__),
    Observable(
        "stage",
        ("stage", "shut"),
        lambda view: {b: _stage(view, b) for b in view.members("broker") if view[f"lives[{b}]"]},
        read_of("stage"),
    ),
    _of_live("cached", "cached"),
    _of_live("deletion", "leader_deletion"),
    Observable(
        "closing",
        ("closing",),
        lambda view: {b: view.get(f"closing[{b}]", False) for b in view.members("broker") if view[f"lives[{b}]"]},
        read_of("closing"),
    ),
)


_LINES: Mapping[str, Line] = {
    **dict.fromkeys(("find_none", "find_own", "find_former", "find_other"), let("look")),
    "propose": let("create"),
    "confirm": let("confirm"),
    "retake": let("delete"),
    "withdraw": let("delete"),
    "look_at_close": let("look-at-close"),
    "delete_at_close": let("give-back"),
    "try_again": let("retry"),
    "hear_of_deletion": do("hear"),
    "fail": do("fail"),
    **dict.fromkeys(("start_closing", "close_again"), do("close")),
    "end": do("end"),
    **dict.fromkeys(("crash", "fail_to_start"), do("die")),
    "restart": do("start"),
    "expire": do("expire"),
    "expire_dead": do("expire"),
    "expire_former": do("expire-former"),
    "learn_of_expiry": do("learn"),
    "reestablish": do("reestablish"),
    **{step: do(step) for step in ("disconnect", "lose", "reconnect", "resume")},
    "creation_unheard": let("create", unheard=True),
    "deletion_unheard": let("delete", unheard=True),
    "deletion_at_close_unheard": let("give-back", unheard=True),
    "forget_leader": do("forget"),
    **{step: do(step) for step in ("ask", "redirect", "choose", "take")},
    "give_up": do("give-up"),
}


class ElectionAdapter(BrokersAdapter):
    """Drives one LeaderElectionImpl for each broker, over a ZKMetadataStore each, over one ZooKeeper server."""

    protocol = "election"
    not_covered: ClassVar[Mapping[str, str]] = {
        "reestablish_unheard": "the harness loses no session event",
    }
    observables = OBSERVABLES
    shown_by_requests = ("stage", "gives_back", "begun", "found")
    allowances = ALLOWANCES
    deviations = DEVIATIONS
    lines = _LINES

    def begin(self, instance: Protocol) -> Seen:
        same = {"value": "the same"} if instance.has("same_value") else {}
        return self._seen({"do": "begin", **self.names(instance), **same})

    def expected(self, view: View) -> Owed:
        return Owed(frozenset(f"{b} {what}" for b, what in _requests(view)))


def _requests(view: View) -> Iterator[tuple[str, str]]:
    """What each broker that lives has under way in a state; one that led and closes deletes its node, or reads it before."""
    for b in view.members("broker"):
        if not view[f"lives[{b}]"]:
            continue
        stage = view[f"stage[{b}]"]
        tries_again = stage != "waiting" or view.get(f"begun[{b}]", "deletion") == "deletion"
        if stage in OWED and tries_again:
            yield b, OWED[stage]
        if view.get(f"gives_back[{b}]", stage == "closed" and view[f"role[{b}]"] == "leading"):
            yield b, "give-back" if view.get(f"found[{b}]", True) else "look-at-close"
