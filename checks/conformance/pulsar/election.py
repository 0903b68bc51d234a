"""The election's adapter: how each action of the model is carried out on LeaderElectionImpl, and how each variable shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.pulsar.election_deviations import DEVIATIONS
from fencepost.checks.conformance.running.adapter import Adapter, Departure, Observable, Owed, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Protocol

_LINK = "the harness has no link that breaks, so that nobody is cut off"
_LOOKUP = "lookups are NamespaceService's, which the harness does not have"
_UNHEARD = "the harness breaks no connection under a request"

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


def _of_node(name: str, absent: Any) -> Observable:
    """Something of the leader's node; ``absent`` is what it is without a node."""
    family = f"leader_{name}"
    return Observable(family, (family,), lambda view: view[family], lambda seen: seen["node"].get(name, absent))


def _of_all(family: str) -> Observable:
    """A variable of each broker, whether or not it runs."""
    return Observable(
        family, (family,), lambda view: {b: view[f"{family}[{b}]"] for b in view.members("broker")}, _told(family)
    )


def _of_live(name: str, family: str, shown: Callable[[Any], Any] = lambda value: value) -> Observable:
    """A variable of each broker that runs; of others there is nothing to see."""
    return Observable(
        name,
        (family,),
        lambda view: {b: shown(view[f"{family}[{b}]"]) for b in view.members("broker") if view[f"lives[{b}]"]},
        _told(name),
    )


def _told(name: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    return lambda seen: {b: told[name] for b, told in seen["brokers"].items() if name in told}


def _stage(view: View, b: str) -> str:
    """The state of an election as the code has it; one that is closed, and goes on, is closed."""
    if view.get(f"shut[{b}]"):
        return _STAGES["closed"]
    return _STAGES.get(view[f"stage[{b}]"], _UNDER_WAY)


OBSERVABLES = (
    _of_node("holder", "nobody"),
    _of_node("former", False),
    _of_node("version", 0),
    _of_all("lives"),
    _of_all("session"),
    _of_all("former_session"),
    _of_live("role", "role", _ROLES.__getitem__),
    Observable(
        "stage",
        ("stage",),
        lambda view: {b: _stage(view, b) for b in view.members("broker") if view[f"lives[{b}]"]},
        _told("stage"),
    ),
    _of_live("cached", "cached"),
    _of_live("deletion", "leader_deletion"),
)


class ElectionAdapter(Adapter):
    """Drives one LeaderElectionImpl for each broker, over a ZKMetadataStore each, over one ZooKeeper server."""

    protocol = "election"
    not_covered: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("disconnect", "lose", "reconnect", "resume"), _LINK),
        **dict.fromkeys(("creation_unheard", "deletion_unheard", "fail"), _UNHEARD),
        **dict.fromkeys(("ask", "redirect", "choose", "take", "give_up"), _LOOKUP),
        "forget_leader": "the election's cache has no expiry in these releases",
    }
    observables = OBSERVABLES
    shown_by_requests = ("stage",)
    deviations = DEVIATIONS

    def __init__(self, session: Session) -> None:
        self.session = session
        self.covered = frozenset(_STEPS)

    def begin(self, instance: Protocol) -> Seen:
        universe = instance.universes["broker"]
        return self._seen({"do": "begin", "brokers": [universe.label(member) for member in universe]})

    def take(self, step: Taken) -> Seen:
        return self._seen(_STEPS[step.action.name](next(iter(step.arguments.values()))))

    def expected(self, view: View) -> Owed:
        return Owed(frozenset(f"{b} {what}" for b, what in _requests(view)))

    def close(self) -> None:
        self.session.close()

    def _seen(self, step: Mapping[str, Any]) -> Seen:
        answer = self.session.ask(step)
        if "refused" in answer:
            raise Departure(answer["refused"])
        seen = answer["seen"]
        owed = frozenset(f"{b} {what}" for b, told in seen["brokers"].items() for what in told.get("requests", ()))
        return Seen(seen, owed)


def _requests(view: View) -> Iterator[tuple[str, str]]:
    """What each broker that lives has under way in a state; a leader that closes has the deletion of its node."""
    for b in view.members("broker"):
        if not view[f"lives[{b}]"]:
            continue
        stage = view[f"stage[{b}]"]
        tries_again = stage != "waiting" or view.get(f"begun[{b}]", "deletion") == "deletion"
        if stage in OWED and tries_again:
            yield b, OWED[stage]
        if view.get(f"gives_back[{b}]", stage == "closed" and view[f"role[{b}]"] == "leading"):
            yield b, "give-back"


Step = Callable[[str], dict[str, Any]]


def _let(what: str) -> Step:
    return lambda b: {"do": "let", "of": b, "what": what}


def _do(what: str) -> Step:
    return lambda b: {"do": what, "of": b}


_STEPS: Mapping[str, Step] = {
    **dict.fromkeys(("find_none", "find_own", "find_former", "find_other"), _let("look")),
    "propose": _let("create"),
    "confirm": _let("confirm"),
    "retake": _let("delete"),
    "withdraw": _let("delete"),
    "delete_at_close": _let("give-back"),
    "try_again": _let("retry"),
    "hear_of_deletion": _do("hear"),
    **dict.fromkeys(("start_closing", "close_again"), _do("close")),
    "end": _do("end"),
    **dict.fromkeys(("crash", "fail_to_start"), _do("die")),
    "restart": _do("start"),
    "expire": _do("expire"),
    "expire_dead": _do("expire"),
    "expire_former": _do("expire-former"),
    "learn_of_expiry": _do("learn"),
    "reestablish": _do("reestablish"),
}
