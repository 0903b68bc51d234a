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


def _under_way(view: View, broker: str) -> bool:
    return view[f"stage[{broker}]"] in UNDER_WAY


def _not_retried(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """An election has failed, and nothing is left that begins another."""
    broker = _actor(step)
    failed = step.action.name == "retake" and step.after[f"stage[{broker}]"] == "waiting"
    return failed and _requests(differences, "missing", f"{broker} retry")


def _closes_under_way(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """A broker that closes has a request of its election outstanding, which is not given up."""
    broker = _actor(step)
    if step.action.name != "start_closing" or not _under_way(step.before, broker):
        return False
    return _requests(differences, "stray", *(f"{broker} {what}" for what in ("look", "create", "confirm", "delete")))


def _finds_no_node(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """A leader that closes deletes its node, which is gone: the deletion fails, and the leader goes on being one in its own
    memory."""
    broker = _actor(step)
    deletes = step.action.name == "delete_at_close" and step.before["leader_holder"] == "nobody"
    kept = {(f"role[{broker}]", "NoLeader", "Leading"), (f"cached[{broker}]", "nobody", broker)}
    return deletes and bool(differences) and {(d.what, d.model, d.code) for d in differences} <= kept


def _elects_when_closed(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """A new session begins an election in a broker that has closed its own."""
    broker = _actor(step)
    closed = step.action.name == "reestablish" and step.before[f"stage[{broker}]"] == "closed"
    about = {f"stage[{broker}]", f"cached[{broker}]", f"request {broker} look"}
    return closed and bool(differences) and {d.what for d in differences} <= about


DEVIATIONS: tuple[Deviation, ...] = (
    Deviation(
        "C1",
        "since pulsar#26000 a broker leads as its creation is answered, without a read, and keeps who leads by itself, "
        "not in the cache of the store",
        lambda *found: _leads_at_once(*found) or _keeps_leader(*found),
    ),
    Deviation(
        "C7",
        "an election is retried only if a deletion began it; if the first election of a process fails, the process ends",
        _not_retried,
    ),
    Deviation(
        "cache hears of creations",
        "up to 4.0.8 the cache in which the leader is reads the node again when it is created; in the model only the end of an "
        "election fills it",
        _hears_of_creation,
    ),
    Deviation(
        "closed while electing",
        "an election under way continues when the broker closes it; in the model its request is dropped",
        _closes_under_way,
    ),
    Deviation(
        "closes without a node",
        "a leader that closes cannot delete a node that is gone, and its role and leader stay; in the model they are over",
        _finds_no_node,
    ),
    Deviation(
        "elects when closed",
        "a new session makes a broker elect that has closed its election",
        _elects_when_closed,
    ),
    Deviation(
        "two elections at once",
        "an election under way continues beside the one that a new session begins; in the model it is dropped",
        _runs_twice,
    ),
)
"""Each is described in docs/how-to/hold-it-against-the-code.md."""
