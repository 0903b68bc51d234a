"""The entry of ``ledger`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fencepost.model.any_size.sizes import Size
from fencepost.model.bookkeeper.ledger import ledger
from fencepost.model.language import Parameters
from fencepost.properties.any_size import Case, General, Sizes, sizes_from
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.ledger import suite
from fencepost.properties.ledger.in_cluster import IN_CLUSTER
from fencepost.properties.registry import Entry, Instance

_PAIR = {"bookies": 2, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2}
_PAIR_AND_SPARE = _PAIR | {"bookies": 3, "changes": 1}
_JOURNALLESS = _PAIR | {"ack_quorum": 1, "entries": 1, "unclean_shutdowns": 1, "data_integrity": True}
_FIVE = {"bookies": 6, "ensemble": 5, "write_quorum": 5, "ack_quorum": 3}
_TEN_ENTRIES = {"entries": 10, "recoverers": 2, "changes": 1}
_LATE_FAILURES = {"bookies": 4, "ensemble": 3, "write_quorum": 2, "ack_quorum": 1, "entries": 2, "changes": 1, "readers": 0}

SIZES = {
    "ci": (
        Instance("two entries", {"entries": 2}),
        Instance("two recoveries", {"entries": 1, "recoverers": 2}),
        Instance("change of ensemble", _PAIR_AND_SPARE),
        Instance("striping", {"bookies": 4, "ensemble": 3, "write_quorum": 2, "entries": 2, "changes": 1}),
        Instance("striping, ack quorum of one", _LATE_FAILURES),
        Instance("crash and rot", _PAIR | {"entries": 2, "crashes": 1, "rots": 1, "explicit_lacs": 1, "deletions": 1}),
        Instance("lost disk", {"entries": 1, "losses": 1}),
        Instance("lost disk, data integrity", {"entries": 1, "losses": 1, "data_integrity": True}),
        Instance("ack quorum of one", _JOURNALLESS),
        Instance("without readers", {"entries": 2, "readers": 0}),
    ),
    "standard": (
        Instance("change and two recoveries", {"bookies": 4, "entries": 1, "recoverers": 2, "changes": 1}),
        Instance("two of everything", _PAIR_AND_SPARE | {"recoverers": 2}),
        Instance("three entries", {"entries": 3}, by="induction"),
        Instance("faults", _PAIR | {"crashes": 1, "losses": 1, "rots": 1, "explicit_lacs": 1, "deletions": 1}),
        Instance("faults, data integrity", _PAIR | {"crashes": 1, "losses": 1, "rots": 1, "data_integrity": True}),
        Instance("quorum of five", _FIVE | {"entries": 1, "changes": 1}),
        Instance("ten entries", _TEN_ENTRIES | {"bookies": 5}, by="induction"),
        Instance("ten entries, striped", _TEN_ENTRIES | {"bookies": 5, "ensemble": 4}, by="induction"),
        Instance("ten entries, quorum of five", _TEN_ENTRIES | _FIVE, by="induction"),
    ),
    "deep": (
        Instance("change and two entries", {"bookies": 4, "entries": 2, "changes": 1}),
        Instance("two entries, two recoveries", {"entries": 2, "recoverers": 2}),
        Instance("two changes", _PAIR_AND_SPARE | {"changes": 2, "recoverers": 2}),
        Instance("faults and two recoveries", {"crashes": 1, "losses": 2, "rots": 1, "deletions": 1, "recoverers": 2}),
    ),
}


MUTATED = (
    Instance("ack quorum of one", _JOURNALLESS),
    Instance("a crash", {"entries": 1, "crashes": 1}),
    Instance("change of ensemble, one entry", _PAIR_AND_SPARE | {"entries": 1}),
    Instance("two entries of a pair", _PAIR | {"entries": 2}),
    Instance("striping without readers", {"write_quorum": 2, "entries": 2, "readers": 0}),
    Instance("faults", _PAIR | {"entries": 1, "crashes": 1, "rots": 1, "explicit_lacs": 1, "deletions": 1}),
)


def _no_proof(parameters: Parameters, names: Sequence[str]) -> str:
    """Why nothing is proved with these parameters and any number of those named; empty if it is."""
    what = " and ".join(names)
    uncounted = [name for name in ("losses", "unclean_shutdowns", "rots") if parameters.get(name)]
    if uncounted:
        return f"for any number of {what} there is no proof with {uncounted[0]}={parameters[uncounted[0]]}; leave it 0"
    ensemble, write_quorum = parameters.get("ensemble", 3), parameters.get("write_quorum", 3)
    if ensemble != write_quorum:
        return f"for any number of {what} there is no proof of striping; ensemble={ensemble}, write_quorum={write_quorum}"
    return ""


def _all_of(bookies: int | Size, ack_quorum: int | Size) -> dict[str, int | Size]:
    return {"bookies": bookies, **_ensemble(bookies, ack_quorum)}


def _some_of(bookies: int | Size, least: int, ack_quorum: Callable[[int | Size], int | Size]) -> dict[str, int | Size]:
    """An ensemble of some of the bookies: of any number that leaves one, or all but one."""
    ensemble = bookies - 1 if isinstance(bookies, int) else bookies.part("ensemble", least, short=1)
    return {"bookies": bookies, **_ensemble(ensemble, ack_quorum(ensemble))}


def _ensemble(ensemble: int | Size, ack_quorum: int | Size) -> dict[str, int | Size]:
    return {"ensemble": ensemble, "write_quorum": ensemble, "ack_quorum": ack_quorum}


def _between(ensemble: int | Size) -> int | Size:
    """An ack quorum of more than one bookie, and not of all."""
    return ensemble - 1 if isinstance(ensemble, int) else ensemble.part("ack_quorum", 2, short=1)


_BOOKIES = Sizes(
    (
        Case(3, lambda bookies: _all_of(bookies, _between(bookies))),
        Case(2, lambda bookies: _all_of(bookies, 1)),
        Case(1, lambda bookies: _all_of(bookies, bookies)),
    ),
    "the ensemble and the write quorum are all bookies, and the ack quorum is any number of them",
    alike=True,
)

_BOOKIES_TO_SPARE = Sizes(
    (
        Case(4, lambda bookies: _some_of(bookies, 3, _between)),
        Case(3, lambda bookies: _some_of(bookies, 2, lambda _: 1)),
        Case(3, lambda bookies: _some_of(bookies, 2, lambda ensemble: ensemble)),
        Case(2, lambda bookies: {"bookies": bookies, **_ensemble(1, 1)}),
    ),
    "the ensemble and the write quorum are any number of bookies but all, and the ack quorum is any number of these",
    alike=True,
)

_WITH_CHANGES = {"bookies": _BOOKIES_TO_SPARE, "recoverers": sizes_from("recoverers", 2, 1, 0, alike=True)}

GENERAL = General(
    {
        "entries": sizes_from("entries", 2, 1),
        "bookies": _BOOKIES,
        "recoverers": sizes_from("recoverers", 1, 0, alike=True),
    },
    (
        Instance("three bookies", {}, by="induction", any=("entries",)),
        Instance("change of ensemble", {"bookies": 4, "changes": 1}, by="induction", any=("entries",)),
    ),
    _no_proof,
    "striping, lost disks, unclean shutdowns and bad copies",
    otherwise=lambda parameters: _WITH_CHANGES if parameters.get("changes") else {},
)


ENTRY = Entry(
    name="ledger",
    summary="the life of one BookKeeper ledger: written, handed from bookie to bookie, fenced, recovered, closed",
    function=ledger,
    suite=suite.ledger,
    sizes=SIZES,
    bugs=bugs_beside(__file__, ledger),
    mutated=MUTATED,
    general=GENERAL,
    in_cluster=IN_CLUSTER,
)
