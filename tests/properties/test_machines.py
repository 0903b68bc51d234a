"""The machines that Hypothesis runs: each finds a bug of its protocol, and takes nothing that is not enabled."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import Phase, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test

from fencepost.model.kernel.search.search import search
from fencepost.properties.machines import Machine, Violation, machine, program_of, run_of
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.marking import first_at_once

SETTINGS = settings(
    max_examples=1000,
    stateful_step_count=2,
    phases=[Phase.generate],
    verbosity=Verbosity.quiet,
)
"""Hypothesis tries the constants of all loaded modules, so what it draws is not the same everywhere: hence many examples."""

CAUGHT: dict[str, tuple[Mapping[str, Value], str, str]] = {
    "ledger": ({"bookies": 4, "recoverers": 2}, "closes_at_lac", "no_truncation"),
    "bookie": ({"entries": 3, "records": 10, "kills": 2}, "fence_not_journaled", "answered_fences_survive"),
    "replication": ({"bookies": 4, "workers": 2, "crashes": 3, "entries": 2}, "replaced_before_copy", "replaced_by_holders"),
    "placement": (
        {"racks": "2+2+2+1", "ensemble": 4, "enforced": True, "outages": 1},
        "racks_not_checked", "write_quorums_have_their_racks",
    ),
    "metadata_store": ({"clients": 3, "writes": 2, "disconnects": 1}, "deleted_without_version", "deletions_name_the_version"),
    "election": ({"brokers": 4, "disconnects": 2, "expiries": 2, "crashes": 1}, "elected_follows", "holder_leads"),
    "kafka_controller": ({"brokers": 3, "expiries": 2}, "epochs_unchecked", "processes_obey_the_newest"),
    "ownership": ({"brokers": 3, "bundles": 2, "disables": 1}, "answers_disabled", "disabled_owners_are_not_named"),
    "unload": ({"brokers": 3, "bundles": 2, "unloads": 3}, "unload_not_exclusive", "one_unload_at_a_time"),
    "split": ({"brokers": 3, "hashes": 3}, "parent_never_released", "parent_is_let_go"),
    "service_unit": (
        {"brokers": 3, "unloads": 2, "burials": 2, "versions": 11}, "owned_buried", "tombstones_meet_what_they_are_for",
    ),
    "service_unit_migration": ({"restarts": 0}, "compared_by_number", "copied_stores_agree"),
    "topic": ({"brokers": 1, "failures": 1}, "listed_before_created", "listed_is_created"),
    "cluster": ({"brokers": 3, "openings": 3}, "listed_before_created", "listed_is_created"),
    "geo_replication": (
        {"messages": 4, "window": 3, "write_failures": 1, "target_reloads": 1}, "replicated_when_sent", "replicated_is_stored",
    ),
    "topic_loading": ({"lost_answers": 2, "stalls": 2, "failures": 2}, "policies_not_awaited", "opened_with_policies"),
    "subscription": ({"messages": 5, "seeks": 2, "capacity": 2}, "reset_not_stored", "nothing_is_skipped"),
}  # fmt: skip
"""Of each protocol an instance larger than those that are searched by default, a bug, and what it violates there."""

FOUND: dict[str, tuple[str, ...]] = {
    "ledger": ("fence_not_durable", "cookie_deleted_after_wipe", "fence_forgotten_on_delete"),
    "bookie": ("idle_checkpoint_skips_index", "master_key_with_entries_only", "denies_what_it_has"),
    "replication": ("target_is_a_member", "collector_trusts_the_lock", "deletes_lock_of_successor"),
    "placement": ("racks_not_checked", "replaced_within_a_rack"),
    "metadata_store": ("creates_blindly", "deleted_without_version"),
    "election": ("same_value", "elected_follows", "reestablishment_ignored"),
    "kafka_controller": ("resigns_without_cleanup", "bounce_missed", "new_session_resigns"),
    "ownership": ("not_revalidated", "busy_lock_kept", "lost_lock_served"),
    "unload": ("unload_not_exclusive", "released_before_close", "active_after_failed_close"),
    "split": ("writes_blindly", "stale_parent", "layout_not_watched"),
    "service_unit": ("gaps_accepted", "late_tombstones", "close_overtaken"),
    "service_unit_migration": ("compared_by_number", "cleaned_in_use", "deletions_not_copied"),
    "topic": ("reopened_before_fence", "removed_producer_publishes", "terminated_reopened"),
    "cluster": ("fence_checked_apart", "denies_what_it_has", "target_is_a_member"),
    "geo_replication": ("watermark_not_replayed", "replicated_when_sent", "persisted_when_pushed"),
    "topic_loading": ("reader_skips", "failed_kept", "policies_not_awaited"),
    "subscription": ("position_behind_ranges", "acked_during_reset", "reset_not_stored"),
}
"""Bugs that the machine of the small instance that shows them finds. A finite run shows two of placement and of the store."""

LARGE: dict[str, Mapping[str, Value]] = {
    "ledger": {"bookies": 5, "ensemble": 4, "entries": 4, "recoverers": 2, "changes": 1},
    "bookie": {"ledgers": 2, "entries": 3, "records": 10, "explicit_lacs": 2, "kills": 3, "power_losses": 3, "stops": 3},
    "replication": {"bookies": 5, "ensemble": 3, "entries": 3, "workers": 3, "commands": 2, "crashes": 4, "collects": True},
    "placement": {"racks": "3+3+3+3+3+3", "ensemble": 6, "write_quorum": 3, "min_racks": 3, "enforced": True, "outages": 3},
    "metadata_store": {"clients": 5, "paths": 3, "changes": 3, "disconnects": 3, "expiries": 3, "crashes": 3},
    "election": {"brokers": 5, "disconnects": 3, "expiries": 3, "crashes": 2, "closes": 2, "lookups": True},
    "kafka_controller": {"brokers": 4, "expiries": 3, "restarts": 2, "disconnects": 2, "resignations": 2, "writes": True},
    "ownership": {"brokers": 4, "bundles": 4, "disconnects": 2, "expiries": 2, "crashes": 2, "releases": 2},
    "unload": {"brokers": 4, "bundles": 4, "unloads": 3, "disconnects": 2, "expiries": 2, "crashes": 2, "failures": 2},
    "split": {"brokers": 4, "hashes": 9, "bundles": 2, "splits": 4, "maximum": 6, "releases": 2, "expiries": 2},
    "service_unit": {"brokers": 3, "units": 2, "versions": 40, "unloads": 2, "timeouts": 1, "expiries": 1, "crashes": 1},
    "service_unit_migration": {"brokers": 3, "unloads": 2, "restarts": 3, "versions": 40},
    "topic": {"brokers": 4, "messages": 4, "ledgers": 8, "openings": 6, "connections": 4, "failures": 2, "crashes": 2},
    "cluster": {"brokers": 3, "messages": 4, "ledgers": 8, "openings": 6, "connections": 4, "expiries": 3, "crashes": 2},
    "geo_replication": {"messages": 5, "window": 4, "write_failures": 2, "target_reloads": 2, "source_reloads": 2},
    "topic_loading": {"lost_answers": 9, "stalls": 9, "trims": 9, "failures": 9},
    "subscription": {"messages": 6, "seeks": 3, "capacity": 3, "limited": True, "unloads": 3},
}
"""Instances that no search exhausts."""


def ran(kind: type[Machine], **changed: Any) -> Violation | None:
    try:
        run_state_machine_as_test(kind, settings=settings(SETTINGS, **changed))
    except Violation as violation:
        return violation
    return None


@pytest.mark.long
@pytest.mark.parametrize("protocol", CAUGHT)
def test_each_machine_catches_a_bug(protocol: str) -> None:
    parameters, bug, prop = CAUGHT[protocol]
    violation = ran(machine(run_of(protocol, parameters, [bug], [prop]).observed))
    assert violation is not None
    assert violation.property.name == prop


def _shown(protocol: str) -> tuple[str, ...]:
    """The bugs of the table; of a protocol that has no line there yet, its first bug."""
    return FOUND.get(protocol) or (next(iter(PROTOCOLS[protocol].bugs)),)


@pytest.mark.parametrize(
    ("protocol", "bug"), [case for name in PROTOCOLS for case in first_at_once((name, bug) for bug in _shown(name))]
)
def test_each_machine_finds_a_bug_in_a_small_instance(protocol: str, bug: str) -> None:
    shown_by = PROTOCOLS[protocol].bugs[bug].shown_by
    assert ran(machine(run_of(protocol, shown_by, [bug]).observed)) is not None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_machine_runs_clean_without_a_bug(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = machine(run_of(protocol, PROTOCOLS[protocol].bugs[_shown(protocol)[0]].shown_by).observed)
    steps, follow = list[int](), kind.run.steered.follow
    monkeypatch.setattr(kind.run.steered, "follow", lambda choices: steps.append(follow(choices)))
    assert ran(kind, max_examples=50) is None
    assert sum(steps) > (1000 if protocol in FOUND else 50)


def test_runs_that_are_led_find_what_chance_does_not_come_to() -> None:
    run = run_of("ownership", PROTOCOLS["ownership"].bugs["deletion_ignored"].shown_by, ["deletion_ignored"])

    def found(ways: int) -> bool:
        draws = random.Random(0)
        for _ in range(100):
            run.begin(0)
            run.lead(draws.randint(0, ways))
            if run.violated or (run.steered.follow(draws.randbytes(512)) and run.violated):
                return True
        return False

    assert (found(0), found(len(run.ways))) == (False, True)


def test_half_of_the_runs_are_led(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, drawn = machine(run_of("ownership", {}).observed), list[int]()
    monkeypatch.setattr(kind.run, "lead", drawn.append)
    assert ran(kind, max_examples=100) is None
    led = sum(way > 0 for way in drawn)
    assert max(drawn) <= len(kind.run.ways)
    assert len(drawn) / 4 < led < len(drawn) * 3 / 4


def test_runs_are_led_to_every_action_that_can_be_taken() -> None:
    run = run_of("election", {"brokers": 2, "disconnects": 1})
    actions = run.observed.kernel.actions
    takeable = {a.name for a, count in zip(actions, search(run.observed.kernel).enabled, strict=True) if count}
    led_to: set[str] = set()
    for number, (start, way) in enumerate(run.ways, start=1):
        run.begin(start)
        run.lead(number)
        assert tuple(run.steered.actions) == way
        led_to |= {action.name for place, action in enumerate(actions) if run.steered.enabled >> place & 1}
    assert led_to == takeable
    taken = list(run.steered.actions)
    run.lead(1)
    assert run.steered.actions == taken, "a run that has begun is led nowhere"
    run.begin(0)
    run.lead(0)
    assert run.steered.actions == []


def test_the_tables_have_the_same_protocols() -> None:
    assert set(CAUGHT) == set(FOUND) == set(LARGE) <= set(PROTOCOLS)


@pytest.mark.deep
@pytest.mark.parametrize("protocol", LARGE)
def test_nothing_is_violated_where_no_search_comes_to_an_end(protocol: str) -> None:
    kind = machine(run_of(protocol, LARGE[protocol]).observed)
    assert ran(kind, max_examples=1000) is None
    assert ran(kind, max_examples=200, stateful_step_count=50) is None


@pytest.fixture(scope="module")
def violation() -> Violation:
    parameters, bug = {"entries": 1}, "ignores_fence"
    observed = run_of("ledger", parameters, [bug], ["fenced_bookies_take_no_adds"]).observed
    kind = machine(observed, stretch=0, made_by=program_of("ledger", parameters, [bug]))
    violation = ran(kind, max_examples=1000, stateful_step_count=30)
    assert violation is not None
    return violation


def test_a_rule_takes_its_action_with_arguments_that_are_enabled(violation: Violation) -> None:
    run = run_of("ledger", {"entries": 1}, ["ignores_fence"])
    for action in violation.path.actions:
        run.take(run.observed.kernel.actions[action].label)  # which raises for what is not enabled
    assert violation.property.name in run.violated
    assert run.steered.path == violation.path
    names = [run.observed.kernel.actions[a].name for a in violation.path.actions]
    assert [label.split("(")[0] for label in run.labels] == names


def test_there_is_a_rule_for_every_action() -> None:
    kind = machine(run_of("ownership", {}, only=["no_deadlock"]).observed)
    names = {action.name for action in PROTOCOLS["ownership"].build({}).actions}
    assert {rule.function.__name__ for rule in kind.setup_state().rules} == {f"take_{n}" for n in names} | {"begin", "wander"}


@pytest.mark.long
def test_what_is_printed_is_a_test_that_passes_as_long_as_the_bug_is_there(violation: Violation) -> None:
    program = str(violation).partition("\n\n")[2]
    names: dict[str, Any] = {}
    exec(compile(program, "printed", "exec"), names)
    (test,) = (value for name, value in names.items() if name.startswith("test_"))
    test()
    fixed = program.replace(', ["ignores_fence"]', "")
    exec(compile(fixed, "fixed", "exec"), names)
    (test,) = (value for name, value in names.items() if name.startswith("test_"))
    with pytest.raises((AssertionError, ValueError)):
        test()


def test_a_run_takes_actions_by_their_labels() -> None:
    run = run_of("ledger", {"entries": 1}, only=["no_truncation"])
    with pytest.raises(ValueError, match=re.escape("ledger has no action add(b9, e9)")):
        run.take("add(b9, e9)")
    with pytest.raises(ValueError, match=re.escape("confirm(e0) is not enabled here")):
        run.take("confirm(e0)")
    run.take("send(e0)")
    assert (run.labels, run.violated) == (["send(e0)"], [])


def test_a_program_is_written_as_python() -> None:
    assert program_of("split", {"fixed": True, "algorithm": "x", "brokers": 3}, ["a", "b"]) == (
        'run_of("split", {"fixed": True, "algorithm": "x", "brokers": 3}, ["a", "b"])'
    )
    assert program_of(PROTOCOLS["split"], {}, ["a"]) == 'run_of(SPLIT, {}, ["a"])'


def test_a_run_is_of_an_entry_as_of_its_name() -> None:
    run = run_of(PROTOCOLS["ledger"], {"entries": 1}, only=["no_truncation"])
    run.take("send(e0)")
    assert (run.observed.kernel.protocol.name, run.labels, run.violated) == ("ledger", ["send(e0)"], [])
