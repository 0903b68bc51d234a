"""The instances that stand for a cluster's ledger settings."""

from __future__ import annotations

from checks.broker_conf import LedgerSettings
from properties.registry import Instance, Value

LARGEST_ENSEMBLE = 9
"""Above this an instance has too many variables to be of use; the check says so instead of trying."""

WIDE = 4
"""From this write quorum on one entry less keeps the search within seconds."""


def instances_of(settings: LedgerSettings, size: str) -> tuple[Instance, ...]:
    """The settings with one bookie beside the ensemble, so that an ensemble can change, at a size: ci, standard or deep.

    ``ci`` has two instances: entries in flight when one recovery begins, and two recoveries that compete for one entry; both
    with a change of ensemble. ``standard`` adds a bookie that crashes and one that loses its disk, and the proof for ten
    entries; ``deep`` two recoveries of two entries.
    """
    base: dict[str, Value] = {**settings.parameters, "bookies": settings.ensemble.value + 1}
    two = 1 if settings.write_quorum.value >= WIDE else 2
    instances = [
        Instance("recovery of a changing ledger", base | {"entries": two, "changes": 1}),
        Instance("two recoveries", base | {"entries": 1, "recoverers": 2, "changes": int(settings.write_quorum.value < WIDE)}),
    ]
    if size in ("standard", "deep"):
        instances += [
            Instance("crash and lost disk", base | {"entries": 1, "crashes": 1, "losses": 1}),
            Instance("ten entries", base | {"entries": 10, "recoverers": 2, "changes": 1}, by="induction"),
        ]
    if size == "deep":
        instances.append(Instance("two recoveries of two entries", base | {"entries": 2, "recoverers": 2, "changes": 1}))
    return tuple(instances)
