"""The metadata store's adapter: how each action of clients is carried out on the real store, and how each variable shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, TypedDict

from fencepost.checks.conformance.java_side.session import Session, Told
from fencepost.checks.conformance.running.adapter import Adapter, Departure, Observable, Owed, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Protocol
from fencepost.model.nobody import NOBODY

OWED = {"creating": "create", "reading": "read", "deleting": "delete"}
"""What a client waits for, as the harness calls it."""

CHANGING = {"looking": "read", "changing": "write"}
"""The same, of the lasting node."""

_LINKS = {
    "ConnectionLost": "suspended",
    "SessionLost": "lost",
    "Reconnected": "connected",
    "SessionReestablished": "connected",
}
"""What the last session event that a client was told of says of its link."""


def _of_node(name: str, absent: object) -> Observable:
    """Something of each node; ``absent`` is what it is without a node."""
    family = f"node_{name}"
    return Observable(
        family,
        (family,),
        lambda view: {x: view[f"{family}[{x}]"] for x in view.members("path")},
        lambda seen: {x: node.get(name, absent) for x, node in seen["nodes"].items()},
    )


def _of_client(family: str) -> Observable:
    """A variable of each client, whether or not it runs."""
    return Observable(
        family,
        (family,),
        lambda view: {c: view[f"{family}[{c}]"] for c in view.members("client")},
        lambda seen: {c: client[family] for c, client in seen["clients"].items()},
    )


def _of_place(
    name: str, family: str, shown: Callable[[View, str], object] = lambda view, variable: view[variable]
) -> Observable:
    """Something of each path that a client which runs knows, or was told."""
    return Observable(
        name,
        (family,),
        lambda view: {place: shown(view, f"{family}[{place}]") for place in _places(view)},
        lambda seen: {f"{c}, {x}": about[name] for c, client in _live(seen) for x, about in client["paths"].items()},
    )


def _of_lasting(name: str, family: str, key: str, shown: Callable[[object], object] = lambda value: value) -> Observable:
    """Something of the lasting node that a client which runs knows, or was told; where the instance has that node."""

    def model(view: View) -> dict[str, object] | None:
        live = [c for c in view.members("client") if view[f"lives[{c}]"]]
        return {c: shown(view[f"{family}[{c}]"]) for c in live} if "lasting_version" in view else None

    return Observable(name, (family,), model, lambda seen: {c: each["lasting"][key] for c, each in _live(seen)})


def _places(view: View) -> Iterator[str]:
    return (f"{c}, {x}" for c in view.members("client") if view[f"lives[{c}]"] for x in view.members("path"))


class _Client(TypedDict):
    lives: bool
    events: list[str]
    paths: dict[str, Told]
    lasting: Told


def _live(seen: Told) -> Iterator[tuple[str, _Client]]:
    return ((c, client) for c, client in seen["clients"].items() if client["lives"])


def _link(events: list[str]) -> str:
    return _LINKS[events[-1]] if events else "connected"


def _request(view: View, variable: str) -> str:
    return "out" if view[variable] in OWED else view[variable]


def _deletions(view: View) -> dict[str, bool]:
    names = {place: place.split(", ") for place in _places(view)}
    return {place: view[f"node_deletion[{x}, {c}]"] for place, (c, x) in names.items()}


OBSERVABLES = (
    _of_node("holder", NOBODY),
    _of_node("former", False),
    _of_node("version", 0),
    _of_client("lives"),
    _of_client("session"),
    _of_client("former_session"),
    Observable(
        "link",
        ("link",),
        lambda view: {c: view[f"link[{c}]"] for c in view.members("client") if view[f"lives[{c}]"]},
        lambda seen: {c: _link(client["events"]) for c, client in _live(seen)},
    ),
    _of_place("request", "request", _request),
    _of_place("knows", "knows"),
    _of_place("mine", "mine"),
    _of_place("version", "known_version"),
    Observable(
        "deletion",
        ("node_deletion",),
        _deletions,
        lambda seen: {f"{c}, {x}": about["news"] for c, client in _live(seen) for x, about in client["paths"].items()},
    ),
    Observable(
        "lasting_version",
        ("lasting_version",),
        lambda view: view.get("lasting_version"),
        lambda seen: seen["lasting"],
    ),
    _of_lasting("change", "change", "request", lambda value: "out" if value in CHANGING else value),
    _of_lasting("saw", "saw", "saw"),
    _of_lasting("change to hear of", "lasting_change", "news"),
)

Step = Callable[[Taken], dict[str, object]]


def _do(what: str) -> Step:
    return lambda step: {"do": what}


def _of(do: str, what: str) -> Step:
    return lambda step: {"do": do, "what": what}


_LAST = {"path": "/lasting"}


def _of_last(do: str, what: str) -> Step:
    return lambda step: {**_LAST, "do": do, "what": what}


def _client(step: Taken) -> str:
    return next(iter(step.arguments.values()))


def _fail(step: Taken) -> dict[str, object]:
    return {"do": "fail", "what": OWED[step.before[f"request[{', '.join(step.arguments.values())}]"]]}


_STEPS: Mapping[str, Step] = {
    "ask_to_create": _of("ask", "create"),
    "ask_to_read": _of("ask", "read"),
    "ask_to_delete": _of("ask", "delete"),
    "create": _of("let", "create"),
    "read": _of("let", "read"),
    "delete": _of("let", "delete"),
    "write": _of("write", "write"),
    "fail": _fail,
    "creation_unheard": _of("let-unheard", "create"),
    "deletion_unheard": _of("let-unheard", "delete"),
    "hear_of_deletion": _do("hear"),
    "ask_to_look": _of_last("ask", "read"),
    "ask_to_change": _of_last("ask", "write"),
    "look": _of_last("let", "read"),
    "write_lasting": _of_last("let", "write"),
    "write_unheard": _of_last("let-unheard", "write"),
    "fail_to_change": lambda step: {**_LAST, "do": "fail", "what": CHANGING[step.before[f"change[{_client(step)}]"]]},
    "hear_of_change": _of_last("hear", ""),
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


class StoreAdapter(Adapter):
    """Drives clients with a ZKMetadataStore each, over one ZooKeeper server."""

    protocol = "metadata_store"
    covered = frozenset(_STEPS)
    not_covered: ClassVar[Mapping[str, str]] = {"reestablish_unheard": "the harness loses no session event"}
    observables = OBSERVABLES
    shown_by_requests = ("request", "change")

    def __init__(self, session: Session) -> None:
        self.session = session

    def begin(self, instance: Protocol) -> Seen:
        labels = {name: [universe.label(member) for member in universe] for name, universe in instance.universes.items()}
        return self._seen({"do": "begin", "clients": labels["client"], "paths": labels["path"]})

    def take(self, step: Taken) -> Seen:
        client, *rest = step.arguments.values()
        return self._seen({"of": client, "path": rest[0] if rest else "", **_STEPS[step.action.name](step)})

    def expected(self, view: View) -> Owed:
        owed = {place.replace(", ", " "): OWED.get(view[f"request[{place}]"]) for place in _places(view)}
        owed |= {f"{c} lasting": CHANGING.get(view.get(f"change[{c}]", "")) for c in view.members("client")}
        return Owed(frozenset(f"{place} {what}" for place, what in owed.items() if what))

    def close(self) -> None:
        self.session.close()

    def _seen(self, step: Mapping[str, object]) -> Seen:
        answer = self.session.ask(step)
        if "refused" in answer:
            raise Departure(answer["refused"])
        seen = answer["seen"]
        owed = {
            f"{c} {x} {what}"
            for c, client in _live(seen)
            for x, about in (*client["paths"].items(), ("lasting", client["lasting"]))
            for what in about["requests"]
        }
        return Seen(seen, frozenset(owed))
