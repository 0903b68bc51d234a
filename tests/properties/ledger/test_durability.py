"""What a ledger takes for granted of its bookies is what bookies have, release by release and storage by storage.

The ledger's crash keeps what the protocol ``bookie`` shows that a restart keeps. The bugs of a release take away the same
guarantees in both, each by what it violates first.
"""

from __future__ import annotations

from functools import cache

import pytest

from fencepost.model.bookkeeper.bookie_bugs import STORAGES
from fencepost.model.releases import BOOKKEEPER, Releases, is_since
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.properties.searching import searched, unexpected

GUARANTEES = {
    "answered_fences_survive": "fence_is_kept",
    "acknowledged_adds_survive": "confirmed_entries_are_stored",
    "denied_adds_stay_out": "no_such_entry_stays_true",
    "explicit_lacs_survive": "lac_never_goes_back",
}
"""What a bookie guarantees, and what a ledger makes of it."""

ELSEWHERE = {
    *("changes", "losses", "unclean_shutdowns", "deletions"),
    *("failed_saves", "failed_index_saves", "collections", "collector_looks", "journals"),
}
"""What shows bugs that are none of a restart; the second row the ledger does not have."""

NEWEST = BOOKKEEPER[-1]
DESCRIPTORS_FIXED = "4.17.4"
"""The first release in which a restart takes no acknowledged entry: before it two descriptors of a ledger log its key late."""


@cache
def broken_first(protocol: str, bug: str, storage: str) -> frozenset[str]:
    """The guarantees, by the bookie's names, that a bug breaks in the fewest steps in the instance that shows it."""
    entry = PROTOCOLS[protocol]
    usual: dict[str, Value] = {"explicit_lacs": 1} if protocol == "bookie" else {"explicit_lacs": 1, "crashes": 1, "readers": 0}
    parameters = {**usual, **entry.shown_by[bug], "storage": storage}
    names = {name if protocol == "bookie" else theirs: name for name, theirs in GUARANTEES.items()}
    stated = {prop.name for prop in entry.outline(parameters).properties}
    return frozenset(names[name] for name in unexpected(searched(entry, parameters, [bug], sorted(stated & set(names)))))


def broken(protocol: str, release: str, storage: str) -> set[str]:
    """The guarantees that the bugs of a release break on this storage."""
    entry = PROTOCOLS[protocol]
    fitting = [
        name
        for name in entry.bugs_of(Releases.of(bookkeeper=release))
        if storage in (entry.bugs[name].only or {}).get("storage", STORAGES) and not ELSEWHERE & set(entry.shown_by[name])
    ]
    return set().union(*(broken_first(protocol, name, storage) for name in fitting))


@pytest.mark.parametrize(
    ("release", "storage"),
    [
        pytest.param(release, storage, marks=[pytest.mark.long if (release, storage) == (NEWEST, "db") else pytest.mark.deep])
        for release in BOOKKEEPER
        for storage in STORAGES
    ],
)
def test_a_ledger_takes_for_granted_what_its_bookies_keep(release: str, storage: str) -> None:
    gone = broken("bookie", release, storage)
    assert gone == broken("ledger", release, storage)
    assert {"answered_fences_survive", "explicit_lacs_survive"} <= gone
    assert ("acknowledged_adds_survive" in gone) == (not is_since(release, DESCRIPTORS_FIXED))
