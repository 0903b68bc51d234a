"""The channel's adapter: how each action is carried out on ServiceUnitStateChannelImpl, and how each variable shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, TypedDict

from fencepost.checks.conformance.java_side.session import Session, Told
from fencepost.checks.conformance.running.adapter import Adapter, Departure, Observable, Owed, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.checks.conformance.service_unit.channel_deviations import ALLOWANCES
from fencepost.checks.conformance.service_unit.channel_requests import (
    Record,
    closing,
    halves,
    is_wanted,
    live,
    lives,
    record_of,
    runs,
    takes_over,
    topics,
    unread,
    view_of,
    writes,
)
from fencepost.model.language import Protocol
from fencepost.model.nobody import NOBODY

TRIES = 7
"""How often Pulsar tries to split a unit whose layout others change (NamespaceService.BUNDLE_SPLIT_RETRY_LIMIT)."""


class _Node(TypedDict):
    state: str
    dstBroker: str | None
    sourceBroker: str | None
    versionId: int


def _record(record: _Node | None) -> Record:
    """A record as the harness tells it; one that is not there is as the model has it."""
    if record is None:
        return Record("Init", NOBODY, NOBODY, 0)
    dst, src = record.get("dstBroker") or NOBODY, record.get("sourceBroker") or NOBODY
    return Record(record["state"], dst, src, record["versionId"])


def _of_broker(name: str, *, alive: bool = False, shown: Callable[[str], object] = lambda value: value) -> Observable:
    """A variable of each broker, or of each that runs."""
    return Observable(
        name,
        (name,),
        lambda view: {b: view.get(f"{name}[{b}]") for b in view.members("broker") if not alive or lives(view, b)},
        lambda seen: {b: shown(state[name]) for b, state in seen["brokers"].items() if name in state},
    )


def _hands_over(view: View) -> dict[str, bool] | None:
    """Whether each broker is yet to look at what it owns, to hand that over."""
    brokers, units = view.members("broker"), view.members("unit")
    if f"hands_over[{brokers[0]}, {units[0]}]" not in view:
        return None
    return {b: any(view[f"hands_over[{b}, {u}]"] for u in units) for b in brokers if lives(view, b)}


def _of_unit(name: str, families: tuple[str, ...], model: Callable[[View, str, str], object], code: str) -> Observable:
    """Something that a broker that runs has of a unit."""
    return Observable(
        name,
        families,
        lambda view: {f"{b}, {u}": model(view, b, u) for b, u in live(view)},
        lambda seen: {f"{b}, {u}": state[code] for b, u, state in _units(seen)},
    )


def _units(seen: Told) -> Iterator[tuple[str, str, Told]]:
    for b, of_broker in seen["brokers"].items():
        for u, state in of_broker.get("units", {}).items():
            yield b, u, state


def _cleaned(view: View) -> dict[str, frozenset[str]]:
    """The brokers after which each broker is about to clean up."""
    return {
        b: frozenset(x for x in view.members("broker") if any(view[f"cleans[{b}, {x}, {u}]"] for u in view.members("unit")))
        for b in view.members("broker")
        if lives(view, b)
    }


OBSERVABLES = (
    Observable(
        "record",
        ("record_state", "record_dst", "record_src", "record_version"),
        lambda view: {u: record_of(view, u) for u in view.members("unit")},
        lambda seen: {u: _record(node) for u, node in seen["nodes"].items()},
    ),
    Observable(
        "force",
        ("record_force",),
        lambda view: {u: view[f"record_force[{u}]"] for u in view.members("unit")},
        lambda seen: {u: node is not None and node["force"] for u, node in seen["nodes"].items()},
    ),
    _of_broker("lives"),
    _of_broker("session"),
    _of_broker("former_session"),
    _of_broker("metadata", alive=True, shown=str.lower),
    _of_broker("link", alive=True),
    Observable(
        "leader",
        ("leader_holder",),
        lambda view: {b: view["leader_holder"] for b in view.members("broker") if lives(view, b)},
        lambda seen: {b: broker["leader"] or NOBODY for b, broker in seen["brokers"].items() if "leader" in broker},
    ),
    Observable(
        "view",
        ("view_state", "view_dst", "view_src", "view_version"),
        lambda view: {f"{b}, {u}": view_of(view, b, u) for b, u in live(view)},
        lambda seen: {f"{b}, {u}": _record(state.get("view")) for b, u, state in _units(seen)},
    ),
    _of_unit("unheard", ("unheard",), unread, "news"),
    _of_unit("pending", ("pending",), lambda view, b, u: view[f"pending[{b}, {u}]"], "pending"),
    _of_unit("dropped", ("dropped",), lambda view, b, u: view.get(f"dropped[{b}, {u}]", False), "dropped"),
    _of_unit("topics", ("topics",), topics, "topics"),
    _of_unit("closing", ("closing", "to_publish"), closing, "closing"),
    Observable(
        "cleans",
        ("cleans",),
        _cleaned,
        lambda seen: {b: frozenset(broker["to_clean"]) for b, broker in seen["brokers"].items() if "to_clean" in broker},
    ),
    _of_broker("stage", alive=True),
    Observable(
        "split_stage",
        ("split_stage",),
        lambda view: {b: view.get(f"split_stage[{b}]") for b in view.members("broker") if lives(view, b)},
        lambda seen: {b: broker["split_stage"] for b, broker in seen["brokers"].items() if broker.get("split_stage")},
    ),
    Observable(
        "hands_over",
        ("hands_over",),
        _hands_over,
        lambda seen: {b: broker["hands_over"] for b, broker in seen["brokers"].items() if "hands_over" in broker},
    ),
)


class ChannelAdapter(Adapter):
    """Drives a ServiceUnitStateChannelImpl over a ZKMetadataStore for each broker, over one ZooKeeper server.

    The broker's topics are those of a BrokerService and a PersistentTopic of the release, over a ledger that closes when a step
    says so.
    """

    protocol = "service_unit"
    not_covered: ClassVar[Mapping[str, str]] = {
        "monitor": "runs of the monitor are not counted: what one finds is done one by one",
        "reestablish_unheard": "every session event is heard",
    }
    observables = OBSERVABLES
    shown_by_requests = ("existing", "to_publish", "to_publish_dst", "to_publish_version")
    allowances = ALLOWANCES

    def __init__(self, session: Session) -> None:
        self.session = session
        self.covered = self.steps()

    @staticmethod
    def steps() -> frozenset[str]:
        """The names of the actions that have a step."""
        return frozenset(_STEPS)

    def begin(self, instance: Protocol) -> Seen:
        names = {f"{kind}s": [universe.label(member) for member in universe] for kind, universe in instance.universes.items()}
        registered, asked = names["brokers"], instance.parameters
        settings = {"multi_phase": asked["multi_phase"], "split": bool(asked["splits"])}
        return self._seen({"do": "begin", "registered": registered, **settings, **names})

    def take(self, step: Taken) -> Seen:
        seen = None
        for asked in _STEPS[step.action.name](step):
            answer = self.session.ask({**_world(step.before), "then": _leader(step.after), **_actor(step), **asked})
            if "refused" not in answer:
                seen = answer
            elif not asked.get("perhaps"):
                raise Departure(answer["refused"])
        return self._of_answer(seen) if seen else self._seen({"do": "look", **_world(step.after), "then": _leader(step.after)})

    def expected(self, view: View) -> Owed:
        must: set[str] = set()
        may: set[str] = set()
        for b, u in live(view):
            may.update(f"{b} {u} {what}" for what in halves(view, b, u))
            (must if is_wanted(view, b, u) else may).update(f"{b} {u} {what}" for what in writes(view, b, u))
        return Owed(frozenset(must), frozenset(may))

    def close(self) -> None:
        self.session.close()

    def _seen(self, step: Mapping[str, object]) -> Seen:
        return self._of_answer(self.session.ask(step))

    @staticmethod
    def _of_answer(answer: Told) -> Seen:
        seen = answer["seen"]
        return Seen(seen, frozenset(f"{b} {u} {what}" for b, u, state in _units(seen) for what in state["requests"]))


def _world(view: View) -> dict[str, object]:
    """What the brokers find around them."""
    registered = [b for b in view.members("broker") if view[f"registry_holder[{b}]"] != NOBODY]
    return {"registered": registered, "leader": _leader(view)}


def _leader(view: View) -> str | None:
    holder: str = view["leader_holder"]
    return None if holder == NOBODY else holder


def _actor(step: Taken) -> dict[str, object]:
    """The broker that takes the step, and the unit; the first broker in an action's parameters is the one that acts."""
    arguments = list(step.arguments.items())
    return {"of": arguments[0][1], "unit": step.arguments.get("u", step.before.members("unit")[0])}


