"""The adapter of auto-recovery: how each action of the model is carried out on workers, and how each variable shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.running.adapter import Adapter, Allowance, Departure, Observable, Owed, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action, Protocol

Line = dict[str, Any]

_DISKS = "the bookies of the harness keep their disks"
_COMMAND = "the harness has workers, and no command"
_COLLECTOR = "the harness has no collector"
_OPEN = "the ledger of the harness is closed"


def _number(label: str) -> int:
    return int(label[1:])


def _named(arguments: Mapping[str, str]) -> dict[str, str]:
    """The arguments of an action; workers that take locks are its numbers, and all have names."""
    return {name: f"w{value}" if name == "w" and value.isdigit() else value for name, value in arguments.items()}


def _audit(step: Taken, a: Mapping[str, str]) -> Line | None:
    """The auditor marks the ledger if it names the bookie; what it has looked at is the harness's."""
    return {"do": "audit", "b": a["b"]} if a["b"] in _ensemble(step.before) else None


def _find(step: Taken, a: Mapping[str, str]) -> Line:
    """A ledger that is whole is checked twice in one go: before anything is replicated, and after."""
    twice = step.action.name == "find_whole" and step.before[f"phase[{a['w']}]"] == "checking"
    return {"do": "find", "w": a["w"], "times": 2 if twice else 1}


def _of_worker(do: str) -> Callable[[Taken, Mapping[str, str]], Line]:
    return lambda _, a: {"do": do, "w": a["w"]}


def _of_bookie(do: str) -> Callable[[Taken, Mapping[str, str]], Line]:
    return lambda _, a: {"do": do, "b": a["b"]}


_LINES: Mapping[str, Callable[[Taken, Mapping[str, str]], Line | None]] = {
    "audit": _audit,
    "take": _of_worker("take"),
    "find_whole": _find,
    "find_bad": _find,
    "find_bad_again": _find,
    "choose": lambda _, a: {"do": "choose", **a},
    "copy": lambda _, a: {"do": "copy", "w": a["w"], "entry": _number(a["e"])},
    "replace": lambda step, a: {"do": "replace", "w": a["w"], "needed": _is_needed(step.before, a["w"])},
    "fail": _of_worker("fail"),
    "mark_replicated": _of_worker("mark"),
    "give_up": _of_worker("give-up"),
    "expire": _of_worker("expire"),
    "shut_down": _of_worker("shut-down"),
    "crash": _of_bookie("crash"),
    "restart": _of_bookie("restart"),
    "rot": lambda _, a: {"do": "rot", "b": a["b"], "entry": _number(a["e"])},
}


# --- what both sides show


def _ensemble(view: View) -> list[str]:
    return [view[f"member[{place}]"] for place in view.members("place")]


def _of_copies(family: str) -> Observable:
    """Copies at the bookies that are up: of the others nothing can be seen."""
    return Observable(
        family,
        (family,),
        lambda view: {b: view[f"{family}[{b}]"] for b in view.members("bookie") if view[f"up[{b}]"]}
        if f"{family}[b0]" in view
        else None,
        lambda seen: {b: frozenset(f"e{e}" for e in one[family]) for b, one in seen["bookies"].items() if one["up"]},
    )


OBSERVABLES = (
    Observable("member", ("member",), _ensemble, lambda seen: seen["ensemble"]),
    Observable("task", ("task",), lambda view: view["task"], lambda seen: seen["task"]),
    Observable("task_version", ("task_version",), lambda view: view["task_version"], lambda seen: seen["task_version"]),
    Observable("missing", ("missing",), lambda view: view["missing"], lambda seen: frozenset(seen["missing"])),
    Observable("lock", ("lock",), lambda view: view["lock"], lambda seen: seen["lock"]),
    Observable(
        "up",
        ("up",),
        lambda view: {b: view[f"up[{b}]"] for b in view.members("bookie")},
        lambda seen: {b: one["up"] for b, one in seen["bookies"].items()},
    ),
    _of_copies("stored"),
    _of_copies("rotten"),
)


def _next_choice(view: View, w: str) -> str:
    """The bookie for which the code chooses next: that of the first bad place of the ensemble that the worker has checked."""
    bad = view[f"bad[{w}]"]
    due = [b for b in view.members("bookie") if b in bad and view[f"moves[{w}, {b}]"] == "none"]
    return due[0] if due else ""


