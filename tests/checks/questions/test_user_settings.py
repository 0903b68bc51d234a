"""A control that fails because of what the user set is not what was expected: it says what is not guaranteed with that."""

from __future__ import annotations

import json

import pytest

from tests.command import fencepost

BOOKIE = ("check", "bookie", "--quiet", "--property", "acknowledged_adds_survive")


@pytest.mark.parametrize("journal", ["journal_sync_data", "journal_write_data"])
def test_what_the_user_set_is_to_blame(journal: str) -> None:
    run = fencepost(*BOOKIE, "--set", f"{journal}=no", "power_losses=1", "entries=1", "records=4")
    assert run.returncode == 12
    assert f"not guaranteed with {journal}=no: " in " ".join(run.stdout.split())
    assert "lose_power" in run.stdout, "and the run is shown"
    assert run.stdout.endswith("1 violated: a safety property is violated (exit 12)\n")


def test_every_setting_that_is_to_blame_is_named() -> None:
    settings = ("--set", "journal_sync_data=no", "journal_write_data=no", "power_losses=1", "entries=1", "records=4")
    (row,) = json.loads(fencepost(*BOOKIE, *settings, "--json", "-").stdout)["verdicts"]
    assert (row["verdict"], row["expected"]) == ("violated", False)
    assert row["note"].startswith("not guaranteed with journal_sync_data=no journal_write_data=no: ")


def test_a_fault_that_was_asked_for_is_no_setting() -> None:
    shown = ("check", "bookie", "--quiet", "--property", "shown_entries_survive")
    run = fencepost(*shown, "--set", "reads=1", "kills=1", "entries=1", "records=4")
    assert run.returncode == 0
    assert run.stdout.endswith("1 violated as expected: everything holds (exit 0)\n")
