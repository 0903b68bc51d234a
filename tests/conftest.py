"""What a test needs beside Python is a marker, and says in which of the suite's two steps the test is run.

A marker comes from the group or the fixture that a test shares what it needs by, so that a test cannot forget it; a test that
starts such a program without the marker fails. What has one, or is ``long``, is ``later``: ``make test`` leaves it out, except
for the ``smoke`` tests.
"""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from fencepost import model
from fencepost.model import own_sources
from tests.command import WIDE
from tests.marking import COSTLY, needed, unmarked

LONGEST = 80
"""Characters of a text in the name of a test."""

# What Hypothesis draws is the same on every run, and how long the machine takes over it is no failure.
settings.register_profile("fencepost", deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
settings.load_profile("fencepost")

os.environ.update(WIDE)  # whoever runs the tests may have another width in his environment


class Running:
    """The markers of the test that runs, for the hook that sees which programs are started; None between tests."""

    markers: frozenset[str] | None = None


def _started(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen":
        marker = None if Running.markers is None else unmarked(os.fsdecode(arguments[0]), Running.markers)
        if marker is not None:
            pytest.fail(f"a test that starts {arguments[0]} is marked as {marker}: give it a group or a fixture of it")


sys.addaudithook(_started)


def pytest_itemcollected(item: pytest.Item) -> None:
    groups = [str(name) for mark in item.iter_markers("xdist_group") for name in mark.args]
    for marker in sorted(needed(groups, getattr(item, "fixturenames", ()))):
        item.add_marker(marker)
    names = {mark.name for mark in item.iter_markers()}
    if names & COSTLY and "smoke" not in names:
        item.add_marker("later")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts other programs comes first, so that no worker waits for it alone in the end."""
    programs = COSTLY - {"long", "documents"}
    items.sort(key=lambda item: not any(mark.name in programs for mark in item.iter_markers()))


def pytest_make_parametrize_id(val: object) -> str | None:
    """The name of a test has no long text: its beginning is enough."""
    return f"{val[:LONGEST]}..." if isinstance(val, str) and len(val) > LONGEST else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    Running.markers = frozenset(mark.name for mark in item.iter_markers())
    try:
        return (yield)
    finally:
        Running.markers = None


@pytest.fixture(autouse=True)
def _own_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test keeps a later one in the same process from storing anything, nor does who saves a file meanwhile."""
    monkeypatch.setattr(own_sources, "_users", [])
    monkeypatch.setattr(model, "LOADED", math.inf)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium."""
    from tests.traces.explorer.chromium import running
    from tests.traces.explorer.opened import missing

    with running() as it:
        if it is None:
            missing()
        yield it


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each reason why tests are skipped."""
    reasons: Counter[str] = Counter(
        str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr).removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
    )
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"SKIPPED [{count}] {reason}")