_WAITS = {
    "idle": ("take",),
    "checking": ("check",),
    "checking_again": ("check",),
    "clean": ("mark",),
    "failed": ("take", "release"),
}
"""What a worker waits for in each phase, except while it replaces bookies."""


def _is_needed(view: View, w: str) -> bool:
    """Whether the ensemble names a bookie that the worker replaces. Otherwise its compare-and-set writes nothing."""
    return bool(view[f"bad[{w}]"] & set(_ensemble(view)))


def _waits(view: View, w: str) -> list[set[str]]:
    """What the worker waits for: one of each set."""
    phase = view[f"phase[{w}]"]
    if phase != "choosing":
        return [{what} for what in _WAITS[phase]]
    if _next_choice(view, w):
        return [{"choose", "reread"}]
    if not view["confirmed"] <= view[f"copied[{w}]"]:
        return [{"copy"}]
    return [{"publish"} if _is_needed(view, w) else {"publish", "check"}]


def _in_another_order(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "choose":
        return False
    w, o = (_named(action.arguments)[name] for name in "wo")
    due = _next_choice(view, w)
    return o != due


def _may_still_choose(action: Action, view: View, seen: Seen) -> bool:
    """A worker that is to choose, and can; or that first reads again what it could not read, and then can."""
    if action.name != "fail":
        return False
    w = _named(action.arguments)["w"]
    if not _next_choice(view, w):
        return False
    waits, members = seen.values["requests"], set(_ensemble(view))
    if f"{w} reread" in waits:
        copies = [view[f"stored[{b}]"] for b in members if view[f"up[{b}]"]]
        if not view["confirmed"] <= frozenset().union(*copies):
            return False
    targets = {view[f"moves[{w}, {b}]"] for b in view.members("bookie")}
    return any(view[f"up[{b}]"] and b not in view[f"excluded[{w}]"] and b not in targets for b in view.members("bookie"))


ALLOWANCES = (
    Allowance(
        "the code chooses before it reads",
        "a worker that fails before it has chosen every bookie has copied nothing yet, so it may as well fail after that",
        _may_still_choose,
    ),
    Allowance(
        "the code chooses in the order of places",
        "which of two bad bookies is replaced first makes no difference to who can replace them",
        _in_another_order,
    ),
)


class ReplicationAdapter(Adapter):
    """Drives ReplicationWorkers, each with its session and its under-replication manager, over bookies and a closed ledger."""

    protocol = "replication"
    covered = frozenset(_LINES)
    observables = OBSERVABLES
    allowances = ALLOWANCES
    shown_by_requests = ("phase", "moves", "copied", "bad")
    not_covered: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("lose_disk", "lose_entry", "replace_disk", "end_limbo", "refill", "end_check"), _DISKS),
        **dict.fromkeys(("recover", "disable", "enable", "decommission", "find_decommissioned"), _COMMAND),
        **dict.fromkeys(("lock_surplus", "look", "collect"), _COLLECTOR),
        **dict.fromkeys(("write", "close", "recover_after_grace"), _OPEN),
        **dict.fromkeys(("check_all", "audit_again"), "the auditor of the harness marks a bookie that is away, once"),
    }

    def __init__(self, session: Session) -> None:
        self.session = session

    def begin(self, instance: Protocol) -> Seen:
        return self._seen({"do": "begin", **{name: instance.parameters[name] for name in _SIZES}})

    def take(self, step: Taken) -> Seen:
        return self._seen(_LINES[step.action.name](step, _named(step.arguments)) or {"do": "nothing"})

    def expected(self, view: View) -> Owed:
        waits = [(w, each) for w in view.members("worker") for each in _waits(view, w)]
        return Owed(some=tuple(frozenset(f"{w} {what}" for what in each) for w, each in waits))

    def close(self) -> None:
        self.session.close()

    def _seen(self, line: Line) -> Seen:
        answer = self.session.ask(line)
        if "refused" in answer:
            raise Departure(answer["refused"])
        owed = (" ".join(each.split()[:2]) for each in answer["seen"]["requests"])
        return Seen(answer["seen"], frozenset(owed))


_SIZES = ("bookies", "ensemble", "entries", "workers")
