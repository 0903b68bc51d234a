"""A bookie and its disk: pinned counts of small instances, negative controls, and every bug caught."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fencepost.model.bookkeeper.bookie_bugs import STORAGES
from fencepost.model.language import ModelError
from fencepost.model.releases import BOOKKEEPER
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value
from tests.properties.mutants import Mutant, judged, keeps, sets, without
from tests.properties.searching import (
    firm,
    proved,
    searched,
    unexpected,
)

BOOKIE = PROTOCOLS["bookie"]

COUNTS = {
    "two entries": (41908, 116363, 25),
    "recovery": (29986, 73548, 27),
    "two ends": (5727, 14742, 24),
    "full cache": (7123, 20819, 21),
    "two directories": (149573, 504768, 25),
    "two journals": (284595, 998453, 29),
    "explicit last add and reads": (44230, 136479, 24),
    "sorted": (4006, 8200, 23),
    "interleaved, two ledgers": (16451, 43838, 23),
    "failed save": (13181, 29742, 27),
    "failed save of the index": (13292, 29804, 27),
    "collected ledger": (10529, 25785, 23),
    "entry logs": (33885, 91192, 27),
    "compaction and rebuild": (25376, 72098, 24),
    "page cache": (3077, 7677, 22),
    "no journal": (3801, 8925, 22),
}

CONTROLS: dict[str, dict[str, int]] = {
    "two entries": {},
    "recovery": {},
    "two ends": {},
    "full cache": {},
    "two directories": {},
    "two journals": {},
    "explicit last add and reads": {"shown_entries_survive": 4},
    "sorted": {},
    "interleaved, two ledgers": {},
    "failed save": {},
    "failed save of the index": {},
    "collected ledger": {},
    "entry logs": {},
    "compaction and rebuild": {},
    "page cache": {"acknowledged_adds_survive": 5, "answered_fences_survive": 5, "denied_adds_stay_out": 10},
    "no journal": {
        "acknowledged_adds_survive": 3,
        "acknowledged_recovery_adds_survive": 3,
        "denied_adds_stay_out": 8,
    },
}

CAUGHT = {
    "idle_checkpoint_skips_index": ({"mark_covers_only_what_is_saved", "replay_is_idempotent"}, 6),
    "idle_flush_skips_headers": ({"mark_covers_only_what_is_saved", "replay_is_idempotent"}, 6),
    "headers_without_pages_not_saved": ({"mark_covers_only_what_is_saved", "replay_is_idempotent"}, 6),
    "denies_before_fence_is_journaled": ({"answered_fences_survive"}, 4),
    "master_key_with_entries_only": ({"answered_fences_survive", "mark_covers_only_what_is_saved"}, 6),
    "second_fence_not_awaited": ({"answers_wait_for_the_journal"}, 3),
    "fence_not_journaled": ({"answered_fences_survive"}, 4),
    "fence_checked_apart": ({"fenced_ledgers_take_no_adds"}, 3),
    "key_record_after_entry": (
        {"acknowledged_adds_survive", "mark_covers_only_what_is_saved", "replay_is_idempotent"},
        6,
    ),
    "denies_what_it_has": ({"what_is_there_is_not_denied"}, 5),
    "explicit_lac_in_memory": ({"explicit_lacs_survive"}, 4),
    "explicit_lac_not_indexed": ({"mark_covers_only_what_is_saved"}, 6),
    "failed_save_forgotten": ({"dirt_goes_with_a_save"}, 3),
    "index_update_forgotten": ({"mark_covers_only_what_is_saved", "replay_is_idempotent"}, 8),
    "key_of_collected_ledger_kept": ({"collections_forget_one_ledger"}, 2),
    "returned_entries_deleted": ({"memory_grows_by_requests", "saves_are_whole"}, 5),
    "log_header_has_remains": ({"memory_grows_by_requests", "known_ledgers_keep_their_logs"}, 8),
    "mark_goes_back": ({"journal_reaches_the_mark", "mark_moves_with_a_checkpoint", "mark_never_goes_back"}, 9),
    "checkpoints_compared_by_first_journal": ({"saves_are_whole", "dirt_goes_with_a_save"}, 10),
    "one_directory_marks_for_all": ({"mark_covers_only_what_is_saved", "replay_is_idempotent"}, 7),
}

ACCEPTS_WHAT_IT_DENIED = {
    "idle_checkpoint_skips_index": 15,
    "idle_flush_skips_headers": 14,
    "headers_without_pages_not_saved": 14,
    "denies_before_fence_is_journaled": 10,
    "master_key_with_entries_only": 12,
}
"""The open bugs, and how soon the writer is acknowledged an entry of which a recovery was told that it is not there."""

MANY: dict[str, Value] = {"entries": 3, "records": 10, "explicit_lacs": 2, "kills": 3, "power_losses": 3, "stops": 3}
MANY_ON: dict[str, dict[str, Value]] = {"db": {"failed_saves": 2}}


@pytest.mark.parametrize("bug", ACCEPTS_WHAT_IT_DENIED)
def test_a_bug_confirms_what_recovery_was_told_is_not_there(bug: str) -> None:
    """What makes a ledger lose a confirmed entry: recovery closes it before the entry, and the bookie takes it all the same."""
    assert BOOKIE.bugs[bug].ending == "open"
    violations = unexpected(searched(BOOKIE, BOOKIE.shown_by[bug], [bug], ["denied_adds_stay_out"]))
    assert violations == {"denied_adds_stay_out": ACCEPTS_WHAT_IT_DENIED[bug]}


FORGOTTEN, RETURNS_EARLY = "failed_save_forgotten", "idle_checkpoint_skips_index"


@pytest.mark.parametrize(
    ("faults", "bugs", "lost"),
    [
        ({"kills": 1}, [FORGOTTEN], {"acknowledged_adds_survive": 11}),
        ({"stops": 1}, [FORGOTTEN, RETURNS_EARLY], {"acknowledged_adds_survive": 10}),
        ({"stops": 1}, [FORGOTTEN], {}),
        ({"stops": 1, "entries": 2, "records": 6}, [FORGOTTEN], {}),
        ({"stops": 1}, [RETURNS_EARLY], {}),
        ({"kills": 1}, [RETURNS_EARLY], {}),
    ],
)
def test_a_failed_save_that_is_forgotten_costs_an_acknowledged_entry(
    faults: dict[str, Value], bugs: list[str], lost: dict[str, int]
) -> None:
    """A later checkpoint and a kill lose what was acknowledged; a clean stop alone does where a checkpoint of an empty write
    cache returns at once, and else the flush of the storage's shutdown saves it."""
    parameters = {**BOOKIE.shown_by[FORGOTTEN], "kills": 0, **faults}
    assert unexpected(searched(BOOKIE, parameters, bugs, ["acknowledged_adds_survive"])) == lost


