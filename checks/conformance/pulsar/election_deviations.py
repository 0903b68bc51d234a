"""Where the election's model and Pulsar are known to differ, each with its name."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.conformance.running.adapter import Allowance, Deviation, Difference, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action
from fencepost.model.nobody import NOBODY

UNDER_WAY = ("looking", "proposing", "confirming", "retaking", "withdrawing")
"""The stages at which a broker waits for an answer."""


def _is_electing(action: Action, view: View, seen: Seen) -> bool:
    """An election of the broker is under way, or is to be tried again; or the first of its process has failed."""
    if action.name not in ("reestablish", "reconnect", "resume"):
        return False
    broker = action.arguments["c"]
    stage, begun = view[f"stage[{broker}]"], view.get(f"begun[{broker}]", "deletion")
    return stage in UNDER_WAY or (stage == "waiting" and begun in ("start", "deletion"))


def _fails_with_a_session(action: Action, view: View, seen: Seen) -> bool:
    """A request is to fail for want of a connection, while there is a session."""
    return action.name == "fail" and bool(view[f"session[{action.arguments['b']}]"])


def _deletes_twice(action: Action, view: View, seen: Seen) -> bool:
    """The broker has elected again behind its closing, and its first deletion of the node is out."""
    return action.name == "close_again" and bool(view.get(f"gives_back[{action.arguments['b']}]"))


ALLOWANCES: tuple[Allowance, ...] = (
    Allowance(
        "two elections at once",
        "the code goes on with an election that is under way, or is to be tried again, beside those that a session event "
        "begins; the model drops it. The harness has it fail before, as a lost session does. A process whose first one fails "
        "ends",
        _is_electing,
    ),
    Allowance(
        "a request that fails with its connection",
        "the code sends it again until there is a connection, and it fails only with its session",
        _fails_with_a_session,
    ),
    Allowance(
        "a leader that is closed twice",
        "the code deletes the node a second time while the first deletion is out; the model, which has one deletion under way, "
        "carries it out first",
        _deletes_twice,
    ),
)


def _actor(step: Taken) -> str:
    return next(iter(step.arguments.values()))


def _leads_at_once(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """A broker has created the node: it leads, and reads nothing."""
    broker = _actor(step)
    created = step.action.name == "propose" and step.after[f"stage[{broker}]"] == "confirming"
    seen = {d.what: d.code for d in differences}
    leads = seen.get(f"role[{broker}]", "Leading") == "Leading" and seen.get(f"stage[{broker}]") == "LeaderIsPresent"
    about = {f"{what}[{broker}]" for what in ("role", "stage", "cached")} | {f"request {broker} confirm"}
    return created and leads and set(seen) <= about


def _keeps_leader(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """Whose election is not settled hears of a deletion, and goes on answering with the leader that it knew."""
    broker = _actor(step)
    heard = step.action.name == "hear_of_deletion" and step.before[f"stage[{broker}]"] != "settled"
    return heard and [d.what for d in differences] == [f"cached[{broker}]"]


def _hears_of_creation(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """The node is created, and the cache of another broker, which had none, has read it."""
    creator = _actor(step)
    others = {f"cached[{b}]" for b in step.after.members("broker") if b != creator}
    read = all((d.model, d.code) == (NOBODY, creator) for d in differences)
    return step.action.name == "propose" and read and {d.what for d in differences} <= others


DEVIATIONS: tuple[Deviation, ...] = (
    Deviation(
        "C1",
        "since pulsar#26000 a broker leads as its creation is answered, without a read, and keeps who leads by itself, "
        "not in the cache of the store",
        lambda *evidence: _leads_at_once(*evidence) or _keeps_leader(*evidence),
    ),
    Deviation(
        "cache hears of creations",
        "up to 4.0.8 the cache in which the leader is reads the node again when it is created; in the model only the end of an "
        "election fills it",
        _hears_of_creation,
    ),
)
"""Each is described in docs/how-to/hold-it-against-the-code.md."""
