"""Locks on bundles, which several protocols share: how their steps are carried out on Pulsar's classes, and how they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

from fencepost.checks.conformance.java_side.session import Session, Told
from fencepost.checks.conformance.running.adapter import Adapter, Departure, Observable, Owed, Seen, Taken
from fencepost.checks.conformance.running.brokers import read_of
from fencepost.checks.conformance.running.view import View
from fencepost.model.nobody import NOBODY

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
    if stage == "none" or view[f"bundle_state[{place}]"] == "absent":
        return "none"
    return "Init" if view.get(f"unattended[{place}]") else "Valid"


def places(view: View) -> Iterator[str]:
    """The broker and the bundle of each lock of a broker that runs, as names of variables have them."""
    return (f"{b}, {u}" for b in view.members("broker") if view[f"lives[{b}]"] for u in view.members("bundle"))


def of_node(name: str, absent: object) -> Observable:
    """Something of each owner node; ``absent`` is what it is without a node."""
    family = f"owner_{name}"
    return Observable(
        family,
        (family,),
        lambda view: {u: view[f"{family}[{u}]"] for u in view.members("bundle") if f"{family}[{u}]" in view},
        lambda seen: {u: node.get(name, absent) for u, node in seen["nodes"].items()},
    )


def of_broker(family: str) -> Observable:
    """A variable of each broker, whether or not it runs."""
    return Observable(
        family,
        (family,),
        lambda view: {b: view[f"{family}[{b}]"] for b in view.members("broker")},
        lambda seen: {b: broker[family] for b, broker in seen["brokers"].items()},
    )


def _links(view: View) -> dict[str, object]:
    return {b: view[f"link[{b}]"] for b in view.members("broker") if view[f"lives[{b}]"]}


def of_lock(name: str, families: tuple[str, ...], shown: Callable[[View, str], object]) -> Observable:
    """Something of each lock of a broker that runs."""
    return Observable(
        name, families, lambda view: {place: shown(view, place) for place in places(view)}, lambda seen: _of_locks(seen, name)
    )


def _of_locks(seen: Told, name: str) -> dict[str, object]:
    return {
        f"{b}, {u}": _shown(name, bundle[name], b)
        for b, of_broker in seen["brokers"].items()
        for u, bundle in of_broker.get("bundles", {}).items()
        if name in bundle
    }


def _shown(name: str, value: object, broker: str) -> object:
    # knowing itself a broker acquires at a lookup, as it does where nobody is known
    return NOBODY if name == "cached" and value == broker else value


def _deletion(view: View, place: str) -> bool:
    broker, bundle = place.split(", ")
    to_come: bool = view[f"owner_deletion[{bundle}, {broker}]"]
    return to_come


def _in_cache(view: View, place: str) -> object:
    """What OwnershipCache has of the bundle: one that was given up it does not have."""
    state = view[f"bundle_state[{place}]"]
    return "absent" if state == "given_up" else state


LOCKS = (
    of_node("holder", NOBODY),
    of_node("former", False),
    of_node("version", 0),
    of_broker("lives"),
    of_broker("session"),
    of_broker("former_session"),
    Observable("link", ("link",), _links, read_of("link")),
    of_lock("state", ("lock", "unattended"), state),
    of_lock("bundle_state", ("bundle_state",), _in_cache),
    of_lock("revalidate_when_back", ("revalidate_when_back",), lambda view, place: view[f"revalidate_when_back[{place}]"]),
    of_lock("version", ("lock_version",), lambda view, place: view[f"lock_version[{place}]"]),
    of_lock("deletion", ("owner_deletion",), _deletion),
)
"""What shows of the locks in every protocol that has them."""

NOT_COVERED: Mapping[str, str] = {
    "time_out": "a request that meets no connection is sent again until there is one",
    "release_with_session": "no release has it",
    "reestablish_unheard": "the harness loses no session event",
}


Step = Callable[[Taken], dict[str, object]]
"""What the harness is asked for a step of the model."""


class LocksAdapter(Adapter):
    """Drives the locks of brokers, over a ZKMetadataStore each, over one ZooKeeper server. Subclasses have the rest."""

    steps: ClassVar[Mapping[str, Step]]

    def __init__(self, session: Session) -> None:
        self.session = session
        self.covered = frozenset(self.steps)

    def take(self, step: Taken) -> Seen:
        broker, *rest = step.arguments.values() or ("",)
        return self.seen({"of": broker, "bundle": rest[0] if rest else "", **self.steps[step.action.name](step)})

    def expected(self, view: View) -> Owed:
        return Owed(frozenset(owed_by_locks(view)))

    def close(self) -> None:
        self.session.close()

    def seen(self, step: Mapping[str, object]) -> Seen:
        """What the code shows after a step of the harness. Raises Departure if that is refused."""
        answer = self.session.ask(step)
        if "refused" in answer:
            raise Departure(answer["refused"])
        seen = answer["seen"]
        owed = {
            f"{b} {u} {what}"
            for b, of_broker in seen["brokers"].items()
            for u, bundle in of_broker.get("bundles", {}).items()
            for what in bundle["requests"]
        }
        owed |= {f"{b} {what}" for b, of_broker in seen["brokers"].items() for what in of_broker.get("requests", ())}
        return Seen(seen, frozenset(owed))


def owed_by_locks(view: View) -> Iterator[str]:
    """What each lock has under way; the read that a release overtook is still out."""
    for place in places(view):
        about = place.replace(", ", " ")
        what = OWED.get(view[f"lock[{place}]"])
        if view.get(f"orphan[{place}]"):
            yield f"{about} read"
            what = "another-read" if what == "read" else what
        if what:
            yield f"{about} {what}"


def do(what: str) -> Step:
    """A step of the harness by its name, of the broker and the bundle of the model's."""
    return lambda step: {"do": what}


