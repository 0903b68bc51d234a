"""Where the election's model and Pulsar are known to differ, each with its name."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.conformance.running.adapter import Deviation, Difference, Taken
from fencepost.checks.conformance.running.view import View

UNDER_WAY = ("looking", "proposing", "confirming", "retaking")
"""The stages at which a broker waits for an answer."""


def _actor(step: Taken) -> str:
    return next(iter(step.arguments.values()))


def _requests(differences: Sequence[Difference], kind: str, *wanted: str) -> bool:
    """Whether the differences are requests, missing or stray, of these names and nothing else."""
    named = {f"request {name}" for name in wanted}
    return bool(differences) and all(d.kind == kind and d.what in named for d in differences)


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
    read = all((d.model, d.code) == ("nobody", creator) for d in differences)
    return step.action.name == "propose" and read and {d.what for d in differences} <= others


def _runs_twice(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """A new session begins an election while another is under way, whose request stays outstanding."""
    broker = _actor(step)
    if step.action.name != "reestablish" or not _under_way(step.before, broker):
        return False
    left = [d for d in differences if d.what != f"cached[{broker}]"]
    wanted = ("look", "another-look", "create", "confirm", "delete")
    return _requests(left, "stray", *(f"{broker} {what}" for what in wanted))


def _begins_the_second(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """The first of the two elections that a new session begins has failed, as the broker was closed: the second begins."""
    broker = _actor(step)
    begins = step.action.name == "withdraw" and step.before.get(f"begun[{broker}]", "session") == "session"
    about = {f"{what}[{broker}]" for what in ("stage", "cached")} | {f"request {broker} {what}" for what in ("look", "create")}
    return begins and bool(differences) and {d.what for d in differences} <= about


def _under_way(view: View, broker: str) -> bool:
    return view[f"stage[{broker}]"] in UNDER_WAY


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
    Deviation(
        "two elections at once",
        "an election under way continues beside the one that a new session begins; in the model it is dropped",
        lambda *evidence: _runs_twice(*evidence) or _begins_the_second(*evidence),
    ),
)
"""Each is described in docs/how-to/hold-it-against-the-code.md."""
