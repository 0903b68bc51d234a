"""The ownership's adapter: how each action of the model is carried out on Pulsar's locks and OwnershipCache, and what shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from fencepost.model.language import Protocol
from fencepost.traces.conformance.adapter import Adapter, Departure, Observable, Owed, Seen, Taken
from fencepost.traces.conformance.pulsar.ownership_deviating import ALLOWANCES, DEVIATIONS
from fencepost.traces.conformance.session import Session
from fencepost.traces.conformance.view import View

OWED = {
    "acquiring": "create",
    "recreating": "create",
    "checking": "read",
    "retaking": "retake",
    "releasing": "release",
}
"""What a lock waits for at each stage."""


def state(view: View, place: str) -> str:
    """What ResourceLockImpl calls the state of a lock that LockManagerImpl has; none before it is acquired."""
    stage = view[f"lock[{place}]"]
    if stage in ("releasing", "stranded"):
        return "Releasing"
    if stage == "none" or view[f"serves[{place}]"] == "absent":
        return "none"
    return "Init" if view.get(f"unattended[{place}]") else "Valid"


def places(view: View) -> Iterator[str]:
    """The broker and the bundle of each lock of a broker that runs, as names of variables have them."""
    return (f"{b}, {u}" for b in view.members("broker") if view[f"lives[{b}]"] for u in view.members("bundle"))


def _of_node(name: str, absent: Any) -> Observable:
    """Something of each owner node; ``absent`` is what it is without a node."""
    family = f"owner_{name}"
    return Observable(
        family,
        (family,),
        lambda view: {u: view[f"{family}[{u}]"] for u in view.members("bundle") if f"{family}[{u}]" in view},
        lambda seen: {u: told.get(name, absent) for u, told in seen["nodes"].items()},
    )


def _of_broker(family: str) -> Observable:
    return Observable(
        family,
        (family,),
        lambda view: {b: view[f"{family}[{b}]"] for b in view.members("broker")},
        lambda seen: {b: told[family] for b, told in seen["brokers"].items()},
    )


def _of_lock(name: str, families: tuple[str, ...], shown: Callable[[View, str], Any]) -> Observable:
    """Something of each lock of a broker that runs."""
    return Observable(
        name, families, lambda view: {place: shown(view, place) for place in places(view)}, lambda seen: _told(seen, name)
    )


def _told(seen: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {
        f"{b}, {u}": _shown(name, told[name], b)
        for b, of_broker in seen["brokers"].items()
        for u, told in of_broker.get("bundles", {}).items()
        if name in told
    }


def _shown(name: str, value: Any, broker: str) -> Any:
    # knowing itself a broker acquires at a lookup, as it does where nobody is known
    return "nobody" if name == "cached" and value == broker else value


def _deletion(view: View, place: str) -> bool:
    broker, bundle = place.split(", ")
    to_come: bool = view[f"owner_deletion[{bundle}, {broker}]"]
    return to_come


OBSERVABLES = (
    _of_node("holder", "nobody"),
    _of_node("former", False),
    _of_node("version", 0),
    _of_node("disabled", False),
    _of_broker("lives"),
    _of_broker("session"),
    _of_broker("former_session"),
    _of_lock("state", ("lock", "unattended"), state),
    _of_lock("serves", ("serves",), lambda view, place: view[f"serves[{place}]"]),
    _of_lock("again", ("again",), lambda view, place: view[f"again[{place}]"]),
    _of_lock("version", ("lock_version",), lambda view, place: view[f"lock_version[{place}]"]),
    _of_lock("cached", ("cached",), lambda view, place: view[f"cached[{place}]"]),
    _of_lock("deletion", ("owner_deletion",), _deletion),
)


class OwnershipAdapter(Adapter):
    """Drives an OwnershipCache over a LockManagerImpl over a ZKMetadataStore for each broker, over one ZooKeeper server."""

    protocol = "ownership"
    not_covered: ClassVar[Mapping[str, str]] = {
        "time_out": "a request that meets no connection is sent again until there is one",
        "release_with_session": "no release has it",
        "reestablish_unheard": "the harness loses no session event",
        "lone_release_unheard": "the harness has no other operation fail beside a deletion",
    }
    observables = OBSERVABLES
    shown_by_requests = ("lock", "orphan")
    allowances = ALLOWANCES
    deviations = DEVIATIONS

    def __init__(self, session: Session) -> None:
        self.session = session
        self.covered = self.steps()

    @staticmethod
    def steps() -> frozenset[str]:
        """The names of the actions that have a step."""
        return frozenset(_STEPS)

    def begin(self, instance: Protocol) -> Seen:
        names = {
            f"{kind}s": [universe.label(member) for member in universe]
            for kind, universe in instance.universes.items()
            if kind in ("broker", "bundle")
        }
        return self._seen({"do": "begin", **names})

    def take(self, step: Taken) -> Seen:
        broker, *rest = step.arguments.values()
        return self._seen({"of": broker, "bundle": rest[0] if rest else "", **_STEPS[step.action.name](step)})

    def expected(self, view: View) -> Owed:
        return Owed(frozenset(_owed(view)))

    def close(self) -> None:
        self.session.close()

    def _seen(self, step: Mapping[str, Any]) -> Seen:
        answer = self.session.ask(step)
        if "refused" in answer:
            raise Departure(answer["refused"])
        seen = answer["seen"]
        owed = frozenset(
            f"{b} {u} {what}"
            for b, of_broker in seen["brokers"].items()
            for u, told in of_broker.get("bundles", {}).items()
            for what in told["requests"]
        )
        return Seen(seen, owed)


def _owed(view: View) -> Iterator[str]:
    """What each lock has under way; the read that a release overtook is still out."""
    for place in places(view):
        about = place.replace(", ", " ")
        what = OWED.get(view[f"lock[{place}]"])
        if view.get(f"orphan[{place}]"):
            yield f"{about} read"
            what = "another-read" if what == "read" else what
        if what:
            yield f"{about} {what}"


Step = Callable[[Taken], dict[str, Any]]


def _do(what: str) -> Step:
    return lambda step: {"do": what}


def _let(what: str) -> Step:
    return lambda step: {"do": "let", "what": what, "newest": True}


def _outstanding(step: Taken) -> str:
    """What the lock of a step waits for."""
    return OWED[step.before[f"lock[{', '.join(step.arguments.values())}]"]]


def _fail(step: Taken) -> dict[str, Any]:
    """A request is answered with the end of the session; while there is one, the code has it sent again."""
    if step.before[f"session[{next(iter(step.arguments.values()))}]"]:
        raise Departure("a request that meets no connection is sent again, and fails only with its session")
    return {"do": "fail", "what": _outstanding(step)}


def _strand(step: Taken) -> dict[str, Any]:
    """A release is refused by the store, or fails with the session."""
    gone = not step.before[f"session[{next(iter(step.arguments.values()))}]"]
    return {"do": "fail" if gone else "let", "what": "release", "newest": True}


_STEPS: Mapping[str, Step] = {
    "try_to_own": _do("own"),
    "read_owner": _do("look-up"),
    "create": _let("create"),
    **dict.fromkeys(("find_missing", "find_own", "find_former", "find_other"), _let("read")),
    "retake": _let("retake"),
    "release": _let("release"),
    "strand": _strand,
    "fail": _fail,
    "create_concurrently": lambda step: {"do": "let-second", "what": "create"},
    "lose_in_background": lambda step: {"do": "let-and-leave", "what": "read"},
    "clean_up": _do("clean-up"),
    "creation_unheard": lambda step: {"do": "let-unheard", "what": "create"},
    "deletion_unheard": lambda step: {"do": "let-unheard", "what": _outstanding(step)},
    "recreate_behind_release": lambda step: {"do": "let-both", "what": "read", "then": "create"},
    "hear_of_deletion": _do("hear"),
    "start_release": _do("unload"),
    "release_disabled": _do("remove"),
    "disable": _do("disable"),
    "disconnect": lambda step: {"do": "disconnect", "arrived": step.arguments["arrived"] == "1"},
    "lose": _do("lose"),
    "reconnect": _do("reconnect"),
    "resume": _do("resume"),
    "expire": _do("expire"),
    "expire_dead": _do("expire"),
    "expire_former": _do("expire-former"),
    "learn_of_expiry": _do("learn"),
    "reestablish": _do("reestablish"),
    "crash": _do("die"),
    "restart": _do("start"),
}