def let(what: str) -> Step:
    """A request of that kind goes through."""
    return lambda step: {"do": "let", "what": what, "newest": True}


def outstanding(step: Taken) -> str:
    """What the lock of a step waits for."""
    return OWED[step.before[f"lock[{', '.join(step.arguments.values())}]"]]


def _fail(step: Taken) -> dict[str, object]:
    """A request is answered with the end of the session; while there is one, the code has it sent again."""
    if step.before[f"session[{next(iter(step.arguments.values()))}]"]:
        raise Departure("a request that meets no connection is sent again, and fails only with its session")
    return {"do": "fail", "what": outstanding(step)}


def _strand(step: Taken) -> dict[str, object]:
    """A release is refused by the store, or fails with the session."""
    gone = not step.before[f"session[{next(iter(step.arguments.values()))}]"]
    return {"do": "fail" if gone else "let", "what": "release", "newest": True}


def _lone_release_unheard(step: Taken) -> dict[str, object]:
    """The store carries a deletion out alone, and the connection breaks when it has taken effect, or before."""
    return {"do": "let-alone-unheard" if step.arguments["done"] == "1" else "let-alone-undone", "what": "release"}


LOCK_STEPS: Mapping[str, Step] = {
    "try_to_own": do("own"),
    "create": let("create"),
    **dict.fromkeys(("find_missing", "find_own", "find_former", "find_other"), let("read")),
    "retake": let("retake"),
    "release": let("release"),
    "recreate_behind_release": lambda step: {"do": "let-both", "what": "read", "then": "create"},
    "release_fails": _strand,
    "fail": _fail,
    "creation_unheard": lambda step: {"do": "let-unheard", "what": "create"},
    "deletion_unheard": lambda step: {"do": "let-unheard", "what": outstanding(step)},
    "lone_release_unheard": _lone_release_unheard,
    "hear_of_deletion": do("hear"),
    "disconnect": lambda step: {"do": "disconnect", "arrived": step.arguments["arrived"] == "1"},
    "lose": do("lose"),
    "reconnect": do("reconnect"),
    "resume": do("resume"),
    "expire": do("expire"),
    "expire_dead": do("expire"),
    "expire_former": do("expire-former"),
    "learn_of_expiry": do("learn"),
    "reestablish": do("reestablish"),
    "crash": do("die"),
    "restart": do("start"),
}
"""The steps of sessions and of locks, whatever is around these."""
