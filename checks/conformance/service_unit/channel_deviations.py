"""Where the model of the channel allows more than Pulsar does, each with its name."""

from __future__ import annotations

from fencepost.checks.conformance.running.adapter import Allowance, Seen
from fencepost.checks.conformance.running.view import View
from fencepost.checks.conformance.service_unit.channel_requests import closed_with, record_of, runs, view_of
from fencepost.model.language import Action
from fencepost.model.nobody import NOBODY


def _registered(view: View, b: str) -> bool:
    return bool(view[f"registry_holder[{b}]"] != NOBODY)


def _is_refused(action: Action, view: View, seen: Seen) -> bool:
    asks = action.name in ("wait_for_owner", "open_topics")
    return asks and not _registered(view, action.arguments["b"])


def _is_answered_anyhow(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "wait_for_owner" or runs(view, action.arguments["b"]):
        return False
    return view_of(view, **action.arguments).state in ("Owned", "Splitting")


def _waits_with_another(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "open_topics" and bool(view[f"pending[{', '.join(action.arguments.values())}]"])


def _opens_before_release(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "open_topics":
        return False
    b = action.arguments["b"]
    return any(view[f"to_publish[{b}, {u}]"] != "none" for u in closed_with(view, **action.arguments))


def _hears_itself(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "disconnect" or action.arguments["arrived"] == "1":
        return False
    return any(state["own_read"] for state in seen.values["brokers"][action.arguments["c"]]["units"].values())


def _cleans_several(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "schedule_clean_up" and len(view.members("unit")) > 1


def _still_cleans(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "schedule_clean_up":
        return False
    return action.arguments["x"] in seen.values["brokers"][action.arguments["b"]]["cleaning"]


def _reads_the_half_first(action: Action, view: View, seen: Seen) -> bool:
    if action.name not in ("change_layout", "meet_conflict"):
        return False
    return seen.values["brokers"][action.arguments["b"]]["split_stage"] is None


def _reads_first(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "unregister" and bool(seen.values["brokers"][action.arguments["b"]]["awaits"])


def _assigns_yet(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "shut_down" and bool(seen.values["brokers"][action.arguments["b"]]["assigns"])


def _nothing_is_left(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "drop_newer_lookup":
        return False
    return not seen.values["brokers"][action.arguments["b"]]["units"][action.arguments["u"]]["ended_late"]


WRITERS = {
    **dict.fromkeys(("assign", "release", "take_existing", "override_overdue", "clean_up", "free_orphan"), "b"),
    **dict.fromkeys(("hand_over", "give_up"), "b"),
    **dict.fromkeys(("unload", "transfer", "split"), "c"),
}
"""The steps that write a record, each with the parameter that is the writer."""


def _is_decided_elsewhere(action: Action, view: View, seen: Seen) -> bool:
    if action.name not in WRITERS:
        return False
    b, u = action.arguments[WRITERS[action.name]], action.arguments.get("u", view.members("unit")[0])
    copy = view_of(view, b, u)
    cached = seen.values["brokers"][b]["units"][u].get("cached", copy.version)
    return bool(cached != copy.version == record_of(view, u).version)


def _is_being_read(action: Action, view: View, seen: Seen) -> bool:
    if action.name not in WRITERS:
        return False
    units = seen.values["brokers"][action.arguments[WRITERS[action.name]]]["units"]
    unit = units[action.arguments.get("u", view.members("unit")[0])]
    return bool(unit["own_read"]) and "cached" not in unit


ALLOWANCES: tuple[Allowance, ...] = (
    Allowance(
        "a lookup that nothing drops",
        "it takes one that has ended, of which something is left to do; in the model that may always be",
        _nothing_is_left,
    ),
    Allowance(
        "a lookup at a broker that is not registered",
        "over the metadata store the code fails it at once; in the model it waits, or is served, so more can go wrong",
        _is_refused,
    ),
    Allowance(
        "a lookup that waits at a broker that shuts down, as the owner is gone",
        "the code answers it with that owner; in the model it waits, until the unit is another's or its time is up",
        _is_answered_anyhow,
    ),
    Allowance(
        "topics opened while a lookup waits",
        "the code answers no lookup before that one, and opens no topics; it can once that lookup is over",
        _waits_with_another,
    ),
    Allowance(
        "topics opened before a release that is no longer wanted is written",
        "the model then closes them for it; the code has closed what there was: the same once the release is written",
        _opens_before_release,
    ),
    Allowance(
        "a broker that never hears of its own write",
        "the code reads a node as soon as its write is answered, and asks again when it is connected; only an answer that is "
        "lost, which the harness does not lose, takes that away",
        _hears_itself,
    ),
    Allowance(
        "a write whose version is right, and is not the cache's",
        "the code tests it against its cache, which has what the broker is still to hear of, and rejects it; the model, which "
        "tests it against what the broker goes by, accepts it",
        _is_decided_elsewhere,
    ),
    Allowance(
        "a write while the broker reads the node",
        "the code decides it by what it reads, as if it was asked then; the model, which rejects it, at once",
        _is_being_read,
    ),
    Allowance(
        "a clean-up of several units",
        "the code goes through all units at once; in the model each is a step. It is tried with one unit",
        _cleans_several,
    ),
    Allowance(
        "a clean-up that is begun again",
        "the code begins none while the last one waits to read what it wrote; the monitor looks again",
        _still_cleans,
    ),
    Allowance(
        "a layout that is changed before the broker has read that it has the half",
        "the code waits for that; it decides nothing by what it reads",
        _reads_the_half_first,
    ),
    Allowance(
        "a broker that leaves the registry before it has read what it handed over",
        "the code waits for that, up to metadataStoreOperationTimeoutSeconds (30); the model, which has no time, does not",
        _reads_first,
    ),
    Allowance(
        "a shutdown that begins before an assignment is read",
        "since 5.0.1 the code waits for that, up to metadataStoreOperationTimeoutSeconds (30), before it looks at what it "
        "owns; the model writes a record in one step, and need not wait",
        _assigns_yet,
    ),
)
