"""What shows of a migration of the metadata: how far it is, who is prepared, and what is in the store that it goes to."""

from __future__ import annotations

from fencepost.checks.conformance.running.adapter import Allowance, Observable, Seen
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action
from fencepost.model.nobody import NOBODY


def _of_broker(family: str) -> Observable:
    """A variable of each broker, of instances that have a migration."""
    return Observable(
        family,
        (family,),
        lambda view: {b: view[f"{family}[{b}]"] for b in view.members("broker")} if "migration" in view else None,
        lambda seen: {b: broker.get(family, False) for b, broker in seen["brokers"].items()},
    )


def _in_target(view: View, name: str) -> object:
    # when the target is in force its nodes show as those of the store
    return {u: view[f"target_{name}[{u}]"] for u in view.members("bundle")} if view.get("migration") == "preparing" else None


def _of_target(name: str) -> Observable:
    return Observable(
        f"target_{name}",
        (f"target_{name}",),
        lambda view: _in_target(view, name),
        lambda seen: {u: node.get(name, NOBODY) for u, node in seen.get("target", {}).items()},
    )


def _is_told(view: View) -> object:
    """Which brokers have yet to handle that the migration is complete. All hear of it where the model has nobody miss it."""
    if view.get("migration") != "completed":
        return None
    return {b: view[f"read_only[{b}]"] and view.get(f"told[{b}]", True) for b in view.members("broker")}


MIGRATION = (
    Observable("migration", ("migration",), lambda view: view.get("migration"), lambda seen: seen.get("migration")),
    _of_broker("read_only"),
    _of_broker("prepared"),
    _of_target("owner"),
    _of_target("session"),
    Observable(
        "told",
        ("told",),
        _is_told,
        lambda seen: {b: broker.get("told", False) and broker["read_only"] for b, broker in seen["brokers"].items()},
    ),
)
"""Of instances without a migration nothing of it is compared."""


def _is_not_there(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "start_migration" and not seen.values["migrates"]


def _starts_meanwhile(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "restart" and view.get("migration") == "preparing"


def _waits_for_the_dead(action: Action, view: View, seen: Seen) -> bool:
    """A process that is over had not prepared itself, or is taken for such; its session is still there."""

    def is_left(b: str) -> bool:
        return bool(view[f"former_session[{b}]"]) or bool(view[f"session[{b}]"] and not view[f"lives[{b}]"])

    return action.name == "complete" and any(map(is_left, view.members("broker")))


def _puts_twice(action: Action, view: View, seen: Seen) -> bool:
    """A node that is in the target was put by two brokers."""
    return action.name == "complete" and any(node.get("version", 0) for node in seen.values["target"].values())


def _has_not_heard(action: Action, view: View, seen: Seen) -> bool:
    not_heard = view.get("migration") == "completed" and any(view[f"read_only[{b}]"] for b in view.members("broker"))
    return action.name != "hear_of_completion" and not_heard


def _hears_of_the_source(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "hear_of_deletion":
        return False
    bundles = seen.values["brokers"][action.arguments["b"]].get("bundles", {})
    return bool(bundles.get(action.arguments["u"], {}).get("deletion_in_source"))


def _reads_the_source(action: Action, view: View, seen: Seen) -> bool:
    """A read that was out as the target took the place of the source is answered by the source, which has something else."""
    if not action.name.startswith("find_"):
        return False
    bundles = seen.values["brokers"][action.arguments["b"]].get("bundles", {})
    return bool(bundles.get(action.arguments["u"], {}).get("reads_otherwise"))


def _takes_a_keeper(action: Action, view: View, seen: Seen) -> bool:
    """The session of a process that has died keeps a node that names another broker."""
    if action.name not in ("expire_dead", "expire_former") or view.get("migration") != "completed":
        return False
    broker = action.arguments["c"]
    return any(view[f"owner_former[{u}]"] and view[f"target_session[{u}]"] == broker for u in view.members("bundle"))


MIGRATION_ALLOWANCES = (
    Allowance("a release without migrations", "it has no DualMetadataStore, and nothing of this happens", _is_not_there),
    Allowance(
        "a broker that starts while the metadata are migrated",
        "DualMetadataStore reads how far the migration is as it is made; in the model it may also hear of that later",
        _starts_meanwhile,
    ),
    Allowance(
        "a dead broker that the coordinator waits for",
        "the node by which a broker takes part goes with its session; in the model the migration may be complete before that",
        _waits_for_the_dead,
    ),
    Allowance(
        "a broker that has not heard that the migration is complete",
        "it uses the source until it hears; in the model all see the target at once",
        _has_not_heard,
    ),
    Allowance(
        "a node that two brokers have put in the target",
        "its version counts their writes; in the model it is that of a node that was created",
        _puts_twice,
    ),
    Allowance(
        "news of the source after the migration",
        "it does not reach the caches, which are of the target by then; in the model it empties them",
        _hears_of_the_source,
    ),
    Allowance(
        "a read of the source that outlives the migration",
        "it is answered by the source, where the node may be another one; in the model it is answered by the target",
        _reads_the_source,
    ),
    Allowance(
        "a dead session that keeps the node of another broker",
        "it takes all of its nodes at once; in the model first its own",
        _takes_a_keeper,
    ),
)
"""What is known of migrations to be otherwise in the code."""
