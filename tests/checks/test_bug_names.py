"""The names in the rooms' files of bugs that only this floor knows: pages, questions, commands, and the steps of runs."""

from __future__ import annotations

import pytest

from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.reproductions.registry import REPRODUCTIONS
from fencepost.checks.questions.matters import MATTERS
from fencepost.model.kernel import Kernel
from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS
from tests.command import ROOT

OWN = [entry for entry in PROTOCOLS.values() if not entry.of_parts]
BUGS = [(entry.name, name, bug) for entry in OWN for name, bug in entry.bugs.items()]
OF_TARGETS = {target.protocol: target for target in TARGETS.values()}
RUNS = [(protocol, name) for protocol, name, bug in BUGS if bug.run]


def test_pages_and_questions_are_there() -> None:
    assert any(bug.finding for _, _, bug in BUGS)
    assert [name for _, name, bug in BUGS if bug.finding and not (ROOT / "docs" / bug.finding).is_file()] == []
    sections = {matter.name for matter in MATTERS}
    named = {section for _, _, bug in BUGS if bug.avoided_by for section in bug.avoided_by.remains}
    assert named
    assert named <= sections


def test_what_is_of_real_code_is_of_a_target() -> None:
    own = [(protocol, name) for protocol, name, bug in BUGS if bug.run or bug.held or bug.with_others]
    assert own
    assert {protocol for protocol, _ in own} <= OF_TARGETS.keys()


def test_a_bug_names_a_reproduction_that_there_is() -> None:
    named = {bug.reproduced_by for _, _, bug in BUGS if bug.reproduced_by}
    assert named
    assert named <= set(REPRODUCTIONS)


@pytest.mark.parametrize(("protocol", "name"), RUNS)
def test_a_run_is_of_steps_of_the_protocol(protocol: str, name: str) -> None:
    entry, target = PROTOCOLS[protocol], OF_TARGETS[protocol]
    bug: Bug = entry.bugs[name]
    labels = {action.label for action in Kernel(entry.build({**bug.shown_by, **target.settings}, (name,))).actions}
    steps = bug.run.split("; ")
    assert [step for step in steps if not step.endswith("?") and step not in labels] == []
