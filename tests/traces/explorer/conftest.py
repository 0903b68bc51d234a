"""The explorer's pages, as files that a browser opens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from fencepost.traces.explorer.content import Recording
from fencepost.traces.trace import Loop
from tests.traces.explorer.recorded import LONG, lamp, lost_entry, run, written


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the pages are written to."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def lost(pages: Path) -> Path:
    """A run in which a confirmed entry is lost."""
    return written(pages, "lost", [lost_entry()])


@pytest.fixture(scope="session")
def lamps(pages: Path) -> Path:
    """Two runs that part after two steps, and one that goes on forever."""
    suite = lamp()
    first = run(suite.protocol, ["switch_on", "switch_off", "switch_on", "blow"], "seldom")
    second = run(suite.protocol, ["switch_on", "switch_off", "forget", "switch_on"], "never_forgotten")
    endless = run(suite.protocol, ["switch_on", "switch_off", "forget", "look", "forget"], "goes_on", Loop(3, (), ("blow",)))
    named = {"first": first, "second": second, "endless": endless}
    return written(pages, "lamps", [Recording(name, trace, suite) for name, trace in named.items()])


@pytest.fixture(scope="session")
def long(pages: Path) -> Path:
    """A walk of LONG steps."""
    suite = lamp()
    labels = [*islice(cycle(["switch_on", "switch_off"]), LONG - 100), *["look"] * 100]
    return written(pages, "long", [Recording("long", run(suite.protocol, labels), suite)])


@pytest.fixture
def nothing_is_complained_of(chromium: Any) -> Iterator[None]:
    """The page writes nothing to the browser's console."""
    yield
    assert chromium.get_log("browser") == []
