"""The browser that the explorer's pages are tried in, and where they are written to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.traces.explorer.opened import missing


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium."""
    from tests.traces.explorer.chromium import running

    with running() as it:
        if it is None:
            missing()
        yield it


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the pages are written to."""
    return tmp_path_factory.mktemp("pages")
