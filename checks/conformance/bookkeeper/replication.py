"""The adapter of auto-recovery: how each action of the model is carried out on workers, and how each variable shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeVar

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.running.adapter import (
    Adapter,
    Allowance,
    Departure,
    Deviation,
    Difference,
    Observable,
    Owed,
    Seen,
    Taken,
)
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action, Protocol

Line = dict[str, object]

_OPEN = "the ledger of the harness is closed"
_SWITCH = "a command of the harness does not wait for the switch of auto-recovery, nor for a decommission"


def _number(label: str) -> int:
    return int(label[1:])


def _named(arguments: Mapping[str, str], view: View) -> dict[str, str]:
    """The arguments of an action; some actions have the number of a worker or command, and all have names."""
    workers = view.members("worker")
    return {name: workers[int(value)] if name == "w" and value.isdigit() else value for name, value in arguments.items()}


_FAILURES = ("UNAVAILABLE", "METADATA", "MARK")
"""What an audit can meet that fails: the switch of replication, the metadata of a ledger, the mark."""


def _fail_audit(step: Taken, _: Mapping[str, str]) -> Line:
    """Each failure in turn, by how much has happened before."""
    happened = sum(step.before[budget] for budget in ("crashes", "losses", "failed_audits") if budget in step.before)
    return {"do": "audit", "meets": _FAILURES[happened % len(_FAILURES)]}


def _find(step: Taken, a: Mapping[str, str]) -> Line:
    """A ledger that is whole is checked twice in one go: before anything is replicated, and after."""
    twice = step.action.name == "find_whole" and step.before[f"phase[{a['w']}]"] == "checking"
    return {"do": "find", "w": a["w"], "times": 2 if twice else 1}


def _of_worker(do: str) -> Callable[[Taken, Mapping[str, str]], Line]:
    return lambda _, a: {"do": do, "w": a["w"]}


def _of_bookie(do: str) -> Callable[[Taken, Mapping[str, str]], Line]:
    return lambda _, a: {"do": do, "b": a["b"]}


_LINES: Mapping[str, Callable[[Taken, Mapping[str, str]], Line | None]] = {
    "audit": lambda _, __: {"do": "audit", "meets": "NONE"},
    "fail_audit": _fail_audit,
    "audit_again": lambda _, __: {"do": "audit-again"},
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
    "lose_entry": lambda _, a: {"do": "lose-entry", "b": a["b"], "entry": _number(a["e"])},
    "lose_disk": _of_bookie("lose-disk"),
    "replace_disk": _of_bookie("restart"),
    "refill": lambda _, a: {"do": "refill", "b": a["b"], "entry": _number(a["e"])},
    "recover": lambda _, a: {"do": "recover", "w": a["w"], "b": a["b"]},
    "lock_surplus": _of_bookie("lock-surplus"),
    "look": _of_bookie("look"),
    "collect": _of_bookie("collect"),
}


# --- what both sides show


def _ensemble(view: View, name: str = "member") -> list[str]:
    return [view[f"{name}[{place}]"] for place in view.members("place")]


def _entries(numbers: list[int]) -> frozenset[str]:
    return frozenset(f"e{number}" for number in numbers)


T = TypeVar("T")


def _of_running(family: str, read: Callable[[T], object]) -> Observable:
    """What the bookies that are up have: of the others nothing can be seen."""
    return Observable(
        family,
        (family,),
        lambda view: (
            {b: view[f"{family}[{b}]"] for b in view.members("bookie") if view[f"up[{b}]"]} if f"{family}[b0]" in view else None
        ),
        lambda seen: {b: read(one[family]) for b, one in seen["bookies"].items() if one["up"]},
    )


def _workers(view: View) -> list[str]:
    """The workers of auto-recovery, without the commands."""
    return list(view.members("worker"))[: view.protocol.parameters["workers"]]


def _commands(view: View) -> list[str]:
    return list(view.members("worker"))[len(_workers(view)) :]


def _of_workers(family: str, field: str) -> Observable:
    return Observable(
        family,
        (family,),
        lambda view: {w: view[f"{family}[{w}]"] for w in view.members("worker")},
        lambda seen: {w: one[field] for w, one in seen["workers"].items()},
    )


OBSERVABLES = (
    Observable(
        "status",
        ("status", "confirmed"),
        lambda view: (view["status"] == "closed", len(view["confirmed"]) - 1),
        lambda seen: (seen["closed"], seen["last"]),
    ),
    _of_workers("zombie", "zombie"),
    _of_workers("seen", "version"),
    Observable("member", ("member",), _ensemble, lambda seen: seen["ensemble"]),
    Observable(
        "handle",
        ("handle",),
        lambda view: _ensemble(view, "handle") if "handle[p0]" in view else None,
        lambda seen: seen.get("handle"),
    ),
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
    Observable(
        "audited",
        ("audited",),
        lambda view: {b: view[f"audited[{b}]"] for b in view.members("bookie")},
        lambda seen: {b: not one["known"] for b, one in seen["bookies"].items()},
    ),
    _of_running("stored", _entries),
    _of_running("rotten", _entries),
    _of_running("loaded", bool),
    _of_running("refuses", bool),
)


def _next_choice(view: View, w: str) -> str:
    """The bookie for which the code chooses next: the first bad one of the ensemble, as far as that is as it was checked."""
    places, bad = _ensemble(view), view[f"bad[{w}]"]
    due = [b for b in [*places, *view.members("bookie")] if b in bad and view[f"moves[{w}, {b}]"] == "none"]
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
    """Whether the ensemble names a bookie that is to be replaced. Otherwise the compare-and-set writes nothing."""
    return bool(view[f"bad[{w}]"] & set(_ensemble(view)))


def _waits(view: View, w: str) -> list[set[str]]:
    """What the worker or command waits for: one of each set."""
    phase = view[f"phase[{w}]"]
    if phase != "choosing":
        return [{what} for what in _WAITS[phase]] if w in _workers(view) else []
    if _next_choice(view, w):
        return [{"choose", "reread"}]
    if not view["confirmed"] <= view[f"copied[{w}]"]:
        return [{"copy"}]
    if _is_needed(view, w):
        return [{"publish"}]
    return [{"publish", "check"}] if w in _workers(view) else []


def _in_another_order(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "choose":
        return False
    w, o = (_named(action.arguments, view)[name] for name in "wo")
    asked = [request.split()[2] for request in seen.values["requests"] if request.startswith(f"{w} choose ")]
    return o != (asked[0] if asked else _next_choice(view, w))


def _is_readable(view: View) -> bool:
    """Members that are up have good copies of all entries."""
    up = [b for b in _ensemble(view) if view[f"up[{b}]"]]
    good = frozenset().union(*(view[f"stored[{b}]"] - view.get(f"rotten[{b}]", frozenset()) for b in up))
    return bool(view["confirmed"] <= good)


def _gives_up_first(action: Action, view: View, seen: Seen) -> bool:
    """A worker first reads again what it could not read the last time."""
    if action.name != "choose":
        return False
    return f"{_named(action.arguments, view)['w']} reread" in seen.values["requests"] and not _is_readable(view)


def _may_still_choose(action: Action, view: View, seen: Seen) -> bool:
    """A worker that is to choose, and can; or that first reads again what it could not read, and then can."""
    if action.name != "fail":
        return False
    w = _named(action.arguments, view)["w"]
    if not _next_choice(view, w) or (f"{w} reread" in seen.values["requests"] and not _is_readable(view)):
        return False
    targets = {view[f"moves[{w}, {b}]"] for b in view.members("bookie")}
    return any(view[f"up[{b}]"] and b not in view[f"excluded[{w}]"] and b not in targets for b in view.members("bookie"))


def _read_when_it_chose(action: Action, view: View, seen: Seen) -> bool:
    """Who has a good copy and is up is named since the worker checked: its reads are under way, to those named then."""
    if action.name != "copy":
        return False
    arguments = _named(action.arguments, view)
    asked = [b for b in view.members("bookie") if b in view[f"excluded[{arguments['w']}]"] and view[f"up[{b}]"]]
    return not any(arguments["e"] in view[f"stored[{b}]"] - view.get(f"rotten[{b}]", frozenset()) for b in asked)


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
    Allowance(
        "the code gives up before it chooses",
        "a worker that chooses and then cannot read an entry has changed nothing when it gives up",
        _gives_up_first,
    ),
    Allowance(
        "the code has asked for the entry before",
        "a worker whose reads fail tries again later, and then reads from those that are named by then",
        _read_when_it_chose,
    ),
)


def _comes_back(step: Taken, differences: Sequence[Difference], _: str) -> bool:
    """A bookie that had nothing of the ledger is given an entry, and has others of it as well."""
    if step.action.name != "copy" or not differences:
        return False
    return all(d.what.startswith("stored[") and _has_more(d, step) for d in differences)


def _has_more(difference: Difference, step: Taken) -> bool:
    held, code = step.after[difference.what], difference.code
    return bool(not step.before[difference.what] and held and isinstance(code, frozenset) and held < code)


def _is_named_twice(step: Taken, differences: Sequence[Difference], _: str) -> bool:
    """A bookie is chosen for one that the ensemble names twice: a target that has become a member in the meantime."""
    return step.action.name == "choose" and _ensemble(step.before).count(_named(step.action.arguments, step.before)["o"]) > 1


DEVIATIONS = (
    Deviation(
        "a bookie that is named twice is replaced twice",
        "BookKeeperAdmin.getReplacementBookiesByIndexes chooses another bookie for each place, entries are copied to both, and "
        "getReplacementBookiesMap lists the last for both places. In the model there is that one alone: a copy less, and none "
        "that is listed",
        _is_named_twice,
    ),
    Deviation(
        "copies come back with their ledger",
        "DbLedgerStorage.deleteLedger leaves the places of a ledger's entries until the next checkpoint "
        "(EntryLocationIndex.deletedLedgers): a bookie that has collected a ledger, and is given an entry of it before that, "
        "can read what it had of it. In the model what was collected is gone",
        _comes_back,
    ),
)


class ReplicationAdapter(Adapter):
    """Drives ReplicationWorkers, the command recover and collectors over bookies and a closed ledger."""

    protocol = "replication"
    covered = frozenset(_LINES)
    eager = frozenset({"hear_of_ensemble"})
    observables = OBSERVABLES
    allowances = ALLOWANCES
    deviations = DEVIATIONS
    shown_by_requests = ("phase", "moves", "copied", "bad", "surplus")
    brought_about = ("gone",)
    not_covered: ClassVar[Mapping[str, str]] = {
        "end_check": "the harness has no DataIntegrityCheckImpl, which refills and then clears the flag in one go",
        **dict.fromkeys(("disable", "enable", "decommission", "find_decommissioned"), _SWITCH),
        **dict.fromkeys(("write", "close", "recover_after_grace", "end_limbo"), _OPEN),
        "check_all": "the auditor of the harness checks bookies, and no ledger",
        **dict.fromkeys(("replace_auditor", "check_at_start", "skip_check_at_start"), "the auditor of the harness stays"),
    }

    def __init__(self, session: Session) -> None:
        self.session = session

    def begin(self, instance: Protocol) -> Seen:
        return self._seen({"do": "begin", **{name: instance.parameters[name] for name in _SIZES}})

    def take(self, step: Taken) -> Seen:
        return self._seen(_LINES[step.action.name](step, _named(step.arguments, step.before)) or {"do": "nothing"})

    def expected(self, view: View) -> Owed:
        waits = [(w, each) for w in view.members("worker") for each in _waits(view, w)]
        bookies = view.members("bookie") if "surplus[b0]" in view else ()
        deletes = {b for b in bookies if view[f"surplus[{b}]"]}
        locked = {b for b in bookies if view["lock"] == f"gc{_number(b)}"} - deletes
        # a collector whose lock a worker has deleted goes on in the code, and reads the metadata again
        looks = frozenset(f"{b} look" for b in bookies)
        publishes = {w for w in _commands(view) if view[f"phase[{w}]"] == "choosing" and not _is_needed(view, w)}
        return Owed(
            must=frozenset({*(f"{b} collect" for b in deletes), *(f"{b} look" for b in locked)}),
            may=looks | frozenset(f"{w} publish" for w in publishes),
            some=tuple(frozenset(f"{w} {what}" for what in each) for w, each in waits),
        )

    def close(self) -> None:
        self.session.close()

    def _seen(self, line: Line) -> Seen:
        answer = self.session.ask(line)
        if "refused" in answer:
            raise Departure(answer["refused"])
        owed = (" ".join(each.split()[:2]) for each in answer["seen"]["requests"])
        return Seen(answer["seen"], frozenset(owed))


_SIZES = ("bookies", "ensemble", "entries", "workers", "commands", "handle")