Asked = Iterator[dict[str, object]]
Step = Callable[[Taken], Asked]


def _do(what: str, **more: str) -> Step:
    """A step with these parameters of the action, under the names that the harness has for them."""

    def asked(step: Taken) -> Asked:
        yield {"do": what, **{name: step.arguments[parameter] for name, parameter in more.items()}}

    return asked


def _let(step: Taken) -> Asked:
    """A write that was due; one that is rejected may have been rejected by the cache before."""
    b, u = step.arguments["b"], step.arguments["u"]
    for what in writes(step.before, b, u) - writes(step.after, b, u):
        yield {"do": "let", "what": what, "perhaps": not is_wanted(step.before, b, u)}


def _read(step: Taken) -> Asked:
    """The broker reads, and writes what it answers at once; what it was about to write of another record is rejected."""
    b, u = step.arguments["b"], step.arguments["u"]
    yield {"do": "hear"}
    node = record_of(step.before, u)
    if node == view_of(step.before, b, u):
        return
    for what in writes(step.before, b, u) - writes(step.after, b, u):
        yield {"do": "let", "what": what, "perhaps": True}
    if not runs(step.before, b):
        return
    if node.state == "Deleted" and node.src == b:
        yield {"do": "let", "what": "delete"}
    if node.state == "Assigning" and node.dst == b:
        yield {"do": "let", "what": f"put Owned {node.dst} {node.src} {node.version + 1}"}


