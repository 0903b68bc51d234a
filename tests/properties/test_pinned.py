"""Every protocol in its small instances: pinned counts, and every bug caught, by which property and in how many steps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from fencepost.checks.engines.results.verdicts import ExitStatus, exit_status
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance
from tests.properties.pins import PINNED, SLOW_TO_BUILD, Pins
from tests.properties.searching import caught, controls, counts, faithful, searched_together, unexpected

AT_ONCE = 2
"""Instances of each protocol, the smallest, that are searched in the first step; one where instances are slow to build."""

MOST_AT_ONCE = 1_000_000
"""States of an instance that is searched in the first step. Where all have more, a bug is caught there, and a machine runs."""


def _instances() -> Iterator[ParameterSet]:
    for name, pinned in PINNED.items():
        instances = [instance for instance in pinned.entry.sizes["ci"] if instance.name not in pinned.deep]
        by_size = sorted(instances, key=lambda instance: pinned.counts.get(instance.name, (0, 0, 0)))
        for instance in pinned.entry.sizes["ci"]:
            marks = [searched_together(pinned.entry, instance.parameters)]
            states, *_ = pinned.counts.get(instance.name, (0, 0, 0))
            if states > MOST_AT_ONCE or instance not in by_size[: 1 if name in SLOW_TO_BUILD else AT_ONCE]:
                marks.append(pytest.mark.deep if instance.name in pinned.deep else pytest.mark.long)
            yield pytest.param(pinned, instance, id=f"{name}, {instance.name}", marks=marks)


def _bugs() -> Iterator[ParameterSet]:
    for name, pinned in PINNED.items():
        first = next((bug for bug in pinned.entry.shown_by if bug not in pinned.deep_bugs), None)
        for bug, shown in pinned.entry.shown_by.items():
            marks = [searched_together(pinned.entry, shown)]
            if bug in pinned.deep_bugs:
                marks.append(pytest.mark.deep)
            elif bug != first and name in SLOW_TO_BUILD:
                marks.append(pytest.mark.long)
            yield pytest.param(pinned, bug, id=f"{name}, {bug}", marks=marks)


def _without_bugs() -> Iterator[ParameterSet]:
    """Each instance in which a bug shows, once, named after the first bug that does."""
    for name, pinned in PINNED.items():
        seen: list[object] = []
        for bug, shown in sorted(pinned.entry.shown_by.items(), key=lambda each: each[0] in pinned.deep_bugs):
            if shown not in seen:
                seen.append(shown)
                marks = [searched_together(pinned.entry, shown), pytest.mark.long]
                if bug in pinned.deep_bugs:
                    marks.append(pytest.mark.deep)
                yield pytest.param(pinned, bug, id=f"{name}, {bug}", marks=marks)


def test_every_protocol_is_pinned() -> None:
    assert PINNED.keys() == PROTOCOLS.keys()


@pytest.mark.parametrize(("pinned", "instance"), [*_instances()])
def test_every_property_holds_in_the_small_instances(pinned: Pins, instance: Instance) -> None:
    findings = faithful(pinned.entry, instance.parameters)
    pins = f'if right, {{}} of tests/properties/{pinned.entry.name}/test_safety.py has: "{instance.name}": {{}},'
    found, violated = counts(findings), controls(findings)
    assert found == pinned.counts.get(instance.name), pins.format("COUNTS", found)
    assert violated == pinned.controls.get(instance.name), pins.format("CONTROLS", violated)
    assert exit_status(findings.verdicts) is ExitStatus.HOLDS
    assert {suspicion.subject for suspicion in findings.suspicions} == set(pinned.explained.get(instance.name, ()))
    assert all(v.verdict in ("exhausted", "proved") or v.expected for v in findings.verdicts)


@pytest.mark.parametrize(("pinned", "bug"), [*_bugs()])
def test_a_bug_is_caught(pinned: Pins, bug: str) -> None:
    found = caught(pinned.entry, bug)
    names, steps = ", ".join(f'"{name}"' for name in sorted(found[0])), found[1]
    pin = f'"{bug}": ({f"{{{names}}}" if names else "set()"}, {steps}),'
    assert found == pinned.caught.get(bug), (
        f"if right, CAUGHT of tests/properties/{pinned.entry.name}/test_safety.py has: {pin}"
    )


@pytest.mark.parametrize(("pinned", "bug"), [*_without_bugs()])
def test_nothing_is_violated_without_the_bug(pinned: Pins, bug: str) -> None:
    assert not unexpected(faithful(pinned.entry, pinned.entry.shown_by[bug]))


@pytest.mark.parametrize("pinned", PINNED.values(), ids=PINNED)
def test_the_tables_speak_of_every_bug(pinned: Pins) -> None:
    entry = pinned.entry
    bugs = set(entry.build({}).bugs)
    assert bugs == set(entry.shown_by), f"the bugs of the model have a table each in properties/{entry.name}/bugs.toml"
    assert bugs == set(pinned.caught), f"and a pin in CAUGHT of tests/properties/{entry.name}/test_safety.py"