def test_a_log_mark_that_goes_back_keeps_a_bookie_down() -> None:
    """bookkeeper#4105: "Recovery log is missing", and the bookie does not start."""
    parameters = {**BOOKIE.shown_by["mark_goes_back"], "kills": 1}
    assert unexpected(searched(BOOKIE, parameters, ["mark_goes_back"], ["bookies_come_back"])) == {"bookies_come_back": 10}


_SMALL: Mapping[str, Value] = {"entries": 1, "records": 4, "recovery": False}
_LOGS: Mapping[str, Value] = {**_SMALL, "rotations": 1, "compactions": 1}

SPOILED = {
    "what_is_saved_is_in_a_log": Mutant(_LOGS, "compact", keeps("copies"), 5),
    "logs_are_written_at_their_end": Mutant(_LOGS, "rotate", keeps("mapped"), 4),
    "only_logs_that_are_not_written_are_deleted": Mutant({**_LOGS, "collector_looks": 1}, "collect_log", without("current"), 1),
    "a_rebuild_finds_what_was_saved": Mutant({**_LOGS, "kills": 1, "rebuilds": 1}, "rebuild_index", sets("saved", ()), 5),
    "collections_forget_one_ledger": Mutant({**_SMALL, "collections": 1}, "collect", keeps("stored"), 5),
}
"""What of logs and collections no bug of a release breaks first: an action that is spoiled, and how soon that is noticed."""


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_log_is_noticed(name: str) -> None:
    mutant = SPOILED[name]
    assert judged(BOOKIE, mutant.protocol(BOOKIE), name) == ("violated", mutant.steps)


@pytest.mark.long
@pytest.mark.parametrize("storage", STORAGES)
def test_induction_proves_what_exhaustion_cannot_reach(storage: str) -> None:
    """Whatever is not a negative control, for all runs of an instance far too large to be searched."""
    parameters = MANY | MANY_ON.get(storage, {}) | {"storage": storage}
    assert proved(BOOKIE, parameters) == firm(BOOKIE, parameters)


@pytest.mark.deep
@pytest.mark.parametrize("instance", [i for i in BOOKIE.sizes["standard"] if i.by], ids=lambda i: i.name)
def test_induction_proves_the_standard_instances(instance: Instance) -> None:
    assert proved(BOOKIE, instance.parameters)


def test_what_is_open_is_in_the_newest_release_and_what_is_mended_is_not() -> None:
    for bug in BOOKIE.bugs.values():
        assert (bug.ending == "open") == (BOOKKEEPER[-1] in bug.present)
        assert not set(bug.present) & {word.strip(",") for word in bug.fixed.split()}


def test_every_step_says_what_it_mirrors() -> None:
    budgets = ("explicit_lacs", "reads", "full_caches", "failed_saves", "failed_index_saves", "kills", "power_losses", "stops")
    of_logs = ("collections", "rotations", "collector_looks", "compactions", "rebuilds")
    every = [BOOKIE.build(dict.fromkeys(each, 1)) for each in (budgets, of_logs)]
    assert {a.name for protocol in every for a in protocol.actions if not a.mirrors} == {"kill", "lose_power"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"storage": "file"}, "storage is db, sorted or interleaved"),
        ({"entries": 0}, "at least 1"),
        ({"storage": "sorted", "directories": 2}, "one directory"),
        ({"collections": 1, "failed_saves": 1}, "collections go with no failed saves"),
        ({"compactions": 1, "storage": "sorted"}, "entry logs go with storage db"),
    ],
)
def test_an_instance_that_does_not_exist_is_refused(wrong: dict[str, Value], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        BOOKIE.build(wrong)
