"""The ownership's adapter: how each action of the model is carried out on Pulsar's locks and OwnershipCache, and what shows."""

from __future__ import annotations

from typing import ClassVar

from fencepost.checks.conformance.pulsar.locks import LOCK_STEPS, LOCKS, NOT_COVERED, LocksAdapter, do, of_lock, of_node
from fencepost.checks.conformance.pulsar.migration import MIGRATION, MIGRATION_ALLOWANCES
from fencepost.checks.conformance.pulsar.ownership_deviations import ALLOWANCES, DEVIATIONS
from fencepost.checks.conformance.running.adapter import Departure, Seen, Taken
from fencepost.model.language import Protocol


def _release(step: Taken) -> dict[str, object]:
    """A release is answered; where the bundle is active still, its topics are left to be closed, as after a loss."""
    cleanup = f"cleanup[{', '.join(step.arguments.values())}]"
    leaves = step.after.get(cleanup) and not step.before.get(cleanup)
    return {"do": "let-and-leave" if leaves else "let", "what": "release", "newest": True}


_WAITS = "the coordinator waits"
"""What the harness says while the coordinator of a migration waits for who is not prepared, which it does for a minute."""


class OwnershipAdapter(LocksAdapter):
    """Drives an OwnershipCache over a LockManagerImpl over a ZKMetadataStore for each broker, over one ZooKeeper server."""

    protocol = "ownership"
    steps: ClassVar = {
        **LOCK_STEPS,
        "release": _release,
        "give_up": do("meet-fence"),
        "read_owner": do("look-up"),
        "lone_creation_unheard": lambda step: {"do": "let-alone-unheard", "what": "create"},
        "create_concurrently": lambda step: {"do": "let-second", "what": "create"},
        "lose_in_background": lambda step: {"do": "let-and-leave", "what": "read"},
        "clean_up": do("clean-up"),
        "start_release": do("unload"),
        "release_disabled": do("remove"),
        "disable": do("disable"),
        "start_migration": do("start-migration"),
        "hear_of_preparation": do("hear-of-migration"),
        "prepare": do("prepare"),
        "complete": do("complete-migration"),
        "hear_of_completion": do("hear-and-migrate"),
    }
    not_covered: ClassVar = {
        **NOT_COVERED,
        "lose_keeper": "in the harness the session of a process that has died takes all of its nodes at once, in the step "
        "expire_dead",
    }
    observables = (
        *LOCKS,
        of_node("disabled", False),
        of_lock("cached", ("cached",), lambda view, place: view[f"cached[{place}]"]),
        *MIGRATION,
    )
    shown_by_requests = ("lock", "orphan")
    allowances = (*ALLOWANCES, *MIGRATION_ALLOWANCES)
    deviations = DEVIATIONS

    def begin(self, instance: Protocol) -> Seen:
        names = {
            f"{kind}s": [universe.label(member) for member in universe]
            for kind, universe in instance.universes.items()
            if kind in ("broker", "bundle")
        }
        return self.seen({"do": "begin", "migration": bool(instance.parameters.get("migration")), **names})

    def take(self, step: Taken) -> Seen:
        while True:
            try:
                return super().take(step)
            except Departure as departure:
                if str(departure) != _WAITS:
                    raise
