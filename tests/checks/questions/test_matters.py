"""Known bugs that a user can meet are asked about where they show."""

from __future__ import annotations

import pytest

from fencepost.checks.questions.matters import MATTERS
from fencepost.model.releases import BOOKKEEPER, PULSAR, Releases
from fencepost.properties.cluster.bugs import of_parts
from fencepost.properties.protocols import PROTOCOLS

ELSEWHERE = {
    "checkpoints_compared_by_first_journal": "a bookie with several journals has it in the row killed",
    "denies_what_it_has": "ledger has it as no_such_entry_though_stored",
    "headers_without_pages_not_saved": "ledger has it as idle_flush_skips_headers: it takes back a fence",
    "index_update_forgotten": "the row of a failed save and a kill, and a cluster by its moves",
    "key_of_collected_ledger_kept": "a cluster by its moves; a bookie has it when a copy comes back that it had collected",
    "log_header_has_remains": "likewise, when its collector looks at a log that was current at a kill",
    "returned_entries_deleted": "likewise",
    "mark_goes_back": "the bookie does not start again: a bookie down, which the rows of ledgers count",
}
"""The bugs of a bookie that no known bug of a ledger has by name, and what shows them."""


def _bugs(protocol: str) -> set[str]:
    """The known bugs that any modelled release has."""
    pairs = [(pulsar, bookkeeper) for pulsar in PULSAR for bookkeeper in BOOKKEEPER]
    return {name for pulsar, bookkeeper in pairs for name in PROTOCOLS[protocol].bugs_of(Releases.of(pulsar, bookkeeper))}


def test_every_bug_of_a_bookie_is_one_of_ledgers_or_says_what_shows_it() -> None:
    assert _bugs("bookie") - _bugs("ledger") == ELSEWHERE.keys()


def test_every_bug_of_a_bookie_or_a_ledger_that_costs_a_message_is_asked_about_in_a_cluster() -> None:
    """All of them are among the bugs of a cluster, except what changes nothing for a topic or needs a deleted ledger."""
    costly = {name for name in _bugs("ledger") | _bugs("bookie") if "no_truncation" in _harm(name)}
    assert costly <= of_parts().keys()


def _harm(name: str) -> str:
    histories = (PROTOCOLS[protocol].bugs.get(name) for protocol in ("ledger", "bookie"))
    return " ".join(bug.harm for bug in histories if bug)


@pytest.mark.parametrize("name", sorted(name for name, entry in PROTOCOLS.items() if entry.in_cluster.harms))
def test_what_harms_users_is_a_matter_and_stated_by_the_protocol(name: str) -> None:
    entry = PROTOCOLS[name]
    harms = {prop for props in entry.in_cluster.harms.values() for prop in props}
    shown = [entry.outline(parameters).properties for parameters in ({}, *entry.shown_by.values())]
    assert entry.in_cluster.harms.keys() <= {matter.name for matter in MATTERS}
    assert harms <= {prop.name for each in shown for prop in each}
    assert _bugs(name)


def test_every_matter_is_touched_by_some_protocol() -> None:
    assert {matter for entry in PROTOCOLS.values() for matter in entry.in_cluster.harms} == {matter.name for matter in MATTERS}
