"""TLC for the tests of what is exported, fetched once and kept in pytest's cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.export.tlc import Tlc, fetch_tlc


@pytest.fixture(scope="session")
def tlc(request: pytest.FixtureRequest) -> Tlc:
    """TLC; whoever asks for it is skipped where it cannot be had."""
    assert request.config.cache is not None
    return fetch_tlc(Path(request.config.cache.mkdir("tlc")))
