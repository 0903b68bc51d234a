"""What a ledger is to a cluster: the quorums that are configured, with one bookie beside the ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.properties.bugs import Value
from fencepost.properties.configuration import Configuration, InCluster, Instance
from fencepost.properties.ledger import striping

LARGEST_ENSEMBLE = 9
"""Above this an instance has too many variables to be of use; the check says so instead of trying."""

PAIRS, TRIPLES = 2, 3
"""Write quorums up to which two entries, or one, are searched together with a change of ensemble in seconds."""


def _quorums(cluster: Configuration) -> dict[str, Value]:
    return {"ensemble": cluster.ensemble, "write_quorum": cluster.write_quorum, "ack_quorum": cluster.ack_quorum}


def _parameters(cluster: Configuration, shown: Mapping[str, Value]) -> dict[str, Value]:
    """The quorums, with as many bookies beside the ensemble as there were."""
    spare = int(shown["bookies"]) - int(shown["ensemble"])
    known = cluster.bookies is not None and not cluster.bookies.unmodelled
    stored: dict[str, Value] = {"storage": cluster.bookies.storage} if cluster.bookies and known else {}
    return {**_quorums(cluster), "bookies": cluster.ensemble + spare, **stored}


def _instances(
    cluster: Configuration, taken: Mapping[str, Value], instances: Sequence[Instance], size: str
) -> tuple[Instance, ...]:
    """The settings with one bookie beside the ensemble, so that an ensemble can change, at a size: ci, standard or deep.

    ``ci`` has what takes seconds: entries in flight when a recovery begins, two recoveries that compete, a change of
    ensemble; together where the write quorum is small, else apart, and with write quorums above 3 the larger ones are
    proved. Without readers it is held against the stand-in of which topics are made. ``standard`` adds a bookie that crashes
    and one that loses its disk, and the proof for ten entries; ``deep`` two recoveries of two entries.
    """
    base = {**_quorums(cluster), "bookies": cluster.ensemble + 1}
    copies = cluster.write_quorum
    if copies <= PAIRS:
        chosen = [Instance("recovery of a changing ledger", base | {"entries": 2, "changes": 1})]
    else:
        several = {"entries": 2, "changes": 0} if copies <= TRIPLES else {"entries": 2, "changes": 1, "recoverers": 2}
        chosen = [Instance("recovery of two entries", base | several, by="" if copies <= TRIPLES else "induction")]
        if copies <= TRIPLES:
            chosen.append(Instance("recovery of a changing ledger", base | {"entries": 1, "changes": 1}))
        else:
            chosen.append(Instance("recovery of one entry", base | {"entries": 1}))
    if copies <= TRIPLES:
        chosen.append(Instance("two recoveries", base | {"entries": 1, "recoverers": 2, "changes": 1}))
    unread = {"entries": 1, "readers": 0, "changes": int(copies <= TRIPLES)}
    chosen.append(Instance("as a topic sees it, without readers", base | unread))
    if size in ("standard", "deep"):
        chosen += [
            Instance("crash and lost disk", base | {"entries": 1, "crashes": 1, "losses": 1}),
            Instance("ten entries", base | {"entries": 10, "recoverers": 2, "changes": 1}, by="induction"),
        ]
    if size == "deep":
        chosen.append(Instance("two recoveries of two entries", base | {"entries": 2, "recoverers": 2, "changes": 1}))
    return tuple(chosen)


def _refusal(cluster: Configuration) -> str:
    if cluster.ensemble <= LARGEST_ENSEMBLE:
        return ""
    return f"{cluster.written['ensemble']}: ensembles above {LARGEST_ENSEMBLE} are not checked"


def _notes(cluster: Configuration) -> list[str]:
    return [] if _refusal(cluster) else [str(striping.check(cluster.ensemble, cluster.write_quorum))]


IN_CLUSTER = InCluster(
    parts=("ledger", "bookies"),
    is_run=lambda cluster: True,
    parameters=_parameters,
    instances=_instances,
    refusal=_refusal,
    notes=_notes,
    harms={"lost": ("no_truncation",)},
    harmless={"readers": 0},
    events={
        "crash": "a killed bookie",
        "replace": "a bookie replaced in the ensemble",
        "replace_in_recovery": "a bookie replaced during a recovery",
        "lose_disk": "a bookie with an empty disk",
        "send_explicit_lac": "an explicit last add confirmed",
        "unclean_shutdown": "a killed bookie that writes no journal",
        "rot": "a copy that goes bad",
        "fail_to_save": "a checkpoint that cannot be written",
    },
    by_faults=frozenset({"replace", "replace_in_recovery"}),
)