def _clean_up(step: Taken) -> Asked:
    """A clean-up is done; whoever is well answers the health check."""
    x = step.arguments["x"]
    ill = step.action.name != "call_off_clean_up" or not lives(step.before, x)
    yield {"do": "clean-up", "broker": x, "to": step.arguments.get("y"), "ill": ill}


def _with_all(what: str) -> Step:
    """The monitor looks, and takes all brokers for registered."""

    def asked(step: Taken) -> Asked:
        yield {"do": what, "others": list(step.before.members("broker")), "to": step.arguments.get("x")}

    return asked


def _schedule_clean_up(step: Taken) -> Asked:
    """The monitor looks, and takes all brokers but that one for registered."""
    x = step.arguments["x"]
    yield {"do": "schedule-clean-up", "broker": x, "others": [b for b in step.before.members("broker") if b != x]}


def _nothing(step: Taken) -> Asked:
    """What the brokers find around them changes, and nothing else."""
    return iter(())


def _lose(step: Taken) -> Asked:
    """The session is lost, and what the broker was about to take over is answered with that."""
    yield {"do": "lose" if step.action.name == "lose" else "learn"}
    b = step.arguments["c"]
    if step.before.get(f"split_stage[{b}]") == "changing":
        yield from _split("lose-layout")(step)
    for u in step.before.members("unit"):
        if takes_over(step.before, b, u):
            copy = view_of(step.before, b, u)
            yield {"do": "fail", "unit": u, "what": f"put Owned {b} {copy.src} {copy.version + 1}"}


def _split(what: str) -> Step:
    """A step of a split that is under way."""

    def asked(step: Taken) -> Asked:
        whole, half = step.before.members("unit")
        yield {"do": what, "unit": half, "whole": whole}

    return asked


def _meet_conflict(step: Taken) -> Asked:
    """The layout was changed meanwhile; where the model gives up sooner than the code it is something that no try fixes."""
    b = step.arguments["b"]
    gives_up = step.after[f"split_stage[{b}]"] == "none"
    tries: int = step.before[f"split_tries[{b}]"]
    yield from _split("fail-layout" if gives_up and tries + 1 < TRIES else "conflict")(step)


def _delete_parent(step: Taken) -> Asked:
    b, whole = step.arguments["b"], step.before.members("unit")[0]
    for what in writes(step.before, b, whole) - writes(step.after, b, whole):
        yield {"do": "let", "what": what, "perhaps": not is_wanted(step.before, b, whole)}


def _restart(step: Taken) -> Asked:
    yield {"do": "start", "split": step.after.get("layout_split", False)}


def _disconnect(step: Taken) -> Asked:
    yield {"do": "disconnect", "arrived": step.arguments["arrived"] == "1"}


_STEPS: Mapping[str, Step] = {
    "read": _read,
    "assign": _do("assign", to="x"),
    "assign_late": _do("assign-late", to="x"),
    "wait_for_owner": _do("wait"),
    "stop_waiting": _do("give-up"),
    "drop_newer_lookup": _do("end-lookup"),
    "open_topics": _do("open"),
    "close_topics": _do("close"),
    "detach_topics": _do("detach"),
    "time_out_closing": _do("time-out"),
    "close_late": _do("close-late"),
    "unload": _do("unload", **{"from": "o"}),
    "transfer": _do("unload", **{"from": "o", "to": "x"}),
    **dict.fromkeys(("release", "tombstone", "take_existing"), _let),
    **dict.fromkeys(("lead", "register"), _nothing),
    "settle": _do("settle"),
    "schedule_clean_up": _schedule_clean_up,
    "override_overdue": _with_all("override"),
    "tombstone_old": _with_all("tombstone-old"),
    **dict.fromkeys(("clean_up", "free_orphan", "pass_over", "call_off_clean_up"), _clean_up),
    "disconnect": _disconnect,
    "reconnect": _do("reconnect"),
    "resume": _do("resume"),
    "expire": _do("expire"),
    "expire_dead": _do("expire"),
    "expire_former": _do("expire-former"),
    **dict.fromkeys(("lose", "learn_of_expiry"), _lose),
    "reestablish": _do("reestablish"),
    "split": _do("split", **{"from": "o"}),
    "own_child": _split("own-half"),
    "change_layout": _split("change-layout"),
    "meet_conflict": _meet_conflict,
    "delete_parent": _delete_parent,
    "learn_layout": _split("learn-layout"),
    "shut_down": _do("shut-down"),
    "hand_over": _do("hand-over", to="y"),
    **dict.fromkeys(("give_up", "hold_nothing"), _do("hand-over")),
    "unregister": _do("leave"),
    "end": _do("end"),
    "crash": _do("die"),
    "restart": _restart,
}
