"""The instances that stand for a cluster's ledger settings."""

from __future__ import annotations

from checks.broker_conf import LedgerSettings
from properties.registry import Instance, Value

LARGEST_ENSEMBLE = 9
"""Above this an instance has too many variables to be of use; the check says so instead of trying."""

PAIRS, TRIPLES = 2, 3
"""Write quorums up to which two entries, or one, are searched together with a change of ensemble in seconds."""


def instances_of(settings: LedgerSettings, size: str) -> tuple[Instance, ...]:
    """The settings with one bookie beside the ensemble, so that an ensemble can change, at a size: ci, standard or deep.

    ``ci`` has what takes seconds: entries in flight when a recovery begins, two recoveries that compete, a change of
    ensemble; together where the write quorum is small, else apart, and with write quorums above 3 the larger ones are
    proved. ``standard`` adds a bookie that crashes and one that loses its disk, and the proof for ten entries; ``deep`` two
    recoveries of two entries.
    """
    base: dict[str, Value] = {**settings.parameters, "bookies": settings.ensemble.value + 1}
    copies = settings.write_quorum.value
    if copies <= PAIRS:
        instances = [Instance("recovery of a changing ledger", base | {"entries": 2, "changes": 1})]
    else:
        several = {"entries": 2, "changes": 0} if copies <= TRIPLES else {"entries": 2, "changes": 1, "recoverers": 2}
        instances = [
            Instance("recovery of two entries", base | several, by="" if copies <= TRIPLES else "induction"),
        ]
        if copies <= TRIPLES:
            instances.append(Instance("recovery of a changing ledger", base | {"entries": 1, "changes": 1}))
        else:
            instances.append(Instance("recovery of one entry", base | {"entries": 1}))
    if copies <= TRIPLES:
        instances.append(Instance("two recoveries", base | {"entries": 1, "recoverers": 2, "changes": 1}))
    if size in ("standard", "deep"):
        instances += [
            Instance("crash and lost disk", base | {"entries": 1, "crashes": 1, "losses": 1}),
            Instance("ten entries", base | {"entries": 10, "recoverers": 2, "changes": 1}, by="induction"),
        ]
    if size == "deep":
        instances.append(Instance("two recoveries of two entries", base | {"entries": 2, "recoverers": 2, "changes": 1}))
    return tuple(instances)
