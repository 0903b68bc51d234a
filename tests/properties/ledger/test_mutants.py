"""Every property of the ledger can be violated: those that no bug violates first are violated by a mutant each."""

from __future__ import annotations

import pytest

from fencepost.properties.protocols import PROTOCOLS
from tests.properties.ledger.test_safety import CAUGHT
from tests.properties.mutants import Mutant, assert_noticed, broken_properties, by_instance, keeps, sets, without, writes

pytestmark = pytest.mark.long

LEDGER = PROTOCOLS["ledger"]

SINGLE = {"bookies": 1, "ensemble": 1, "write_quorum": 1, "ack_quorum": 1, "entries": 1}
PAIR = {"bookies": 2, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2}
TRIPLE = {"bookies": 3, "ensemble": 3, "write_quorum": 3, "ack_quorum": 2, "entries": 1}
PAIR_ALONE = PAIR | {"recoverers": 0}
PAIR_ONE_ENTRY = PAIR | {"entries": 1}
REFINES = ("is_a_ledger_of_a_topic", "is_a_ledger_to_replicate")
"""That the ledger refines its stand-in, and what must be reached for that: bugs are held to it in test_refinement.py."""

PAIR_AND_SPARE = PAIR_ALONE | {"bookies": 3, "changes": 1, "readers": 0}

MUTANTS = {
    # what must always hold
    "lac_is_justified": Mutant(PAIR_ALONE, "send", sets("piggybacked_lac", 0), 2),
    "lac_is_confirmed": Mutant(PAIR_ALONE, "send", sets("piggybacked_lac", 0), 2),
    "reads_are_justified": Mutant(PAIR_ONE_ENTRY, "read_tail", without("Or(And(status == 'closed'"), 3),
    "reads_stay": Mutant(PAIR_ONE_ENTRY, "read_tail", without("Or(And(status == 'closed'"), 4),
    "confirmed_reads_stay": Mutant(PAIR_ONE_ENTRY | {"explicit_lacs": 1}, "close", sets("last", -1), 9),
    "first_entries_rise": Mutant(PAIR_AND_SPARE, "publish_change", keeps("published_first"), 9),
    "ensembles_are_full": Mutant(PAIR_AND_SPARE, "replace", without("Not(Or(And(writer_fragments"), 3),
    "bookies_accept_what_was_sent_to_them": Mutant(PAIR_ONE_ENTRY, "add", without("sent_to["), 1),
    # what every step must respect
    "sent_one_after_the_other": Mutant(PAIR_ALONE, "send", without("sent == "), 1),
    "down_bookies_do_nothing": Mutant(PAIR_ONE_ENTRY | {"crashes": 1}, "add", without("up["), 3),
    "limbo_lasts": Mutant(
        PAIR_ONE_ENTRY | {"losses": 1, "crashes": 1, "data_integrity": True}, "restart", writes("limbo[{b}]", False), 3
    ),
    "reads_are_of_copies": Mutant(SINGLE | {"recoverers": 0, "crashes": 1}, "read_tail", without("up["), 7),
    # where a run may end
    "no_deadlock": Mutant(PAIR_ALONE, "close", keeps("status"), 1),
    # what must come about in the end
    "adds_are_confirmed": Mutant(PAIR_ONE_ENTRY, "ack", keeps("acked"), 5),
    "adds_end": Mutant(PAIR_AND_SPARE | {"entries": 1}, "resend", keeps("sent_to"), 7),
    "open_ledgers_close": Mutant(PAIR_ONE_ENTRY, "start_reading", keeps("phase"), 6),
    "open_ledgers_close_without_the_missing": Mutant(TRIPLE | {"crashes": 1}, "close_recovered", keeps("status"), 7),
    "open_ledgers_close_whatever_is_lost": Mutant(
        PAIR_ONE_ENTRY | {"losses": 1, "data_integrity": True}, "read_no_such_entry", keeps("no_such_entry"), 6
    ),
    "recoveries_end": Mutant(PAIR_ONE_ENTRY, "adopt_end", keeps("phase"), 6),
    # what must be possible
    "writer_closes_all": Mutant(PAIR_ONE_ENTRY, "ack", keeps("acked")),
    "confirmed_by_an_ack_quorum": Mutant(TRIPLE, "ack", keeps("acked")),
    "recovery_goes_beyond_lac": Mutant(PAIR_ONE_ENTRY, "close_recovered", sets("last", -1)),
    "writer_fails": Mutant(PAIR_ONE_ENTRY, "find_closed", keeps("writer")),
    "writer_overtaken": Mutant(PAIR_ONE_ENTRY, "recover", keeps("status")),
    "writer_closes_over_recovery": Mutant(PAIR_ONE_ENTRY, "start_reading", keeps("phase")),
    "recovery_skips_confirmed": Mutant(PAIR, "read_lac", keeps("recovery_lac")),
    "ensemble_changed": Mutant(PAIR_AND_SPARE | {"entries": 1}, "resend", keeps("sent_to")),
    "bookie_restarted": Mutant(PAIR_ONE_ENTRY | {"crashes": 1}, "restart", keeps("up")),
    "disk_lost": Mutant(PAIR_ONE_ENTRY | {"losses": 1}, "lose_disk", keeps("stored")),
    "ledger_collected": Mutant(PAIR_ONE_ENTRY | {"deletions": 1}, "collect", keeps("stored")),
    "explicit_lac_read": Mutant(PAIR_ONE_ENTRY | {"explicit_lacs": 1}, "send_explicit_lac", keeps("explicit_lac")),
}


@pytest.mark.parametrize("mutants", by_instance(MUTANTS))
def test_each_mutant_violates_its_property_which_holds_without_it(mutants: dict[str, Mutant]) -> None:
    assert_noticed(LEDGER, mutants)


def test_every_property_is_violated_by_a_bug_or_a_mutant() -> None:
    suites = [LEDGER.suite(LEDGER.build(instance.parameters)) for instance in LEDGER.sizes["ci"]]
    every = {p.name for suite in suites for p in suite.properties if not p.name.startswith(REFINES)}
    by_bugs = set().union(*(by for by, _ in CAUGHT.values()))
    assert by_bugs | set(MUTANTS) <= every <= by_bugs | set(MUTANTS) | broken_properties("ledger")
    assert not by_bugs & set(MUTANTS), "a bug catches it already"
