"""A machine that fails leaves a trace that replays, shrunk by Hypothesis."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test

from fencepost.properties.machines import Violation
from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.files.itf import read
from fencepost.traces.machines import machine_of
from fencepost.traces.replay import replay
from fencepost.traces.shrinking.shrinking import shrink

SETTINGS = settings(
    max_examples=500,
    stateful_step_count=1,
    verbosity=Verbosity.quiet,
)


@pytest.mark.long
def test_the_file_replays_and_hypothesis_has_shrunk_it(tmp_path: Path) -> None:
    only = ["disabled_owners_are_not_named"]
    machine = machine_of("ownership", {"disables": 1}, ["answers_disabled"], only, folder=tmp_path / "traces", stretch=32)
    with pytest.raises(Violation) as raised:
        run_state_machine_as_test(machine, settings=SETTINGS)
    (file,) = (tmp_path / "traces").iterdir()
    assert file.name == "ownership-answers_disabled-disabled_owners_are_not_named.itf.json"
    assert raised.value.__notes__[0] == f"trace: {file}"
    trace, protocol = read(file, PROTOCOLS)
    assert replay(trace, PROTOCOLS).replays
    assert (trace.violated, trace.found_by) == ("disabled_owners_are_not_named", "Hypothesis")
    assert len(trace.steps) == len(raised.value.path.actions)
    shortest = shrink(trace, PROTOCOLS["ownership"].suite(protocol)).trace
    assert len(shortest.steps) <= len(trace.steps) <= len(shortest.steps) + 2


def test_a_machine_is_of_an_entry_as_of_its_name(tmp_path: Path) -> None:
    entry = replace(PROTOCOLS["ownership"], name="ours")
    machine = machine_of(entry, {"disables": 1}, ["answers_disabled"], ["disabled_owners_are_not_named"], folder=tmp_path)
    with pytest.raises(Violation, match=re.escape('run_of(OURS, {"disables": 1}, ["answers_disabled"])')):
        run_state_machine_as_test(machine, settings=settings(SETTINGS, phases=[Phase.generate]))
    assert [file.name for file in tmp_path.iterdir()] == ["ours-answers_disabled-disabled_owners_are_not_named.itf.json"]
